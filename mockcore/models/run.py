"""Runs: one actor working one task under one session."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q

from mockcore.models.base import CanonicalJSON, Entity, listed_by, one_of
from mockcore.vocabulary import RunStatus


class Run(Entity):
    """One run. `session_checkpoint` is the runner's own, kept for it to resume from and shown on no surface."""

    KIND = "run"
    PUBLIC = (
        "public_id", "company_id", "actor_id", "task_id", "session_id", "backend_kind", "source_instance_id", "status",
        "attempt", "opened_at", "finished_at", "wake", "capabilities", "result",
        "session_checkpoint",
    )  # fmt: skip

    actor = models.ForeignKey("mockcore.Actor", models.PROTECT, related_name="+", db_index=False)
    task = models.ForeignKey("mockcore.Task", models.PROTECT, related_name="+", db_index=False)
    session_id = models.CharField(max_length=240)
    backend_kind = models.CharField(max_length=20)
    source_instance_id = models.CharField(max_length=240)
    status = models.CharField(max_length=20, default=RunStatus.RUNNING.value)
    attempt = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    wake = CanonicalJSON(default=dict)
    capabilities = CanonicalJSON(default=list)
    result = CanonicalJSON(null=True)
    session_checkpoint = CanonicalJSON(null=True)

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            one_of("status", RunStatus),
            CheckConstraint(
                condition=Q(status="running", finished_at=None) | (~Q(status="running") & ~Q(finished_at=None)),
                name="run_finished_once",
            ),
        ]
        indexes = [*Entity.Meta.indexes, *listed_by("status")]
