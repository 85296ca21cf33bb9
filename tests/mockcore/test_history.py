"""What happened can be read back: revisions and their cause, changes, blame; and equal scripts give equal bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from mockcore import history, models, rows, tenants
from mockcore.appending import AppendOnly
from mockcore.commands import (
    BlockTask,
    CreateTask,
    DecideApproval,
    FinishTask,
    PostBoardComment,
    RegisterDeliverable,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    ResolveHumanInput,
    ScheduleWake,
    SetDependencies,
    WriteDocument,
)
from mockcore.models.ledger import LedgerRow
from mockcore.port import Cause, Principal
from mockcore.text import canonical
from tests.mockcore.conftest import Desk, seated

ASK = RequestHumanInput(interaction_kind="questions", title="t", prompt="p", continuation_policy="wake_assignee")


@pytest.mark.requirement("company.revision.cause")
def test_every_revision_knows_what_caused_it(desk: Desk) -> None:
    cause = Cause(turn_id="turn-7", call_id="call-3", message_id="m-1", authorization_id="auth-9")
    desk.do(ASK, cause=cause)
    desk.board(PostBoardComment(body="No"), cause=Cause(message_id="m-2"))
    opened, asked, said, delivered = history.list_revisions(company_id=desk.company_id)
    assert (opened.number, opened.operation) == (1, "open_run")
    assert (asked.number, asked.operation, asked.principal, asked.cause) == (
        2,
        "request_human_input",
        Principal.RUN,
        cause,
    )
    assert (said.principal, said.cause.message_id, said.command_id) == (Principal.BOARD, "m-2", "command-0002")
    assert (delivered.operation, delivered.principal, delivered.cause) == ("deliver_wakes", said.principal, said.cause)
    assert [r.number for r in history.list_revisions(company_id=desk.company_id, after=1, limit=1)] == [2]


def test_a_change_set_names_the_changed_fields_before_and_after(desk: Desk) -> None:
    desk.do(ASK)
    found = {change.ref: change for change in history.changes(company_id=desk.company_id, revision=2)}
    assert set(found) == {f"task:{desk.task_id}", "interaction:interaction-0001"}
    assert (found[f"task:{desk.task_id}"].before, found[f"task:{desk.task_id}"].after) == (
        {"status": "in_progress"},
        {"status": "in_review"},
    )
    added = found["interaction:interaction-0001"]
    assert (added.before, added.after) == (None, desk.entity("interaction:interaction-0001"))


def test_a_removed_entity_leaves_what_it_was(desk: Desk) -> None:
    desk.do(CreateTask(title="One"))
    desk.do(SetDependencies(blocked_by_task_ids=("task-0001",)))
    edge = desk.plane.state()["blockers"][0]
    desk.do(SetDependencies(blocked_by_task_ids=()))
    removed = [change for change in history.changes(company_id=desk.company_id, revision=4) if change.after is None]
    assert [(change.ref, change.before) for change in removed] == [("blocker:blocker-0001", edge)]


def script(desk: Desk) -> None:
    """Use every command and some refusals."""
    desk.do(ReportProgress(body="Begun"))
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    desk.do(ASK)
    desk.send(ReportProgress(body=" "))
    desk.board(
        ResolveHumanInput(
            interaction_id="interaction-0001", outcome="answered", result={"answers": {"q1": "1"}, "summary": ["2"]}
        )
    )
    desk.do(ASK)
    desk.do(WriteDocument(key="plan", title="Plan", body="2", base_revision_id="revision-0001"))
    desk.board(PostBoardComment(body="Go on"))
    desk.do(CreateTask(title="Part one"))
    desk.do(SetDependencies(blocked_by_task_ids=("task-0001",)))
    desk.do(SetDependencies(blocked_by_task_ids=()))
    desk.do(RequestApproval(approval_type="spend", payload_json={"cents": 5}))
    desk.send(DecideApproval(approval_id="approval-0009", decision="approved", note="x"), principal=Principal.BOARD)
    desk.board(DecideApproval(approval_id="approval-0001", decision="rejected", note=""))
    desk.do(
        RegisterDeliverable(filename="f", content_type="c", byte_size=1, sha256="s", content_ref="store://f", title="t")
    )
    desk.do(ScheduleWake(reason="manual", delay_ticks=5))
    desk.do(ReportProgress(body="Same"), key="same")
    desk.send(ReportProgress(body="Same"), key="same")
    desk.do(FinishTask(summary="Done"))


@pytest.mark.requirement("company.deterministic")
def test_the_same_script_gives_the_same_bytes(db: None) -> None:
    assert canonical(undone(script)) == canonical(undone(script))


def undone(work: Callable[[Desk], None]) -> dict[str, Any]:
    """Return the state that `work` leads to from one and the same seed, and take it all back."""
    with transaction.atomic():
        desk = seated(tenants.CleanRoomIdentity(token="0a1b2c3d", sequence=4821))
        work(desk)
        state = desk.plane.state()
        transaction.set_rollback(True)
    return state


@pytest.mark.requirement("company.refusal.moves-nothing")
def test_refusals_and_duplicates_between_commands_change_no_later_byte(db: None) -> None:
    def quiet(desk: Desk) -> None:
        for body in ("one", "two", "three"):
            desk.do(ReportProgress(body=body), key=body)

    def noisy(desk: Desk) -> None:
        for body in ("one", "two", "three"):
            desk.send(FinishTask(summary=" "), key="noise")
            desk.do(ReportProgress(body=body), key=body)
            desk.send(ReportProgress(body=body), key=body)

    undisturbed, disturbed = undone(quiet), undone(noisy)
    assert len(disturbed.pop("decisions")) == len(undisturbed.pop("decisions")) + 6
    assert canonical(disturbed) == canonical(undisturbed)


@pytest.mark.requirement("company.revision.change-set")
def test_the_change_sets_rebuild_the_present_from_the_seed(blank: Desk) -> None:
    """Fold every change over the seed's entities; the result is the rows as they are."""
    seed = entities_of(blank)
    blank.open()
    script(blank)
    for revision in history.list_revisions(company_id=blank.company_id):
        for change in history.changes(company_id=blank.company_id, revision=revision.number):
            if change.after is None:
                assert seed.pop(change.ref) == change.before
            elif change.before is None:
                assert change.ref not in seed
                seed[change.ref] = change.after
            else:
                assert {name: seed[change.ref][name] for name in change.before} == change.before
                seed[change.ref] = {**seed[change.ref], **change.after}
    assert seed == entities_of(blank)
    numbers = [revision.number for revision in history.list_revisions(company_id=blank.company_id)]
    assert numbers == list(range(1, blank.plane.state_revision() + 1))


def entities_of(desk: Desk) -> dict[str, dict[str, Any]]:
    """Return every entity's own facts by reference."""
    found = {}
    for model in models.Entity.__subclasses__():
        for row in model.objects.filter(company_id=desk.company_id):  # type: ignore[attr-defined]
            found[row.ref] = row.as_json()
    return found


@pytest.mark.requirement("company.blame")
def test_any_field_can_be_blamed_on_the_change_that_wrote_it(desk: Desk) -> None:
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    desk.do(WriteDocument(key="plan", title="Better", body="2", base_revision_id="revision-0001"))
    desk.do(BlockTask(reason="Waiting"))

    def blamed(ref: str, field: str) -> int | None:
        revision = history.blame(company_id=desk.company_id, ref=ref, field=field)
        return revision.number if revision else None

    assert blamed("document:document-0001", "title") == 3
    assert blamed("document:document-0001", "key") == 2
    assert blamed(f"task:{desk.task_id}", "status") == 4
    assert blamed(f"task:{desk.task_id}", "startedAt") == 1
    assert blamed(f"task:{desk.task_id}", "title") is None


@pytest.mark.requirement("company.ledger.one-of-each")
def test_each_mutation_has_one_audit_record_and_each_request_one_decision(desk: Desk) -> None:
    script(desk)
    audit = history.list_audit(company_id=desk.company_id)
    assert len(audit) == desk.plane.state_revision()
    actions = {"run.opened", "semantic_command.applied", "company.deliver_wakes"}
    assert {record["action"] for record in audit} == actions
    assert audit[1]["details"] == {
        "kind": "report_progress",
        "idempotencyKey": "key-1",
        "entityRefs": ["comment:comment-0001", f"task:{desk.task_id}"],
    }
    decisions = history.list_decisions(company_id=desk.company_id)
    assert [record["id"] for record in decisions] == [f"decision-{n:04d}" for n in range(1, len(decisions) + 1)]
    outcomes = [record["outcome"] for record in decisions]
    assert (outcomes.count("allowed"), outcomes.count("denied"), outcomes.count("duplicate")) == (len(audit), 2, 1)
    assert [record["actorId"] for record in audit if record["details"].get("kind") == "post_board_comment"] == [None]


def test_views_read_entities_by_reference_in_the_order_asked(desk: Desk) -> None:
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    desk.do(ASK)
    desk.do(RequestApproval(approval_type="spend", payload_json={}))
    refs = [f"task:{desk.task_id}", "document:document-0001", "nothing:x", "approval:approval-0001", "task:nowhere\0"]
    found = history.entities(company_id=desk.company_id, refs=refs)
    assert list(found) == [refs[0], refs[1], refs[3]]
    assert found["document:document-0001"]["revisions"][0]["body"] == "1"
    assert found["approval:approval-0001"]["comments"] == []
    assert history.pending_ids(company_id=desk.company_id, task_id=desk.task_id) == [
        "interaction-0001",
        "approval-0001",
    ]
    assert history.pending_ids(company_id=desk.company_id, task_id="task-0001") == []
    assert history.entities(company_id="another-company", refs=refs) == {}


def writes_of(model: Any, row: Any) -> list[Callable[[], Any]]:
    """Return every way in which the ORM changes or removes a row that is stored."""
    changed = {"hash": "0" * 64}
    writes: list[Callable[[], Any]] = [row.save, row.delete]
    for manager in (model.objects, model._default_manager, model._base_manager):
        writes += [
            manager.all().delete,
            partial(manager.update, **changed),
            partial(manager.filter(pk=row.pk).update, **changed),
            partial(manager.bulk_update, [row], ["hash"]),
            partial(manager.update_or_create, pk=row.pk, defaults=changed),
            partial(manager.bulk_create, [row], update_conflicts=True, unique_fields=["id"], update_fields=["hash"]),
        ]
    return writes


@pytest.mark.requirement("company.ledger.append-only")
def test_a_row_of_the_ledger_is_never_changed_or_removed(desk: Desk) -> None:
    desk.do(ReportProgress(body="Begun"))
    for model in LedgerRow.__subclasses__():
        row = model.objects.filter(company_id=desk.company_id).latest("pk")
        for write in (*writes_of(model, row), partial(rows.update, row, ["hash"]), partial(rows.delete, row)):
            with pytest.raises(AppendOnly):
                write()
        assert model.objects.get(pk=row.pk).hash == row.hash
