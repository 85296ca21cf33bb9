"""A command is carried out once under its key: the same again is answered as before, another one is refused."""

from __future__ import annotations

from typing import Any

from mockcore import lineage, rows
from mockcore.handlers.scene import CommandInvalid
from mockcore.models import Company, IdempotencyRecord
from mockcore.port import Applied
from mockcore.refusal import Refusal
from mockcore.text import canonical

MAX_KEY_CHARS = 240  # the tools' bound, and what a unique index can hold
CLOCK_SCOPE = "operator:clock"  # the keys of clock moves; those of commands belong to their run


class IdempotencyKeyRequired(Refusal):
    """A command needs an idempotency key of 1 to 240 characters."""

    code = "idempotency_key_required"


class IdempotencyConflict(Refusal):
    """The idempotency key was used for another command of this run."""

    code = "idempotency_conflict"


def require_usable(key: str, payload: dict[str, Any]) -> str:
    """Return the command's canonical JSON, which idempotency compares."""
    if not key.strip() or len(key) > MAX_KEY_CHARS:
        raise IdempotencyKeyRequired
    try:
        return canonical(payload)
    except (TypeError, ValueError) as error:
        raise CommandInvalid("the command holds a value that JSON cannot hold") from error


def scope_of(run_id: str) -> str:
    """Return where the keys of a run's commands live."""
    return f"{run_id}:semantic-command"


def stored(company: Company, scope: str, key: str, text: str) -> Applied | None:
    """Return the result this very command had before, marked as a duplicate. Its revision is the one of then."""
    record = rows.fetch(IdempotencyRecord, company_id=company.pk, scope=scope, key=key)
    for span in lineage.inherited(company, IdempotencyRecord) if record is None else []:
        record = record or span.of(IdempotencyRecord).filter(scope=scope, key=key).first()
    if record is None:
        return None
    if record.input_canonical != text:
        raise IdempotencyConflict
    result = record.result
    return Applied(
        command_id=result["commandId"],
        command_kind=result["commandKind"],
        disposition="duplicate",
        state_revision=result["stateRevision"],
        entity_refs=tuple(result["entityRefs"]),
        scheduled_wake_ids=tuple(result["scheduledWakeIds"]),
    )


def memory(company: Company, scope: str, key: str, text: str, applied: Applied) -> IdempotencyRecord:
    """Return the record by which the same key is answered again. The ledger stores it, in its chain."""
    return rows.make(
        IdempotencyRecord, company_id=company.pk, scope=scope, key=key, input_canonical=text, result=applied.as_json()
    )
