"""Opening a run: it checks its task out, atomically. Source: reference A 3.6."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mockcore.authority import BudgetHardStop
from mockcore.handlers.budgets import budgets_of
from mockcore.handlers.children import ActorMissing
from mockcore.handlers.dependencies import CompanyScopeViolation, TaskMissing
from mockcore.models import Actor, Run, Task
from mockcore.models.base import public_part, uid_of
from mockcore.port import OpenRun
from mockcore.refusal import Refusal
from mockcore.vocabulary import CHECKOUT_FROM, TERMINAL, RunStatus, Standing, TaskStatus, TransitionIllegal, WakeReason
from mockcore.work import UnitOfWork


class RunBindingConflict(Refusal):
    """A run of that id exists and is bound to something else."""

    code = "run_binding_conflict"


class ActorNotActive(Refusal):
    """The actor is paused."""

    code = "actor_not_active"


class CheckoutConflict(Refusal):
    """The task is assigned to another actor."""

    code = "checkout_conflict"
    reason: ClassVar[str] = "checkout_assignee_conflict"


class CheckoutLocked(CheckoutConflict):
    """Another run holds the task."""

    reason = "checkout_lock_conflict"


class TerminalTaskRequiresResume(Refusal):
    """The task is finished; opening a run on it again must be asked for."""

    code = "terminal_task_requires_resume"


class CheckoutStatusIllegal(TransitionIllegal):
    """A task in that status cannot be checked out."""

    reason: ClassVar[str] = "checkout_status_illegal"


@dataclass(frozen=True, kw_only=True)
class Checkout:
    work: UnitOfWork
    request: OpenRun
    actor: Actor
    task: Task


def is_same_binding(run: Run, request: OpenRun) -> bool:
    """Say whether the request means this very run: actor, task, session, backend and source are equal."""
    asked = (request.actor_id, request.task_id, request.session_id, request.backend_kind, request.source_instance_id)
    bound = (public_part(run.actor_id), public_part(run.task_id))
    return asked == (*bound, run.session_id, run.backend_kind, run.source_instance_id)


def check_out(work: UnitOfWork, request: OpenRun) -> Run:
    """Check the task out for a new run and return it. Raises the refusal of the first rule that fails."""
    actor, task = work.get(Actor, request.actor_id), work.get(Task, request.task_id)
    if request.task_id in work.company.out_of_scope_task_ids:
        raise CompanyScopeViolation(f"{request.task_id} is not a task of this company")
    if actor is None:
        raise ActorMissing(f"there is no actor {request.actor_id}")
    if task is None:
        raise TaskMissing(f"there is no task {request.task_id}")
    checkout = Checkout(work=work, request=request, actor=actor, task=task)
    for rule in RULES:
        rule(checkout)
    return _hold(checkout)


def _actor_is_active(checkout: Checkout) -> None:
    if checkout.actor.status != Standing.ACTIVE:
        raise ActorNotActive


def _budgets_are_left(checkout: Checkout) -> None:
    if any(budget.is_exceeded for budget in budgets_of(checkout.work, checkout.actor)):
        raise BudgetHardStop


def _task_is_mine(checkout: Checkout) -> None:
    if checkout.task.assignee_actor_id not in (None, checkout.actor.uid):
        raise CheckoutConflict


def _task_is_free(checkout: Checkout) -> None:
    if checkout.task.checkout_run_id is not None:
        raise CheckoutLocked(f"{public_part(checkout.task.checkout_run_id)} holds the task")


def _finished_tasks_are_resumed(checkout: Checkout) -> None:
    if checkout.task.status in TERMINAL and not checkout.request.resume:
        raise TerminalTaskRequiresResume


def _status_allows(checkout: Checkout) -> None:
    if checkout.task.status not in CHECKOUT_FROM | TERMINAL:
        raise CheckoutStatusIllegal(f"a task that is {checkout.task.status} cannot be checked out")


RULES: tuple[Callable[[Checkout], None], ...] = (
    _actor_is_active,
    _budgets_are_left,
    _task_is_mine,
    _task_is_free,
    _finished_tasks_are_resumed,
    _status_allows,
)


def _hold(checkout: Checkout) -> Run:
    work, request, task = checkout.work, checkout.request, checkout.task
    wake = dict(request.wake or {})
    run = Run(
        public_id=request.run_id,
        actor=checkout.actor,
        task=task,
        session_id=request.session_id,
        backend_kind=request.backend_kind,
        source_instance_id=request.source_instance_id,
        status=RunStatus.RUNNING.value,
        attempt=2 if request.resume else 1,
        opened_at=work.now,
        wake={"reason": wake.get("reason", WakeReason.MANUAL.value), "payload": wake.get("payload", {})},
        capabilities=sorted(set(request.capabilities or checkout.actor.capability_grants)),
    )
    work.add(run)
    task.assignee_actor = checkout.actor
    task.checkout_run_id = task.execution_run_id = uid_of(work.company.pk, request.run_id)
    task.status, task.started_at, task.completed_at = TaskStatus.IN_PROGRESS.value, task.started_at or work.now, None
    work.company.active_run_id = request.run_id
    return run
