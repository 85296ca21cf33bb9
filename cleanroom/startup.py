"""The start and the stop of a server, as its rooms see them: what an earlier one left half-done is settled."""

from __future__ import annotations

import logging
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from cleanroom import rooms, turn_rows
from cleanroom.codex.sweep import sweep
from cleanroom.endings import CLOSED_MESSAGES
from cleanroom.hostloop import host_loop
from cleanroom.models import ChatSession
from cleanroom.opening import discard
from cleanroom.registry import registry
from cleanroom.rooms import room_of
from cleanroom.turns import TERMINAL, Turn
from evidence import record
from evidence.record import Draft
from evidence.views import thread

log = logging.getLogger(__name__)


def settle_cut_rooms() -> int:
    """At start: end the turns that an earlier server left running, drop opens that never finished, clear what is left.

    Returns how many turns were cut. One row that cannot be settled is logged and does not stop the others.
    """
    cut = 0
    unsettled = ~Q(state=ChatSession.State.RETIRED) | Q(public_id__in=record.list_open())
    for session in ChatSession.objects.filter(unsettled):
        try:
            cut += _settle(session)
        except Exception:
            log.exception("a room of an earlier server could not be settled")
    _remove_strays()
    return cut


def _settle(session: ChatSession) -> int:
    if session.state == ChatSession.State.OPENING:
        discard(session)
        return 0
    if session.state == ChatSession.State.RETIRED:
        session.turns.exclude(state__in=TERMINAL).update(state=Turn.FAILED, error_code="session_closed")
        record.close_log(session.public_id)
        return 0
    with transaction.atomic():
        cut = turn_rows.cut_turns(session, code="server_restarted", message=CLOSED_MESSAGES["server_restarted"])
    _wake_later(session)
    return cut


def _wake_later(session: ChatSession) -> None:
    """The processes of an open room are gone with the server that had them; the next command starts new ones."""
    room = room_of(session)
    snapshot = turn_rows.load_snapshot(room.session_id)
    if snapshot is not None:
        sweep(thread_id=snapshot.driver_session_id, home=room.home)
    view, _ = thread.snapshot(session_id=room.session_id)
    if view["identity"]["runnerAttached"] or view["connection"]["state"] == "reconnecting":
        facts = {"code": "server_shutdown", "message": "The server was restarted.", "retryable": True}
        record.append(session_id=room.session_id, drafts=[Draft(type="runner.disconnected", payload=facts)])


def _remove_strays() -> None:
    """Remove the directories of rooms that are no more, as a killed server leaves them."""
    kept = set(ChatSession.objects.filter(state=ChatSession.State.OPEN).values_list("public_id", flat=True))
    runs = Path(settings.RUNS_DIR)
    for directory in runs.iterdir() if runs.is_dir() else ():
        if directory.name not in kept:
            rooms.remove_directory(directory)


def close_all() -> None:
    """Stop every host of this process; the rooms stay open in the rows and are resumed by the next command."""
    try:
        host_loop.call(registry.close_all(), timeout_s=10)
    finally:
        host_loop.close()
