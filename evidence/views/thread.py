"""The thread view: ops of one event, the fold, and a snapshot with the cursor it was taken at.

An old snapshot plus later frames equals a fresh snapshot, because both are the same fold of the same ops.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from django.db import transaction

from evidence import record
from evidence.models import SessionLog
from evidence.prp.events import Event
from evidence.record import UnknownSession
from evidence.views.bounds import bounded
from evidence.views.build import Op
from evidence.views.fold import Fold, View, apply_ops, copy_view, empty_view
from evidence.views.ops import event_ops

__all__ = ["Op", "View", "apply_ops", "copy_view", "empty_view", "ops", "snapshot"]

KEPT_FOLDS = 16  # sessions whose folded view stays in memory; a fold of 5,000 events takes about a fifth of a second


def ops(event: Event) -> list[Op]:
    """Return what one event changes in the view, each op bounded. Needs no other knowledge."""
    return bounded(event_ops(event), body_chars=len(event.body))


@dataclass(frozen=True)
class _Key:
    """Which log a fold is of. A session id alone would mistake a log that was rolled back for its successor."""

    session_id: str
    opened_at: datetime


@dataclass
class _Held:
    base: View
    fold: Fold
    cursor: int = 0
    lock: Lock = field(default_factory=Lock)


_held: OrderedDict[_Key, _Held] = OrderedDict()
_held_lock = Lock()


def snapshot(
    *, session_id: str, identity: Mapping[str, Any] | None = None, issue: Mapping[str, Any] | None = None
) -> tuple[View, int]:
    """Return the view and the number of the last event in it. `identity` and `issue` are what stood before any event.

    The view is the caller's own. Raises `UnknownSession` once the log is closed.
    """
    log = SessionLog.objects.filter(session_id=session_id, closed_at=None).values_list("opened_at", flat=True).first()
    if log is None:
        raise UnknownSession
    base = empty_view(session_id=session_id, identity=identity or {}, issue=issue or {})
    if transaction.get_connection().in_atomic_block:
        held = _Held(base, Fold(copy_view(base)))  # what it reads may yet be rolled back, so nothing is kept
    else:
        held = _hold(_Key(session_id, log), base)
    with held.lock:
        _catch_up(held, session_id)
        return copy_view(held.fold.view), held.cursor


def _catch_up(held: _Held, session_id: str) -> None:
    while True:
        events = record.stored_events(session_id=session_id, after=held.cursor)
        changes = [op for event in events for op in ops(event)]
        held.cursor = events[-1].number if events else held.cursor
        held.fold.apply(changes)
        if len(events) < record.READ_LIMIT:
            return


def _hold(key: _Key, base: View) -> _Held:
    with _held_lock:
        held = _held.get(key)
        if held is None or held.base != base:
            held = _held[key] = _Held(base, Fold(copy_view(base)))
        _held.move_to_end(key)
        while len(_held) > KEPT_FOLDS:
            _held.popitem(last=False)
        return held
