"""What a task waits for. A blocker is open until the blocking task is done."""

from __future__ import annotations

from collections.abc import Iterable

from mockcore.commands import SetDependencies
from mockcore.handlers import wakes
from mockcore.handlers.scene import CommandInvalid, Scene
from mockcore.models import Blocker, Task
from mockcore.models.base import public_part
from mockcore.refusal import Refusal
from mockcore.vocabulary import TERMINAL, TaskStatus, WakeReason, step
from mockcore.work import UnitOfWork


class TaskMissing(Refusal):
    """There is no such task in the company."""

    code = "task_missing"


class CompanyScopeViolation(Refusal):
    """That belongs to another company."""

    code = "company_scope_violation"


class DependencyCycle(Refusal):
    """A task cannot wait for itself, not even through others."""

    code = "dependency_cycle"


def set_dependencies(scene: Scene, command: SetDependencies) -> None:
    """Replace the blockers of the active task: blocked while one is open, else free to go on.

    Without an open blocker a blocked task becomes `in_progress` when a run holds it, else `todo` (design section 4).
    """
    task = scene.task
    blocking = replace_blockers(scene, task, command.blocked_by_task_ids)
    if any(is_open(blocker) for blocker in blocking):
        if task.status != TaskStatus.BLOCKED:
            task.status = step(task.status, TaskStatus.BLOCKED).value
    elif task.status == TaskStatus.BLOCKED:
        unblock(task)


def unblock(task: Task) -> None:
    """Let a blocked task go on: with the run that holds it, or in the queue."""
    task.status = step(task.status, TaskStatus.IN_PROGRESS if task.checkout_run_id else TaskStatus.TODO).value


def is_open(blocking: Task) -> bool:
    """Say whether a blocking task still blocks. A cancelled one does: nobody has done what was waited for."""
    return blocking.status != TaskStatus.DONE


def open_blockers(work: UnitOfWork, task: Task) -> list[str]:
    """Return the identifiers of the tasks that still block `task`."""
    return [one.identifier for one in blocking_tasks(work, task) if is_open(one)]


def blocking_tasks(work: UnitOfWork, task: Task) -> list[Task]:
    """Return the tasks that `task` waits for."""
    edges = work.find(Blocker, task_id=task.uid)
    found = [work.get(Task, public_part(edge.blocked_by_task_id) or "") for edge in edges]
    return [blocking for blocking in found if blocking is not None]


def replace_blockers(scene: Scene, task: Task, task_ids: Iterable[str]) -> list[Task]:
    """Make `task` wait for exactly these tasks and return them; edges that stay are left alone.

    Raises `TaskMissing`, `CompanyScopeViolation`, `DependencyCycle`.
    """
    work = scene.work
    blocking = [_blocking(scene, task_id) for task_id in _ids(task_ids)]
    if blocking:
        _refuse_cycle(work, task, blocking)
    wanted = {one.uid for one in blocking}
    present = {edge.blocked_by_task_id: edge for edge in work.find(Blocker, task_id=task.uid)}
    for uid, edge in present.items():
        if uid not in wanted:
            work.remove(edge)
    for one in blocking:
        scene.mentioned.add(one.ref)
        if one.uid not in present:
            work.add(Blocker(public_id=work.next_id("blocker"), task=task, blocked_by_task=one, created_at=work.now))
    return blocking


def _ids(task_ids: Iterable[str]) -> list[str]:
    ids = list(task_ids)
    if not all(isinstance(one, str) for one in ids):
        raise CommandInvalid("blockedByTaskIds must be task ids")
    return sorted(set(ids))


def _blocking(scene: Scene, task_id: str) -> Task:
    if task_id in scene.work.company.out_of_scope_task_ids:
        raise CompanyScopeViolation(f"{task_id} is not a task of this company")
    found = scene.work.get(Task, task_id)
    if found is None:
        raise TaskMissing(f"there is no task {task_id}")
    return found


def _refuse_cycle(work: UnitOfWork, task: Task, blocking: list[Task]) -> None:
    waits_for: dict[str, list[str]] = {}
    for edge in work.find(Blocker):
        if edge.task_id != task.uid:  # those are about to be replaced
            waits_for.setdefault(edge.task_id, []).append(edge.blocked_by_task_id)
    ahead, seen = [one.uid for one in blocking], set[str]()
    while ahead:
        uid = ahead.pop()
        if uid == task.uid:
            raise DependencyCycle(f"{task.public_id} would wait for itself")
        if uid not in seen:
            seen.add(uid)
            ahead.extend(waits_for.get(uid, ()))


def release_dependents(scene: Scene, done: Task) -> None:
    """Free the tasks that waited for `done` and for nothing else that is open, and wake their assignees."""
    work = scene.work
    for edge in work.find(Blocker, blocked_by_task_id=done.uid):
        dependent = work.get(Task, public_part(edge.task_id) or "")
        if dependent is None or any(is_open(one) for one in blocking_tasks(work, dependent)):
            continue
        for own in work.find(Blocker, task_id=dependent.uid):
            work.remove(own)
        if dependent.status == TaskStatus.BLOCKED:
            unblock(dependent)
        if dependent.status not in TERMINAL:
            payload = {"completedTaskId": done.public_id}
            wakes.wake_assignee(scene, dependent, WakeReason.BLOCKERS_RESOLVED, payload)
