"""A chat as its browser has it: an id and a cookie. Calls what the views call, and reads rows and log."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from cleanroom import sessions
from cleanroom.hostloop import host_loop
from cleanroom.models import ChatSession, ChatTurn
from cleanroom.payload import Opened
from cleanroom.registry import registry
from evidence import record
from evidence.record import Event
from tests.cleanroom.support.memory_driver import MemoryDriver

PATIENCE_S = 5.0


class Chat:
    """One open room of one browser."""

    def __init__(self, agents: MemoryDriver, opened: Opened) -> None:
        self.agents = agents
        self.session_id: str = opened.payload["sessionId"]
        self.company_id: str = opened.payload["identity"]["companyId"]
        self.cookie = opened.cookie
        self.payload = opened.payload

    @classmethod
    def open(cls, agents: MemoryDriver, *, cookie: str | None = None) -> Chat:
        return cls(agents, sessions.open_room(session_id=None, presented=cookie))

    def put_to_rest(self) -> None:
        """Leave the room without a host, as after a restart of the server."""
        host_loop.call(registry.close(self.session_id, reason="server_shutdown", remove=False), timeout_s=PATIENCE_S)

    # ------------------------------------------------------------ what the browser does
    def send(self, text: str = "Hello") -> int:
        """Send a message and return the number of its turn."""
        return sessions.send_message(session_id=self.session_id, presented=self.cookie, text=text).ordinal

    def interrupt(self) -> int:
        return sessions.interrupt(session_id=self.session_id, presented=self.cookie)

    def reconnect(self) -> Opened:
        return sessions.reconnect(session_id=self.session_id, presented=self.cookie)

    def answer(self, interaction_id: str, outcome: str, result: Any = None) -> int:
        sent = sessions.resolve_interaction(
            session_id=self.session_id,
            presented=self.cookie,
            interaction_id=interaction_id,
            outcome=outcome,
            result=result,
        )
        return sent.ordinal

    def new_chat(self) -> Opened:
        return sessions.new_chat(session_id=self.session_id, presented=self.cookie)

    def reset(self) -> Opened:
        return sessions.reset(session_id=self.session_id, presented=self.cookie)

    # ------------------------------------------------------------ what became of it
    @property
    def row(self) -> ChatSession:
        return ChatSession.objects.get(public_id=self.session_id)

    def turn(self, ordinal: int) -> ChatTurn:
        return ChatTurn.objects.get(session__public_id=self.session_id, ordinal=ordinal)

    def events(self, *types: str) -> list[Event]:
        found = record.stored_events(session_id=self.session_id, after=0)
        return [event for event in found if not types or event.event_type in types]

    def cards(self) -> list[str]:
        """Return the ids of the cards that were put before the board, in order."""
        return [event.payload["card"]["interactionId"] for event in self.events("interaction.request.materialized")]

    def calls(self) -> list[Event]:
        """Return the events of the tool calls that ended."""
        ended = self.events("item.completed", "item.failed")
        return [event for event in ended if event.payload["kind"] == "semantic_tool"]

    def ends(self, ordinal: int) -> list[Event]:
        """Return every end that the log knows of a turn; there must never be two."""
        return [
            event
            for event in self.events("turn.completed", "turn.interrupted", "turn.failed")
            if event.turn_id == f"turn-{ordinal}"
        ]

    def end_of(self, ordinal: int) -> Event:
        """Wait for the end of a turn, and return its one event."""
        self.agents.wait_until(lambda: self.ends(ordinal))
        [end] = self.ends(ordinal)
        return end

    def talk(self, text: str = "Hello") -> Event:
        """Send a message and return the end of its turn."""
        return self.end_of(self.send(text))


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Make calls at the same moment, each in a thread of its own; return results, or the errors they raised."""
    outcomes: list[Any] = [None] * len(calls)
    together = threading.Barrier(len(calls))

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            together.wait(PATIENCE_S)
            outcomes[place] = call()
        except Exception as error:
            outcomes[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=one, daemon=True) for one in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads), "a call never came back"
    return outcomes


class Later:
    """One call in a thread of its own, to be awaited when the test has done something meanwhile."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._outcome: Any = None
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome = self._call()
        except Exception as error:
            self._outcome = error
        finally:
            connection.close()

    def outcome(self, timeout_s: float = PATIENCE_S) -> Any:
        """Return what the call returned, or the error it raised."""
        self._thread.join(timeout_s)
        assert not self._thread.is_alive(), "the call never came back"
        return self._outcome
