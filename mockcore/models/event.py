"""What a runner reported of its run, event by event."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from mockcore.models.base import CanonicalJSON, Entity


class RunEvent(Entity):
    """One event of a run, as reported. `body` is the whole event; the other columns are what it is found by.

    A source numbers its own events; the two unique constraints are what makes a repeated report recognisable.
    """

    KIND = "event"
    PUBLIC = ("public_id", "run_id", "source_instance_id", "source_event_id", "source_seq", "event_type", "body")

    run = models.ForeignKey("mockcore.Run", models.PROTECT, related_name="+", db_index=False)
    source_instance_id = models.CharField(max_length=160)
    source_event_id = models.CharField(max_length=160)
    source_seq = models.PositiveBigIntegerField()
    event_type = models.CharField(max_length=120)
    body = CanonicalJSON()

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            UniqueConstraint(fields=["run", "source_event_id"], name="runevent_id_unique"),
            UniqueConstraint(fields=["run", "source_instance_id", "source_seq"], name="runevent_number_unique"),
            CheckConstraint(condition=Q(source_seq__gte=1), name="runevent_counts_from_one"),
        ]
