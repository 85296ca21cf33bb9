"""Approvals and what is said on them."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Index, Q

from mockcore.models.base import CanonicalJSON, Entity, listed_by, one_of
from mockcore.vocabulary import ApprovalStatus


class Approval(Entity):
    """Something that needs a decision. Its linked tasks never change, so their public ids are kept as a list."""

    KIND = "approval"
    PUBLIC = (
        "public_id", "company_id", "task_ids", "type", "status", "requested_by_actor_id", "payload", "decision_note",
        "created_at", "decided_at",
    )  # fmt: skip

    task_ids = CanonicalJSON(default=list)
    type = models.TextField()
    status = models.CharField(max_length=20, default=ApprovalStatus.PENDING.value)
    requested_by_actor = models.ForeignKey(
        "mockcore.Actor", models.PROTECT, null=True, related_name="+", db_index=False
    )
    payload = CanonicalJSON(default=dict)
    decision_note = models.TextField(null=True)
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            one_of("status", ApprovalStatus),
            CheckConstraint(
                condition=Q(status="pending", decided_at=None) | (~Q(status="pending") & ~Q(decided_at=None)),
                name="approval_decided_once",
            ),
        ]
        indexes = [
            *Entity.Meta.indexes,
            *listed_by("status"),
            Index(fields=["company", "status"], name="approval_by_status"),
        ]


class ApprovalComment(Entity):
    """Something said on an approval. Without an author it was the board."""

    KIND = "approval-comment"
    PUBLIC = ("public_id", "author_actor_id", "body", "created_at")

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="+")
    author_actor = models.ForeignKey("mockcore.Actor", models.PROTECT, null=True, related_name="+", db_index=False)
    body = models.TextField()
    created_at = models.DateTimeField()
