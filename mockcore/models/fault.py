"""Faults that an operator configured, to see what a caller does."""

from __future__ import annotations

from django.db import models

from mockcore.models.base import Entity, listed_by, one_of
from mockcore.vocabulary import FaultEffect, FaultOperation


class Fault(Entity):
    """One rule. `configured_count` never moves: what remains of it is that less the faulted decisions of this rule."""

    KIND = "fault"
    PUBLIC = ("public_id", "operation", "command_kind", "effect", "configured_count", "code")

    operation = models.CharField(max_length=20)
    command_kind = models.CharField(max_length=40, null=True)
    effect = models.CharField(max_length=20)
    configured_count = models.PositiveIntegerField(default=1)
    code = models.CharField(max_length=80)

    class Meta(Entity.Meta):
        constraints = [*Entity.Meta.constraints, one_of("operation", FaultOperation), one_of("effect", FaultEffect)]
        indexes = [*Entity.Meta.indexes, *listed_by("operation", "effect")]
