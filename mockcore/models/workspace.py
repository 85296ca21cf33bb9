"""Services that run in a task's workspace."""

from __future__ import annotations

from django.db import models

from mockcore.models.base import Entity, listed_by, one_of
from mockcore.vocabulary import ServiceStatus


class WorkspaceService(Entity):
    """One service of a task's workspace."""

    KIND = "workspace-service"
    PUBLIC = ("public_id", "task_id", "name", "status", "url", "last_transition_at")

    task = models.ForeignKey("mockcore.Task", models.PROTECT, related_name="+")
    name = models.TextField()
    status = models.CharField(max_length=20, default=ServiceStatus.STOPPED.value)
    url = models.TextField(null=True)
    last_transition_at = models.DateTimeField()

    class Meta(Entity.Meta):
        constraints = [*Entity.Meta.constraints, one_of("status", ServiceStatus)]
        indexes = [*Entity.Meta.indexes, *listed_by("status")]
