"""The words of the mock company: every enum, and the table of task states. Pure. Source: reference A 1.3, 3.3, 3.10."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from mockcore.refusal import Refusal


class Lifecycle(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"  # readable, refuses every mutation


class Standing(StrEnum):
    """Of a company or an actor."""

    ACTIVE = "active"
    PAUSED = "paused"


class TaskStatus(StrEnum):
    BACKLOG = "backlog"
    TODO = "todo"
    IN_PROGRESS = "in_progress"
    IN_REVIEW = "in_review"
    DONE = "done"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"


class Priority(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class WorkMode(StrEnum):
    STANDARD = "standard"
    PLANNING = "planning"
    ASK = "ask"
    SKILL_TEST = "skill_test"


class InteractionKind(StrEnum):
    CONFIRMATION = "confirmation"
    CHECKBOX = "checkbox"
    QUESTIONS = "questions"
    SUGGEST_TASKS = "suggest_tasks"
    ITEM_VERDICTS = "item_verdicts"


class InteractionStatus(StrEnum):
    PENDING = "pending"
    ANSWERED = "answered"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"


class Continuation(StrEnum):
    NONE = "none"
    WAKE_ASSIGNEE = "wake_assignee"
    WAKE_ASSIGNEE_ON_ACCEPT = "wake_assignee_on_accept"


class Expiry(StrEnum):
    """Why a pending interaction ended without an answer: `result.outcome`. Source: reference A 3.11."""

    EXPIRED = "expired"  # company time passed its `payload.expiresAt`
    WITHDRAWN = "withdrawn"  # the agent asked the same again
    STALE_TARGET = "stale_target"
    SUPERSEDED_BY_COMMENT = "superseded_by_comment"
    ISSUE_CLOSED = "issue_closed"


class ApprovalStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


class WorkProductType(StrEnum):
    ARTIFACT = "artifact"
    DOCUMENT = "document"
    PULL_REQUEST = "pull_request"
    PREVIEW_URL = "preview_url"
    RUNTIME_SERVICE = "runtime_service"
    COMMIT = "commit"
    BRANCH = "branch"


class ServiceStatus(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"


class BudgetScope(StrEnum):
    COMPANY = "company"
    ACTOR = "actor"


class WakeReason(StrEnum):
    MANUAL = "manual"
    ISSUE_COMMENTED = "issue_commented"
    INTERACTION_RESOLVED = "interaction_resolved"
    APPROVAL_RESOLVED = "approval_resolved"
    BLOCKERS_RESOLVED = "blockers_resolved"
    SCHEDULED_RETRY = "scheduled_retry"
    RESUME = "resume"


class WakeStatus(StrEnum):
    SCHEDULED = "scheduled"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"


class RunStatus(StrEnum):
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    BUDGET_STOPPED = "budget_stopped"


class TerminalState(StrEnum):
    """How a run ended, as its runner says."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Disposition(StrEnum):
    """What a run says of its work when it ends."""

    DONE = "done"
    BLOCKED = "blocked"
    NEEDS_REVIEW = "needs_review"
    YIELDED = "yielded"


class FaultOperation(StrEnum):
    OPEN_RUN = "open_run"
    APPEND_EVENT = "append_event"
    APPLY_COMMAND = "apply_command"
    COMPLETE_RUN = "complete_run"


class FaultEffect(StrEnum):
    RETRYABLE_ERROR = "retryable_error"  # refused before the effect
    LOST_ACK = "lost_ack"  # took effect, but the caller is told that it failed


class Decided(StrEnum):
    """The outcome of a decision record."""

    ALLOWED = "allowed"
    DENIED = "denied"
    DUPLICATE = "duplicate"
    RECONCILED = "reconciled"
    FAULTED = "faulted"


ANSWERS: dict[InteractionKind, frozenset[InteractionStatus]] = {
    InteractionKind.QUESTIONS: frozenset({InteractionStatus.ANSWERED}),
    InteractionKind.ITEM_VERDICTS: frozenset({InteractionStatus.ANSWERED}),
    InteractionKind.CONFIRMATION: frozenset({InteractionStatus.ACCEPTED}),
    InteractionKind.CHECKBOX: frozenset({InteractionStatus.ACCEPTED}),
    InteractionKind.SUGGEST_TASKS: frozenset({InteractionStatus.ACCEPTED}),
}
UNANSWERED = frozenset({InteractionStatus.REJECTED, InteractionStatus.EXPIRED})  # legal for every kind
TERMINAL = frozenset({TaskStatus.DONE, TaskStatus.CANCELLED})
CHECKOUT_FROM = frozenset({TaskStatus.BACKLOG, TaskStatus.TODO, TaskStatus.BLOCKED, TaskStatus.IN_REVIEW})

NEXT: dict[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.BACKLOG: frozenset({TaskStatus.TODO, TaskStatus.CANCELLED}),
    TaskStatus.TODO: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED, TaskStatus.CANCELLED}),
    TaskStatus.IN_PROGRESS: frozenset(
        {TaskStatus.IN_REVIEW, TaskStatus.BLOCKED, TaskStatus.DONE, TaskStatus.CANCELLED}
    ),
    TaskStatus.IN_REVIEW: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.DONE, TaskStatus.CANCELLED}),
    TaskStatus.BLOCKED: frozenset({TaskStatus.TODO, TaskStatus.IN_PROGRESS, TaskStatus.CANCELLED}),
    TaskStatus.DONE: frozenset(),
    TaskStatus.CANCELLED: frozenset(),
}


class TransitionIllegal(Refusal):
    """The task cannot move to that status from where it is."""

    code = "task_transition_illegal"


UNBLOCK = " Unblock it first: set_dependencies without an open blocker does."


def step(before: str, after: TaskStatus) -> TaskStatus:
    """Return `after` when the table lets a task move there from `before`; raises `TransitionIllegal` otherwise."""
    if after not in NEXT[TaskStatus(before)]:
        way_out = UNBLOCK if before == TaskStatus.BLOCKED else ""
        raise TransitionIllegal(f"A task that is {before} cannot become {after}.{way_out}")
    return after


def is_word(value: Any, known: Iterable[str]) -> bool:
    """Say whether a value of any type is one of the known words."""
    return isinstance(value, str) and value in set(known)


def is_legal_outcome(kind: str, outcome: str) -> bool:
    """Say whether an interaction of this kind can end with this outcome."""
    return is_word(outcome, ANSWERS[InteractionKind(kind)] | UNANSWERED)
