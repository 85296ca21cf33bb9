"""Who works in the company."""

from __future__ import annotations

from django.db import models

from mockcore.models.base import CanonicalJSON, Entity, listed_by, one_of
from mockcore.vocabulary import Standing


class Actor(Entity):
    """An agent of the company. `capability_grants` are claims it holds by itself."""

    KIND = "actor"
    PUBLIC = ("public_id", "company_id", "name", "role", "status", "budget_id", "capability_grants")

    name = models.CharField(max_length=300)
    role = models.CharField(max_length=100)
    status = models.CharField(max_length=20, default=Standing.ACTIVE.value)
    budget = models.ForeignKey("mockcore.Budget", models.PROTECT, related_name="+", db_index=False)
    capability_grants = CanonicalJSON(default=list)

    class Meta(Entity.Meta):
        constraints = [*Entity.Meta.constraints, one_of("status", Standing)]
        indexes = [*Entity.Meta.indexes, *listed_by("status")]
