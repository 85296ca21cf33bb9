"""The active task's own fate."""

from __future__ import annotations

from mockcore.commands import BlockTask, FinishTask, RequestReview
from mockcore.handlers import comments, dependencies, interactions
from mockcore.handlers.scene import Scene, text_in
from mockcore.refusal import Refusal
from mockcore.vocabulary import Expiry, TaskStatus, step


class RuleViolation(Refusal):
    """The task still waits for other tasks."""

    code = "semantic_rule_violation"


def finish_task(scene: Scene, command: FinishTask) -> None:
    """Finish the active task: summary comment, checkout released, open questions closed, dependents freed and woken.

    Refused while a blocker is open. `execution_run` stays, as the mark of the run that finished the task and may go on
    reading it. Source: design sections 4 and 12.
    """
    task, work = scene.task, scene.work
    summary = text_in(command.summary, name="summary")
    after = step(task.status, TaskStatus.DONE)
    waiting_for = [one.identifier for one in dependencies.blocking_tasks(work, task) if dependencies.is_open(one)]
    if waiting_for:
        raise RuleViolation(f"the task still waits for {', '.join(waiting_for)}")
    task.status, task.completed_at, task.checkout_run = after.value, work.now, None
    comments.say(scene, summary)
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
