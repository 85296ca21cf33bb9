"""One key, one effect; and what is refused or fails leaves nothing behind."""

from __future__ import annotations

import dataclasses
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet

from mockcore import copies, handlers, models, rows
from mockcore.commands import (
    DecideApproval,
    FinishTask,
    PostBoardComment,
    ReportProgress,
    RequestApproval,
    SetDependencies,
    WriteDocument,
)
from mockcore.port import Applied, Outcome, Principal, Refused
from mockcore.text import canonical
from tests.factories import FaultFactory, TaskFactory
from tests.mockcore.conftest import Desk, seated

HELLO = ReportProgress(body="hello")


def comments(desk: Desk) -> list[str]:
    return [comment["body"] for comment in desk.plane.state()["comments"]]


# ---------------------------------------------------------------- the same key again
@pytest.mark.requirement("company.idempotency.duplicate")
def test_the_same_command_again_returns_the_first_answer_and_moves_nothing(desk: Desk) -> None:
    first = desk.do(HELLO, key="k")
    desk.do(ReportProgress(body="between"))
    before = desk.facts_of_state()
    again = desk.send(HELLO, key="k")
    assert again == dataclasses.replace(first, disposition="duplicate")
    assert desk.facts_of_state() == before
    decision = desk.last_decision()
    assert (decision["outcome"], decision["reason"]) == ("duplicate", "command_already_applied")


@pytest.mark.requirement("company.idempotency.conflict")
def test_a_key_means_one_command_across_all_kinds(desk: Desk) -> None:
    desk.do(HELLO, key="k")
    desk.refuse(ReportProgress(body="two"), "idempotency_conflict", key="k")
    desk.refuse(WriteDocument(key="plan", title="P", body="b", base_revision_id=None), "idempotency_conflict", key="k")
    desk.refuse(dataclasses.replace(HELLO, task_id=desk.task_id), "idempotency_conflict", key="k")
    assert comments(desk) == ["hello"]


def test_the_order_of_keys_does_not_matter_but_the_order_of_a_list_does(desk: Desk) -> None:
    for public_id in ("a", "b"):
        TaskFactory(company=desk.company(), public_id=public_id)
    first, second = json.loads('{"x":1,"y":[1,2]}'), json.loads('{"y":[1,2],"x":1}')
    desk.do(RequestApproval(approval_type="t", payload_json=first), key="k1")
    again = desk.send(RequestApproval(approval_type="t", payload_json=second), key="k1")
    assert isinstance(again, Applied)
    assert again.disposition == "duplicate"
    models.Approval.objects.all().delete()
    desk.put(status="in_progress")
    desk.do(SetDependencies(blocked_by_task_ids=("a", "b")), key="k2")
    desk.refuse(SetDependencies(blocked_by_task_ids=("b", "a")), "idempotency_conflict", key="k2")


def test_a_refused_command_does_not_burn_its_key(desk: Desk) -> None:
    desk.refuse(ReportProgress(body=" "), "semantic_command_invalid", key="k")
    desk.do(ReportProgress(body="corrected"), key="k")


@pytest.mark.parametrize("key", ["", "  ", "k" * 241])
def test_a_command_needs_a_usable_key(desk: Desk, key: str) -> None:
    desk.refuse(HELLO, "idempotency_key_required", idempotency_key=key)


def test_two_runs_do_not_share_keys(desk: Desk) -> None:
    desk.do(FinishTask(summary="done"), key="k")
    desk.open(run_id="run-2", resume=True)
    desk.do(FinishTask(summary="done again"), key="k", run_id="run-2")


@pytest.mark.requirement("company.idempotency.before-writability")
def test_a_stopped_run_still_learns_what_its_last_command_did(desk: Desk) -> None:
    desk.do(FinishTask(summary="done"), key="k")
    models.Run.objects.update(status="budget_stopped", finished_at=desk.company().now())
    again = desk.send(FinishTask(summary="done"), key="k")
    assert isinstance(again, Applied)
    assert again.disposition == "duplicate"


def test_a_value_that_json_cannot_hold_is_refused(desk: Desk) -> None:
    desk.refuse(RequestApproval(approval_type="t", payload_json={"n": float("nan")}), "semantic_command_invalid")


# ---------------------------------------------------------------- expected revision
@pytest.mark.requirement("company.revision.expected")
def test_an_expected_revision_must_be_the_present_one(desk: Desk) -> None:
    desk.do(HELLO, expected_revision=1)
    desk.refuse(HELLO, "state_revision_conflict", expected_revision=1)
    desk.do(HELLO, expected_revision=2)


def test_a_duplicate_is_recognised_whatever_revision_it_expected(desk: Desk) -> None:
    desk.do(HELLO, key="k", expected_revision=1)
    again = desk.send(HELLO, key="k", expected_revision=1)
    assert isinstance(again, Applied)
    assert again.disposition == "duplicate"


# ---------------------------------------------------------------- many at once
@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("company.idempotency.parallel")
def test_twenty_equal_commands_at_once_take_effect_once() -> None:
    desk = seated()
    envelope = desk.envelope(HELLO, key="k")
    outcomes = at_once([envelope] * 20, desk)
    dispositions = sorted(o.disposition for o in outcomes if isinstance(o, Applied))
    assert dispositions == ["applied"] + ["duplicate"] * 19
    assert len({(o.command_id, o.state_revision) for o in outcomes if isinstance(o, Applied)}) == 1
    assert comments(desk) == ["hello"]
    assert desk.plane.state_revision() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("company.writers.serial")
def test_as_many_revisions_as_successes_when_many_write_one_document() -> None:
    desk = seated()
    desk.do(WriteDocument(key="plan", title="P", body="0", base_revision_id=None))
    envelopes = [
        desk.envelope(WriteDocument(key="plan", title="P", body=str(n), base_revision_id="revision-0001"))
        for n in range(8)
    ]
    outcomes = at_once(envelopes, desk)
    assert sorted(o.code for o in outcomes if isinstance(o, Refused)) == ["document_revision_conflict"] * 7
    assert len(desk.entity("document:document-0001")["revisions"]) == 2
    assert desk.plane.state_revision() == 3
    assert len(desk.plane.state()["decisions"]) == 2 + 8


def at_once(envelopes: list, desk: Desk) -> list[Outcome]:
    """Apply all envelopes from threads of their own that start together."""
    together = threading.Barrier(len(envelopes))

    def send(envelope: object) -> Outcome:
        try:
            together.wait(5)
            return desk.plane.apply(envelope)  # type: ignore[arg-type]
        finally:
            connection.close()

    with ThreadPoolExecutor(len(envelopes)) as pool:
        return list(pool.map(send, envelopes))


# ---------------------------------------------------------------- all or nothing
@pytest.mark.requirement("company.command.atomic")
@pytest.mark.parametrize("breaks_at", ["StateRevision", "Change", "AuditRecord", "DecisionRecord", "IdempotencyRecord"])
def test_a_command_that_breaks_while_it_is_written_leaves_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, breaks_at: str
) -> None:
    before, insert = canonical(desk.plane.state()), rows.insert

    def breaking(*new: object) -> None:
        if new and type(new[0]).__name__ == breaks_at:
            raise ZeroDivisionError
        insert(*new)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "insert", breaking)
    with pytest.raises(ZeroDivisionError):
        desk.send(HELLO, key="k")
    monkeypatch.undo()
    assert canonical(desk.plane.state()) == before
    assert models.Change.objects.filter(revision=2).count() == 0
    desk.do(HELLO, key="k")


@pytest.mark.requirement("company.command.atomic")
def test_a_handler_that_breaks_half_way_leaves_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before, real = canonical(desk.plane.state()), handlers.HANDLERS[ReportProgress]

    def breaking(scene: object, command: object) -> None:
        real(scene, command)  # type: ignore[arg-type]
        raise ZeroDivisionError

    monkeypatch.setitem(handlers.HANDLERS, ReportProgress, breaking)
    with pytest.raises(ZeroDivisionError):
        desk.send(HELLO)
    assert canonical(desk.plane.state()) == before


@pytest.mark.requirement("company.command.nests")
def test_a_command_goes_with_the_callers_transaction(desk: Desk) -> None:
    before = canonical(desk.plane.state())
    with transaction.atomic():
        desk.do(HELLO, key="k")
        transaction.set_rollback(True)
    assert canonical(desk.plane.state()) == before
    with transaction.atomic():
        desk.do(HELLO, key="k")
    assert comments(desk) == ["hello"]


@pytest.mark.requirement("company.refusal.moves-nothing")
def test_a_refusal_inside_a_callers_transaction_keeps_its_decision_and_the_callers_work(desk: Desk) -> None:
    with transaction.atomic():
        desk.do(HELLO)
        desk.refuse(ReportProgress(body=""), "semantic_command_invalid")
    assert comments(desk) == ["hello"]
    assert desk.last_decision()["outcome"] == "denied"


# ---------------------------------------------------------------- faults
@pytest.mark.requirement("company.faults")
def test_a_retryable_fault_strikes_before_the_effect_and_is_used_up(desk: Desk) -> None:
    FaultFactory(company=desk.company(), effect="retryable_error", code="outage", configured_count=2)
    for _ in range(2):
        assert desk.refuse(HELLO, "outage", key="k").retryable
        assert desk.last_decision()["outcome"] == "faulted"
    desk.do(HELLO, key="k")


@pytest.mark.requirement("company.faults")
def test_after_a_lost_acknowledgement_the_same_command_is_a_duplicate(desk: Desk) -> None:
    FaultFactory(company=desk.company(), effect="lost_ack", code="lost")
    lost = desk.send(HELLO, key="k")
    assert isinstance(lost, Refused)
    assert (lost.code, lost.retryable, lost.state_revision) == ("lost", True, 2)
    again = desk.send(HELLO, key="k")
    assert isinstance(again, Applied)
    assert (again.disposition, again.state_revision) == ("duplicate", 2)
    assert comments(desk) == ["hello"]
    assert desk.plane.state_revision() == 2


def test_a_fault_for_one_command_spares_the_others_and_those_that_are_refused_anyway(desk: Desk) -> None:
    FaultFactory(company=desk.company(), command_kind="finish_task", code="outage")
    desk.do(HELLO)
    desk.refuse(FinishTask(summary=" "), "semantic_command_invalid")
    assert desk.plane.state()["faults"][0]["remaining"] == 1
    desk.refuse(FinishTask(summary="done"), "outage")
    assert desk.plane.state()["faults"][0]["remaining"] == 0
    desk.do(FinishTask(summary="done"))


def test_the_board_can_meet_a_fault_too(desk: Desk) -> None:
    FaultFactory(company=desk.company(), code="outage")
    desk.refuse(PostBoardComment(body="hi"), "outage", principal=Principal.BOARD)


# ---------------------------------------------------------------- whose key
def asked_for(desk: Desk) -> str:
    """Let the run ask for an approval, and return its id."""
    refs = desk.do(RequestApproval(approval_type="spend", payload_json={})).entity_refs
    return next(ref.removeprefix("approval:") for ref in refs if ref.startswith("approval:"))


def test_a_key_that_the_run_used_is_still_free_for_the_board(desk: Desk) -> None:
    approval_id = asked_for(desk)
    key = f"capability-live-interaction:{approval_id}:rejected"
    desk.do(HELLO, key=key)
    desk.board(DecideApproval(approval_id=approval_id, decision="rejected", note="No."), key=key)
    assert desk.entity(f"approval:{approval_id}")["status"] == "rejected"
    desk.do(HELLO, key="board-comment:message-1")
    desk.board(PostBoardComment(body="From the board"), key="board-comment:message-1")
    assert comments(desk) == ["hello", "hello", "From the board"]


def test_the_run_does_not_learn_from_a_key_what_the_board_did(desk: Desk) -> None:
    approval_id = asked_for(desk)
    decision = DecideApproval(approval_id=approval_id, decision="rejected", note="No.")
    desk.board(decision, key="k")
    desk.refuse(decision, "operation_not_authorized", key="k")
    desk.do(HELLO, key="k")
    again = desk.send(decision, key="k", principal=Principal.BOARD)
    assert isinstance(again, Applied)
    assert again.disposition == "duplicate"


def kept_among_the_runs(desk: Desk) -> None:
    """Leave the board's records as they were stored when both shared one space."""
    scope = f"{desk.run_id}:semantic-command"
    QuerySet(models.IdempotencyRecord).filter(company_id=desk.company_id).update(scope=scope)


@pytest.mark.parametrize("copy", ["itself", "fork", "restored"])
def test_what_the_board_did_before_its_keys_were_its_own_is_still_answered_again(desk: Desk, copy: str) -> None:
    said = PostBoardComment(body="From the board")
    first = desk.board(said, key="k")
    desk.do(HELLO, key="mine")
    kept_among_the_runs(desk)
    if copy == "fork":
        desk = dataclasses.replace(desk, identity=Named(copies.fork(company_id=desk.company_id)))
    if copy == "restored":
        body = copies.serialize(company_id=desk.company_id).body
        desk = dataclasses.replace(desk, identity=Named(copies.restore(body, company_id="company-twin")))
    again = desk.send(said, key="k", principal=Principal.BOARD)
    assert again == dataclasses.replace(first, disposition="duplicate")
    desk.refuse(PostBoardComment(body="Another"), "idempotency_conflict", key="k", principal=Principal.BOARD)
    desk.refuse(HELLO, "idempotency_conflict", key="k")
    desk.board(said, key="mine")  # the run's own is none of the board's


@dataclasses.dataclass
class Named:
    """A company of which no more is needed than its id."""

    company_id: str
