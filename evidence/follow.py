"""Following a session: frames after a cursor, for as long as the log is open. No gap, no duplicate, no queue.

A follower is a cursor. It reads the tape, or the journal where the tape does not reach, and sleeps until a bell rings.
Nothing polls; only when a heartbeat is due does it look at the rows once: a bell that never rang costs time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from django.conf import settings

from evidence import record
from evidence.prp.events import Event, EventType
from evidence.record import UnknownSession
from evidence.tape import Bell, Tape, TooManyFollowers, hub
from evidence.views.frames import Frame, closed, frames, heartbeat
from mockcore.refusal import Refusal
from mockcore.threads import RowThreads

__all__ = ["CursorAhead", "Frame", "TooManyFollowers", "UnknownSession", "follow", "hub", "threads"]

TEXT_PERIOD_S = 1 / 30  # streamed text alone is sent at most this often; source: design section 11, "frame cost"

# Outside requests Django's own helper has one thread for the whole process: one slow query would stall every stream.
threads = RowThreads(4, "follow-rows")


class CursorAhead(Refusal):
    """The cursor is beyond the last event of this session; open the session again for a fresh one."""

    code = "cursor_ahead"


async def follow(
    *, session_id: str, after: int, heartbeat_s: float | None = None, at_most: int | None = None
) -> AsyncGenerator[Frame, None]:
    """Yield frames after cursor `after`, a heartbeat after each quiet `heartbeat_s`, and `closed` at the end.

    Raises `UnknownSession` when the log is closed already, `CursorAhead`, and `TooManyFollowers` when `at_most` follow
    already. Runs on any loop; close it when done.
    """
    quiet_s = settings.STREAM_HEARTBEAT_S if heartbeat_s is None else heartbeat_s
    with hub.following(session_id, at_most=at_most) as (tape, bell):
        if after > await threads.do(record.last_number, session_id):
            raise CursorAhead
        follower = _Follower(session_id, after, tape, bell)
        while True:
            batch = await follower.next_frames()
            for frame in batch:
                follower.cursor = frame.seq
                yield frame
            if batch:
                continue
            if follower.closing:
                yield await follower.farewell()
                return
            if not await bell.wait(timeout_s=quiet_s):
                async for frame in follower.after_silence():
                    yield frame


class _Follower:
    """A cursor into one session, and what it must remember between two looks."""

    def __init__(self, session_id: str, cursor: int, tape: Tape, bell: Bell) -> None:
        self.cursor = cursor
        self.closing = False
        self._session_id = session_id
        self._tape = tape
        self._bell = bell
        self._caught_up = False  # the journal was read to its end after the tape was taken
        self._next_text_at = 0.0

    async def next_frames(self) -> list[Frame]:
        """Return what there is after the cursor; none means: wait for the bell, which was reset before looking."""
        while True:
            self._bell.reset()
            self.closing = self._tape.closed
            events = self._tape.events_after(self.cursor) if self._caught_up and not self.closing else None
            if events is None:
                return await self._from_journal()
            pause_s = self._next_text_at - asyncio.get_running_loop().time()
            if pause_s > 0 and events and all(event.event_type == EventType.ITEM_DELTA for event in events):
                await self._bell.pause(timeout_s=pause_s)
                continue
            if events:
                self._next_text_at = asyncio.get_running_loop().time() + TEXT_PERIOD_S
            return self._joined(events)

    async def after_silence(self) -> AsyncIterator[Frame]:
        """Look at the rows once: nothing new is a heartbeat, a log closed elsewhere is closed here."""
        self._caught_up = False
        if await threads.do(record.close_code, self._session_id) is not None:
            self._tape.close()
        elif await threads.do(_newest, self._session_id) <= self.cursor:
            yield heartbeat(self.cursor)

    async def farewell(self) -> Frame:
        code = await threads.do(record.close_code, self._session_id)
        return closed(self.cursor, code or UnknownSession.code)

    async def _from_journal(self) -> list[Frame]:
        while True:
            cut, count = await threads.do(_journal_frames, self._session_id, self.cursor)
            self._caught_up = count < record.READ_LIMIT
            if cut or self._caught_up:
                return cut

    def _joined(self, events: list[Event]) -> list[Frame]:
        """Followers at one cursor share one joined frame."""
        if not events:
            return []
        key = (self.cursor, events[-1].number)
        cut = self._tape.joined.get(key)
        if cut is None:
            cut = self._tape.joined[key] = frames(events, after=self.cursor)
        return cut


def _journal_frames(session_id: str, after: int) -> tuple[list[Frame], int]:
    events = record.stored_events(session_id=session_id, after=after)
    return frames(events, after=after), len(events)


def _newest(session_id: str) -> int:
    try:
        return record.last_number(session_id)
    except UnknownSession:
        return 0
