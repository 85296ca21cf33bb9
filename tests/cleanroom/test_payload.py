"""What may leave of a room: only a live session of the real agent."""

from __future__ import annotations

from typing import Any

import pytest

from cleanroom.payload import LiveModeRequired, assert_live, payload_of
from tests.cleanroom.support.chat import Chat

LIVE: dict[str, Any] = {"mode": "live", "identity": {"agentLabel": "Real Codex"}}


@pytest.mark.requirement("opening.live-only")
@pytest.mark.parametrize(
    "view",
    [
        {**LIVE, "mode": "replay"},
        {**LIVE, "mode": None},
        {**LIVE, "identity": {"agentLabel": "Scripted agent"}},
        {**LIVE, "identity": {}},
        {"identity": LIVE["identity"]},
    ],
)
def test_anything_that_is_not_live_with_the_real_agent_is_refused(view: dict[str, Any]) -> None:
    assert_live(LIVE)
    with pytest.raises(LiveModeRequired):
        assert_live(view)


def test_a_payload_names_the_room_its_bounds_and_the_cursor_of_its_view(chat: Chat) -> None:
    chat.talk()
    payload = payload_of(chat.row)
    row = chat.row
    assert payload.pop("view")["sessionId"] == chat.session_id
    assert payload == {
        "sessionId": chat.session_id,
        "surface": "cleanroom",
        "identity": {
            "token": row.token,
            "sequence": row.sequence,
            "companyId": row.company_id,
            "actorId": row.actor_id,
            "taskId": row.task_id,
            "identifier": f"MCK-{row.sequence}",
        },
        "limits": {"maxTurns": 24, "maxMessageBytes": 8192},
        "turns": 1,
        "cursor": chat.events()[-1].number,
    }
