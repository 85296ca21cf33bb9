"""The composer: what a person may do next, derived from the folded view. Its twin in the browser passes the same
vectors (`tests/vectors/composer.json`). Knows no clock, no request and no limit. Source: reference B section 1.11."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ACTIVE_TURN = frozenset({"submitted", "running"})
FINISHED_ISSUE = {"done": "This issue is done.", "cancelled": "This issue is cancelled."}
CLOSED_REASON = {
    "reset": "This chat was reset.",
    "new_chat": "A new chat took the place of this one.",
    "room_yielded": "This room made way for a newer one.",
    "server_shutdown": "The server was stopped.",
}


def composer(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return `state`, `helper`, `reason` and `pendingInteractionId`. The first matching rule wins.

    `state` is `disabled`, `unavailable`, `reconnecting`, `streaming`, `waiting` or `ready`.
    """
    session, connection = view["session"], view["connection"]
    if session["closed"]:
        reason = CLOSED_REASON.get(session["code"], "This chat is closed.")
        return _composer("disabled", helper="Start a New chat to go on.", reason=reason)
    if connection["state"] == "closed":
        reason = connection["message"] or "The agent is not available."
        return _composer("unavailable", helper="Try again starts the agent anew; nothing is lost.", reason=reason)
    if connection["state"] == "reconnecting":
        return _composer("reconnecting", helper="Reconnecting to the agent…")
    if any(turn["state"] in ACTIVE_TURN for turn in view["turns"]):
        return _composer("streaming", helper="Codex is working. Stop ends this turn.")
    pending = pending_interaction_id(view)
    if pending is not None:
        return _composer("waiting", helper="Codex waits for your answer on the card above.", pending=pending)
    finished = FINISHED_ISSUE.get(view["issue"]["status"])
    if finished is not None:
        return _composer("ready", helper=f"{finished} Ask on, or start a New chat.")
    return _composer("ready", helper="Enter sends. Shift+Enter starts a new line.")


def pending_interaction_id(view: Mapping[str, Any]) -> str | None:
    """Return the id of the oldest card that still waits for a person, or None."""
    for turn in view["turns"]:
        for item in turn["items"]:
            if item["kind"] == "interaction" and item["state"] == "pending":
                return str(item["interactionId"])
    return None


def _composer(state: str, *, helper: str, reason: str | None = None, pending: str | None = None) -> dict[str, Any]:
    return {"state": state, "helper": helper, "reason": reason, "pendingInteractionId": pending}
