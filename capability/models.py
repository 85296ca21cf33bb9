"""Rows of this house: what was decided about every tool that was offered or called. Append-only, numbered per company.

Companies, runs, actors and tasks are named by their public ids: these rows outlive a retired tenant. JSON is kept as
canonical text, so that both databases hold equal bytes.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.utils import timezone

from mockcore.appending import AppendOnlyRow

RECORD_SCHEMA = "paperclip.semantic-authorization-record.v1"


class AuthorizationCounter(models.Model):
    """The number and hash of a company's newest record. Its row is what two calls for one company wait for.

    `head` is empty before the first record; records up to `chained_after` are older than the chain.
    """

    company_id = models.CharField(max_length=200, primary_key=True)
    last_number = models.PositiveBigIntegerField()
    head = models.CharField(max_length=64, default="")
    chained_after = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.company_id}: {self.last_number}"


class AuthorizationRecord(AppendOnlyRow):
    """One decision: about a catalog entry while tools were listed (exposure), or about one call (invocation)."""

    company_id = models.CharField(max_length=200, blank=True)  # blank only in old records of runs that do not exist
    number = models.PositiveBigIntegerField()
    at = models.DateTimeField(default=timezone.now)
    phase = models.CharField(max_length=16)
    run_id = models.CharField(max_length=240)
    scenario_id = models.CharField(max_length=200)
    actor_id = models.CharField(max_length=240, blank=True)
    task_id = models.CharField(max_length=240, blank=True)
    call_id = models.CharField(max_length=240, null=True)
    turn_id = models.CharField(max_length=240, blank=True)
    message_id = models.CharField(max_length=240, blank=True)
    operation_id = models.CharField(max_length=240)
    allowed = models.BooleanField()
    code = models.CharField(max_length=64)
    control_plane_code = models.CharField(max_length=64, blank=True)
    reason = models.TextField()
    effective_claims_json = models.TextField()
    input_json = models.TextField(null=True)  # redacted
    result_json = models.TextField(null=True)  # redacted
    before_revision = models.PositiveBigIntegerField()
    after_revision = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)  # over the hash before it and this row; empty in rows older than the chain

    class Meta(AppendOnlyRow.Meta):
        ordering = ["company_id", "number"]
        indexes = [  # what the operator's list is narrowed by, newest last
            models.Index(fields=["phase", "id"], name="authorization_by_phase"),
            models.Index(fields=["code", "id"], name="authorization_by_code"),
            models.Index(fields=["operation_id", "id"], name="authorization_by_operation"),
            models.Index(fields=["run_id", "id"], name="authorization_by_run"),
            models.Index(fields=["call_id", "id"], name="authorization_by_call"),
            models.Index(fields=["turn_id", "id"], name="authorization_by_turn"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["company_id", "number"], name="authorization_number_once_per_company"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="authorization_number_from_one"),
            models.CheckConstraint(
                condition=models.Q(phase__in=["exposure", "invocation"]), name="authorization_phase_known"
            ),
            models.CheckConstraint(
                condition=models.Q(allowed=True, code="allowed")
                | (models.Q(allowed=False) & ~models.Q(code="allowed")),
                name="authorization_allowed_agrees_with_code",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.public_id} {self.operation_id} {self.code}"

    @property
    def public_id(self) -> str:
        return public_id(self.number)

    def as_json(self) -> dict[str, Any]:
        """Return the record as evidence shows it; input and result were redacted before they were stored."""
        return {
            "schema": RECORD_SCHEMA,
            "id": self.public_id,
            "at": self.at.isoformat(),
            "phase": self.phase,
            "runId": self.run_id,
            "scenarioId": self.scenario_id,
            "actorId": self.actor_id,
            "taskId": self.task_id,
            "callId": self.call_id,
            "turnId": self.turn_id,
            "messageId": self.message_id,
            "operationId": self.operation_id,
            "allowed": self.allowed,
            "code": self.code,
            "controlPlaneCode": self.control_plane_code,
            "reason": self.reason,
            "effectiveClaims": json.loads(self.effective_claims_json),
            "input": None if self.input_json is None else json.loads(self.input_json),
            "result": None if self.result_json is None else json.loads(self.result_json),
            "beforeRevision": self.before_revision,
            "afterRevision": self.after_revision,
        }


def public_id(number: int) -> str:
    """Return the public id of record `number`, unique within its company."""
    return f"semantic-auth-{number:06d}"
