"""Deliverables: the metadata of an artifact, and the work product that shows it. No bytes."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q

from mockcore.models.base import CanonicalJSON, Entity, listed_by, one_of
from mockcore.vocabulary import WorkProductType


class Artifact(Entity):
    """Metadata of one file. `content_ref` says where its bytes are and is shown on no surface."""

    KIND = "artifact"
    PUBLIC = ("public_id", "task_id", "filename", "content_type", "byte_size", "sha256", "content_ref", "created_at")

    task = models.ForeignKey("mockcore.Task", models.PROTECT, related_name="+")
    filename = models.TextField()
    content_type = models.TextField()
    byte_size = models.BigIntegerField()
    sha256 = models.TextField()
    content_ref = models.TextField()
    created_at = models.DateTimeField()

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            CheckConstraint(condition=Q(byte_size__gte=0), name="artifact_size_not_negative"),
        ]


class WorkProduct(Entity):
    """Something a task produced."""

    KIND = "work-product"
    PUBLIC = ("public_id", "task_id", "type", "title", "metadata", "artifact_id", "created_at")

    task = models.ForeignKey("mockcore.Task", models.PROTECT, related_name="+")
    type = models.CharField(max_length=20)
    title = models.TextField()
    metadata = CanonicalJSON(default=dict)
    artifact = models.ForeignKey(Artifact, models.PROTECT, null=True, related_name="+", db_index=False)
    created_at = models.DateTimeField()

    class Meta(Entity.Meta):
        constraints = [*Entity.Meta.constraints, one_of("type", WorkProductType)]
        indexes = [*Entity.Meta.indexes, *listed_by("type")]
