"""A run ends once, and its task goes where the result says."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mockcore import models
from mockcore.commands import FinishTask, RecordBudgetUsage, ReleaseTask, ReportProgress, RequestHumanInput
from mockcore.port import Applied, Refused
from tests.factories import BlockerFactory, FaultFactory, TaskFactory
from tests.mockcore.conftest import Desk
from tests.mockcore.reports import native, result, terminal

ASK = RequestHumanInput(interaction_kind="confirmation", title="t", prompt="p", continuation_policy="none")


def report(desk: Desk, disposition: str = "done", state: str = "succeeded") -> None:
    assert not isinstance(desk.plane.append_event("run-1", terminal(1, disposition, state)), Refused)


def end(desk: Desk, given: dict[str, Any]) -> Applied:
    outcome = desk.plane.complete_run("run-1", given)
    assert isinstance(outcome, Applied), outcome
    return outcome


def refuse(desk: Desk, given: dict[str, Any], code: str) -> None:
    before = desk.facts_of_state()
    outcome = desk.plane.complete_run("run-1", given)
    assert isinstance(outcome, Refused), outcome
    assert (outcome.code, desk.facts_of_state()) == (code, before)


def own_task(desk: Desk) -> models.Task:
    return models.Task.objects.get(public_id=desk.task_id)


@pytest.mark.requirement("company.run.completed")
@pytest.mark.parametrize(
    ("disposition", "status"),
    [("done", "done"), ("blocked", "blocked"), ("needs_review", "in_review"), ("yielded", "todo")],
)
def test_a_run_ends_and_lets_its_task_go_as_the_result_says(desk: Desk, disposition: str, status: str) -> None:
    report(desk, disposition, "failed")
    applied = end(desk, result(disposition, runTerminalState="failed"))
    task, run, state = desk.task, desk.entity("run:run-1"), desk.plane.state()
    assert (task["status"], task["checkoutRunId"], task["completedAt"] is None) == (status, None, status != "done")
    assert (run["status"], run["finishedAt"] is None) == ("failed", False)
    assert run["result"] == result(disposition, runTerminalState="failed")
    assert (applied.disposition, applied.command_kind, state["activeRunId"]) == ("applied", "complete_run", None)
    completed = next(record for record in state["audit"] if record["action"] == "run.completed")
    assert completed["details"] == {"disposition": disposition, "runTerminalState": "failed"}
    decision = next(one for one in state["decisions"] if one["operation"] == "complete_run")
    assert (decision["outcome"], decision["reason"]) == ("reconciled", "terminal_state_reconciled")
    desk.refuse(ReportProgress(body="more"), "run_not_writable")


@pytest.mark.requirement("company.run.completed")
def test_a_yielded_run_has_its_assignee_woken_a_second_later(desk: Desk) -> None:
    report(desk, "yielded")
    applied = end(desk, result("yielded"))
    wake = desk.entity("wake:wake-0001")
    assert applied.scheduled_wake_ids == applied.delivered_wake_ids == ("wake-0001",)
    assert (wake["reason"], wake["status"]) == ("scheduled_retry", "delivered")
    created, due = (datetime.fromisoformat(wake[name]) for name in ("createdAt", "dueAt"))
    assert due - created == timedelta(seconds=1)
    assert wake["payload"] == {"runId": "run-1", "continuation": {"kind": "retry"}}
    assert isinstance(desk.open(run_id="run-2"), Applied)


@pytest.mark.requirement("company.run.completed")
def test_a_done_run_frees_its_dependents_and_closes_its_questions(desk: Desk) -> None:
    dependent = TaskFactory(company=desk.company(), status="blocked", assignee_actor=own_task(desk).assignee_actor)
    BlockerFactory(company=desk.company(), task=dependent, blocked_by_task=own_task(desk))
    desk.do(ASK)
    report(desk)
    end(desk, result())
    assert desk.entity(f"task:{dependent.public_id}")["status"] == "todo"
    assert desk.entity("interaction:interaction-0001")["result"] == {"outcome": "issue_closed"}
    assert desk.entity("wake:wake-0001")["reason"] == "blockers_resolved"


def test_a_run_that_finished_its_task_already_only_ends(desk: Desk) -> None:
    desk.do(FinishTask(summary="Done"))
    before = desk.task
    report(desk)
    end(desk, result())
    assert (desk.task, desk.entity("run:run-1")["status"]) == (before, "succeeded")
    assert not isinstance(desk.open(run_id="run-2", resume=True), Refused)


def test_a_run_that_gave_its_task_back_may_only_yield(desk: Desk) -> None:
    desk.do(ReleaseTask(reason="Not mine"))
    report(desk, "yielded")
    assert isinstance(desk.open(run_id="run-2"), Applied)
    end(desk, result("yielded"))
    assert (desk.task["checkoutRunId"], desk.status) == ("run-2", "in_progress")


@pytest.mark.requirement("company.run.reconciled")
def test_a_result_that_disagrees_with_what_is_known_is_refused(desk: Desk) -> None:
    refuse(desk, result(), "terminal_event_missing")
    blocker = TaskFactory(company=desk.company())
    edge = BlockerFactory(company=desk.company(), task=own_task(desk), blocked_by_task=blocker)
    report(desk)
    refuse(desk, result(), "terminal_reconciliation_failed")  # it still waits
    edge.delete()
    refuse(desk, result("needs_review"), "terminal_reconciliation_failed")  # the event said done
    refuse(desk, result(runTerminalState="failed"), "terminal_reconciliation_failed")  # and succeeded
    desk.put(checkout_run=None)
    refuse(desk, result(), "terminal_reconciliation_failed")  # it holds no task
    desk.put(checkout_run_id=f"{desk.company_id}/run-1")
    end(desk, result())


def test_the_native_form_needs_the_native_terminal_event(desk: Desk) -> None:
    given = result(schema="paperclip.native_result.v1")
    report(desk)
    refuse(desk, given, "terminal_event_missing")
    assert not isinstance(desk.plane.append_event("run-1", native(2, eventType="run.completed")), Refused)
    end(desk, given)


@pytest.mark.requirement("company.run.completed-once")
def test_the_same_result_again_is_a_duplicate_and_another_one_a_conflict(desk: Desk) -> None:
    report(desk)
    first = end(desk, result())
    before = desk.facts_of_state()
    again = end(desk, dict(reversed(result().items())))
    assert (again.disposition, again.state_revision) == ("duplicate", first.state_revision)
    assert desk.facts_of_state() == before
    assert desk.last_decision()["reason"] == "terminal_result_already_committed"
    refuse(desk, result(summary="Something else."), "native_result_replay_conflict")
    refuse(desk, result("yielded"), "native_result_replay_conflict")


@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": "paperclip.run_result.v2"},
        {"disposition": "maybe"},
        {"disposition": None},
        {"runTerminalState": "running"},
        {"summary": " "},
        {"summary": "x" * 12_001},
        {"summary": None},
        {"disposition": "blocked"},
        {"disposition": "yielded", "continuation": "later"},
        {"evidence": [float("nan")]},
    ],
)
def test_a_malformed_result_is_refused(desk: Desk, wrong: dict[str, Any]) -> None:
    report(desk)
    refuse(desk, {**result(), **wrong}, "native_result_invalid")


def test_a_stopped_run_is_not_completed_any_more(desk: Desk) -> None:
    report(desk)
    desk.do(RecordBudgetUsage(cents=1_000))
    refuse(desk, result(), "budget_hard_stop")


@pytest.mark.requirement("company.faults")
@pytest.mark.parametrize(("effect", "again"), [("retryable_error", "applied"), ("lost_ack", "duplicate")])
def test_a_fault_of_completing_strikes_once(desk: Desk, effect: str, again: str) -> None:
    report(desk)
    FaultFactory(company=desk.company(), operation="complete_run", effect=effect, code="outage")
    outcome = desk.plane.complete_run("run-1", result())
    assert isinstance(outcome, Refused)
    assert (outcome.code, desk.status) == ("outage", "done" if effect == "lost_ack" else "in_progress")
    assert end(desk, result()).disposition == again
