"""Charging budgets, controlling services, giving a task back."""

from __future__ import annotations

from typing import Any

import pytest

from mockcore import models
from mockcore.commands import (
    BlockTask,
    ControlWorkspaceService,
    CreateTask,
    RecordBudgetUsage,
    ReleaseTask,
    ReportProgress,
    RequestHumanInput,
    ResolveHumanInput,
    SetDependencies,
)
from mockcore.port import Applied, Refused
from tests.factories import TaskFactory, WorkspaceServiceFactory
from tests.mockcore.conftest import Desk

ASK = RequestHumanInput(interaction_kind="confirmation", title="t", prompt="p", continuation_policy="none")
ACCEPT = ResolveHumanInput(interaction_id="interaction-0001", outcome="accepted")


def spent(desk: Desk) -> list[int]:
    return [budget["spentCents"] for budget in desk.plane.state()["budgets"]]


# ---------------------------------------------------------------- budgets
@pytest.mark.requirement("company.budget.charged")
def test_a_usage_charges_the_company_and_the_actor(desk: Desk) -> None:
    applied = desk.do(RecordBudgetUsage(cents=400))
    assert spent(desk) == [400, 400]
    assert {ref.partition(":")[0] for ref in applied.entity_refs} == {"budget", "task"}
    assert desk.plane.context("run-1")["budget"] == {"limitCents": 1_000, "spentCents": 400, "remainingCents": 600}
    desk.do(RecordBudgetUsage(cents=0))
    desk.do(RecordBudgetUsage(cents=599))
    assert (spent(desk), desk.entity("run:run-1")["status"]) == ([999, 999], "running")


@pytest.mark.requirement("company.budget.hard-stop")
@pytest.mark.parametrize("scope", ["company", "actor"])
def test_the_usage_that_uses_up_a_budget_stops_everything_in_the_same_revision(desk: Desk, scope: str) -> None:
    models.Budget.objects.exclude(scope=scope).update(limit_cents=10**9)
    limit = models.Budget.objects.get(scope=scope).limit_cents
    desk.do(RecordBudgetUsage(cents=limit + 5), key="last")  # it may overshoot
    run, task, state = desk.entity("run:run-1"), desk.task, desk.plane.state()
    assert spent(desk) == [limit + 5] * 2
    assert (run["status"], run["finishedAt"] is None) == ("budget_stopped", False)
    assert desk.entity(f"actor:{desk.identity.actor_id}")["status"] == "paused"
    assert (task["status"], task["checkoutRunId"], task["executionRunId"]) == ("blocked", None, None)
    assert [comment["authorActorId"] for comment in state["comments"]] == [None]
    assert (state["activeRunId"], state["audit"][-1]["action"]) == (None, "budget.hard_stop")

    desk.refuse(ReportProgress(body="more"), "budget_hard_stop")
    again = desk.send(RecordBudgetUsage(cents=limit + 5), key="last")
    assert isinstance(again, Applied)
    assert again.disposition == "duplicate"
    opened = desk.open(run_id="run-2")
    assert isinstance(opened, Refused)
    assert opened.code == "actor_not_active"


def test_a_soft_budget_stops_nothing(desk: Desk) -> None:
    models.Budget.objects.update(hard_stop=False)
    desk.do(RecordBudgetUsage(cents=50_000))
    assert desk.status == "in_progress"


@pytest.mark.parametrize("first", [ASK, BlockTask(reason="Waiting")])
def test_a_stop_finds_the_task_in_review_or_blocked_as_well(desk: Desk, first: Any) -> None:
    desk.do(first)
    desk.do(RecordBudgetUsage(cents=1_000))
    assert desk.status == "blocked"


def test_the_board_still_answers_what_a_stopped_run_had_asked(desk: Desk) -> None:
    desk.do(ASK)
    desk.do(RecordBudgetUsage(cents=1_000))
    desk.board(ACCEPT)
    assert (desk.entity("interaction:interaction-0001")["status"], desk.status) == ("accepted", "blocked")


@pytest.mark.parametrize("cents", [-1, 0.5, "5", None, True, 2**53])
def test_a_usage_that_is_no_whole_number_of_cents_is_refused(desk: Desk, cents: Any) -> None:
    desk.refuse(RecordBudgetUsage(cents=cents), "budget_usage_invalid")


def test_a_usage_that_no_budget_could_hold_is_refused(desk: Desk) -> None:
    models.Budget.objects.update(hard_stop=False, spent_cents=2**53 - 2)
    desk.refuse(RecordBudgetUsage(cents=2), "budget_usage_invalid")
    desk.do(RecordBudgetUsage(cents=1))


# ---------------------------------------------------------------- services
def service(desk: Desk, **columns: Any) -> dict[str, Any]:
    task = models.Task.objects.get(public_id=desk.task_id)
    WorkspaceServiceFactory(company=desk.company(), task=task, public_id="web", **columns)
    return desk.entity("workspace-service:web")


@pytest.mark.requirement("company.workspace.controlled")
def test_a_service_starts_stops_and_fails(desk: Desk) -> None:
    service(desk)
    applied = desk.do(ControlWorkspaceService(service_id="web", action="start", url="http://127.0.0.1:3000"))
    web = desk.entity("workspace-service:web")
    assert (web["status"], web["url"], web["lastTransitionAt"]) == (
        "running",
        "http://127.0.0.1:3000",
        "2026-08-09T00:00:01.000Z",
    )
    assert applied.entity_refs == (f"task:{desk.task_id}", "workspace-service:web")
    desk.do(ControlWorkspaceService(service_id="web", action="start"))
    assert desk.entity("workspace-service:web")["url"] == "http://127.0.0.1:3000"  # kept
    for action, status in (("stop", "stopped"), ("fail", "failed")):
        desk.do(ControlWorkspaceService(service_id="web", action=action, url="http://ignored"))
        web = desk.entity("workspace-service:web")
        assert (web["status"], web["url"]) == (status, None)


def test_only_a_service_of_the_active_task_is_controlled_and_only_in_three_ways(desk: Desk) -> None:
    service(desk)
    WorkspaceServiceFactory(company=desk.company(), task=TaskFactory(company=desk.company()), public_id="theirs")
    for unknown in ("theirs", "nowhere"):
        desk.refuse(ControlWorkspaceService(service_id=unknown, action="start"), "workspace_service_missing")
    desk.refuse(ControlWorkspaceService(service_id="web", action="restart"), "semantic_command_invalid")


# ---------------------------------------------------------------- giving back
@pytest.mark.requirement("company.release")
def test_a_released_task_is_to_do_again_and_free_for_another_run(desk: Desk) -> None:
    desk.do(ReleaseTask(reason="Not mine"))
    task = desk.task
    assert (task["status"], task["checkoutRunId"], task["executionRunId"]) == ("todo", None, None)
    assert desk.entity("comment:comment-0001")["body"] == "Not mine"
    assert desk.entity("run:run-1")["status"] == "running"
    desk.refuse(ReportProgress(body="still here"), "task_ownership_violation")
    desk.refuse(ReleaseTask(reason="Again"), "release_lock_mismatch")
    assert isinstance(desk.open(run_id="run-2"), Applied)
    desk.refuse(ReleaseTask(reason="Again"), "release_lock_mismatch")


def test_a_blocked_task_is_given_back_as_blocked_while_its_blocker_is_open(desk: Desk) -> None:
    desk.do(CreateTask(title="First"))
    desk.do(SetDependencies(blocked_by_task_ids=("task-0001",)))
    desk.do(ReleaseTask(reason="Waiting"))
    assert (desk.status, desk.task["checkoutRunId"]) == ("blocked", None)


def test_a_blocked_task_without_a_blocker_is_to_do_once_given_back(desk: Desk) -> None:
    desk.do(BlockTask(reason="Stuck"))
    desk.do(ReleaseTask(reason="Somebody else"))
    assert desk.status == "todo"


def blocked_anew(desk: Desk) -> None:
    """Let the active task wait for an open one, as when a finished blocker is taken up again."""
    company = desk.company()
    models.Blocker.objects.create(
        company=company,
        public_id="blocker-x",
        position=1,
        task=models.Task.objects.get(public_id=desk.task_id),
        blocked_by_task=TaskFactory(company=company),
        created_at=company.now(),
    )


def test_a_task_in_progress_is_given_back_as_blocked_while_a_blocker_is_open_again(desk: Desk) -> None:
    blocked_anew(desk)
    assert desk.status == "in_progress"
    desk.do(ReleaseTask(reason="Waiting"))
    assert (desk.status, desk.task["checkoutRunId"]) == ("blocked", None)


def test_a_task_in_review_is_not_given_back_and_a_reason_is_needed(desk: Desk) -> None:
    desk.refuse(ReleaseTask(reason=" "), "semantic_command_invalid")
    desk.do(ASK)
    desk.refuse(ReleaseTask(reason="Tired"), "task_transition_illegal")
    blocked_anew(desk)
    desk.refuse(ReleaseTask(reason="Tired"), "task_transition_illegal")
    assert desk.task["checkoutRunId"] == "run-1"
