"""The turns of one thread: which one is active, when it has its id, and its one end.

Emits what the state of a turn implies: its start, the closing of items that Codex left open, and exactly one terminal.
Sends nothing to Codex and knows no process. The states are those of `cleanroom.turns`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from cleanroom.codex import failures
from cleanroom.codex.drafts import Draft, turn_terminal
from cleanroom.codex.events import EventQueue
from cleanroom.codex.items import OpenItems
from cleanroom.harness import HarnessUnavailableError, ProtocolFailure
from cleanroom.turns import Turn, advance

KEPT_TERMINALS = 64  # a repeated report comes soon or never
SIGNALS = {"completed": "complete", "interrupted": "stop", "failed": "fail"}


@dataclass(kw_only=True)
class ActiveTurn:
    """The turn that runs or starts. It has its id once `turn/started` came, not when `turn/start` was answered."""

    state: Turn = Turn.STARTING
    id: str | None = None
    answered_id: str | None = None
    named: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    last_failure: failures.Failure | None = None  # what the retry notices said: the final error often says less
    denials: set[asyncio.Task[Any]] = field(default_factory=set)  # withheld calls that are being answered

    def failure_of(self, error: Any) -> failures.Failure:
        """Classify the final error. After a rejected login it reads `other`; the retries before it named the status."""
        failure = failures.classify(error)
        rejected = self.last_failure is failures.LOGIN_REQUIRED and failure.code == failures.OTHER.code
        return failures.LOGIN_REQUIRED if rejected else failure


class Turns:
    """Follows the turns of one thread. At most one is active."""

    def __init__(self, *, events: EventQueue, terminals: dict[str, str]) -> None:
        self.active: ActiveTurn | None = None
        self.terminals = dict(terminals)  # turn id to fingerprint, oldest first
        self.items = OpenItems()
        self._events = events

    def begin(self) -> ActiveTurn:
        """A turn was asked for; it has no id yet."""
        self.active = ActiveTurn()
        return self.active

    def forget(self, turn: ActiveTurn) -> None:
        """The turn that was asked for will not start; nothing was emitted for it."""
        turn.ended.set()
        if self.active is turn:
            self.active = None

    def named(self, turn_id: object) -> ActiveTurn | None:
        """Return the active turn when this is its id."""
        return self.active if self.active is not None and self.active.id == turn_id and turn_id else None

    async def bind(self, turn_id: object) -> None:
        """A tool call or the end can overtake `turn/started`; it then names the turn that was asked for."""
        turn = self.active
        if turn is None or turn.id is not None or not isinstance(turn_id, str) or turn_id in self.terminals:
            return
        if turn.answered_id in (None, turn_id):
            await self._name(turn, turn_id)

    async def started(self, turn_id: str) -> None:
        """Take note of `turn/started`. A turn that nobody asked for is adopted: Codex starts some by itself.

        Raises `ProtocolFailure` when another turn is active than the one that starts.
        """
        if turn_id in self.terminals or self.named(turn_id):
            return
        turn = self.active or self.begin()
        if turn.id is not None or turn.answered_id not in (None, turn_id):
            raise ProtocolFailure("turn_start_mismatch", "Codex started another turn than the one that was asked for.")
        await self._name(turn, turn_id)

    async def _name(self, turn: ActiveTurn, turn_id: str) -> None:
        turn.id, turn.state = turn_id, advance(turn.state, "name")
        await self._events.put(Draft(type="turn.started", turn_id=turn_id))
        if not turn.named.done():
            turn.named.set_result(turn_id)

    def is_ending(self, reported: dict[str, Any]) -> ActiveTurn | None:
        """Return the active turn when this report of `turn/completed` ends it; None for a repeated or unknown one.

        Raises `ProtocolFailure` when a turn that has ended is reported to have ended otherwise.
        """
        known = self.terminals.get(reported["id"])
        if known is not None and known != fingerprint(reported):
            raise ProtocolFailure("conflicting_turn_terminal", "Codex ended one turn in two ways.")
        return None if known is not None else self.named(reported["id"])

    def complete(self, turn: ActiveTurn, reported: dict[str, Any]) -> None:
        """End the turn as Codex reported it; an unknown status is a failure."""
        status, failure = reported.get("status"), None
        if status not in ("completed", "interrupted"):
            status, failure = "failed", turn.failure_of(reported.get("error"))
        duration = reported.get("durationMs")
        self._end(
            status,
            failure=failure,
            duration_ms=duration if isinstance(duration, int) else None,
            kept_as=fingerprint(reported),
        )

    def stop(self) -> None:
        """The session is being closed: an active turn ends interrupted, and not by the user."""
        self._end("interrupted", kept_as="closed", by_user=False)

    def fail(self, failure: failures.Failure, cause: HarnessUnavailableError) -> None:
        """The session broke: an active turn fails. One without an id only stops being waited for, with `cause`."""
        turn = self.active
        if turn is not None and not turn.named.done():
            turn.named.set_exception(cause)
            turn.named.exception()  # seen: the one who waited may have gone
        self._end("failed", failure=failure, kept_as="broken")

    def _end(
        self,
        status: str,
        *,
        kept_as: str,
        failure: failures.Failure | None = None,
        duration_ms: int | None = None,
        by_user: bool | None = None,
    ) -> None:
        """Close what is open and emit the one terminal. The first ending wins: later ones find no active turn."""
        turn, self.active = self.active, None
        if turn is None:
            return
        turn.ended.set()
        if turn.id is None:
            return
        if by_user is None:
            by_user = turn.state is Turn.INTERRUPTING and status == "interrupted"
        turn.state = advance(turn.state, SIGNALS[status])
        for draft in self.items.close_turn(turn_id=turn.id, status=status):
            self._events.push(draft)
        self._events.push(
            turn_terminal(turn_id=turn.id, status=status, duration_ms=duration_ms, by_user=by_user, failure=failure)
        )
        self._keep(turn.id, kept_as)

    def _keep(self, turn_id: str, kept_as: str) -> None:
        self.terminals[turn_id] = kept_as
        while len(self.terminals) > KEPT_TERMINALS:
            del self.terminals[next(iter(self.terminals))]


def fingerprint(turn: dict[str, Any]) -> str:
    """Two reports of one end are equal when status and error are."""
    facts = json.dumps([turn.get("status"), turn.get("error")], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()[:16]
