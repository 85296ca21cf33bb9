"""Children of the active task."""

from __future__ import annotations

from collections.abc import Iterable

from mockcore.commands import CreateTask
from mockcore.handlers import dependencies
from mockcore.handlers.scene import Scene, text_in, word_in
from mockcore.models import Actor, Task
from mockcore.refusal import Refusal
from mockcore.vocabulary import Priority, TaskStatus, WorkMode


class ActorMissing(Refusal):
    """There is no such actor in the company."""

    code = "actor_missing"


def create_task(scene: Scene, command: CreateTask) -> None:
    """Create one child of the active task; blocked when one of its blockers is open."""
    assignee = None
    if command.assignee_actor_id is not None:
        assignee = scene.work.get(Actor, command.assignee_actor_id)
        if assignee is None:
            raise ActorMissing(f"there is no actor {command.assignee_actor_id}")
    add_child(
        scene,
        title=command.title,
        description=command.description,
        assignee=assignee,
        priority=Priority.MEDIUM.value if command.priority is None else command.priority,
        blocked_by=command.blocked_by_task_ids or (),
    )


def add_child(
    scene: Scene,
    *,
    title: str | None,
    description: str | None,
    assignee: Actor | None = None,
    priority: str = Priority.MEDIUM.value,
    blocked_by: Iterable[str] = (),
) -> Task:
    """Add a child of the active task, with an identifier that no task of the company has."""
    child = Task(
        title=text_in(title, name="title"),
        description=description,
        priority=word_in(priority, known=Priority, name="priority"),
        work_mode=WorkMode.STANDARD.value,
        parent=scene.task,
        assignee_actor=assignee,
    )
    child.public_id, child.identifier = _free_id(scene), _free_identifier(scene)
    scene.work.add(child)
    blocking = dependencies.replace_blockers(scene, child, blocked_by)
    if any(dependencies.is_open(one) for one in blocking):
        child.status = TaskStatus.BLOCKED.value
    return child


def _free_id(scene: Scene) -> str:
    while scene.work.get(Task, public_id := scene.work.next_id("task")):
        pass  # a seeded task may have that id
    return public_id


def _free_identifier(scene: Scene) -> str:
    prefix = scene.work.company.issue_prefix
    while scene.work.find(Task, identifier=(identifier := f"{prefix}-{scene.work.next_number('issue-number')}")):
        pass  # a seeded task may have that identifier (reference A, trap 22)
    return identifier
