"""What happened: revisions with their changes and cause, audit, decisions, idempotency. Rows are only ever added.

Each table is a hash chain per company, whose heads stand in the company's row (`chain`, `ledger`).
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint

from mockcore.appending import AppendOnlyRow
from mockcore.masking import mask
from mockcore.models.base import CanonicalJSON, Row, listed_by, one_of
from mockcore.port import Principal
from mockcore.vocabulary import Decided


class LedgerRow(AppendOnlyRow, Row):
    """A row of the ledger belongs to a company and is never changed or removed.

    `number` counts the rows of a table in one company from 1. `CHAIN` names the table's chain, and `ORDER` is how its
    rows are read in the order of the chain.
    """

    CHAIN: ClassVar[str]
    ORDER: ClassVar[tuple[str, ...]] = ("number",)

    company = models.ForeignKey("mockcore.Company", models.PROTECT, related_name="+", db_index=False)
    number = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)  # empty only in a row that is older than the chains

    class Meta(AppendOnlyRow.Meta):
        abstract = True
        constraints = [CheckConstraint(condition=Q(number__gte=1), name="%(class)s_counts_from_one")]


class StateRevision(LedgerRow):
    """One successful mutation: who caused it, and the clock and counters after it.

    The `cause_…` columns are opaque ids of the world above, empty when it gave none.
    """

    CHAIN = "revisions"
    PUBLIC = ("number", "operation", "principal", "run_id", "command_id", "at", "clock_tick", "counters")

    operation = models.CharField(max_length=40)
    principal = models.CharField(max_length=10)
    run_id = models.CharField(max_length=240)
    command_id = models.CharField(max_length=240)
    at = models.DateTimeField()
    clock_tick = models.PositiveBigIntegerField()
    counters = CanonicalJSON()
    active_run_id = models.CharField(max_length=240, null=True)
    cause_turn_id = models.TextField(default="")
    cause_call_id = models.TextField(default="")
    cause_message_id = models.TextField(default="")
    cause_authorization_id = models.TextField(default="")

    class Meta(LedgerRow.Meta):
        constraints = [
            *LedgerRow.Meta.constraints,
            UniqueConstraint(fields=["company", "number"], name="staterevision_number_unique"),
            one_of("principal", Principal),
        ]
        indexes = listed_by("operation", "principal", newest=("id",))

    def __str__(self) -> str:
        return f"revision {self.number}"


class Change(LedgerRow):
    """What one revision did to one entity: the changed fields before and after; null where the entity was not.

    Names that begin with `@` are columns that no surface shows.
    """

    CHAIN = "changes"
    ORDER = ("revision", "number")  # the same order, and an index has it
    revision = models.PositiveBigIntegerField()
    entity = models.CharField(max_length=30)
    entity_id = models.CharField(max_length=240)
    before = CanonicalJSON(null=True)
    after = CanonicalJSON(null=True)
    PUBLIC = ("revision", "entity", "entity_id", "before", "after")

    class Meta(LedgerRow.Meta):
        constraints = [
            *LedgerRow.Meta.constraints,
            UniqueConstraint(fields=["company", "revision", "entity", "entity_id"], name="change_once_per_revision"),
            CheckConstraint(condition=~Q(before=None, after=None), name="change_is_one"),
        ]
        indexes = [
            Index(fields=["company", "entity", "entity_id", "revision"], name="change_of_entity"),
            *listed_by("entity", "entity_id", newest=("id",)),
        ]

    def __str__(self) -> str:
        return f"{self.entity}:{self.entity_id} at {self.revision}"


class AuditRecord(LedgerRow):
    """One per state revision and numbered like it."""

    CHAIN = "audit"
    PUBLIC = ("public_id", "at", "run_id", "actor_id", "action", "entity_type", "entity_id", "details")

    at = models.DateTimeField()
    run_id = models.CharField(max_length=240, null=True)
    actor_id = models.CharField(max_length=240, null=True)
    action = models.CharField(max_length=60)
    entity_type = models.CharField(max_length=30)
    entity_id = models.CharField(max_length=240)
    details = CanonicalJSON(default=dict)

    class Meta(LedgerRow.Meta):
        constraints = [
            *LedgerRow.Meta.constraints,
            UniqueConstraint(fields=["company", "number"], name="auditrecord_number_unique"),
        ]
        indexes = listed_by("entity_id", newest=("id",))

    @property
    def public_id(self) -> str:
        return f"audit-{self.number:04d}"


class DecisionRecord(LedgerRow):
    """What the plane decided on one request; written for refusals too. `call_id` is the caller's, kept to find it."""

    CHAIN = "decisions"
    PUBLIC = ("public_id", "at", "run_id", "operation", "outcome", "reason", "state_revision", "entity_refs")

    at = models.DateTimeField()
    run_id = models.CharField(max_length=240, null=True)
    operation = models.CharField(max_length=40)
    outcome = models.CharField(max_length=20)
    reason = models.CharField(max_length=80)
    state_revision = models.PositiveBigIntegerField()
    entity_refs = CanonicalJSON(default=list)
    call_id = models.TextField(default="")
    fault_id = models.CharField(max_length=240, default="")

    class Meta(LedgerRow.Meta):
        constraints = [
            *LedgerRow.Meta.constraints,
            UniqueConstraint(fields=["company", "number"], name="decisionrecord_number_unique"),
            one_of("outcome", Decided),
        ]
        indexes = listed_by("operation", "outcome", newest=("id",))

    @property
    def public_id(self) -> str:
        return f"decision-{self.number:04d}"


class IdempotencyRecord(LedgerRow):
    """The result of an applied command, by the caller's key. `revision` is the one that the command made."""

    CHAIN = "idempotency"
    PUBLIC = ("scope", "key", "input_canonical", "result")

    revision = models.PositiveBigIntegerField()
    scope = models.CharField(max_length=300)
    key = models.CharField(max_length=240)
    input_canonical = models.TextField()
    result = CanonicalJSON()

    class Meta(LedgerRow.Meta):
        constraints = [
            *LedgerRow.Meta.constraints,
            UniqueConstraint(fields=["company", "scope", "key"], name="idempotencyrecord_key_unique"),
        ]
        indexes = listed_by("company", "key", newest=("id",))

    def __str__(self) -> str:
        return str(mask(f"{self.scope} {self.key}"))


class Keyframe(Row):
    """The entities of a company at one revision, as compressed canonical JSON. A copy: without it, reading is slower.

    `digest` is the SHA-256 of the uncompressed text.
    """

    PUBLIC = ("revision", "digest")

    company = models.ForeignKey("mockcore.Company", models.PROTECT, related_name="+", db_index=False)
    revision = models.PositiveBigIntegerField()
    digest = models.CharField(max_length=64)
    body = models.BinaryField()

    class Meta:
        constraints = [UniqueConstraint(fields=["company", "revision"], name="keyframe_once_per_revision")]

    def __str__(self) -> str:
        return f"keyframe {self.revision}"
