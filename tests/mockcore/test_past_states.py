"""Any kept revision can be opened and compared, and blame names the change that wrote each field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from cleanroom.bench.histories import long_history
from mockcore import askable, copies, history, keyframes, models, snapshot, tenants, world
from mockcore.commands import CommentOnApproval, ReportProgress, RequestApproval, SetDependencies, WriteDocument
from mockcore.plane import CompanyMissing, MockControlPlane
from mockcore.snapshot import LISTS
from mockcore.text import canonical
from tests import factories as make
from tests.mockcore.conftest import Desk, seated
from tests.mockcore.scripts import cause_of, play

COMMANDS = 500


@dataclass
class Played:
    """A random script that was played: what the plane last returned at each revision, and who wrote what.

    The three lists of the ledger, which are long, are kept for every `whole`th revision only.
    """

    desk: Desk
    whole: int
    states: dict[int, str] = field(default_factory=dict)
    writers: dict[tuple[str, str], tuple[range, int]] = field(default_factory=dict)  # revisions, number of the command

    def look(self) -> dict[str, Any]:
        company = self.desk.company()
        state = snapshot.world_root(snapshot.now(company), world.read(company))
        whole = company.revision % self.whole == 0
        self.states[company.revision] = canonical(self.desk.plane.state() if whole else state)
        return state

    def reread(self, number: int) -> str:
        read = history.state_at if number % self.whole == 0 else history.world_at
        return canonical(read(company_id=self.desk.company_id, revision=number))

    def remember(self, state: dict[str, Any], before: dict[str, Any], step: int) -> None:
        old, new = fields_of(before), fields_of(state)
        for name in old.keys() | new.keys():
            if old.get(name, self) != new.get(name, self):
                # What a command brings due follows it as a revision of its own, which nobody sees in between.
                self.writers[name] = (range(before["revision"] + 1, state["revision"] + 1), step)


def fields_of(state: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Return every field of every entity in a state root, by reference and name."""
    found: dict[tuple[str, str], Any] = {
        (f"company:{state['company']['id']}", n): v for n, v in state["company"].items()
    }
    for name, listing in LISTS.items():
        for facts in state[name]:
            found |= {(f"{listing.model.KIND}:{facts['id']}", n): v for n, v in facts.items() if n != "remaining"}
            for inner, (model, _) in listing.inside.items():
                for one in facts[inner]:
                    found |= {(f"{model.KIND}:{one['id']}", n): value for n, value in one.items()}
    return found


def with_faults() -> Desk:
    """A seeded clean room with faults that strike now and then, whose run is open."""
    desk = Desk(identity=tenants.seed_clean_room())
    company = desk.company()
    make.FaultFactory(company=company, public_id="fault-1", effect="lost_ack", configured_count=3)
    make.FaultFactory(company=company, public_id="fault-2", command_kind="create_task", configured_count=2)
    return desk


def played(*, commands: int, seed: int, whole: int = 1) -> Played:
    one = Played(desk=with_faults(), whole=whole)
    before = one.look()
    one.desk.open()
    state = one.look()
    one.remember(state, before, step=0)
    for step, _ in enumerate(play(one.desk, commands=commands, seed=seed), start=1):
        before, state = state, one.look()
        one.remember(state, before, step)
    return one


@pytest.mark.requirement("company.history.any-revision", "company.blame.every-field")
def test_after_a_random_script_every_state_can_be_opened_and_every_field_is_blamed_on_its_writer(db: None) -> None:
    one = played(commands=COMMANDS, seed=20260809, whole=50)
    company_id, newest = one.desk.company_id, one.desk.plane.state_revision()
    assert newest > COMMANDS // 3
    assert keyframes.fill(company_id=company_id) == newest // keyframes.INTERVAL
    unseen = set(range(newest + 1)) - set(one.states)
    assert 0 < len(unseen) < newest // 4
    for number, text in one.states.items():
        assert one.reread(number) == text, number
    for number in unseen:
        assert history.world_at(company_id=company_id, revision=number)["revision"] == number
    all_are_blamed_right(one)


def all_are_blamed_right(one: Played) -> None:
    fields = {*fields_of(one.desk.plane.state()), *one.writers}
    assert {ref.partition(":")[0] for ref, _ in fields} >= {"blocker", "revision", "approval-comment", "wake", "run"}
    for ref, name in sorted(fields):
        found = history.blame(company_id=one.desk.company_id, ref=ref, field=name)
        numbers, step = one.writers.get((ref, name), (range(1), 0))
        assert (found.number if found else 0) in numbers, (ref, name)
        if step:
            assert found is not None
            assert found.cause == cause_of(step)


@pytest.mark.requirement("company.history.keyframes")
@pytest.mark.parametrize("seed", [1, 2])
def test_without_any_keyframe_the_same_states_are_read(db: None, seed: int) -> None:
    one = played(commands=60, seed=seed)
    for number, text in one.states.items():
        assert one.reread(number) == text, number
    assert not models.Keyframe.objects.exists()


@pytest.mark.requirement("company.history.keyframes")
def test_a_damaged_or_missing_keyframe_costs_only_time(db: None) -> None:
    one = played(commands=200, seed=3, whole=64)
    company_id = one.desk.company_id
    keyframes.fill(company_id=company_id)
    first, second = models.Keyframe.objects.filter(company_id=company_id).order_by("revision")[:2]
    models.Keyframe.objects.filter(pk=first.pk).update(body=b"damaged")
    models.Keyframe.objects.filter(pk=second.pk).update(body=first.body)
    for place in (0, 1, 63, 64, 65, 100, 128, 129):
        number = max(seen for seen in one.states if seen <= place)
        assert one.reread(number) == one.states[number]
    models.Keyframe.objects.filter(company_id=company_id).delete()
    assert keyframes.fill(company_id=company_id) == one.desk.plane.state_revision() // 64
    assert keyframes.fill(company_id=company_id) == 0


@pytest.mark.requirement("company.history.keyframes")
@pytest.mark.django_db(transaction=True)
def test_a_keyframe_is_written_after_the_commit_by_a_thread_of_its_own() -> None:
    desk = seated()
    for number in range(64):
        desk.do(ReportProgress(body=f"{number}"))
    keyframes.writer.finish()
    assert list(models.Keyframe.objects.values_list("revision", flat=True)) == [64]


@pytest.mark.requirement("company.history.keyframes")
@pytest.mark.django_db(transaction=True)
def test_a_command_succeeds_when_its_keyframe_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**_: Any) -> int:
        raise OSError("no space")

    monkeypatch.setattr(keyframes, "fill", broken)
    desk = seated()
    for number in range(64):
        desk.do(ReportProgress(body=f"{number}"))
    keyframes.writer.finish()
    assert "reading it only takes longer" in caplog.text
    assert history.world_at(company_id=desk.company_id, revision=64)["revision"] == 64


@pytest.mark.requirement("company.history.cost")
def test_opening_and_comparing_take_as_many_statements_in_a_long_history_as_in_a_short_one(db: None) -> None:
    desk = seated()
    for number in range(299):
        desk.do(ReportProgress(body=f"{number}"))
    keyframes.fill(company_id=desk.company_id)

    def cost(a: int, b: int) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as opening:
            assert history.world_at(company_id=desk.company_id, revision=a)["revision"] == a
        with CaptureQueriesContext(connection) as comparing:
            assert history.diff(company_id=desk.company_id, a=a, b=b).differences
        return len(opening), len(comparing)

    assert cost(80, 90) == cost(270, 280)
    assert cost(200, 90) == cost(10, 290)


@pytest.mark.requirement("company.history.diff")
def test_a_diff_names_each_entity_and_each_field_in_both_directions(desk: Desk) -> None:
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    desk.do(WriteDocument(key="plan", title="Better", body="2", base_revision_id="revision-0001"))
    found = history.diff(company_id=desk.company_id, a=2, b=3)
    by_ref = {one.ref: one for one in found.differences}
    assert set(by_ref) == {"state", "document:document-0001", "revision:revision-0002"}
    assert by_ref["document:document-0001"].fields == {
        "title": ("Plan", "Better"),
        "latestRevisionId": ("revision-0001", "revision-0002"),
    }
    added = by_ref["revision:revision-0002"]
    assert (added.what, added.fields["body"]) == ("added", (None, "2"))
    assert by_ref["state"].fields["clock"][1]["tick"] == by_ref["state"].fields["clock"][0]["tick"] + 1
    assert '  title: "Plan" → "Better"' in list(found.lines())
    back = history.diff(company_id=desk.company_id, a=3, b=2)
    assert {one.ref: one.what for one in back.differences}["revision:revision-0002"] == "removed"
    assert history.diff(company_id=desk.company_id, a=2, b=2).as_json()["entities"] == []


@pytest.mark.requirement("company.history.any-revision")
def test_what_is_not_kept_is_refused_by_name(desk: Desk) -> None:
    for number in (-1, 2):
        with pytest.raises(history.RevisionMissing):
            history.state_at(company_id=desk.company_id, revision=number)
    with pytest.raises(CompanyMissing):
        history.world_at(company_id="nobody", revision=0)
    assert history.kept_revisions(company_id=desk.company_id) == (0, 1)


@pytest.mark.requirement("company.blame.every-field")
def test_blame_reaches_lists_paths_and_what_is_gone(desk: Desk) -> None:
    desk.do(RequestApproval(approval_type="spend", payload_json={"lines": [{"cents": 1}]}))
    desk.do(CommentOnApproval(approval_id="approval-0001", body="Why?"))
    desk.do(SetDependencies(blocked_by_task_ids=()), key="nothing")

    def blamed(ref: str, name: str, revision: int | None = None) -> int:
        found = history.blame(company_id=desk.company_id, ref=ref, field=name, revision=revision)
        return found.number if found else 0

    assert blamed("approval:approval-0001", "comments") == 3
    assert blamed("approval:approval-0001", "comments", revision=2) == 2
    assert blamed("approval:approval-0001", "payload.lines.0.cents") == 2
    for ref, name, no in (
        ("task:nowhere", "status", history.EntityMissing),
        ("nothing:x", "status", history.EntityMissing),
        (f"task:{desk.task_id}", "colour", history.FieldMissing),
        (f"task:{desk.task_id}", "@position", history.FieldMissing),
    ):
        with pytest.raises(no):
            blamed(ref, name)


@pytest.mark.requirement("company.blame.command")
def test_the_blame_command_prints_the_whole_cause(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.do(ReportProgress(body="Begun"), cause=cause_of(7))
    call_command("blame", desk.company_id, "comment:comment-0001", "body")
    printed = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert printed["revision"] == "2"
    assert (printed["callId"], printed["turnId"], printed["messageId"]) == ("call-7", "turn-1", "message-1")
    assert (printed["operation"], printed["authorizationId"]) == ("report_progress", "semantic-auth-000007")
    call_command("blame", desk.company_id, f"task:{desk.task_id}", "title", "--json")
    assert capsys.readouterr().out.strip() == "null"
    with pytest.raises(CommandError, match="entity_missing"):
        call_command("blame", desk.company_id, "task:x", "title")


@pytest.mark.requirement("company.blame.command")
def test_blame_lists_what_it_could_be_asked_when_a_name_is_not_known(desk: Desk, monkeypatch) -> None:
    desk.do(ReportProgress(body="Begun"))
    task = f"task:{desk.task_id}"
    for company, entity, name, says in (
        ("nobody", task, "title", f"Companies: {desk.company_id}"),
        (desk.company_id, "tusk:x", "title", "Kinds: actor, approval"),
        (desk.company_id, "task:x", "title", f"Newest of that kind: .*{task}"),
        (desk.company_id, "company:x", "name", f"Of a company: company:{desk.company_id}."),
        (desk.company_id, task, "titel", "Fields: id, companyId, identifier, title"),
        (desk.company_id, f"company:{desk.company_id}", "title", "Fields: id, name"),
        (desk.company_id, "fault:x", "code", "Newest of that kind: none."),
    ):
        with pytest.raises(CommandError, match=says):
            call_command("blame", company, entity, name)
    monkeypatch.setattr(askable, "NAMED", 1)
    desk.do(ReportProgress(body="Half way"))
    with pytest.raises(CommandError, match="comment:comment-0002 and more"):
        call_command("blame", desk.company_id, "comment:x", "body")


@pytest.mark.requirement("company.blame.command")
def test_a_forked_field_is_blamed_on_the_parent(desk: Desk) -> None:
    desk.do(ReportProgress(body="Begun"), cause=cause_of(7))
    child = copies.fork(company_id=desk.company_id)
    found = history.blame(company_id=child, ref="comment:comment-0001", field="body")
    assert found is not None
    assert (found.company_id, found.number, found.cause.call_id) == (desk.company_id, 2, "call-7")
    assert MockControlPlane(company_id=child).state_revision() == 2
    assert history.blame(company_id=child, ref=f"company:{child}", field="name") is None


@pytest.mark.requirement("company.blame.command")
def test_blame_in_a_fork_says_in_whose_ledger_the_authorization_stands(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.do(ReportProgress(body="Begun"), cause=cause_of(7))
    child = copies.fork(company_id=desk.company_id)
    grandchild = copies.fork(company_id=child)
    for company_id in (desk.company_id, child, grandchild):
        found = history.blame(company_id=company_id, ref="comment:comment-0001", field="body")
        assert found is not None
        assert (found.authorization_ledger, found.company_id) == (desk.company_id, desk.company_id)
        call_command("blame", company_id, "comment:comment-0001", "body")
        said = capsys.readouterr().out
        printed = dict(line.split(None, 1) for line in said.splitlines())
        assert printed["authorizationId"].strip() == "semantic-auth-000007"
        assert printed["authorizationLedger"].strip() == desk.company_id
        assert ("was forked from it" in said) is (company_id != desk.company_id)
    twin = MockControlPlane(company_id=child)
    twin.apply(desk.envelope(ReportProgress(body="Later"), cause=cause_of(7)))
    own = history.blame(company_id=child, ref="comment:comment-0002", field="body")
    assert own is not None
    assert (own.cause.authorization_id, own.authorization_ledger) == ("semantic-auth-000007", child)


@pytest.mark.soak
@pytest.mark.requirement("company.history.cost", "ledger.command")
def test_ten_thousand_revisions_are_read_forked_and_proved_like_a_hundred(
    db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    company_id = long_history(revisions=10_000)
    assert keyframes.fill(company_id=company_id) == 156

    def cost(a: int, b: int) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as queries:
            opened = history.world_at(company_id=company_id, revision=a)
            found = history.diff(company_id=company_id, a=a, b=b)
        assert opened["tasks"][0]["title"].endswith(f" {a}")
        assert "task" in {one.ref.partition(":")[0] for one in found.differences}
        changes = next(one["sql"] for one in queries if "mockcore_change" in one["sql"])
        return len(queries), changes.count("revision")

    assert cost(90, 100) == cost(9_962, 9_972)
    child = copies.fork(company_id=company_id, revision=9_999)
    done = copies.serialize(company_id=child)
    assert copies.serialize(company_id=company_id, revision=9_999).revision == done.revision
    copies.restore(done.body, company_id="company-restored", digest=done.digest)
    call_command("verify_ledger")
    assert capsys.readouterr().out.startswith("OK: ")


@pytest.mark.requirement("company.history.cost")
def test_a_long_history_rebuilds_the_revision_that_was_asked_for(db: None) -> None:
    company_id = long_history(revisions=300)
    keyframes.fill(company_id=company_id)
    for number in (2, 63, 64, 65, 150, 299, 300):
        opened = history.world_at(company_id=company_id, revision=number)
        assert opened["tasks"][0]["title"] == f"Clean-room chat, as of {number}"
        assert len(opened["comments"]) == 100
