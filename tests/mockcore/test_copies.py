"""A company becomes bytes, comes back from them, and forks at any revision; what is no company is refused by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from cleanroom.bench.histories import long_history
from mockcore import copies, history, keyframes, models, tenants
from mockcore.chain import first_flaw
from mockcore.commands import PostBoardComment, ReportProgress
from mockcore.install import CompanyExists, StateInvalid
from mockcore.ledger import list_chains
from mockcore.plane import MockControlPlane
from mockcore.port import Applied, Principal, Refused
from mockcore.refusal import Refusal
from mockcore.text import canonical
from tests import factories as make
from tests.mockcore.conftest import Desk, seated
from tests.mockcore.scripts import play
from tests.mockcore.test_past_states import with_faults


def busy(commands: int = 80, seed: int = 5) -> Desk:
    desk = with_faults()
    desk.open()
    assert any(play(desk, commands=commands, seed=seed))
    return desk


def as_if_of(company_id: str, state: dict[str, Any], other: str) -> str:
    """Return a state's canonical text with the company's own id replaced where it stands as a name."""
    return canonical(state).replace(f'"{other}"', f'"{company_id}"')


def is_proved(company_id: str) -> bool:
    return [first_flaw(chain) for chain in list_chains(company_id=company_id)] == [None] * 5


class Twin(Desk):
    """A desk at a copy of another one's company."""

    @property
    def company_id(self) -> str:
        return self.copy_id

    @property
    def plane(self) -> MockControlPlane:
        return MockControlPlane(company_id=self.copy_id)

    @classmethod
    def of(cls, desk: Desk, company_id: str) -> Twin:
        twin = cls(identity=desk.identity, keys=desk.keys)
        twin.copy_id = company_id
        return twin

    copy_id: str


# ---------------------------------------------------------------- serialize and restore
@pytest.mark.requirement("company.copy.serialize")
def test_a_company_serializes_to_canonical_bytes_and_their_digest(db: None) -> None:
    desk = busy(commands=40)
    done = copies.serialize(company_id=desk.company_id)
    assert done.body == canonical(desk.plane.state()).encode()
    assert done.digest == hashlib.sha256(done.body).hexdigest()
    assert json.loads(done.body)["schema"] == "paperclip.capability.mock-state.v1"
    early = copies.serialize(company_id=desk.company_id, revision=3)
    assert (early.revision, json.loads(early.body)["revision"]) == (3, 3)


@pytest.mark.requirement("company.copy.restore")
@pytest.mark.parametrize("seed", [1, 5, 9])
def test_a_restored_company_is_the_same_bytes_and_goes_on_to_the_same_bytes(db: None, seed: int) -> None:
    desk = busy(seed=seed)
    done = copies.serialize(company_id=desk.company_id)
    twin = Twin.of(desk, copies.restore(done.body, company_id="company-restored", digest=done.digest))
    assert as_if_of(desk.company_id, twin.plane.state(), twin.company_id) == done.body.decode()
    assert is_proved(twin.company_id)
    for one in (desk, twin):
        list(play(one, commands=30, seed=77))
    assert as_if_of(desk.company_id, twin.plane.state(), twin.company_id) == canonical(desk.plane.state())
    assert is_proved(twin.company_id)
    base, newest = history.kept_revisions(company_id=twin.company_id)
    assert base == done.revision < newest
    first = history.state_at(company_id=twin.company_id, revision=base)
    assert first["clock"] == json.loads(done.body)["clock"]
    assert first["tasks"] == as_of(twin.company_id, json.loads(done.body)["tasks"])


def as_of(company_id: str, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**task, "companyId": company_id} for task in tasks]


@pytest.mark.requirement("company.copy.restore")
def test_a_restored_company_keeps_its_own_id_where_it_is_free(db: None) -> None:
    with transaction.atomic():
        desk = seated()
        done = copies.serialize(company_id=desk.company_id)
        transaction.set_rollback(True)
    assert copies.restore(done.body.decode()) == done.company_id
    assert canonical(MockControlPlane(company_id=done.company_id).state()).encode() == done.body
    with pytest.raises(CompanyExists):
        copies.restore(done.body)


@pytest.mark.requirement("company.copy.restore", "company.lifecycle")
def test_a_stopped_company_comes_back_stopped_and_can_be_started(desk: Desk) -> None:
    desk.plane.stop()
    done = copies.serialize(company_id=desk.company_id)
    twin = Twin.of(desk, copies.restore(done.body, company_id="company-stopped"))
    for one in (desk, twin):
        no = one.send(ReportProgress(body="x"))
        assert isinstance(no, Refused)
        assert (no.code, "stopped" in no.message, "retired" in no.message) == ("mock_not_running", True, False)
        one.plane.start()
        one.do(ReportProgress(body="x"))


@pytest.mark.requirement("company.copy.restore", "company.retired.read-only")
def test_a_copy_of_a_retired_company_is_stopped_and_the_company_itself_retired(desk: Desk) -> None:
    """Retiring is of the room that the company was made for, and no part of its state."""
    tenants.retire(company_id=desk.company_id)
    done = copies.serialize(company_id=desk.company_id)
    twin = Twin.of(desk, copies.restore(done.body, company_id="company-stopped"))
    said = [getattr(one.send(ReportProgress(body="x")), "message", "") for one in (desk, twin)]
    assert ["retired" in one for one in said] == [True, False]
    twin.plane.start()
    twin.do(ReportProgress(body="x"))


Edit = Callable[[dict[str, Any]], Any]
BROKEN: dict[str, tuple[Edit, str]] = {
    "another schema": (lambda s: s.update(schema="paperclip.capability.mock-state.v2"), "fixture_state_invalid"),
    "a list is missing": (lambda s: s.pop("wakes"), "fixture_state_invalid"),
    "a list too many": (lambda s: s.update(skills=[]), "fixture_state_invalid"),
    "a list is none": (lambda s: s.update(tasks=None), "fixture_state_invalid"),
    "a field too many": (lambda s: s["tasks"][0].update(colour="red"), "fixture_state_invalid"),
    "a field is missing": (lambda s: s["tasks"][0].pop("title"), "fixture_state_invalid"),
    "an unknown status": (lambda s: s["tasks"][0].update(status="flying"), "fixture_state_invalid"),
    "a number as text": (lambda s: s["budgets"][0].update(limitCents="5"), "fixture_state_invalid"),
    "a huge number": (lambda s: s["budgets"][0].update(limitCents=2**80), "fixture_state_invalid"),
    "a bad moment": (lambda s: s["runs"][0].update(openedAt="yesterday"), "fixture_state_invalid"),
    "an id twice": (lambda s: s["tasks"].append(s["tasks"][0]), "fixture_state_invalid"),
    "nobody's budget": (lambda s: s["actors"][0].update(budgetId="budget-x"), "fixture_state_invalid"),
    "a lost task": (lambda s: s["comments"][0].update(taskId="task-x"), "fixture_state_invalid"),
    "a gap in the audit": (lambda s: s["audit"].pop(0), "fixture_state_invalid"),
    "counters behind": (lambda s: s["counters"].update(position=0), "fixture_state_invalid"),
    "no company": (lambda s: s.update(company=[]), "fixture_state_invalid"),
    "a NUL": (lambda s: s["comments"][0].update(body="a\0b"), "fixture_state_invalid"),
    "another company's actor": (lambda s: s["actors"][0].update(companyId="company-x"), "company_scope_violation"),
}


@pytest.mark.requirement("company.copy.refused")
@pytest.mark.parametrize("name", BROKEN)
def test_a_state_that_is_none_is_refused_by_name_and_leaves_nothing(desk: Desk, name: str) -> None:
    desk.do(ReportProgress(body="Begun"))
    edit, code = BROKEN[name]
    state = json.loads(copies.serialize(company_id=desk.company_id).body)
    copies.restore(canonical(state), company_id="company-well")
    edit(state)
    with pytest.raises(Refusal) as no:
        copies.restore(canonical(state), company_id="company-ill")
    assert no.value.code == code
    assert models.Company.objects.count() == 2


@pytest.mark.requirement("company.copy.refused")
@pytest.mark.parametrize("text", ["", "{", "[]", "null", "NaN", '"x"', "[" * 100_000, "\ud800", "{}"])
def test_what_is_no_json_of_a_state_is_refused(db: None, text: str) -> None:
    with pytest.raises(StateInvalid):
        copies.restore(text)


@pytest.mark.requirement("company.copy.refused")
def test_a_digest_of_something_else_is_refused(desk: Desk) -> None:
    done = copies.serialize(company_id=desk.company_id)
    with pytest.raises(copies.DigestMismatch):
        copies.restore(done.body, company_id="company-other", digest="0" * 64)
    with pytest.raises(copies.DigestMismatch):
        copies.restore(done.body.replace(b"todo", b"done") + b" ", company_id="company-other", digest=done.digest)


@pytest.mark.requirement("company.copy.refused")
@pytest.mark.parametrize("company_id", ["a/b", "c" * 300])
def test_an_id_that_no_company_can_have_is_refused(desk: Desk, company_id: str) -> None:
    done = copies.serialize(company_id=desk.company_id)
    with pytest.raises(StateInvalid):
        copies.restore(done.body, company_id=company_id)


# ---------------------------------------------------------------- fork
@pytest.mark.requirement("company.copy.fork")
def test_a_fork_of_any_revision_is_that_state_and_knows_where_it_is_from(db: None) -> None:
    desk = busy()
    newest = desk.plane.state_revision()
    for number in (0, 1, newest // 2, newest):
        child = copies.fork(company_id=desk.company_id, revision=number)
        state = MockControlPlane(company_id=child).state()
        wanted = history.state_at(company_id=desk.company_id, revision=number)
        assert as_if_of(desk.company_id, state, child) == canonical(wanted)
        company = models.Company.objects.get(pk=child)
        assert (company.parent_id, company.base_revision) == (desk.company_id, number)
        assert is_proved(child)
        with pytest.raises(history.RevisionMissing):
            history.state_at(company_id=child, revision=number - 1)


@pytest.mark.requirement("company.copy.fork")
def test_a_fork_and_its_parent_share_nothing_and_the_same_script_gives_the_same_bytes(db: None) -> None:
    desk = busy()
    twin = Twin.of(desk, copies.fork(company_id=desk.company_id))
    before = canonical(desk.plane.state())
    list(play(twin, commands=40, seed=8))
    assert canonical(desk.plane.state()) == before
    list(play(desk, commands=40, seed=8))
    assert as_if_of(desk.company_id, twin.plane.state(), twin.company_id) == canonical(desk.plane.state())
    base, newest = history.kept_revisions(company_id=twin.company_id)
    for number in range(base, newest + 1):
        mine = history.state_at(company_id=twin.company_id, revision=number)
        theirs = history.state_at(company_id=desk.company_id, revision=number)
        assert as_if_of(desk.company_id, mine, twin.company_id) == canonical(theirs)
    assert is_proved(twin.company_id)
    assert is_proved(desk.company_id)


@pytest.mark.requirement("company.copy.fork")
def test_a_key_used_before_the_fork_is_known_after_it_and_one_used_later_is_not(desk: Desk) -> None:
    desk.do(ReportProgress(body="One"), key="one")
    twin = Twin.of(desk, copies.fork(company_id=desk.company_id))
    desk.do(ReportProgress(body="Two"), key="two")
    again = twin.send(ReportProgress(body="One"), key="one")
    assert isinstance(again, Applied)
    assert again.disposition == "duplicate"
    twin.do(ReportProgress(body="Two, otherwise"), key="two")


@pytest.mark.requirement("company.copy.fork")
def test_a_fork_of_a_fork_goes_on_from_both_and_from_nothing_that_came_later(desk: Desk) -> None:
    desk.do(ReportProgress(body="One"), key="one")
    child = Twin.of(desk, copies.fork(company_id=desk.company_id))
    desk.refuse(PostBoardComment(body=""), "semantic_command_invalid", principal=Principal.BOARD)  # when it was forked
    desk.do(ReportProgress(body="Two"), key="two")
    grandchild = Twin.of(desk, copies.fork(company_id=child.company_id))
    child.do(ReportProgress(body="Three"), key="three")
    late = Twin.of(desk, copies.fork(company_id=child.company_id))
    for twin, keys in ((grandchild, {"one"}), (late, {"one", "three"})):
        root = twin.plane.state()
        numbers = [one["id"] for one in root["decisions"]]
        assert numbers == sorted(set(numbers))
        assert {one["key"] for one in root["idempotency"]} >= keys
        assert "two" not in {one["key"] for one in root["idempotency"]}
        assert history.list_decisions(company_id=twin.company_id, limit=500) == root["decisions"]
        assert history.list_audit(company_id=twin.company_id, after=1) == root["audit"][1:]
        assert history.list_audit(company_id=twin.company_id, limit=1) == root["audit"][:1]
        for key in keys:
            again = twin.send(ReportProgress(body=key.title()), key=key)
            assert isinstance(again, Applied)
            assert again.disposition == "duplicate"
        twin.do(ReportProgress(body="Two, otherwise"), key="two")
        assert is_proved(twin.company_id)
        whole = copies.serialize(company_id=twin.company_id)
        copies.restore(whole.body, company_id=f"{twin.company_id}-restored", digest=whole.digest)


@pytest.mark.requirement("company.copy.fork")
def test_a_fork_of_a_late_revision_writes_no_more_than_one_of_an_early_one(db: None) -> None:
    company_id = long_history(revisions=200)
    keyframes.fill(company_id=company_id)

    def statements(revision: int) -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            copies.fork(company_id=company_id, revision=revision)
        return sorted(one["sql"].split("(")[0] for one in queries if one["sql"].startswith("INSERT"))

    before = [model.objects.count() for model in (models.AuditRecord, models.DecisionRecord, models.IdempotencyRecord)]
    assert statements(70) == statements(198)
    after = [model.objects.count() for model in (models.AuditRecord, models.DecisionRecord, models.IdempotencyRecord)]
    assert before == after


@pytest.mark.requirement("company.copy.fork")
def test_a_fork_is_proved_from_the_row_that_its_parent_has_now(desk: Desk) -> None:
    desk.do(ReportProgress(body="One"))
    child = copies.fork(company_id=desk.company_id)
    assert is_proved(child)
    last = models.AuditRecord.objects.filter(company_id=desk.company_id).order_by("-number")[:1]
    QuerySet(models.AuditRecord).filter(pk__in=[row.pk for row in last]).update(hash="0" * 64)
    assert not is_proved(child)


@pytest.mark.requirement("company.copy.fork")
@pytest.mark.parametrize("hashed", [True, False], ids=["hashed", "unhashed"])
@pytest.mark.parametrize("model", models.LedgerRow.__subclasses__(), ids=lambda model: str(model.CHAIN))
def test_a_row_of_a_copy_in_the_place_of_a_row_before_the_copy_is_found(desk: Desk, model: Any, hashed: bool) -> None:
    desk.do(ReportProgress(body="One"))
    body = copies.serialize(company_id=desk.company_id).body
    for copy in (copies.fork(company_id=desk.company_id), copies.restore(body, company_id="company-restored")):
        assert is_proved(copy)
        stray = QuerySet(model).filter(company_id=desk.company_id).order_by("number").first()
        if QuerySet(model).filter(company_id=copy, number=stray.number).exists():
            continue  # a restored company holds that row itself
        stray.pk, stray.company_id = None, copy
        stray.hash = stray.hash if hashed else ""
        QuerySet(model).bulk_create([stray])
        assert not is_proved(copy)


@pytest.mark.requirement("company.copy.fork")
def test_a_fault_that_struck_before_the_fork_has_struck_in_it(db: None) -> None:
    desk = seated()
    make.FaultFactory(company=desk.company(), effect="retryable_error", code="outage", configured_count=1)
    assert not isinstance(desk.send(ReportProgress(body="One"), key="one"), Applied)
    child = Twin.of(desk, copies.fork(company_id=desk.company_id))
    assert [rule["remaining"] for rule in child.plane.state()["faults"]] == [0]
    child.do(ReportProgress(body="One"), key="one")


@pytest.mark.requirement("company.copy.fork")
def test_a_fork_of_a_retired_company_runs_and_a_forked_company_stays(desk: Desk) -> None:
    tenants.retire(company_id=desk.company_id)
    twin = Twin.of(desk, copies.fork(company_id=desk.company_id, new_id="company-child"))
    assert twin.company_id == "company-child"
    twin.do(PostBoardComment(body="Go on"), principal=Principal.BOARD)
    with pytest.raises(tenants.TenantInUse):
        tenants.discard(company_id=desk.company_id)
    with pytest.raises(CompanyExists):
        copies.fork(company_id=desk.company_id, new_id="company-child")
    with pytest.raises(history.RevisionMissing):
        copies.fork(company_id=desk.company_id, revision=9)
