"""The company: tenant, clock and counters in one row, which every mutation locks first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import CheckConstraint, F, Q

from mockcore.models.base import CanonicalJSON, Row, listed_by, one_of
from mockcore.vocabulary import Lifecycle, Standing

EPOCH_MS = 1_786_233_600_000  # 2026-08-09T00:00:00Z, the default beginning of company time (reference A 3.2)


class Company(Row):
    """One tenant. `revision` is the number of its newest state revision; `counters` its id counters.

    Company time is `epoch_ms` plus `clock_tick` seconds and moves by one second for each applied mutation.
    `decision_count` numbers the decision records, which a refusal writes too, so it is no part of the state.

    History is kept from `base_revision` on: 0 for a seeded company, the revision it was copied at for a restored or
    forked one. `base` holds clock, counters and active run at that revision, from the first mutation on. `chains` holds
    the heads and counts of the ledger's hash chains.
    """

    KIND: ClassVar[str] = "company"
    PUBLIC = ("public_id", "name", "issue_prefix", "status", "budget_id")

    public_id = models.CharField(primary_key=True, max_length=200)
    name = models.CharField(max_length=300)
    issue_prefix = models.CharField(max_length=20)
    status = models.CharField(max_length=20, default=Standing.ACTIVE.value)
    budget = models.ForeignKey("mockcore.Budget", models.PROTECT, related_name="+", db_index=False)
    epoch_ms = models.BigIntegerField(default=EPOCH_MS)
    clock_tick = models.PositiveBigIntegerField(default=0)
    counters = CanonicalJSON(default=dict)
    revision = models.PositiveBigIntegerField(default=0)
    decision_count = models.PositiveBigIntegerField(default=0)
    lifecycle = models.CharField(max_length=20, default=Lifecycle.RUNNING.value)
    active_run_id = models.CharField(max_length=240, null=True)
    out_of_scope_task_ids = CanonicalJSON(default=list)
    retired_at = models.DateTimeField(null=True)
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    base_revision = models.PositiveBigIntegerField(default=0)
    base = CanonicalJSON(null=True)
    chains = CanonicalJSON(default=dict)

    class Meta:
        verbose_name_plural = "companies"
        indexes = listed_by("status", "lifecycle", newest=("public_id",))
        constraints = [
            CheckConstraint(condition=~Q(public_id="") & ~Q(public_id__contains="/"), name="company_id_is_one_word"),
            one_of("status", Standing),
            one_of("lifecycle", Lifecycle),
            CheckConstraint(condition=Q(revision__gte=F("base_revision")), name="company_history_has_a_beginning"),
            CheckConstraint(condition=Q(parent=None) | ~Q(parent=F("public_id")), name="company_is_not_its_own_parent"),
        ]

    @property
    def ref(self) -> str:
        return f"{self.KIND}:{self.public_id}"

    def now(self) -> datetime:
        """Return company time. Reading it changes nothing."""
        return datetime.fromtimestamp(self.epoch_ms / 1000, UTC) + timedelta(seconds=self.clock_tick)

    def clock(self) -> dict[str, Any]:
        return {"epochMs": self.epoch_ms, "tick": self.clock_tick}

    def standing(self) -> dict[str, Any]:
        """Return what a mutation moves besides entities: the clock, the counters and the run that was opened last."""
        return {"tick": self.clock_tick, "counters": dict(self.counters), "activeRunId": self.active_run_id}
