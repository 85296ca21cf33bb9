"""The active task's own fate."""

from __future__ import annotations

from mockcore.commands import BlockTask, FinishTask, ReleaseTask, RequestReview
from mockcore.handlers import comments, dependencies, interactions
from mockcore.handlers.scene import Scene, text_in
from mockcore.refusal import Refusal
from mockcore.vocabulary import Expiry, TaskStatus, step


class RuleViolation(Refusal):
    """The task still waits for other tasks."""

    code = "semantic_rule_violation"


class ReleaseLockMismatch(Refusal):
    """The run does not hold the task, so there is nothing to give back."""

    code = "release_lock_mismatch"


def finish_task(scene: Scene, command: FinishTask) -> None:
    """Finish the active task: summary comment, checkout released, open questions closed, dependents freed and woken.

    Refused while a blocker is open. `execution_run` stays, as the mark of the run that finished the task and may go on
    reading it. Source: design sections 4 and 12.
    """
    task = scene.task
    summary = text_in(command.summary, name="summary")
    after = step(task.status, TaskStatus.DONE)
    if waiting_for := dependencies.open_blockers(scene.work, task):
        raise RuleViolation(
            f"The task still waits for {', '.join(waiting_for)}. Finish that first, or change it with set_dependencies."
        )
    comments.say(scene, summary)
    close(scene, status=after)


def close(scene: Scene, *, status: TaskStatus) -> None:
    """Make a task done: checkout released, open questions closed, dependents freed and woken."""
    task = scene.task
    task.status, task.completed_at, task.checkout_run = status.value, scene.work.now, None
    interactions.expire_pending(scene, Expiry.ISSUE_CLOSED)
    dependencies.release_dependents(scene, task)


def block_task(scene: Scene, command: BlockTask) -> None:
    """Block the active task with a reason; blockers are replaced when given and left alone when omitted."""
    reason = text_in(command.reason, name="reason")
    scene.task.status = step(scene.task.status, TaskStatus.BLOCKED).value
    if command.blocked_by_task_ids is not None:
        dependencies.replace_blockers(scene, scene.task, command.blocked_by_task_ids)
    comments.say(scene, reason)


def request_review(scene: Scene, command: RequestReview) -> None:
    """Put the active task into review with a summary comment."""
    after = step(scene.task.status, TaskStatus.IN_REVIEW)
    comments.say(scene, text_in(command.summary, name="summary"))
    scene.task.status = after.value


def release_task(scene: Scene, command: ReleaseTask) -> None:
    """Give the active task back: to do again, or still blocked while a blocker is open. The run stays open.

    Raises `ReleaseLockMismatch` when the run does not hold it. A task in review is refused: it waits for an answer.
    """
    task, reason = scene.task, text_in(command.reason, name="reason")
    if scene.run is None or task.checkout_run_id != scene.run.uid:
        raise ReleaseLockMismatch
    waits = dependencies.open_blockers(scene.work, task)
    if task.status == TaskStatus.IN_PROGRESS:  # the ways back that the table lacks (reference A 3.10)
        task.status = (TaskStatus.BLOCKED if waits else TaskStatus.TODO).value
    elif task.status != TaskStatus.BLOCKED or not waits:
        task.status = step(task.status, TaskStatus.TODO).value
    task.checkout_run = task.execution_run = None
    comments.say(scene, reason)
