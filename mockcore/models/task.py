"""Tasks, what is said on them, and what blocks them."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint

from mockcore.models.base import Entity, listed_by, one_of
from mockcore.vocabulary import TERMINAL, Priority, TaskStatus, WorkMode


class Task(Entity):
    """One issue. `checkout_run` holds it for writing; `execution_run` is the run that works it, or that finished it."""

    KIND = "task"
    PUBLIC = (
        "public_id", "company_id", "identifier", "title", "description", "status", "priority", "work_mode",
        "parent_id", "assignee_actor_id", "checkout_run_id", "execution_run_id", "started_at", "completed_at",
    )  # fmt: skip

    identifier = models.CharField(max_length=60)
    title = models.TextField()
    description = models.TextField(null=True)
    status = models.CharField(max_length=20, default=TaskStatus.TODO.value)
    priority = models.CharField(max_length=20, default=Priority.MEDIUM.value)
    work_mode = models.CharField(max_length=20, default=WorkMode.STANDARD.value)
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    assignee_actor = models.ForeignKey("mockcore.Actor", models.PROTECT, null=True, related_name="+", db_index=False)
    checkout_run = models.ForeignKey("mockcore.Run", models.PROTECT, null=True, related_name="+", db_index=False)
    execution_run = models.ForeignKey("mockcore.Run", models.PROTECT, null=True, related_name="+", db_index=False)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            UniqueConstraint(fields=["company", "identifier"], name="task_identifier_unique"),
            one_of("status", TaskStatus),
            one_of("priority", Priority),
            one_of("work_mode", WorkMode),
            CheckConstraint(
                condition=Q(checkout_run=None) | ~Q(status__in=[str(s) for s in sorted(TERMINAL)]),
                name="task_terminal_is_not_held",
            ),
            CheckConstraint(condition=Q(parent=None) | ~Q(parent=F("uid")), name="task_is_not_its_own_parent"),
        ]
        indexes = [*Entity.Meta.indexes, *listed_by("status", "priority", "work_mode")]


class Comment(Entity):
    """Something said on a task. Without an author it was the board or the system."""

    KIND = "comment"
    PUBLIC = ("public_id", "task_id", "author_actor_id", "body", "created_at")

    task = models.ForeignKey(Task, models.PROTECT, related_name="+", db_index=False)
    author_actor = models.ForeignKey("mockcore.Actor", models.PROTECT, null=True, related_name="+", db_index=False)
    body = models.TextField()
    created_at = models.DateTimeField()

    class Meta(Entity.Meta):
        indexes = [*Entity.Meta.indexes, Index(fields=["task", "position"], name="comment_of_task")]


class Blocker(Entity):
    """One edge: `task` waits for `blocked_by_task`."""

    KIND = "blocker"
    PUBLIC = ("public_id", "task_id", "blocked_by_task_id", "created_at")

    task = models.ForeignKey(Task, models.PROTECT, related_name="+", db_index=False)
    blocked_by_task = models.ForeignKey(Task, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            UniqueConstraint(fields=["task", "blocked_by_task"], name="blocker_edge_unique"),
            CheckConstraint(condition=~Q(task=F("blocked_by_task")), name="blocker_is_not_itself"),
        ]
