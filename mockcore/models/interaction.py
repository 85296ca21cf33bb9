"""Questions and confirmations put to the board."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Index, Q

from mockcore.models.base import CanonicalJSON, Entity, listed_by, one_of
from mockcore.vocabulary import Continuation, InteractionKind, InteractionStatus


class Interaction(Entity):
    """One card for the board. `result` is the answer as given, the part given so far, or why it ended without one."""

    KIND = "interaction"
    PUBLIC = (
        "public_id", "task_id", "kind", "status", "title", "prompt", "payload", "target_revision_id",
        "continuation_policy", "result", "created_at", "resolved_at",
    )  # fmt: skip

    task = models.ForeignKey("mockcore.Task", models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    status = models.CharField(max_length=20, default=InteractionStatus.PENDING.value)
    title = models.TextField()
    prompt = models.TextField()
    payload = CanonicalJSON(default=dict)
    target_revision = models.ForeignKey(
        "mockcore.DocumentRevision", models.PROTECT, null=True, related_name="+", db_index=False
    )
    continuation_policy = models.CharField(max_length=30)
    result = CanonicalJSON(null=True)
    created_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            one_of("kind", InteractionKind),
            one_of("status", InteractionStatus),
            one_of("continuation_policy", Continuation),
            CheckConstraint(
                condition=Q(status="pending", resolved_at=None) | (~Q(status="pending") & ~Q(resolved_at=None)),
                name="interaction_resolved_once",
            ),
        ]
        indexes = [
            *Entity.Meta.indexes,
            *listed_by("kind", "status"),
            Index(fields=["task", "status"], name="interaction_of_task"),
            Index(fields=["company", "status"], name="interaction_by_status"),
        ]
