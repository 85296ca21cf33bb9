"""How a turn ended, in the words of the log, and the network guard's row. Pure: facts in, payloads out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cleanroom.guard import Reading
from cleanroom.turns import Turn

CLOSED_MESSAGES = {
    "server_restarted": "The server was restarted while this turn ran. The next message resumes the same thread.",
    "session_closed": "The chat was closed while this turn ran.",
    "internal_error": "The end of this turn was lost inside the server. The chat goes on.",
    "turn_timeout": "The turn took longer than it may and was stopped. The chat goes on.",
}


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The state a turn ended in, and its last event."""

    state: Turn
    type: str
    payload: dict[str, Any]


def ending(*, state: Turn, by_user: bool, timed_out: bool, payload: dict[str, Any]) -> Ending:
    """Return how a turn ended that reached `state`: a timeout is a failure, whatever the agent called it.

    A turn that the user stopped before its clock ran out has not timed out.
    """
    if timed_out and state in {Turn.INTERRUPTED, Turn.FAILED}:
        late = {"code": "turn_timeout", "message": CLOSED_MESSAGES["turn_timeout"]}
        return Ending(state=Turn.FAILED, type="turn.failed", payload=late)
    if state is Turn.INTERRUPTED:
        return Ending(state=state, type="turn.interrupted", payload={**payload, "byUser": by_user})
    if state is Turn.COMPLETED:
        return Ending(state=state, type="turn.completed", payload=payload)
    code, message = payload.get("code") or "provider_error", payload.get("message") or "The turn failed."
    return Ending(state=state, type="turn.failed", payload={**payload, "code": code, "message": message})


def guard_facts(session_id: str, reading: Reading, environment_keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the network guard's facts: what was measured, and what the child was given. Unmeasured is said so."""
    keys = [key for key in environment_keys if key.startswith("PAPERCLIP_")]
    clean = "no_real_paperclip_request" if not reading.requests and not keys else "real_paperclip_request"
    return {
        "code": "network_guard",
        "recordId": f"network-guard-{session_id}",
        "outcome": clean if reading.installed else "not_measured",
        "requests": reading.requests,
        "measured": reading.installed,
        "environmentKeys": keys,
    }
