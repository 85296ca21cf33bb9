"""What a host holds while it works: the agent in hand with the task that reads it, and the turn in hand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from cleanroom.harness import HarnessEvent, HarnessSession
from cleanroom.turn_rows import turn_alias
from cleanroom.turns import TERMINAL, Turn

SAID_UNREAD = frozenset({"interrupt_acknowledgement", "compaction", "usage"})  # items that may come before the model's


@dataclass
class ActiveTurn:
    """The turn in hand. `by_user` and `timed_out` say why it was asked to stop; only the first of them is set."""

    ordinal: int
    message_id: str
    answers: tuple[str, ...] = ()  # cards whose answers its text hands on, until they count as delivered
    state: Turn = Turn.STARTING
    provider_id: str = ""
    asked: bool = False  # an agent has been given its message
    by_user: bool = False
    timed_out: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def alias(self) -> str:
        return turn_alias(self.ordinal)

    @property
    def is_over(self) -> bool:
        return self.state in TERMINAL

    def is_worked_on(self, event: HarnessEvent) -> bool:
        """Say whether an event shows that the model has read what the turn brought.

        A name does not: the agent keeps the message some milliseconds later, and forgets it when it dies in between.
        """
        if not self.provider_id or event.turn_id != self.provider_id:
            return False
        said = event.type.startswith("item.") and event.payload.get("kind") not in SAID_UNREAD
        return said or event.type == "turn.completed"


class Attached:
    """The agent in hand and the task that reads its events. One value, so that neither is mistaken for another's."""

    def __init__(self, agent: HarnessSession) -> None:
        self.agent = agent
        self.pump: asyncio.Task[None] | None = None
        self.heard = asyncio.Event()  # the first thing it said is in the outbox
        self._closing: asyncio.Task[None] | None = None

    @property
    def is_ended(self) -> bool:
        return self._closing is not None and self._closing.done()

    async def lost(self) -> None:
        """Return once an agent that has gone by itself is cleared away; at once while it is there.

        Its last words may still be on their way when its turn has ended already. Bounded, as the clearing away is.
        """
        if self.agent.has_ended() and self.pump is not None:
            await asyncio.wait({self.pump})

    async def close(self, *, reason: str, force: bool = False) -> None:
        """End the agent, once; what it still says is heard by nobody. Bounded by the driver.

        It is ended also when whoever asked for it is cancelled meanwhile: no process is left to itself.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._end(reason, force))
        await asyncio.shield(self._closing)

    async def _end(self, reason: str, force: bool) -> None:
        pump, self.pump = self.pump, None
        if pump is not None:
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
        await self.agent.close(reason=reason, force=force)
