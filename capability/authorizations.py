"""Writing and reading authorization records. Call inside a transaction: a number is used, or given back with it.

It records what it is told. What may be stored was redacted by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from capability.catalog import Operation
from capability.models import AuthorizationCounter, AuthorizationRecord, public_id
from capability.policy import Code, Decision, Phase
from mockcore import rows
from mockcore.text import canonical

# One statement on both databases: makes the counter if need be, raises it, and holds its row until the commit, so two
# calls for one company never get the same number.
RESERVE = (
    "INSERT INTO capability_authorizationcounter (company_id, last_number) VALUES (%s, %s) "
    "ON CONFLICT (company_id) DO UPDATE "
    "SET last_number = capability_authorizationcounter.last_number + excluded.last_number RETURNING last_number"
)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Whose authority was asked about, as it stood then. A run that does not exist has no company, actor or task."""

    run_id: str
    scenario_id: str
    claims: frozenset[str]
    revision: int
    company_id: str = ""
    actor_id: str = ""
    task_id: str = ""

    def columns(self) -> dict[str, Any]:
        return {
            "company_id": self.company_id,
            "run_id": self.run_id,
            "scenario_id": self.scenario_id,
            "actor_id": self.actor_id,
            "task_id": self.task_id,
            "effective_claims_json": canonical(sorted(self.claims)),
            "before_revision": self.revision,
        }


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One call and what became of it, ready to store: ids are bounded, texts and JSON are redacted."""

    number: int
    operation_id: str
    call_id: str
    turn_id: str
    message_id: str
    code: Code
    control_plane_code: str
    reason: str
    input: Any
    result: dict[str, Any] | None
    after_revision: int


def reserve_numbers(*, company_id: str, count: int = 1) -> int:
    """Reserve `count` consecutive record numbers of the company and return the first."""
    newest: int = rows.run(RESERVE, [company_id, count]).rows[0][0]
    return newest - count + 1


def authorization_id(*, number: int) -> str:
    """Return the public id of a reserved number."""
    return public_id(number)


def record_exposure(*, subject: Subject, decisions: Sequence[tuple[Operation, Decision]]) -> None:
    """Write one record per listed catalog entry, in order."""
    first = reserve_numbers(company_id=subject.company_id, count=len(decisions))
    columns = {**subject.columns(), "phase": Phase.EXPOSURE.value, "after_revision": subject.revision}
    rows.insert(
        *(
            AuthorizationRecord(
                number=number,
                operation_id=operation.id,
                allowed=decision.allowed,
                code=decision.code.value,
                reason=decision.reason,
                **columns,
            )
            for number, (operation, decision) in enumerate(decisions, start=first)
        )
    )


def record_invocation(*, subject: Subject, invocation: Invocation) -> None:
    """Write the record of one call under its reserved number."""
    rows.insert(
        AuthorizationRecord(
            number=invocation.number,
            phase=Phase.INVOCATION.value,
            operation_id=invocation.operation_id,
            call_id=invocation.call_id,
            turn_id=invocation.turn_id,
            message_id=invocation.message_id,
            allowed=invocation.code is Code.ALLOWED,
            code=invocation.code.value,
            control_plane_code=invocation.control_plane_code,
            reason=invocation.reason,
            input_json=None if invocation.input is None else canonical(invocation.input),
            result_json=None if invocation.result is None else canonical(invocation.result),
            after_revision=invocation.after_revision,
            **subject.columns(),
        )
    )


def list_authorization_records(*, company_id: str, after: int = 0, limit: int = 500) -> list[dict[str, Any]]:
    """Return the company's records numbered above `after`, oldest first, at most `limit`, as JSON."""
    records = AuthorizationRecord.objects.filter(company_id=company_id, number__gt=after)
    return [record.as_json() for record in records.order_by("number")[:limit]]


def count_invocations(*, company_id: str) -> int:
    """Return how many calls of a company were decided so far, refused ones included."""
    return AuthorizationRecord.objects.filter(company_id=company_id, phase="invocation").count()


def discard(*, company_id: str) -> None:
    """Leave nothing of a tenant whose session never opened: the one case in which records go, for nobody saw them."""
    AuthorizationRecord.objects.filter(company_id=company_id)._raw_delete(using=DEFAULT_DB_ALIAS)
    AuthorizationCounter.objects.filter(company_id=company_id)._raw_delete(using=DEFAULT_DB_ALIAS)
