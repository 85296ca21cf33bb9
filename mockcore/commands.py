"""One frozen value per mutation of the mock company. Shapes only: rules live in `handlers/`.

`kind` is the public name of a command (reference A section 3.9); `payload()` is what idempotency compares.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class Command:
    """One mutation of the run's active task. `task_id` names another task only to be refused."""

    kind: ClassVar[str]
    task_id: str | None = None

    def payload(self) -> dict[str, Any]:
        """Return the command as JSON-compatible values, `kind` included. Idempotency compares its canonical JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"kind": self.kind, **{name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}}


@dataclass(frozen=True, kw_only=True)
class ReportProgress(Command):
    """Append a durable comment by the run's actor."""

    kind: ClassVar[str] = "report_progress"
    body: str


@dataclass(frozen=True, kw_only=True)
class AnswerStatusQuestion(Command):
    """Append an answer as a durable comment. Its own kind, so that a key used for a report is a conflict here."""

    kind: ClassVar[str] = "answer_status_question"
    body: str


@dataclass(frozen=True, kw_only=True)
class WriteDocument(Command):
    """Create a document (`base_revision_id` None) or add a revision on top of its latest one."""

    kind: ClassVar[str] = "write_document"
    key: str
    title: str
    body: str
    base_revision_id: str | None
    change_summary: str | None = None


@dataclass(frozen=True, kw_only=True)
class RequestHumanInput(Command):
    """Open a typed interaction for the board; the task goes into review."""

    kind: ClassVar[str] = "request_human_input"
    interaction_kind: str
    title: str
    prompt: str
    continuation_policy: str
    payload_json: dict[str, Any] | None = None
    target_revision_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ResolveHumanInput(Command):
    """Record the board's answer to a pending interaction."""

    kind: ClassVar[str] = "resolve_human_input"
    interaction_id: str
    outcome: str
    result: Any = None


@dataclass(frozen=True, kw_only=True)
class RegisterDeliverable(Command):
    """Record an artifact's metadata and its work product; no bytes."""

    kind: ClassVar[str] = "register_deliverable"
    filename: str
    content_type: str
    byte_size: int
    sha256: str
    content_ref: str
    title: str


@dataclass(frozen=True, kw_only=True)
class SetDependencies(Command):
    """Replace the blocker set of the active task."""

    kind: ClassVar[str] = "set_dependencies"
    blocked_by_task_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CreateTask(Command):
    """Create one child under the active task."""

    kind: ClassVar[str] = "create_task"
    title: str
    description: str | None = None
    assignee_actor_id: str | None = None
    priority: str | None = None
    blocked_by_task_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class RequestApproval(Command):
    """Open an approval linked to the active task; the task goes into review."""

    kind: ClassVar[str] = "request_approval"
    approval_type: str
    payload_json: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class DecideApproval(Command):
    """Decide a pending approval, once."""

    kind: ClassVar[str] = "decide_approval"
    approval_id: str
    decision: str
    note: str


@dataclass(frozen=True, kw_only=True)
class CommentOnApproval(Command):
    """Append a comment to an approval of the active task."""

    kind: ClassVar[str] = "comment_on_approval"
    approval_id: str
    body: str


@dataclass(frozen=True, kw_only=True)
class FinishTask(Command):
    """Move the active task to done with a summary comment."""

    kind: ClassVar[str] = "finish_task"
    summary: str


@dataclass(frozen=True, kw_only=True)
class BlockTask(Command):
    """Move the active task to blocked with a reason; None leaves the blockers as they are."""

    kind: ClassVar[str] = "block_task"
    reason: str
    blocked_by_task_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class RequestReview(Command):
    """Move the active task to in_review with a summary comment."""

    kind: ClassVar[str] = "request_review"
    summary: str


@dataclass(frozen=True, kw_only=True)
class ScheduleWake(Command):
    """Schedule a continuation `delay_ticks` seconds of company time from now."""

    kind: ClassVar[str] = "schedule_wake"
    reason: str
    delay_ticks: int
    payload_json: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class PostBoardComment(Command):
    """Record what the board said on the issue; pending interactions are superseded by it."""

    kind: ClassVar[str] = "post_board_comment"
    body: str


@dataclass(frozen=True, kw_only=True)
class ControlWorkspaceService(Command):
    """Start, stop or fail a service of the active task's workspace."""

    kind: ClassVar[str] = "control_workspace_service"
    service_id: str
    action: str
    url: str | None = None


@dataclass(frozen=True, kw_only=True)
class RecordBudgetUsage(Command):
    """Charge the company's and the actor's budget; the charge that uses one up stops run and actor."""

    kind: ClassVar[str] = "record_budget_usage"
    cents: int


@dataclass(frozen=True, kw_only=True)
class ReleaseTask(Command):
    """Give the active task back to the queue; the run goes on without it."""

    kind: ClassVar[str] = "release_task"
    reason: str
