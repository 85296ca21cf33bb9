"""The events of one session on their way to its host: numbered, bounded, and with back-pressure.

A host that falls behind stops the reader, which stops runnerd, which stops Codex: memory stays bounded and nothing is
lost. One consumer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from cleanroom.codex.drafts import Draft
from cleanroom.harness import HarnessEvent

MAX_WAITING_EVENTS = 512
MAX_WAITING_CHARS = 4 * 1024 * 1024
SETTLE_TIMEOUT_S = 1.0


class EventQueue:
    """Numbers drafts as they enter, so that the order of the queue is the order of `source_seq`."""

    def __init__(self, *, last_source_seq: int) -> None:
        self.last_source_seq = last_source_seq
        self._events: deque[HarnessEvent] = deque()
        self._chars = 0
        self._handled_seq = last_source_seq  # the last event that the consumer has finished with
        self._ended = False
        self._arrived = asyncio.Event()
        self._moved = asyncio.Event()

    async def put(self, draft: Draft) -> None:
        """Add an event once there is room."""
        while self._is_full() and not self._ended:
            await self._until(self._moved)
        self.push(draft)

    def push(self, draft: Draft) -> None:
        """Add an event now: for the few that end a turn or the session. After the end nothing is added."""
        if self._ended:
            return
        self.last_source_seq += 1
        event = HarnessEvent(
            type=draft.type,
            payload=draft.payload,
            source_seq=self.last_source_seq,
            emitted_at=datetime.now(UTC),
            turn_id=draft.turn_id,
            item_id=draft.item_id,
            priority=draft.priority,
        )
        self._events.append(event)
        self._chars += _weight(event)
        self._arrived.set()

    def end(self) -> None:
        """Let the consumer finish with what is queued, then end."""
        self._ended = True
        self._arrived.set()
        self._moved.set()

    async def consume(self) -> AsyncIterator[HarnessEvent]:
        """Yield events in order until the end. Asking for the next one says that the last one is dealt with."""
        while True:
            while not self._events:
                if self._ended:
                    return
                await self._until(self._arrived)
            event = self._events.popleft()
            self._chars -= _weight(event)
            self._moved.set()
            yield event
            self._handled_seq = event.source_seq
            self._moved.set()

    async def settled(self) -> None:
        """Wait until the consumer has dealt with all that was queued before now, at most one second.

        A tool call is recorded by the host itself: it must not overtake the prose that came before it.
        """
        target = self.last_source_seq
        try:
            async with asyncio.timeout(SETTLE_TIMEOUT_S):
                while self._handled_seq < target and not self._ended:
                    await self._until(self._moved)
        except TimeoutError:
            pass

    def _is_full(self) -> bool:
        return len(self._events) >= MAX_WAITING_EVENTS or self._chars >= MAX_WAITING_CHARS

    @staticmethod
    async def _until(bell: asyncio.Event) -> None:
        bell.clear()
        await bell.wait()


def _weight(event: HarnessEvent) -> int:
    text = event.payload.get("text")
    return len(text) if isinstance(text, str) else 0
