"""The second check, at the command boundary: may this run, or the board, apply this command? Knows no catalog.

Source: reference A 2.9. The checks are an ordered list; the first to fail wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mockcore.commands import Command, DecideApproval, ReleaseTask, ScheduleWake
from mockcore.handlers.approvals import linked_approval
from mockcore.handlers.dependencies import CompanyScopeViolation, TaskMissing
from mockcore.models import Task
from mockcore.models.base import public_part
from mockcore.models.run import Run
from mockcore.port import Principal
from mockcore.refusal import Refusal
from mockcore.vocabulary import RunStatus
from mockcore.work import UnitOfWork

CLAIMS: dict[str, str] = {
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
BOARD_MAY = frozenset({"resolve_human_input", "decide_approval", "post_board_comment"})
BOARD_ONLY = frozenset({"post_board_comment"})
APPROVER_ROLES = frozenset({"board", "approver", "security"})


class OperationNotAuthorized(Refusal):
    """Whoever sent the command may not apply it."""

    code = "operation_not_authorized"
    reason: ClassVar[str] = "required_claim_missing"


class RoleNotAuthorized(OperationNotAuthorized):
    """Only a board member, approver or security actor decides approvals."""

    reason = "actor_role_not_authorized"


class PrincipalNotAuthorized(OperationNotAuthorized):
    """The board answers, decides and comments; everything else is for the run."""

    reason = "principal_not_authorized"


class TaskScopeViolation(Refusal):
    """A command is about the run's active task only."""

    code = "task_scope_violation"
    reason: ClassVar[str] = "active_task_scope_required"


class TaskOwnershipViolation(Refusal):
    """The run does not hold the task."""

    code = "task_ownership_violation"
    reason: ClassVar[str] = "run_does_not_own_task"


class SelfApprovalForbidden(Refusal):
    """Nobody decides an approval that he has asked for."""

    code = "self_approval_forbidden"
    reason: ClassVar[str] = "self_approval_forbidden"


class RunNotWritable(Refusal):
    """The run has ended."""

    code = "run_not_writable"


class BudgetHardStop(Refusal):
    """A budget is used up."""

    code = "budget_hard_stop"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One command, who sent it, and the fresh rows it will be judged by."""

    work: UnitOfWork
    run: Run
    principal: Principal
    command: Command


def authorize(request: Request) -> None:
    """Raise the refusal of the first check that fails."""
    for check in CHECKS[request.principal]:
        check(request)


def _run_may(request: Request) -> None:
    if request.command.kind in BOARD_ONLY:
        raise PrincipalNotAuthorized
    claim = CLAIMS.get(request.command.kind)
    if claim is not None and claim not in request.run.capabilities:
        raise OperationNotAuthorized(f"the run has no claim {claim}")


def _board_may(request: Request) -> None:
    if request.command.kind not in BOARD_MAY:
        raise PrincipalNotAuthorized


def _nobody_may(request: Request) -> None:
    raise PrincipalNotAuthorized


def _task_is_active(request: Request) -> None:
    named, active = request.command.task_id, public_part(request.run.task_id)
    if named is None or named == active:
        return
    if named in request.work.company.out_of_scope_task_ids:
        raise CompanyScopeViolation(f"{named} is not a task of this company")
    if request.work.get(Task, named) is None:
        raise TaskMissing(f"there is no task {named}")
    raise TaskScopeViolation(f"the run's active task is {active}, not {named}")


def _run_owns_task(request: Request) -> None:
    run, task = request.run, request.run.task
    if isinstance(request.command, ReleaseTask):
        return  # what it gives back is the lock, so its handler names the lock (`release_lock_mismatch`)
    if isinstance(request.command, ScheduleWake) and task.assignee_actor_id is None:
        return  # its handler refuses more exactly: there is nobody to wake (`wake_assignee_missing`)
    if not (task.assignee_actor_id == run.actor_id and task.checkout_run_id == task.execution_run_id == run.uid):
        raise TaskOwnershipViolation


def _actor_may_decide(request: Request) -> None:
    if not isinstance(request.command, DecideApproval):
        return
    if request.run.actor.role.strip().lower() not in APPROVER_ROLES:
        raise RoleNotAuthorized
    approval = linked_approval(request.work, request.run.task, request.command.approval_id)
    if approval.requested_by_actor_id == request.run.actor_id:
        raise SelfApprovalForbidden


CHECKS: dict[Principal, tuple[Callable[[Request], None], ...]] = {
    Principal.RUN: (_run_may, _task_is_active, _run_owns_task, _actor_may_decide),
    Principal.BOARD: (_board_may, _task_is_active),  # the handlers hold the target to the active task
    Principal.OPERATOR: (_nobody_may,),  # the operator moves the clock, and sends no command
}


def require_writable(request: Request) -> None:
    """Refuse a command of a run that has ended; the board's authority does not hang on the run.

    Called after the idempotency look-up, so that a stopped run still learns what it did (reference A, trap 13).
    """
    if request.principal is Principal.RUN:
        refuse_ended(request.run)


def refuse_ended(run: Run) -> None:
    """Raise `BudgetHardStop` or `RunNotWritable` when a run has ended."""
    if run.status != RunStatus.RUNNING:
        raise BudgetHardStop if run.status == RunStatus.BUDGET_STOPPED else RunNotWritable
