"""A server that starts settles what an earlier one left; one that stops leaves no agent."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from cleanroom import opening, sessions, startup
from cleanroom.models import BrowserCapability, ChatSession, ChatTurn
from evidence import record
from evidence.models import SessionLog
from evidence.record import Draft
from evidence.views import thread
from mockcore.models import Company
from tests.cleanroom.support.chat import Chat
from tests.cleanroom.support.memory_driver import MemoryDriver
from tests.cleanroom.support.scripts import endless


def leave_a_turn(chat: Chat) -> int:
    """Leave the rows of a turn as a killed server does: admitted, running, and nobody there to end it."""
    ordinal = chat.row.turns.count() + 1
    ChatTurn.objects.create(
        session=chat.row, ordinal=ordinal, state="running", message_id="message-x", submitted_at=timezone.now()
    )
    payload = {"ordinal": ordinal, "messageId": "message-x", "text": "Hello", "redacted": False, "hidden": False}
    record.append(session_id=chat.session_id, drafts=[Draft("turn.submitted", payload, turn_id=f"turn-{ordinal}")])
    return ordinal


@pytest.mark.requirement("start.cut-turns")
def test_a_turn_that_a_kill_cut_fails_as_such_and_the_next_message_resumes(agents: MemoryDriver, chat: Chat) -> None:
    chat.talk("One")
    startup.close_all()
    ordinal = leave_a_turn(chat)
    assert startup.settle_cut_rooms() == 1
    assert chat.end_of(ordinal).payload["code"] == "server_restarted"
    assert chat.turn(ordinal).error_code == "server_restarted"
    assert startup.settle_cut_rooms() == 0
    assert chat.talk("Two").event_type == "turn.completed"
    assert agents.recovered[0].has_messages


@pytest.mark.requirement("start.cut-turns")
def test_a_room_whose_agent_was_cut_off_only_rests(agents: MemoryDriver, chat: Chat) -> None:
    startup.close_all()
    facts = {"driverKind": "codex_app_server", "agentVersion": "1", "model": "m", "attempt": 1}
    record.append(session_id=chat.session_id, drafts=[Draft("runner.connected", facts)])  # and then it was killed
    startup.settle_cut_rooms()
    view, _ = thread.snapshot(session_id=chat.session_id)
    assert view["identity"]["runnerAttached"] is False
    assert view["composer"]["state"] == "ready"


@pytest.mark.requirement("start.cut-turns")
def test_a_room_whose_agent_was_just_coming_back_only_rests(agents: MemoryDriver, chat: Chat) -> None:
    chat.talk("One")
    startup.close_all()
    record.append(session_id=chat.session_id, drafts=[Draft("session.resuming", {"attempt": 2})])  # and then: killed
    startup.settle_cut_rooms()
    view, _ = thread.snapshot(session_id=chat.session_id)
    assert view["composer"]["state"] == "ready"
    assert chat.talk("Two").event_type == "turn.completed"


@pytest.mark.requirement("start.half-opened")
def test_an_open_that_never_finished_leaves_nothing(agents: MemoryDriver) -> None:
    session, _ = opening._mint_room(None)
    directory = Path(settings.RUNS_DIR) / session.public_id
    directory.mkdir(parents=True)
    startup.settle_cut_rooms()
    assert [model.objects.count() for model in (ChatSession, BrowserCapability, Company, SessionLog)] == [0, 0, 0, 0]
    assert not directory.exists()


@pytest.mark.requirement("start.strays")
def test_directories_of_rooms_that_are_no_more_are_removed_and_the_others_stay(
    agents: MemoryDriver, chat: Chat
) -> None:
    stray = Path(settings.RUNS_DIR) / "session-of-yesterday"
    (stray / "workspace").mkdir(parents=True)
    startup.settle_cut_rooms()
    assert not stray.exists()
    assert agents.agents[0].request.workspace.is_dir()


@pytest.mark.requirement("start.broken-row")
def test_a_row_that_cannot_be_settled_is_logged_and_does_not_stop_the_others(
    agents: MemoryDriver, caplog: pytest.LogCaptureFixture
) -> None:
    broken, whole = Chat.open(agents), Chat.open(agents)
    startup.close_all()
    ordinal = leave_a_turn(whole)
    ChatSession.objects.filter(pk=broken.row.pk).update(snapshot="{")
    with caplog.at_level(logging.ERROR):
        assert startup.settle_cut_rooms() == 1
    assert whole.end_of(ordinal).payload["code"] == "server_restarted"
    assert "could not be settled" in caplog.text


@pytest.mark.requirement("start.retired-logs")
@pytest.mark.parametrize("turns", [0, 1])
def test_the_log_of_a_retired_room_that_a_kill_left_open_is_closed(
    agents: MemoryDriver, chat: Chat, turns: int
) -> None:
    for _ in range(turns):
        chat.talk()
    chat.reset()
    startup.close_all()
    SessionLog.objects.filter(session_id=chat.session_id).update(closed_at=None, close_code="")
    startup.settle_cut_rooms()
    assert record.is_closed(chat.session_id)
    assert record.close_code(chat.session_id) == "reset"


@pytest.mark.requirement("stop.rests")
def test_a_stop_of_the_server_ends_turns_and_agents_and_keeps_the_rooms(agents: MemoryDriver, chat: Chat) -> None:
    agents.scripts.append(endless)
    ordinal = chat.send()
    agents.wait_until(lambda: chat.turn(ordinal).state == "running")
    startup.close_all()
    assert agents.living == []
    assert chat.end_of(ordinal).payload["code"] == "server_restarted"
    assert not [one for one in threading.enumerate() if one.name.startswith("host")]
    again = sessions.open_room(session_id=chat.session_id, presented=chat.cookie)
    assert again.payload["view"]["composer"]["state"] == "ready"
    assert chat.talk().event_type == "turn.completed"
