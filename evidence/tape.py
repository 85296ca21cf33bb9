"""One tape per session: its newest events in memory, and a bell for whoever follows. Knows no database and no socket.

A tape is contiguous up to `last`. A follower is a cursor: it reads what is after it from the tape, and from the journal
when the tape does not reach back, so gaps and duplicates cannot be written. Threads append, followers wait on loops of
their own, and a tape lives while somebody follows. Source: architecture notes, section D.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from evidence.prp.events import TURN_TERMINALS, Event, EventType
from mockcore.refusal import Refusal

TAPE_EVENTS = 1024  # what a follower that lags a little can read without the database
WRITER_FIRST_S = 0.001  # whoever wrote goes on first: an agent waits for its answer longer than a page for its frame


class TooManyFollowers(Refusal):
    """Too many pages follow this chat; close one."""

    code = "too_many_streams"


class Bell:
    """Wakes one follower on its own loop, from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._hurry = asyncio.Event()

    def ring(self, *, hurry: bool, after_s: float = 0.0) -> None:
        """Wake the follower. `hurry`: it is not about streamed text alone."""
        try:
            if after_s:
                self._loop.call_soon_threadsafe(self._loop.call_later, after_s, self._set, hurry)
            else:
                self._loop.call_soon_threadsafe(self._set, hurry)
        except RuntimeError:
            pass  # its loop has ended, and the follower with it

    def reset(self) -> None:
        """Forget earlier rings. The caller looks at the tape after this, never before it."""
        self._changed.clear()
        self._hurry.clear()

    async def wait(self, *, timeout_s: float) -> bool:
        """Return True when it rang, False when `timeout_s` seconds passed."""
        return await _within(self._changed, timeout_s)

    async def pause(self, *, timeout_s: float) -> None:
        """Wait `timeout_s` seconds, or until something else than streamed text came."""
        await _within(self._hurry, timeout_s)

    def _set(self, hurry: bool) -> None:
        self._changed.set()
        if hurry:
            self._hurry.set()


class Tape:
    """The newest events of one session. Every method may be called from any thread."""

    def __init__(self) -> None:
        self.last = 0  # everything up to here is stored
        self.closed = False
        self.joined: dict[tuple[int, int], list[Any]] = {}  # frames by cursor and last event, until the next event
        self._recent: deque[Event] = deque(maxlen=TAPE_EVENTS)
        self._bells: set[Bell] = set()
        self._lock = threading.Lock()

    def extend(self, events: Sequence[Event]) -> None:
        """Take events that were committed. They may come out of order: the journal has what is missing here."""
        with self._lock:
            new = [event for event in events if event.number > self.last]
            if not new:
                return  # published late: followers already read it from the journal
            if new[0].number != self.last + 1:
                self._recent.clear()  # something before it was not seen here
            self._recent.extend(new)
            self.last = new[-1].number
            self.joined = {}
            types = {event.event_type for event in new}
            is_end = not types.isdisjoint(TURN_TERMINALS)
            self._ring(hurry=types != {EventType.ITEM_DELTA}, after_s=0.0 if is_end else WRITER_FIRST_S)

    def close(self) -> None:
        """Say that nothing more will come."""
        with self._lock:
            self.closed = True
            self._ring(hurry=True)

    def events_after(self, cursor: int) -> list[Event] | None:
        """Return what is after `cursor`; None when the tape does not reach back that far."""
        with self._lock:
            if cursor >= self.last:
                return []
            missing = self.last - cursor
            if missing > len(self._recent):
                return None
            return list(islice(self._recent, len(self._recent) - missing, None))

    def attach(self, bell: Bell) -> None:
        with self._lock:
            self._bells.add(bell)

    def detach(self, bell: Bell) -> bool:
        """Return whether that was the last follower."""
        with self._lock:
            self._bells.discard(bell)
            return not self._bells

    def follower_count(self) -> int:
        with self._lock:
            return len(self._bells)

    def _ring(self, *, hurry: bool, after_s: float = 0.0) -> None:
        for bell in self._bells:
            bell.ring(hurry=hurry, after_s=after_s)


class Hub:
    """The tapes of this process. A session that nobody follows has none, and publishing to it costs a look-up."""

    def __init__(self) -> None:
        self._tapes: dict[str, Tape] = {}
        self._lock = threading.Lock()

    @contextmanager
    def following(self, session_id: str, *, at_most: int | None = None) -> Iterator[tuple[Tape, Bell]]:
        """Hold a session's tape, and a bell that rings when it changes.

        Raises `TooManyFollowers` when `at_most` follow already; those that come together are counted one by one.
        """
        bell = Bell()
        with self._lock:
            if at_most is not None and self.followers(session_id) >= at_most:
                raise TooManyFollowers
            tape = self._tapes.setdefault(session_id, Tape())
            tape.attach(bell)
        try:
            yield tape, bell
        finally:
            with self._lock:
                if tape.detach(bell) and self._tapes.get(session_id) is tape:
                    del self._tapes[session_id]

    def publish(self, session_id: str, events: Sequence[Event]) -> None:
        """Announce committed events. Called after commit, from the thread that appended."""
        tape = self._tapes.get(session_id)
        if tape is not None:
            tape.extend(events)

    def close(self, session_id: str) -> None:
        """Announce that the session's log was closed."""
        tape = self._tapes.get(session_id)
        if tape is not None:
            tape.close()

    def followers(self, session_id: str) -> int:
        """Return how many follow a session right now."""
        tape = self._tapes.get(session_id)
        return tape.follower_count() if tape is not None else 0

    def tape_count(self) -> int:
        return len(self._tapes)


async def _within(event: asyncio.Event, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return False
    return True


hub = Hub()
