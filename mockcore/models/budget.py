"""What the company and each actor may spend."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from mockcore.models.base import Entity, listed_by, one_of
from mockcore.vocabulary import BudgetScope


class Budget(Entity):
    """A limit in cents for the company or one actor; `scope_id` is that one's public id."""

    KIND = "budget"
    NAMES_COMPANY = ("scope_id",)
    PUBLIC = ("public_id", "scope", "scope_id", "limit_cents", "spent_cents", "hard_stop")

    scope = models.CharField(max_length=20)
    scope_id = models.CharField(max_length=240)
    limit_cents = models.BigIntegerField()
    spent_cents = models.BigIntegerField(default=0)
    hard_stop = models.BooleanField(default=True)

    class Meta(Entity.Meta):
        constraints = [
            *Entity.Meta.constraints,
            one_of("scope", BudgetScope),
            UniqueConstraint(fields=["company", "scope", "scope_id"], name="budget_scope_unique"),
            CheckConstraint(condition=Q(limit_cents__gte=0, spent_cents__gte=0), name="budget_cents_not_negative"),
        ]
        indexes = [*Entity.Meta.indexes, *listed_by("scope")]

    @property
    def is_exceeded(self) -> bool:
        return self.hard_stop and self.spent_cents >= self.limit_cents
