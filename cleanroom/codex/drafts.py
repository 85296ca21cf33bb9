"""A canonical event before it is numbered and timed: what the translation makes and the event queue finishes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cleanroom.codex.failures import OTHER, Failure
from cleanroom.codex.names import NO_NAMES, Names

TERMINALS = {"completed": "turn.completed", "interrupted": "turn.interrupted", "failed": "turn.failed"}

FIRST, NORMAL, LAST = 0, 1, 2  # priorities of reference B section 8.2


@dataclass(frozen=True, kw_only=True)
class Draft:
    """`turn_id` and `item_id` are the provider's; `payload` is bounded and holds none of the provider's ids.

    `names` is for a delta alone: what is still to be hidden in it, once it is known what comes before and after.
    """

    type: str
    payload: dict[str, Any] = field(default_factory=dict)
    turn_id: str | None = None
    item_id: str | None = None
    priority: int = NORMAL
    names: Names = field(default=NO_NAMES, repr=False, compare=False)


def diagnostic(*, code: str, message: str, retrying: bool = False, turn_id: str | None = None) -> Draft:
    """A status line about the agent; `message` is a sentence of ours, never the provider's text."""
    payload = {"code": code, "message": message, "retrying": retrying}
    return Draft(type="harness.diagnostic", payload=payload, turn_id=turn_id, priority=LAST)


def turn_terminal(
    *, turn_id: str, status: str, duration_ms: int | None, by_user: bool, failure: Failure | None = None
) -> Draft:
    """The one end of a turn; `status` is completed, interrupted or failed."""
    payload: dict[str, Any] = {"durationMs": duration_ms, "byUser": by_user}
    if status == "failed":
        told = failure or OTHER
        payload = {"code": told.code, "message": told.message}
    return Draft(type=TERMINALS[status], payload=payload, turn_id=turn_id, priority=FIRST)
