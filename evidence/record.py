"""The session record: redacted, then numbered, then stored, then announced. The only writer of `SessionEvent`.

One log per session. Appending is three statements in one transaction (an ORM append costs six times as much), and
joins the caller's transaction when there is one, so that a command and its events commit together. The row of the log
stays locked until commit: once number N is announced, everything below N is stored. The events of a log are a hash
chain, whose head and count the log's row holds. Source: architecture notes, section D.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.utils import timezone

from capability.redaction import redact
from evidence.models import SessionEvent, SessionLog
from evidence.prp.events import Event, EventType, SourceKind, canonical, clean, envelope
from evidence.tape import hub
from mockcore import chain, rows
from mockcore.refusal import Refusal

__all__ = [
    "CONTROL_PLANE",
    "RUNNER",
    "Draft",
    "Event",
    "UnknownEventType",
    "UnknownSession",
    "append",
    "close_log",
    "discard_log",
    "last_number",
    "list_chains",
    "list_open",
    "open_log",
    "read_events",
]

CONTROL_PLANE = "capability-control-plane"  # `sourceInstanceId` of our own events
RUNNER = "capability-live-runnerd"  # and of a driver's, unless it says otherwise
INSTANCES = {SourceKind.CONTROL_PLANE: CONTROL_PLANE, SourceKind.RUNNER: RUNNER}
READ_LIMIT = 1000  # events per read; followers come back for more


class UnknownSession(Refusal):
    """There is no such chat. It may have been closed, or belong to another browser."""

    code = "unknown_session"


class UnknownEventType(Refusal):
    """The event has a name that PRP v1 does not know."""

    code = "unknown_event_type"


@dataclass(frozen=True)
class Draft:
    """One event before it is recorded. `payload` is bounded, JSON-compatible, and not yet redacted.

    Without a `source_seq` the record counts each source kind of the log itself, without a gap: a host that joins pieces
    of text has no use for its driver's numbers. `at` is now if None.
    """

    type: str
    payload: Mapping[str, Any]
    turn_id: str | None = None
    item_id: str | None = None
    source_kind: str = "control_plane"
    source_instance_id: str = ""
    source_seq: int | None = None
    priority: int = 1
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class _Reserved:
    """What the locked log row gave an append: its run, and the last numbers and the hash before it."""

    run_id: str
    number: int
    head: str
    seqs: dict[SourceKind, int]


def open_log(*, session_id: str, run_id: str) -> None:
    """Open the log of a new session. Opening the same session twice is an `IntegrityError`."""
    SessionLog.objects.create(session_id=session_id, run_id=run_id, opened_at=timezone.now())


def append(*, session_id: str, drafts: Sequence[Draft]) -> int:
    """Store `drafts` in order, announce them after commit, and return the number of the last one.

    All or none are stored. Raises `UnknownSession` when the log is closed or absent, and `UnknownEventType` or
    `ValueError` before anything is written. There is no savepoint: an error dooms the caller's transaction as well.
    Source: design section 7.
    """
    parsed = [_parsed(draft) for draft in drafts]
    if not parsed:
        return last_number(session_id)
    with transaction.atomic(savepoint=False):
        log = _reserve(session_id, [one.source for one in parsed])
        events = [_event(session_id, log, place, one) for place, one in enumerate(parsed, start=1)]
        _insert(log, events, [one.at for one in parsed])
        transaction.on_commit(partial(hub.publish, session_id, events), robust=True)
    return events[-1].number


def read_events(*, session_id: str, after: int, limit: int = READ_LIMIT) -> list[Event]:
    """Return at most `limit` events after cursor `after`, oldest first.

    The cursor is the number of the last event already held; 0 is the beginning. Raises `UnknownSession` once the log
    is closed. Source: requirement `record.read.cursor`.
    """
    if is_closed(session_id):
        raise UnknownSession
    return stored_events(session_id=session_id, after=after, limit=limit)


def stored_events(*, session_id: str, after: int, limit: int = READ_LIMIT) -> list[Event]:
    """Return events as `read_events` does, of a closed log too: for its last followers and for the operator."""
    rows = SessionEvent.objects.filter(session_id=session_id, number__gt=after).order_by("number")
    columns = ("session_id", "number", "event_type", "turn_id", "item_id", "body")
    return [Event(**row) for row in rows.values(*columns)[:limit]]


def last_number(session_id: str) -> int:
    """Return the number of the newest event; 0 when there is none yet. Raises `UnknownSession`."""
    number = (
        SessionLog.objects.filter(session_id=session_id, closed_at=None).values_list("last_number", flat=True).first()
    )
    if number is None:
        raise UnknownSession
    return number


def is_closed(session_id: str) -> bool:
    """Return whether the log may be read no more; a log that never was may not be read either."""
    return not SessionLog.objects.filter(session_id=session_id, closed_at=None).exists()


def list_open() -> set[str]:
    """Return the sessions whose log is open, which a start has to look at."""
    return set(SessionLog.objects.filter(closed_at=None).values_list("session_id", flat=True))


def close_log(session_id: str, *, code: str = "") -> None:
    """End access to the log, not the evidence: its rows stay. Followers get what is left, then `closed` with the code.

    Without `code` it is the one of the newest `session.closed` event. Closing twice changes nothing.
    """
    with transaction.atomic():
        log = SessionLog.objects.select_for_update().filter(session_id=session_id, closed_at=None).first()
        if log is None:
            return
        log.closed_at, log.close_code = timezone.now(), code or _closing_code(session_id)
        log.save(update_fields=["closed_at", "close_code"])
        transaction.on_commit(partial(hub.close, session_id), robust=True)


def close_code(session_id: str) -> str | None:
    """Return why the log was closed, or None while it is open."""
    log = SessionLog.objects.filter(session_id=session_id).values("closed_at", "close_code").first()
    if log is None:
        return UnknownSession.code
    return str(log["close_code"]) if log["closed_at"] else None


def _closing_code(session_id: str) -> str:
    newest = SessionEvent.objects.filter(session_id=session_id, event_type=EventType.SESSION_CLOSED).order_by("-number")
    row = newest.values("session_id", "number", "event_type", "turn_id", "item_id", "body").first()
    return str(Event(**row).payload.get("code") or "closed") if row else "closed"


def discard_log(*, session_id: str) -> None:
    """Leave nothing of a session that never opened: the one case in which events go, for nobody has seen them."""
    with transaction.atomic():
        SessionLog.objects.filter(session_id=session_id).delete()  # first: it waits for an append that holds the row
        SessionEvent.objects.filter(session_id=session_id)._raw_delete(using=DEFAULT_DB_ALIAS)


@dataclass(frozen=True, kw_only=True)
class _Parsed:
    """A draft that may be stored: names known, payload redacted and clean."""

    draft: Draft
    kind: EventType
    source: SourceKind
    payload: Mapping[str, Any]
    at: datetime


def _parsed(draft: Draft) -> _Parsed:
    try:
        kind = EventType(draft.type)
    except ValueError:
        raise UnknownEventType(f"PRP v1 knows no event named {draft.type}") from None
    return _Parsed(
        draft=draft,
        kind=kind,
        source=SourceKind(draft.source_kind),
        payload=clean(redact(draft.payload)),
        at=draft.at or timezone.now(),
    )


def _event(session_id: str, log: _Reserved, place: int, parsed: _Parsed) -> Event:
    draft = parsed.draft
    log.seqs[parsed.source] += 1
    body = envelope(
        event_type=parsed.kind,
        source_kind=parsed.source,
        source_instance_id=draft.source_instance_id or INSTANCES[parsed.source],
        source_seq=log.seqs[parsed.source] if draft.source_seq is None else draft.source_seq,
        run_id=log.run_id,
        session_id=session_id,
        emitted_at=parsed.at,
        payload=parsed.payload,
        priority=draft.priority,
        turn_id=draft.turn_id,
        item_id=draft.item_id,
    )
    return Event(
        session_id=session_id,
        number=log.number + place,
        event_type=parsed.kind.value,
        turn_id=draft.turn_id,
        item_id=draft.item_id,
        body=canonical(body),
    )


# ---------------------------------------------------------------- the three statements
RESERVE = """
    UPDATE evidence_sessionlog SET last_number = last_number + %s, last_runner_seq = last_runner_seq + %s,
        last_control_seq = last_control_seq + %s
    WHERE session_id = %s AND closed_at IS NULL RETURNING run_id, last_number, last_runner_seq, last_control_seq, head
"""
INSERT = """
    INSERT INTO evidence_sessionevent (session_id, number, event_type, turn_id, item_id, at, body, hash)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""
MOVE_HEAD = "UPDATE evidence_sessionlog SET head = %s WHERE session_id = %s"
TABLE = "session events"


def _reserve(session_id: str, sources: Sequence[SourceKind]) -> _Reserved:
    runner, ours = sources.count(SourceKind.RUNNER), sources.count(SourceKind.CONTROL_PLANE)
    found = rows.run(RESERVE, [len(sources), runner, ours, session_id]).rows
    if not found:
        raise UnknownSession
    row = found[0]
    seqs = {SourceKind.RUNNER: row[2] - runner, SourceKind.CONTROL_PLANE: row[3] - ours}
    head = row[4] or chain.genesis(table=TABLE, owner=session_id)
    return _Reserved(run_id=row[0], number=row[1] - len(sources), head=head, seqs=seqs)


def _insert(log: _Reserved, events: Sequence[Event], moments: Sequence[datetime]) -> None:
    """Link the events to the one before, write them, and move the head of the log's chain."""
    head = log.head
    values: list[tuple[Any, ...]] = []
    for event, at in zip(events, moments, strict=True):
        head = chain.link(head, chain.content(_columns(event, at)))
        stored_at = connection.ops.adapt_datetimefield_value(at.astimezone(UTC))
        values.append((event.session_id, *_columns(event, stored_at).values(), head))
    rows.run_many(INSERT, values)
    rows.run(MOVE_HEAD, [head, events[0].session_id])


def _columns(event: Event, at: Any) -> dict[str, Any]:
    """Return the columns that the hash covers, in the order of `INSERT`."""
    names = {"number": event.number, "event_type": event.event_type, "turn_id": event.turn_id, "item_id": event.item_id}
    return {**names, "at": at, "body": event.body}


# ---------------------------------------------------------------- proof
def newest_authorization(*, session_id: str) -> str:
    """Return the authorization record that the newest answered tool call of a session names; empty when none does."""
    answered = SessionEvent.objects.filter(
        session_id=session_id,
        event_type__in=[EventType.ITEM_COMPLETED, EventType.ITEM_FAILED],
        body__contains='"authorizationId":"',
    )
    found = map(_authorization_in, answered.order_by("-number").values_list("body", flat=True).iterator(chunk_size=1))
    return next(filter(None, found), "")


def _authorization_in(body: str) -> str:
    try:
        payload = json.loads(body)["payload"]
        return str(payload["authorizationId"]) if payload["kind"] == "semantic_tool" else ""
    except (ValueError, TypeError, KeyError):
        return ""  # no answer to a call, or changed by somebody, which its chain says


def list_chains(*, session_ids: Sequence[str] | None = None) -> Iterator[chain.Chain]:
    """Yield the hash chain of each log, or of the logs of these sessions; events that have lost their log come last."""
    logs, events = SessionLog.objects.order_by("session_id"), SessionEvent.objects.order_by("session_id")
    if session_ids is not None:
        logs, events = logs.filter(session_id__in=session_ids), events.filter(session_id__in=session_ids)
    for log in logs.iterator():
        yield _chain(log)
    lost = events.exclude(session_id__in=SessionLog.objects.values("session_id"))
    for session_id in lost.values_list("session_id", flat=True).distinct():
        yield _chain(SessionLog(session_id=session_id))


def _chain(log: SessionLog) -> chain.Chain:
    start = chain.genesis(table=TABLE, owner=log.session_id)
    return chain.Chain(
        table=f"evidence {TABLE}",
        owner=log.session_id,
        owner_column="session_id",
        rows=SessionEvent.objects.filter(session_id=log.session_id).order_by("number"),
        after=log.chained_after,
        count=log.last_number,
        start=start,
        head=log.head or start,
        older=None,
    )
