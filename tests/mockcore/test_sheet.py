"""The tables of the reference sheet, written out once more: the product's own tables are compared with these.

Source: reference A 2.9, 3.6, 3.8, 3.10, 3.11; design section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mockcore import models
from mockcore.authority import APPROVER_ROLES, CLAIMS
from mockcore.commands import (
    FinishTask,
    RecordBudgetUsage,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    ResolveHumanInput,
)
from mockcore.port import Applied, Principal, Refused
from mockcore.vocabulary import NEXT
from tests.factories import ActorFactory, FaultFactory
from tests.mockcore.conftest import Desk

# ---------------------------------------------------------------- claims
CLAIM_OF = {
    "resolve_human_input": "control_plane:interactions",
    "set_dependencies": "dependencies:write",
    "create_task": "delegation:tasks:create",
    "request_approval": "governance:approvals:request",
    "decide_approval": "governance:approvals:decide",
    "comment_on_approval": "governance:approvals:comment",
    "control_workspace_service": "workspace:control",
    "record_budget_usage": "control_plane:budget",
    "release_task": "control_plane:release",
    "schedule_wake": "control_plane:wakes",
}


@pytest.mark.requirement("company.authority.claims")
def test_the_claims_of_commands_and_the_roles_that_decide_are_those_of_the_sheet() -> None:
    assert CLAIMS == CLAIM_OF
    assert {"board", "approver", "security"} == APPROVER_ROLES


# ---------------------------------------------------------------- transitions
MOVES = {
    "backlog": {"todo", "cancelled"},
    "todo": {"in_progress", "blocked", "cancelled"},
    "in_progress": {"in_review", "blocked", "done", "cancelled"},
    "in_review": {"in_progress", "done", "cancelled"},
    "blocked": {"todo", "in_progress", "cancelled"},
    "done": set(),
    "cancelled": set(),
}


@pytest.mark.requirement("company.task.transitions")
def test_a_task_moves_as_in_the_sheet() -> None:
    assert {str(before): {str(after) for after in allowed} for before, allowed in NEXT.items()} == MOVES


# ---------------------------------------------------------------- interactions
ENDS = {
    "questions": {"answered", "rejected", "expired"},
    "item_verdicts": {"answered", "rejected", "expired"},
    "confirmation": {"accepted", "rejected", "expired"},
    "checkbox": {"accepted", "rejected", "expired"},
    "suggest_tasks": {"accepted", "rejected", "expired"},
}
WAKES = {
    "wake_assignee": {"answered", "accepted", "rejected", "expired"},
    "wake_assignee_on_accept": {"accepted"},
    "none": set[str](),
}
RESULTS: dict[str, Any] = {"rejected": {"reason": "No"}, "answered": {"answers": {"q1": "Yes"}}}
OUTCOMES = ("accepted", "answered", "rejected", "expired", "pending", "cancelled", "withdrawn", "")


def result_of(kind: str, outcome: str) -> Any:
    return None if (kind, outcome) == ("item_verdicts", "answered") else RESULTS.get(outcome)


def asked(desk: Desk, *, kind: str, policy: str = "none") -> str:
    desk.do(RequestHumanInput(interaction_kind=kind, title="t", prompt="p", continuation_policy=policy))
    return "interaction-0001"


@pytest.mark.requirement("company.interaction.outcomes")
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("kind", sorted(ENDS))
def test_each_kind_of_question_ends_as_in_the_sheet(desk: Desk, kind: str, outcome: str) -> None:
    answer = ResolveHumanInput(interaction_id=asked(desk, kind=kind), outcome=outcome, result=result_of(kind, outcome))
    if outcome in ENDS[kind]:
        desk.board(answer)
        assert desk.entity("interaction:interaction-0001")["status"] == outcome
    else:
        desk.refuse(answer, "interaction_outcome_invalid", principal=Principal.BOARD)


@pytest.mark.requirement("company.interaction.outcomes")
@pytest.mark.parametrize("policy", sorted(WAKES))
@pytest.mark.parametrize("kind", sorted(ENDS))
def test_an_answer_wakes_the_assignee_as_in_the_sheet(blank: Desk, kind: str, policy: str) -> None:
    for number, outcome in enumerate(sorted(ENDS[kind]), start=1):
        desk = Desk(identity=blank.identity, run_id=f"run-{number}")
        if number > 1:
            blank.put(status="todo", checkout_run=None, execution_run=None)
        assert isinstance(desk.open(desk.run_id), Applied)
        desk.do(RequestHumanInput(interaction_kind=kind, title="t", prompt="p", continuation_policy=policy))
        answer = ResolveHumanInput(
            interaction_id=f"interaction-{number:04}", outcome=outcome, result=result_of(kind, outcome)
        )
        applied = desk.board(answer)
        assert bool(applied.scheduled_wake_ids) == (outcome in WAKES[policy]), outcome


# ---------------------------------------------------------------- which refusal wins
Breaks = list[tuple[str, str | None, Callable[[Desk], dict[str, Any] | None]]]  # code, reason, how it is broken


def stopped(desk: Desk) -> None:
    desk.plane.stop()


def out_of_scope(desk: Desk) -> None:
    models.Company.objects.filter(pk=desk.company_id).update(out_of_scope_task_ids=[desk.task_id])


def paused(desk: Desk) -> None:
    models.Actor.objects.filter(company_id=desk.company_id).update(status="paused")


def spent(desk: Desk) -> None:
    models.Budget.objects.filter(company_id=desk.company_id).update(spent_cents=100_000)


def assigned_to_another(desk: Desk) -> None:
    desk.put(assignee_actor=ActorFactory(company=desk.company(), public_id="another"))


def held(desk: Desk) -> None:
    """No finished task is held: a constraint of the rows."""
    run = models.Run.objects.get(company_id=desk.company_id, public_id="run-1")
    desk.put(status="in_progress", checkout_run=run)


def finished(desk: Desk) -> None:
    desk.put(status="done")


def faulty(operation: str) -> Callable[[Desk], None]:
    def fault(desk: Desk) -> None:
        FaultFactory(company=desk.company(), operation=operation, code="outage")

    return fault


OPENING: Breaks = [
    ("mock_not_running", None, stopped),
    ("company_scope_violation", None, out_of_scope),
    ("actor_missing", None, lambda _: {"actor_id": "nobody"}),
    ("actor_not_active", None, paused),
    ("budget_hard_stop", None, spent),
    ("checkout_conflict", "checkout_assignee_conflict", assigned_to_another),
    ("checkout_conflict", "checkout_lock_conflict", held),
    ("terminal_task_requires_resume", None, finished),
    ("outage", None, faulty("open_run")),
]


def broken(desk: Desk, breaks: Breaks) -> dict[str, Any]:
    """Break all of these, the last first, and return what must be asked for, so that each of them would be refused."""
    asked_for: dict[str, Any] = {}
    for _, _, break_ in reversed(breaks):
        asked_for |= break_(desk) or {}
    return asked_for


@pytest.mark.requirement("company.open.order")
@pytest.mark.parametrize("first", range(len(OPENING)), ids=[reason or code for code, reason, _ in OPENING])
def test_of_several_rules_that_forbid_an_opening_the_first_of_the_sheet_is_named(desk: Desk, first: int) -> None:
    desk.put(checkout_run=None, execution_run=None, status="todo")
    code, reason, _ = OPENING[first]
    outcome = desk.open("run-2", **broken(desk, OPENING[first:]))
    assert isinstance(outcome, Refused)
    assert outcome.code == code
    if code != "mock_not_running":
        assert desk.last_decision()["reason"] == (reason or code)


@pytest.mark.requirement("company.open.order")
def test_a_task_in_progress_is_refused_as_held_and_without_a_holder_for_its_status(desk: Desk) -> None:
    outcome = desk.open("run-2", resume=True)
    assert isinstance(outcome, Refused)
    assert (outcome.code, desk.last_decision()["reason"]) == ("checkout_conflict", "checkout_lock_conflict")
    desk.put(checkout_run=None)
    again = desk.open("run-2", resume=True)
    assert isinstance(again, Refused)
    assert (again.code, desk.last_decision()["reason"]) == ("task_transition_illegal", "checkout_status_illegal")


def ended(desk: Desk) -> None:
    company = desk.company()
    models.Run.objects.filter(company=company).update(status="failed", finished_at=company.now())


def without_claims(desk: Desk) -> None:
    models.Run.objects.filter(company_id=desk.company_id).update(capabilities=[])


def without_task(desk: Desk) -> None:
    desk.put(assignee_actor=None)


APPLYING: Breaks = [
    ("mock_not_running", None, stopped),
    ("idempotency_key_required", None, lambda _: {"key": " "}),
    ("run_not_writable", None, ended),
    ("state_revision_conflict", None, lambda _: {"expected_revision": 999}),
    ("operation_not_authorized", "required_claim_missing", without_claims),
    ("task_ownership_violation", "run_does_not_own_task", without_task),
    ("semantic_command_invalid", None, lambda _: {"command": RequestApproval(approval_type=" ", payload_json={})}),
    ("outage", None, faulty("apply_command")),
]


@pytest.mark.requirement("company.apply.order")
@pytest.mark.parametrize("first", range(len(APPLYING)), ids=[code for code, _, _ in APPLYING])
def test_of_several_things_that_forbid_a_command_the_first_of_the_sheet_is_named(desk: Desk, first: int) -> None:
    code, reason, _ = APPLYING[first]
    asked_for = {"command": RequestApproval(approval_type="spend", payload_json={})} | broken(desk, APPLYING[first:])
    outcome = desk.send(asked_for.pop("command"), **asked_for)
    assert isinstance(outcome, Refused)
    assert outcome.code == code
    if reason:
        assert desk.last_decision()["reason"] == reason


@pytest.mark.requirement("company.apply.order")
def test_a_known_key_is_answered_before_anything_is_asked_of_the_run(desk: Desk) -> None:
    said = ReportProgress(body="b")
    first = desk.do(said, key="k")
    for break_ in (ended, without_claims, without_task, faulty("apply_command")):
        break_(desk)
    again = desk.send(said, key="k", expected_revision=999)
    assert isinstance(again, Applied)
    assert (again.disposition, again.state_revision) == ("duplicate", first.state_revision)
    other = desk.send(ReportProgress(body="c"), key="k", expected_revision=999)
    assert isinstance(other, Refused)
    assert other.code == "idempotency_conflict"
    stopped(desk)
    late = desk.send(said, key="k")
    assert isinstance(late, Refused)
    assert late.code == "mock_not_running"


# ---------------------------------------------------------------- effects
@pytest.mark.requirement("company.open.one-mutation")
def test_a_task_keeps_the_moment_when_it_was_first_started(desk: Desk) -> None:
    started = desk.task["startedAt"]
    desk.pass_time(60)
    desk.do(FinishTask(summary="Done"))
    assert isinstance(desk.open("run-2", resume=True), Applied)
    assert (desk.task["startedAt"], desk.task["completedAt"]) == (started, None)


@pytest.mark.requirement("company.budget.charged")
def test_the_budget_of_a_run_is_the_least_that_is_left(desk: Desk) -> None:
    for scope, limit in (("company", 900), ("actor", 500)):
        models.Budget.objects.filter(company_id=desk.company_id, scope=scope).update(limit_cents=limit, spent_cents=0)
    desk.do(RecordBudgetUsage(cents=120))
    assert desk.plane.context("run-1")["budget"] == {"limitCents": 500, "spentCents": 120, "remainingCents": 380}
    models.Budget.objects.filter(company_id=desk.company_id, scope="company").update(spent_cents=700)
    assert desk.plane.context("run-1")["budget"] == {"limitCents": 500, "spentCents": 300, "remainingCents": 200}
