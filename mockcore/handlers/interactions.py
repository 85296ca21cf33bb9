"""Interactions: typed questions to the board, their answers, and the ways they end without one."""

from __future__ import annotations

from typing import Any

from mockcore.commands import RequestHumanInput, ResolveHumanInput
from mockcore.handlers import answers, cards, children, wakes
from mockcore.handlers.scene import Scene, object_in, text_in, word_in
from mockcore.handlers.suggestions import accepted_suggestions
from mockcore.models import Approval, Document, DocumentRevision, Interaction, Task
from mockcore.models.base import public_part
from mockcore.refusal import Refusal
from mockcore.vocabulary import (
    TERMINAL,
    ApprovalStatus,
    Continuation,
    Expiry,
    InteractionKind,
    InteractionStatus,
    TaskStatus,
    WakeReason,
    is_legal_outcome,
    step,
)


class InteractionTargetMissing(Refusal):
    """There is no such document revision on the task."""

    code = "interaction_target_missing"


class InteractionTargetStale(Refusal):
    """The target is no longer the latest revision of its document."""

    code = "interaction_target_stale"


class InteractionMissing(Refusal):
    """There is no such interaction on the task."""

    code = "interaction_missing"


class InteractionAlreadyResolved(Refusal):
    """The interaction has already ended."""

    code = "interaction_already_resolved"


class InteractionOutcomeInvalid(Refusal):
    """That outcome does not fit the kind of interaction."""

    code = "interaction_outcome_invalid"


def request_human_input(scene: Scene, command: RequestHumanInput) -> None:
    """Open a pending interaction; the task goes into review, where it may already be.

    What is asked again is withdrawn: same kind, and same target or title. The new one takes over its continuation.
    """
    work, task = scene.work, scene.task
    interaction = Interaction(
        kind=word_in(command.interaction_kind, known=InteractionKind, name="interactionKind"),
        title=text_in(command.title, name="title"),
        prompt=text_in(command.prompt, name="prompt"),
        continuation_policy=word_in(command.continuation_policy, known=Continuation, name="continuationPolicy"),
        payload=object_in(command.payload_json, name="payload"),
        target_revision=_target(scene, command.target_revision_id),
        task=task,
        created_at=work.now,
    )
    cards.check_card(interaction.kind, interaction.payload, now=work.now)
    interaction.public_id = work.next_id("interaction")
    _withdraw_the_same(scene, interaction)
    work.add(interaction)
    enter_review(task)


def _withdraw_the_same(scene: Scene, again: Interaction) -> None:
    superseded_by = {"supersededBy": {"kind": "interaction", "id": again.public_id}}
    for asked in pending_of(scene, kind=again.kind):
        same_target = asked.target_revision_id is not None and asked.target_revision_id == again.target_revision_id
        if same_target or asked.title.strip() == again.title.strip():
            expire(scene, asked, Expiry.WITHDRAWN, superseded_by, wakes_assignee=False)


def _target(scene: Scene, revision_id: str | None) -> DocumentRevision | None:
    if revision_id is None:
        return None
    revision = scene.work.get(DocumentRevision, revision_id)
    document = scene.work.get(Document, public_part(revision.document_id) or "") if revision else None
    if revision is None or document is None or document.task_id != scene.task.uid:
        raise InteractionTargetMissing(f"the task has no document revision {revision_id}")
    if document.latest_revision_id != revision.uid:
        raise InteractionTargetStale(f"the latest revision of {document.key} is no longer {revision_id}")
    return revision


def resolve_human_input(scene: Scene, command: ResolveHumanInput) -> None:
    """Record an answer that fits its card, once. The last open question or approval ends the task's review.

    Accepting `suggest_tasks` creates the accepted tasks. Verdicts on some of the items lock those and leave the card
    open. Source: reference A 3.11, design section 4.
    """
    interaction = scene.work.get(Interaction, command.interaction_id)
    if interaction is None or interaction.task_id != scene.task.uid:
        raise InteractionMissing(f"the task has no interaction {command.interaction_id}")
    if interaction.status != InteractionStatus.PENDING:
        raise InteractionAlreadyResolved(f"{interaction.public_id} is already {interaction.status}")
    if not is_legal_outcome(interaction.kind, command.outcome):
        raise InteractionOutcomeInvalid(f"a {interaction.kind} interaction cannot end as {command.outcome}")
    card = answers.Card(
        kind=interaction.kind,
        prompt=interaction.prompt,
        payload=interaction.payload,
        held=answers.held_verdicts(interaction.result),
        remarks=answers.held_remarks(interaction.result),
    )
    answer = answers.check(card, outcome=command.outcome, result=command.result)
    if not answer.complete:
        interaction.result = answer.result
        return
    _close(scene, interaction, status=InteractionStatus(command.outcome), result=answer.result)
    if interaction.kind == InteractionKind.SUGGEST_TASKS and command.outcome == InteractionStatus.ACCEPTED:
        _create_accepted_tasks(scene, interaction)
    leave_review(scene, scene.task)


def _create_accepted_tasks(scene: Scene, interaction: Interaction) -> None:
    for suggestion in accepted_suggestions(interaction.payload, interaction.result):
        children.add_child(scene, title=suggestion.title, description=suggestion.description)


def pending_of(scene: Scene, **where: Any) -> list[Interaction]:
    """Return the task's interactions that wait, or those of them whose columns equal `where`."""
    return scene.work.find(Interaction, task_id=scene.task.uid, status=InteractionStatus.PENDING.value, **where)


def expire_pending(scene: Scene, why: Expiry, *, about: dict[str, Any] | None = None, **detail: Any) -> None:
    """End the task's pending interactions, or those whose columns equal `about`, without an answer."""
    expired = pending_of(scene, **(about or {}))
    for interaction in expired:
        expire(scene, interaction, why, detail)
    if expired:
        leave_review(scene, scene.task)


def expire(
    scene: Scene, interaction: Interaction, why: Expiry, detail: dict[str, Any], *, wakes_assignee: bool = True
) -> None:
    """End one pending interaction without an answer. `result.outcome` says why; what was said so far stays in it."""
    held = answers.held_verdicts(interaction.result)
    said = {**answers.held_remarks(interaction.result), **({"verdicts": held} if held else {})}
    result = {**said, "outcome": why.value, **detail}
    _close(scene, interaction, status=InteractionStatus.EXPIRED, result=result, wakes_assignee=wakes_assignee)


def _close(
    scene: Scene, interaction: Interaction, *, status: InteractionStatus, result: Any, wakes_assignee: bool = True
) -> None:
    interaction.status, interaction.result, interaction.resolved_at = status.value, result, scene.work.now
    accepted = status is InteractionStatus.ACCEPTED
    policy = interaction.continuation_policy
    wanted = policy == Continuation.WAKE_ASSIGNEE or (policy == Continuation.WAKE_ASSIGNEE_ON_ACCEPT and accepted)
    if wakes_assignee and wanted and scene.task.status not in TERMINAL:
        payload = {"interactionId": interaction.public_id, "outcome": status.value}
        wakes.wake_assignee(scene, scene.task, WakeReason.INTERACTION_RESOLVED, payload)


def enter_review(task: Task) -> None:
    """Move a task into review, where a question or approval may find it already."""
    if task.status != TaskStatus.IN_REVIEW:
        task.status = step(task.status, TaskStatus.IN_REVIEW).value


def leave_review(scene: Scene, task: Task) -> None:
    """Return a task from review unless something still waits for the board. Call it when a question just ended.

    A review that was asked for without a question thus stays until something else moves it. A task that no run holds
    goes back to the queue: `in_progress` would be a state that nobody can check it out from.
    """
    if task.status != TaskStatus.IN_REVIEW:
        return
    work = scene.work
    questions = work.find(Interaction, task_id=task.uid, status=InteractionStatus.PENDING.value)
    approvals = work.find(Approval, status=ApprovalStatus.PENDING.value)
    if not questions and not any(task.public_id in approval.task_ids for approval in approvals):
        task.status = (TaskStatus.IN_PROGRESS if task.checkout_run_id else TaskStatus.TODO).value
