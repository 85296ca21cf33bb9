"""What a host says in its room's log by itself: who came, what it may do, what was measured, who went away.

Puts events into the outbox in the words of `ARCHITECTURE.md`; decides nothing, and waits for nothing.
"""

from __future__ import annotations

from typing import Any

from cleanroom import exposure
from cleanroom.endings import guard_facts
from cleanroom.guard import guard
from cleanroom.harness import AgentUnavailableError, HarnessSession, SessionSnapshot
from cleanroom.outbox import Outbox
from cleanroom.rooms import Room
from evidence.record import Draft
from mockcore.refusal import Refusal

NOT_STARTED = "The agent could not be started."
RESTING = "The agent is resting; the next message wakes it."
NO_SANDBOX = "This system does not allow a sandbox, so the agent cannot run commands here."
THREAD_REPLACED = (
    "The agent's own record of this chat is gone, so it goes on without remembering what was said. "
    "The issue and everything recorded on it are as they were."
)


class Announcer:
    """The voice of one host."""

    def __init__(self, *, room: Room, outbox: Outbox) -> None:
        self._room = room
        self._outbox = outbox
        self._keys: tuple[str, ...] = ()  # of the agent's environment
        self._measured = 0

    def put(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        turn_id: str | None = None,
        item_id: str | None = None,
        source_kind: str = "control_plane",
    ) -> None:
        """Append one event after everything that waits."""
        self._outbox.put(Draft(type=kind, payload=payload, turn_id=turn_id, item_id=item_id, source_kind=source_kind))

    def resuming(self, *, attempt: int) -> None:
        self.put("session.resuming", {"attempt": attempt})

    def connected(self, agent: HarnessSession, names: dict[str, list[str]], *, kind: str, attempt: int) -> None:
        """Say who came and what it is offered; `names` are the exposed and the withheld operations."""
        process = agent.process()
        facts = {
            "driverKind": kind,
            "agentVersion": process.agent_version,
            "sandboxed": process.sandboxed,
            "model": process.model,
            "modelLabel": self._room.model_label or process.model,
            "rehearsal": self._room.rehearsal,
            "attempt": attempt,
        }
        self.put("runner.connected", facts)
        self._keys = process.environment_keys
        self.measured(force=True)
        self._exposed(names)
        if not process.sandboxed:
            self.put("harness.diagnostic", {"code": "sandbox_unavailable", "message": NO_SANDBOX})

    def _exposed(self, names: dict[str, list[str]]) -> None:
        exposed = {
            "kind": "tool_exposure",
            "operationIds": names["exposed"],
            "withheldOperationIds": names["withheld"],
            "scenarioId": exposure.SCENARIO_ID,
        }
        self.put("item.completed", exposed, item_id="tool-exposure")

    def forgotten(self, agent: HarnessSession, left: SessionSnapshot | None, *, turn_id: str | None) -> None:
        """Say so when a thread that had messages could not be resumed: the agent remembers nothing of them."""
        if left is None or not left.has_messages or agent.ids().driver_session_id == left.driver_session_id:
            return
        self.put("harness.diagnostic", {"code": "thread_replaced", "message": THREAD_REPLACED}, turn_id=turn_id)

    def measured(self, *, force: bool = False) -> None:
        """Write the network guard's row anew when what it measured has changed."""
        facts = guard_facts(self._room.session_id, guard.reading(), self._keys)
        if force or facts["requests"] != self._measured:
            self._measured = facts["requests"]
            self.put("runner.diagnostic", facts)

    def disconnected(self, code: str, message: str) -> None:
        self.put("runner.disconnected", {"code": code, "message": message, "retryable": True})

    def not_started(self, error: BaseException, *, closing: str) -> None:
        """Say why an agent did not come; `closing` is why the host is being closed, if it is."""
        if closing:
            self.disconnected(closing, RESTING)
        elif isinstance(error, Refusal):
            self.disconnected(error.code, error.message)
        else:
            self.disconnected(AgentUnavailableError.code, NOT_STARTED)
