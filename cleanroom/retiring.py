"""Retiring rooms: their rows, inside the transaction of whoever ends them, and then their processes.

Rows first, so that nothing more is admitted. Source: clean-room seed, "Session lifecycle".
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cleanroom import limits, rooms, turn_rows
from cleanroom.endings import CLOSED_MESSAGES
from cleanroom.hostloop import host_loop
from cleanroom.models import ChatSession
from cleanroom.registry import registry
from cleanroom.rooms import Room, room_of
from evidence import record
from evidence.record import Draft
from mockcore import tenants

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Retired:
    """A room whose rows are retired; its processes are to be closed after the commit."""

    room: Room
    because: str


def retire_rows(session: ChatSession, *, because: str, now: datetime) -> Retired | None:
    """End a room in the rows: room, company, turns, log. None if it had ended. Inside the caller's transaction.

    Locks are taken in the order in which every writer takes them: chat, company, log.
    """
    live = ChatSession.objects.filter(pk=session.pk, state=ChatSession.State.OPEN)
    if not live.update(state=ChatSession.State.RETIRED, retired_at=now, retired_because=because):
        return None
    tenants.retire(company_id=session.company_id)
    turn_rows.cut_turns(session, code="session_closed", message=CLOSED_MESSAGES["session_closed"])
    closed = Draft(type="session.closed", payload={"reason": because, "code": because})
    record.append(session_id=session.public_id, drafts=[closed])
    return Retired(room=room_of(session), because=because)


def close_retired(retired: Sequence[Retired]) -> None:
    """Close the processes of retired rooms, all at once, and wait for them a bounded while. Never raises."""
    closings = [host_loop.submit(_close(one)) for one in retired]
    deadline = time.monotonic() + limits.cleanroom().retire_wait_s
    for closing in closings:
        try:
            closing.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            log.info("a retired room is still closing")
        except Exception:
            log.exception("the processes of a retired room could not be closed")


async def _close(one: Retired) -> None:
    try:
        if not await registry.close(one.room.session_id, reason=one.because, remove=True):
            await host_loop.rows(rooms.remove_directories, one.room)
    finally:
        await host_loop.rows(record.close_log, session_id=one.room.session_id)
