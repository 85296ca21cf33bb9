"""What may leave of a room: the clean-room payload, and the check that it shows a live session of the real agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cleanroom import limits
from cleanroom.models import ChatSession
from cleanroom.rooms import room_of
from evidence.views import thread
from mockcore.refusal import Refusal


class LiveModeRequired(Refusal):
    """The clean room shows nothing but a live session of the real agent."""

    code = "live_mode_required"


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A room to show: its payload, and the cookie value to set when the browser's capability is new or renewed."""

    payload: dict[str, Any]
    cookie: str | None = None


def payload_of(session: ChatSession) -> dict[str, Any]:
    """Return the clean-room payload of reference B section 1.4 with the cursor of its view."""
    room, bounds = room_of(session), limits.cleanroom()
    view, cursor = thread.snapshot(session_id=room.session_id)
    assert_live(view)
    return {
        "sessionId": room.session_id,
        "surface": session.surface,
        "identity": {
            "token": session.token,
            "sequence": session.sequence,
            "companyId": session.company_id,
            "actorId": session.actor_id,
            "taskId": session.task_id,
            "identifier": session.identifier,
        },
        "limits": {"maxTurns": bounds.turns, "maxMessageBytes": bounds.message_bytes},
        "turns": ChatSession.objects.values_list("turn_count", flat=True).get(pk=session.pk),
        "cursor": cursor,
        "view": view,
    }


def assert_live(view: dict[str, Any]) -> None:
    """Refuse to show anything that is not a live session of the real agent. Source: seed, "Live only"."""
    if view.get("mode") != "live" or view["identity"].get("agentLabel") != "Real Codex":
        raise LiveModeRequired
