from __future__ import annotations

from typing import Any

import pytest

from mockcore import models
from mockcore.commands import FinishTask
from mockcore.port import Applied, Refused
from mockcore.vocabulary import CHECKOUT_FROM, TERMINAL, TaskStatus
from tests.factories import ActorFactory, FaultFactory, TaskFactory
from tests.mockcore.conftest import Desk


def refuse_open(desk: Desk, code: str, reason: str | None = None, **changed: Any) -> None:
    """Try to open a run, and check that nothing but a decision came of it."""
    before = desk.facts_of_state()
    outcome = desk.open(**changed)
    assert isinstance(outcome, Refused), outcome
    assert (outcome.code, outcome.command_kind) == (code, "open_run")
    assert desk.facts_of_state() == before
    assert desk.last_decision()["reason"] == (reason or code)


@pytest.mark.requirement("company.open.one-mutation")
def test_opening_a_run_checks_the_task_out_and_is_one_mutation(blank: Desk) -> None:
    assert blank.plane.state_revision() == 0
    outcome = blank.open(capabilities=("b", "a", "b"), wake={"reason": "manual", "payload": {"token": "x"}})
    assert isinstance(outcome, Applied)
    assert (outcome.disposition, outcome.state_revision) == ("applied", 1)
    task, run = blank.task, blank.entity("run:run-1")
    assert (task["status"], task["checkoutRunId"], task["executionRunId"]) == ("in_progress", "run-1", "run-1")
    assert task["startedAt"] == "2026-08-09T00:00:00.000Z"
    assert (run["status"], run["attempt"], run["capabilities"]) == ("running", 1, ["a", "b"])
    assert run["wake"] == {"reason": "manual", "payload": {"token": "[REDACTED]"}}
    state = blank.plane.state()
    assert (state["revision"], state["activeRunId"], state["clock"]["tick"]) == (1, "run-1", 1)
    assert [record["action"] for record in state["audit"]] == ["run.opened"]
    assert [(d["operation"], d["outcome"], d["reason"]) for d in state["decisions"]] == [
        ("open_run", "allowed", "atomic_checkout_acquired")
    ]


def test_a_run_without_capabilities_of_its_own_gets_its_actors(blank: Desk) -> None:
    models.Actor.objects.update(capability_grants=["discovery:tasks:read"])
    blank.open(capabilities=())
    assert blank.plane.facts("run-1").capabilities == {"discovery:tasks:read"}


@pytest.mark.requirement("company.open.again")
def test_opening_the_same_run_again_changes_nothing(desk: Desk) -> None:
    before = desk.facts_of_state()
    outcome = desk.open(capabilities=("ignored",))
    assert isinstance(outcome, Applied)
    assert (outcome.disposition, outcome.state_revision) == ("duplicate", 1)
    assert desk.facts_of_state() == before
    assert desk.last_decision()["reason"] == "run_binding_resumed"


@pytest.mark.parametrize(
    "changed",
    [
        {"session_id": "other"},
        {"backend_kind": "mock"},
        {"source_instance_id": "x"},
        {"actor_id": "x"},
        {"task_id": "x"},
    ],
)
def test_the_same_run_cannot_be_bound_to_something_else(desk: Desk, changed: dict[str, str]) -> None:
    refuse_open(desk, "run_binding_conflict", **changed)


def test_actor_and_task_must_be_of_the_company(blank: Desk) -> None:
    foreign = TaskFactory()
    refuse_open(blank, "actor_missing", actor_id="nobody")
    refuse_open(blank, "task_missing", task_id=foreign.public_id)


def test_a_paused_actor_opens_nothing(blank: Desk) -> None:
    models.Actor.objects.update(status="paused")
    refuse_open(blank, "actor_not_active")


@pytest.mark.parametrize("scope", ["company", "actor"])
def test_a_used_up_budget_stops_the_opening_unless_it_is_soft(blank: Desk, scope: str) -> None:
    budgets = models.Budget.objects.filter(scope=scope)
    budgets.update(spent_cents=100_000)
    refuse_open(blank, "budget_hard_stop")
    budgets.update(hard_stop=False)
    assert isinstance(blank.open(), Applied)


def test_a_task_of_another_actor_is_not_taken(blank: Desk) -> None:
    other = ActorFactory(company=blank.company())
    blank.put(assignee_actor=other)
    refuse_open(blank, "checkout_conflict", "checkout_assignee_conflict")


def test_an_unassigned_task_becomes_the_actors(blank: Desk) -> None:
    blank.put(assignee_actor=None)
    assert isinstance(blank.open(), Applied)
    assert blank.task["assigneeActorId"] == blank.identity.actor_id


def test_a_task_that_another_run_holds_is_not_taken(desk: Desk) -> None:
    refuse_open(desk, "checkout_conflict", "checkout_lock_conflict", run_id="run-2")


@pytest.mark.parametrize("status", [s for s in TaskStatus if s not in TERMINAL])
def test_a_free_task_is_checked_out_from_these_states(blank: Desk, status: TaskStatus) -> None:
    blank.put(status=status.value)
    if status in CHECKOUT_FROM:
        assert isinstance(blank.open(), Applied)
        assert blank.status == "in_progress"
    else:
        refuse_open(blank, "task_transition_illegal", "checkout_status_illegal")


def test_a_finished_task_is_opened_again_only_on_purpose(desk: Desk) -> None:
    desk.do(FinishTask(summary="Done"))
    refuse_open(desk, "terminal_task_requires_resume", run_id="run-2")
    outcome = desk.open(run_id="run-2", resume=True)
    assert isinstance(outcome, Applied)
    task = desk.task
    assert (task["status"], task["checkoutRunId"], task["completedAt"]) == ("in_progress", "run-2", None)
    assert desk.entity("run:run-2")["attempt"] == 2
    assert not desk.plane.facts("run-1").finished_by_run


@pytest.mark.parametrize("effect", ["retryable_error", "lost_ack"])
def test_a_fault_of_opening_strikes_once(blank: Desk, effect: str) -> None:
    FaultFactory(company=blank.company(), operation="open_run", effect=effect, code="outage")
    outcome = blank.open()
    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.retryable) == ("outage", True)
    assert blank.plane.state_revision() == (1 if effect == "lost_ack" else 0)
    again = blank.open()
    assert isinstance(again, Applied)
    assert again.disposition == ("duplicate" if effect == "lost_ack" else "applied")
    assert blank.plane.state_revision() == 1
