"""The start and the stop of a server, as its rooms see them: what an earlier one left half-done is settled."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

from cleanroom import rooms
from cleanroom.codex.sweep import sweep
from cleanroom.host import registry
from cleanroom.hostloop import host_loop
from cleanroom.models import ChatSession, ChatTurn
from cleanroom.opening import discard
from cleanroom.rooms import room_of, turn_alias
from cleanroom.turns import TERMINAL, Turn
from evidence import record
from evidence.record import Draft
from evidence.views import thread


def settle_cut_rooms() -> int:
    """At start: end the turns that an earlier server left running, and drop opens that never finished."""
    cut = 0
    for turn in ChatTurn.objects.exclude(state__in=TERMINAL).select_related("session"):
        payload = {"code": "server_restarted", "message": "The server was restarted while this turn ran."}
        draft = Draft(type="turn.failed", payload=payload, turn_id=turn_alias(turn.ordinal))
        cut += rooms.settle_turn(
            turn.session.public_id, turn.ordinal, state=Turn.FAILED, draft=draft, code="server_restarted"
        )
    for session in ChatSession.objects.filter(state=ChatSession.State.OPENING):
        discard(session)
    for session in ChatSession.objects.filter(state=ChatSession.State.OPEN):
        _wake_later(session)
    _remove_strays()
    return cut


def _wake_later(session: ChatSession) -> None:
    """The processes of an open room are gone with the server that had them; the next command starts new ones."""
    room = room_of(session)
    snapshot = rooms.load_snapshot(room.session_id)
    if snapshot is not None:
        sweep(thread_id=snapshot.driver_session_id, home=room.home)
    view, _ = thread.snapshot(session_id=room.session_id)
    if view["identity"]["runnerAttached"]:
        facts = {"code": "server_shutdown", "message": "The server was restarted.", "retryable": True}
        record.append(session_id=room.session_id, drafts=[Draft(type="runner.disconnected", payload=facts)])


def _remove_strays() -> None:
    """Remove the directories of rooms that are no more, as a killed server leaves them."""
    kept = set(ChatSession.objects.filter(state=ChatSession.State.OPEN).values_list("public_id", flat=True))
    runs = Path(settings.RUNS_DIR)
    for directory in runs.iterdir() if runs.is_dir() else ():
        if directory.name not in kept:
            shutil.rmtree(directory, ignore_errors=True)


def close_all() -> None:
    """Stop every host of this process; the rooms stay open in the rows and are resumed by the next command."""
    try:
        host_loop.call(registry.close_all(), timeout_s=10)
    finally:
        host_loop.close()
