"""A command is carried out once under its key: the same again is answered as before, another one is refused.

Keys live in one space per run and principal: what an agent sends as the run can neither use up nor meet a key of the
board's. Decision: `mockcore/decisions/0009-keys-belong-to-a-principal.md`.
"""

from __future__ import annotations

from typing import Any

from mockcore import lineage, rows
from mockcore.handlers.scene import CommandInvalid
from mockcore.models import AuditRecord, Company, IdempotencyRecord
from mockcore.port import Applied, Principal
from mockcore.refusal import Refusal
from mockcore.text import canonical

MAX_KEY_CHARS = 240  # the tools' bound, and what a unique index can hold
CLOCK_SCOPE = "operator:clock"  # the keys of clock moves; those of commands belong to their run and its principal
SPACES = {Principal.RUN: "semantic-command", Principal.BOARD: "board-command", Principal.OPERATOR: "operator-command"}


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


def scope_of(run_id: str, principal: Principal) -> str:
    """Return where the keys live of the commands that a principal sends to a run."""
    return f"{run_id}:{SPACES[principal]}"


def stored(company: Company, scope: str, key: str, text: str) -> Applied | None:
    """Return the result this very command had before, marked as a duplicate. Its revision is the one of then."""
    return _answer(_record(company, scope, key), text)


def stored_command(company: Company, run_id: str, principal: Principal, key: str, text: str) -> Applied | None:
    """Return the same for the command of a run's principal.

    Until decision 0009 the board's keys lay among the run's. Such a record still answers the board, and to the run its
    key is taken.
    """
    record = _record(company, scope_of(run_id, principal), key)
    if principal is Principal.RUN and record is not None and _is_the_boards(company, record):
        raise IdempotencyConflict
    if principal is Principal.BOARD and record is None:
        older = _record(company, scope_of(run_id, Principal.RUN), key)
        record = older if older is not None and _is_the_boards(company, older) else None
    return _answer(record, text)


def is_known(company: Company, run_id: str, principal: Principal, key: str) -> bool:
    """Say whether a command of this principal was carried out under the key. Reads only."""
    return _record(company, scope_of(run_id, principal), key) is not None


def _record(company: Company, scope: str, key: str) -> IdempotencyRecord | None:
    record = rows.fetch(IdempotencyRecord, company_id=company.pk, scope=scope, key=key)
    for span in lineage.inherited(company, IdempotencyRecord) if record is None else []:
        record = record or span.of(IdempotencyRecord).filter(scope=scope, key=key).first()
    return record


def _is_the_boards(company: Company, record: IdempotencyRecord) -> bool:
    """Say whether a record was made on the board's authority: then its audit record names no actor."""
    found = lineage.rows_of(company, AuditRecord, number=record.revision)
    return any(audit.action == "semantic_command.applied" and audit.actor_id is None for audit in found)


def _answer(record: IdempotencyRecord | None, text: str) -> Applied | None:
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
