"""Continuations: an actor is to look at a task again."""

from __future__ import annotations

from django.db import models
from django.db.models import Index

from mockcore.models.base import CanonicalJSON, Entity, listed_by, one_of
from mockcore.vocabulary import WakeReason, WakeStatus


class Wake(Entity):
    """One continuation, due at a company time."""

    KIND = "wake"
    PUBLIC = ("public_id", "actor_id", "task_id", "reason", "payload", "due_at", "status", "created_at")

    actor = models.ForeignKey("mockcore.Actor", models.PROTECT, related_name="+", db_index=False)
    task = models.ForeignKey("mockcore.Task", models.PROTECT, related_name="+", db_index=False)
    reason = models.CharField(max_length=30)
    payload = CanonicalJSON(default=dict)
    due_at = models.DateTimeField()
    status = models.CharField(max_length=20, default=WakeStatus.SCHEDULED.value)
    created_at = models.DateTimeField()

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            one_of("reason", WakeReason),
            one_of("status", WakeStatus),
        ]
        indexes = [
            *Entity.Meta.indexes,
            *listed_by("reason", "status"),
            Index(fields=["company", "status", "due_at"], name="wake_due"),
        ]
