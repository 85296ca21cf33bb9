"""Approvals: asked for by an actor, decided once, and only in the presence of a task they are linked to."""

from __future__ import annotations

from mockcore.commands import CommentOnApproval, DecideApproval, RequestApproval
from mockcore.handlers import interactions, wakes
from mockcore.handlers.scene import CommandInvalid, Scene, object_in, text_in
from mockcore.models import Approval, ApprovalComment, Task
from mockcore.refusal import Refusal
from mockcore.vocabulary import TERMINAL, ApprovalStatus, WakeReason
from mockcore.work import UnitOfWork


class ApprovalMissing(Refusal):
    """There is no such approval in the company."""

    code = "approval_missing"


class ApprovalScopeViolation(Refusal):
    """The approval is not linked to the active task."""

    code = "approval_scope_violation"


class ApprovalAlreadyDecided(Refusal):
    """The approval has already been decided."""

    code = "approval_already_decided"


def request_approval(scene: Scene, command: RequestApproval) -> None:
    """Open a pending approval linked to the active task; the task goes into review, where it may already be."""
    work = scene.work
    approval = Approval(
        type=text_in(command.approval_type, name="approvalType"),
        payload=object_in(command.payload_json, name="payload"),
        task_ids=[scene.task.public_id],
        requested_by_actor=scene.author,
        created_at=work.now,
    )
    approval.public_id = work.next_id("approval")
    work.add(approval)
    interactions.enter_review(scene.task)


def decide_approval(scene: Scene, command: DecideApproval) -> None:
    """Decide a pending approval, once, and wake the assignees of its tasks. The board may leave the note empty."""
    approval = linked_approval(scene.work, scene.task, command.approval_id)
    if approval.status != ApprovalStatus.PENDING:
        raise ApprovalAlreadyDecided(f"{approval.public_id} is already {approval.status}")
    if command.decision not in set(ApprovalStatus) - {ApprovalStatus.PENDING}:
        raise CommandInvalid("decision must be one of: approved, rejected, cancelled")
    note = command.note if scene.author is None and not command.note else text_in(command.note, name="note")
    approval.status, approval.decision_note, approval.decided_at = command.decision, note, scene.work.now
    payload = {"approvalId": approval.public_id, "decision": command.decision}
    for task_id in approval.task_ids:
        task = scene.work.get(Task, task_id)
        if task is not None and task.status not in TERMINAL:
            wakes.wake_assignee(scene, task, WakeReason.APPROVAL_RESOLVED, payload)
            interactions.leave_review(scene, task)


def comment_on_approval(scene: Scene, command: CommentOnApproval) -> None:
    """Append a comment to an approval, decided or not."""
    approval = linked_approval(scene.work, scene.task, command.approval_id)
    body, work = text_in(command.body, name="body"), scene.work
    comment = ApprovalComment(
        public_id=work.next_id("approval-comment"),
        approval=approval,
        author_actor=scene.author,
        body=body,
        created_at=work.now,
    )
    work.add(comment)
    scene.mentioned.add(approval.ref)


def linked_approval(work: UnitOfWork, task: Task, approval_id: str) -> Approval:
    """Return an approval that is linked to the task. Raises `ApprovalMissing`, `ApprovalScopeViolation`."""
    approval = work.get(Approval, approval_id)
    if approval is None:
        raise ApprovalMissing(f"there is no approval {approval_id}")
    if task.public_id not in approval.task_ids:
        raise ApprovalScopeViolation(f"{approval_id} is not linked to the active task")
    return approval
