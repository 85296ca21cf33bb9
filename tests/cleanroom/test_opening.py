"""Opening and retiring rooms: one at a time, four at most, and a failed open leaves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError

from capability.http.errors import status_of
from capability.models import AuthorizationRecord
from cleanroom import sessions, startup, succession, turn_rows
from cleanroom.harness import AgentUnavailableError, HarnessUnavailableError, LoginRequiredError
from cleanroom.host import Host
from cleanroom.hostloop import host_loop
from cleanroom.models import BrowserCapability, ChatSession
from cleanroom.payload import LiveModeRequired, Opened
from cleanroom.registry import registry
from evidence.models import SessionEvent, SessionLog
from mockcore.models import Company
from mockcore.refusal import Refusal
from tests.cleanroom.support.chat import Chat, Later, at_once
from tests.cleanroom.support.memory_driver import MemoryDriver

Bounds = Callable[..., None]
LEAVES_ROWS = (ChatSession, BrowserCapability, Company, SessionLog, SessionEvent, AuthorizationRecord)


def open_one(cookie: str | None = None) -> Opened:
    return sessions.open_room(session_id=None, presented=cookie)


def refused(call: Callable[[], Any]) -> HarnessUnavailableError:
    with pytest.raises(HarnessUnavailableError) as caught:
        call()
    assert status_of(caught.value.code) == 503
    return caught.value


def assert_nothing_is_left(agents: MemoryDriver) -> None:
    agents.wait_until(lambda: agents.living == [])
    assert [model.__name__ for model in LEAVES_ROWS if model.objects.exists()] == []
    agents.wait_until(lambda: not list(settings.RUNS_DIR.glob("*")))


def open_rows() -> list[ChatSession]:
    return list(ChatSession.objects.filter(state=ChatSession.State.OPEN).order_by("opened_at"))


# ---------------------------------------------------------------- opens that fail
@pytest.mark.requirement("opening.failed")
def test_an_agent_that_is_not_ready_in_time_leaves_nothing(agents: MemoryDriver, bounds: Bounds) -> None:
    bounds(open_timeout_s=0.5)
    agents.gates.start.hold()
    refused(open_one)
    assert len(agents.agents) == 1
    assert_nothing_is_left(agents)


@pytest.mark.requirement("opening.failed")
def test_a_start_that_cannot_be_recorded_leaves_nothing(agents: MemoryDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(turn_rows, "save_snapshot", broken)
    refused(open_one)
    assert [agent.closed_times for agent in agents.agents] == [1]
    assert_nothing_is_left(agents)


@pytest.mark.requirement("opening.failed")
def test_a_room_closed_while_its_agent_starts_leaves_nothing(agents: MemoryDriver) -> None:
    agents.gates.start.hold()
    opening_one = Later(open_one)
    assert agents.gates.start.reached.wait(5)
    session_id = ChatSession.objects.get().public_id
    closing = Later(lambda: host_loop.call(registry.close(session_id, reason="reset", remove=True), timeout_s=5))
    agents.wait_until(lambda: registry.find(session_id) is None)
    agents.gates.start.release()
    assert isinstance(opening_one.outcome(), HarnessUnavailableError)
    assert closing.outcome() is True
    assert_nothing_is_left(agents)


@pytest.mark.requirement("opening.failed")
def test_a_server_that_stops_during_an_open_leaves_no_agent(agents: MemoryDriver) -> None:
    agents.gates.start.hold()
    opening_one = Later(open_one)
    assert agents.gates.start.reached.wait(5)
    stopping = Later(startup.close_all)
    agents.wait_until(lambda: registry.find(ChatSession.objects.get().public_id) is None)
    agents.gates.start.release()
    assert isinstance(opening_one.outcome(), HarnessUnavailableError)
    assert stopping.outcome() is None
    assert_nothing_is_left(agents)


@pytest.mark.requirement("opening.failed")
@pytest.mark.parametrize("refusal", [AgentUnavailableError("It is not there."), LoginRequiredError()])
def test_an_agent_that_cannot_start_is_named_and_leaves_nothing(agents: MemoryDriver, refusal: Refusal) -> None:
    agents.refusal = refusal
    assert refused(open_one) is refusal
    assert_nothing_is_left(agents)


@pytest.mark.requirement("opening.keeps-old")
@pytest.mark.parametrize("rotate", [Chat.new_chat, Chat.reset])
def test_when_no_agent_can_be_started_the_browser_keeps_its_room(
    agents: MemoryDriver, chat: Chat, rotate: Callable[[Chat], Opened]
) -> None:
    agents.refusal = AgentUnavailableError("It is not there.")
    refused(lambda: rotate(chat))
    assert [row.public_id for row in open_rows()] == [chat.session_id]
    assert chat.talk().event_type == "turn.completed"


@pytest.mark.requirement("opening.live-only")
def test_a_room_of_a_stand_in_is_never_shown_and_not_kept(agents: MemoryDriver) -> None:
    agents.kind = "scripted"
    with pytest.raises(LiveModeRequired):
        open_one()
    assert_nothing_is_left(agents)


# ---------------------------------------------------------------- four at most
@pytest.mark.requirement("opening.bound")
def test_twelve_opens_at_once_are_one_after_the_other_and_the_newest_four_stay(agents: MemoryDriver) -> None:
    opened = at_once(*[open_one] * 12)
    assert [type(one) for one in opened] == [Opened] * 12
    assert len({one.payload["sessionId"] for one in opened}) == 12
    assert agents.most_starting == 1
    assert len(open_rows()) == 4
    assert ChatSession.objects.filter(retired_because="room_yielded").count() == 8
    agents.wait_until(lambda: len(agents.living) == 4)
    assert {agent.request.normalized_session_id for agent in agents.living} == {row.public_id for row in open_rows()}


@pytest.mark.requirement("opening.bound")
def test_the_oldest_room_yields(agents: MemoryDriver, bounds: Bounds) -> None:
    bounds(rooms=2)
    first, second, third = (Chat.open(agents) for _ in range(3))
    assert [row.public_id for row in open_rows()] == [second.session_id, third.session_id]
    assert first.events("session.closed")[-1].payload["code"] == "room_yielded"
    assert not agents.agents[0].request.workspace.exists()


@pytest.mark.requirement("opening.bound")
def test_an_old_room_that_cannot_be_closed_does_not_strand_the_new_one(
    agents: MemoryDriver, bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds(rooms=1)
    old = Chat.open(agents)
    close = Host.close

    async def breaking(self: Host, **options: Any) -> None:
        await close(self, **options)
        raise OSError("as planned")

    monkeypatch.setattr(Host, "close", breaking)
    new = Chat.open(agents)
    monkeypatch.setattr(Host, "close", close)
    assert [row.public_id for row in open_rows()] == [new.session_id]
    assert old.row.retired_because == "room_yielded"
    assert new.talk().event_type == "turn.completed"


# ---------------------------------------------------------------- tabs of one browser
@pytest.mark.requirement("opening.rotation")
def test_two_new_chats_of_one_browser_at_once_leave_one_room(agents: MemoryDriver, chat: Chat) -> None:
    opened = at_once(chat.new_chat, chat.new_chat)
    assert [type(one) for one in opened] == [Opened, Opened]
    [survivor] = open_rows()
    assert survivor.public_id in {one.payload["sessionId"] for one in opened}
    assert ChatSession.objects.filter(retired_because="new_chat").count() == 2
    agents.wait_until(lambda: len(agents.living) == 1)


@pytest.mark.requirement("opening.rotation")
def test_two_resets_of_one_room_at_once_leave_one_room(agents: MemoryDriver, chat: Chat) -> None:
    outcomes = at_once(chat.reset, chat.reset)
    opened = [one for one in outcomes if isinstance(one, Opened)]
    assert [one.code for one in outcomes if isinstance(one, Refusal)] == ["unknown_session"] * (2 - len(opened))
    [survivor] = open_rows()
    assert survivor.public_id in {one.payload["sessionId"] for one in opened}
    assert chat.row.retired_because == "reset"
    agents.wait_until(lambda: len(agents.living) == 1)


def test_two_first_visits_at_once_are_two_browsers(agents: MemoryDriver) -> None:
    ada, cleo = at_once(open_one, open_one)
    assert ada.cookie != cleo.cookie
    assert len(open_rows()) == 2


@pytest.mark.requirement("opening.stale-id")
def test_three_tabs_with_one_stale_id_get_a_room_each_under_one_cookie(agents: MemoryDriver, chat: Chat) -> None:
    cookie = chat.reset().cookie
    tabs = at_once(*[lambda: sessions.open_room(session_id=chat.session_id, presented=cookie)] * 3)
    assert {one.cookie for one in tabs} == {cookie}
    assert len({one.payload["sessionId"] for one in tabs}) == 3
    assert len(open_rows()) == 4  # theirs, and the one that the reset opened
    assert all(Chat(agents, one).talk().event_type == "turn.completed" for one in tabs)


def test_a_capability_once_rotated_is_not_followed_for_ever(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(succession, "SUCCESSION", -succession.SUCCESSION)  # as if its time were over
    kept = chat.new_chat().payload["sessionId"]
    chat.new_chat()  # with the cookie of before: a browser that has nothing
    assert kept in {row.public_id for row in open_rows()}
