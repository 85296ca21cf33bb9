"""Documents of a task and their numbered revisions."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from mockcore.models.base import Entity


class Document(Entity):
    """A document of a task, known by its key. Its text lives in its revisions."""

    KIND = "document"
    PUBLIC = ("public_id", "task_id", "key", "title", "format", "latest_revision_id")

    task = models.ForeignKey("mockcore.Task", models.PROTECT, related_name="+", db_index=False)
    key = models.CharField(max_length=120)
    title = models.TextField()
    format = models.CharField(max_length=20, default="markdown")
    latest_revision = models.ForeignKey("mockcore.DocumentRevision", models.PROTECT, related_name="+", db_index=False)

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            UniqueConstraint(fields=["task", "key"], name="document_key_unique"),
            CheckConstraint(condition=Q(format="markdown"), name="document_format_known"),
        ]


class DocumentRevision(Entity):
    """One version of a document's text. `revision` counts from 1."""

    KIND = "revision"
    PUBLIC = ("public_id", "document_id", "revision", "body", "change_summary", "created_at")

    document = models.ForeignKey(Document, models.PROTECT, related_name="+", db_index=False)
    revision = models.PositiveIntegerField()
    body = models.TextField()
    change_summary = models.TextField(null=True)
    created_at = models.DateTimeField()

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            UniqueConstraint(fields=["document", "revision"], name="documentrevision_number_unique"),
            CheckConstraint(condition=Q(revision__gte=1), name="documentrevision_counts_from_one"),
        ]
