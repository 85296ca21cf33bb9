"""Writing and reading authorization records. Call inside a transaction: a number is used, or given back with it.

The records of a company are a hash chain; the counter, locked from the reservation on, holds its head and count.

It records what it is told. What may be stored was redacted by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from capability.catalog import Operation
from capability.models import AuthorizationCounter, AuthorizationRecord, public_id
from capability.policy import Code, Decision, Phase
from mockcore import chain, rows
from mockcore.text import canonical

# One statement on both databases: makes the counter if need be, raises it, and holds its row until the commit, so two
# calls for one company never get the same number.
RESERVE = (
    "INSERT INTO capability_authorizationcounter (company_id, last_number, head, chained_after) VALUES (%s, %s, '', 0) "
    "ON CONFLICT (company_id) DO UPDATE "
    "SET last_number = capability_authorizationcounter.last_number + excluded.last_number RETURNING last_number, head"
)
MOVE_HEAD = "UPDATE capability_authorizationcounter SET head = %s WHERE company_id = %s"
TABLE = "authorization records"
NAMED = re.compile(r"semantic-auth-(\d{6,15})")  # a record's public id, see `models.public_id`


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Whose authority was asked about, as it stood then. A run that does not exist has no actor and no task.

    The company is the one that was asked, whether or not the run is known there: its records are one series.
    """

    company_id: str
    run_id: str
    scenario_id: str
    claims: frozenset[str]
    revision: int
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
class Reserved:
    """Consecutive record numbers from `first` on, and the hash of the record before them."""

    first: int
    previous: str


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One call and what became of it, ready to store: ids are bounded, texts and JSON are redacted."""

    place: Reserved
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


def reserve_numbers(*, company_id: str, count: int = 1) -> Reserved:
    """Reserve `count` consecutive record numbers of the company. All are to be recorded in the same transaction."""
    [(newest, head)] = rows.run(RESERVE, [company_id, count]).rows
    return Reserved(first=newest - count + 1, previous=head or _genesis(company_id))


def _genesis(company_id: str) -> str:
    return chain.genesis(table=TABLE, owner=company_id)


def _insert(company_id: str, previous: str, records: list[AuthorizationRecord]) -> None:
    """Link the records to the one before, write them, and move the head of the company's chain."""
    for record in records:
        record.hash = previous = chain.link(previous, chain.content_of(record, owner="company_id"))
    rows.insert(*records)
    rows.run(MOVE_HEAD, [previous, company_id])


def authorization_id(*, number: int) -> str:
    """Return the public id of a reserved number."""
    return public_id(number)


def record_exposure(*, place: Reserved, subject: Subject, decisions: Sequence[tuple[Operation, Decision]]) -> None:
    """Write one record per listed catalog entry, in order, under as many reserved numbers."""
    columns = {**subject.columns(), "phase": Phase.EXPOSURE.value, "after_revision": subject.revision}
    records = [
        rows.make(
            AuthorizationRecord,
            number=number,
            operation_id=operation.id,
            allowed=decision.allowed,
            code=decision.code.value,
            reason=decision.reason,
            **columns,
        )
        for number, (operation, decision) in enumerate(decisions, start=place.first)
    ]
    _insert(subject.company_id, place.previous, records)


def record_invocation(*, subject: Subject, invocation: Invocation) -> None:
    """Write the record of one call under its reserved number."""
    record = rows.make(
        AuthorizationRecord,
        number=invocation.place.first,
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
    _insert(subject.company_id, invocation.place.previous, [record])


def list_authorization_records(*, company_id: str, after: int = 0, limit: int = 500) -> list[dict[str, Any]]:
    """Return the company's records numbered above `after`, oldest first, at most `limit`, as JSON."""
    records = AuthorizationRecord.objects.filter(company_id=company_id, number__gt=after)
    return [record.as_json() for record in records.order_by("number")[:limit]]


def companies_with(*, number: int, limit: int) -> list[str]:
    """Return the first `limit` companies, by id, that have a record of that number."""
    owners = AuthorizationRecord.objects.filter(number=number).order_by("company_id")
    return list(owners.values_list("company_id", flat=True)[:limit])


def list_chains(*, company_id: str | None = None, named: Mapping[str, int] | None = None) -> Iterator[chain.Chain]:
    """Yield the chain of one company's records, or of every company's; what has lost its counter comes last.

    `named` says, for each company, the newest record that rows elsewhere name. So records that are gone are missed even
    where their counter went with them, or was set back.
    """
    known, counters = dict(named or {}), AuthorizationCounter.objects.order_by("company_id")
    if company_id is not None:
        counters = counters.filter(company_id=company_id)
    for counter in counters.iterator():
        yield _chain(counter, at_least=known.pop(counter.company_id, 0))
    lost = AuthorizationRecord.objects.exclude(company_id__in=AuthorizationCounter.objects.values("company_id"))
    if company_id is not None:
        lost = lost.filter(company_id=company_id)
    for owner in lost.order_by("company_id").values_list("company_id", flat=True).distinct():
        known[owner] = 0  # their counter is enough to miss
    for owner, number in sorted(known.items()):
        yield _chain(AuthorizationCounter(company_id=owner, last_number=0), at_least=number)


def _chain(counter: AuthorizationCounter, *, at_least: int) -> chain.Chain:
    start = _genesis(counter.company_id)
    return chain.Chain(
        table=f"capability {TABLE}",
        owner=counter.company_id,
        owner_column="company_id",
        rows=AuthorizationRecord.objects.filter(company_id=counter.company_id).order_by("number"),
        after=counter.chained_after,
        count=max(counter.last_number, at_least),
        start=start,
        head=counter.head or start,
        older=None,
    )


def number_of(authorization_id: str) -> int:
    """Return the number in a record's public id; 0 for what is none."""
    named = NAMED.fullmatch(authorization_id)
    return int(named[1]) if named else 0


def last_call_id(*, company_id: str) -> str:
    """Return the caller's own id of the newest recorded call of a company; empty when there is none."""
    calls = AuthorizationRecord.objects.filter(company_id=company_id, phase=Phase.INVOCATION.value)
    return calls.order_by("-number").values_list("call_id", flat=True).first() or ""


def discard(*, company_id: str) -> None:
    """Leave nothing of a tenant whose session never opened: the one case in which records go, for nobody saw them."""
    AuthorizationRecord.objects.filter(company_id=company_id)._raw_delete(using=DEFAULT_DB_ALIAS)
    AuthorizationCounter.objects.filter(company_id=company_id)._raw_delete(using=DEFAULT_DB_ALIAS)
