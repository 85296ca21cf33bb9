"""New chat and Reset against other tabs of the same browser, and against a database that refuses half-way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError

from cleanroom import limits, opening, sessions
from cleanroom.access import mint, owned_session, renew
from cleanroom.models import BrowserCapability, ChatSession, Surface
from cleanroom.payload import Opened
from cleanroom.succession import REMEMBERED, SUCCESSION, Successions
from mockcore import tenants
from tests.cleanroom.support.chat import Chat, Later
from tests.cleanroom.support.memory_driver import MemoryDriver

Bounds = Callable[..., None]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD, NEW = "o" * 43, "n" * 43


def open_ids() -> list[str]:
    rows = ChatSession.objects.filter(state=ChatSession.State.OPEN).order_by("opened_at")
    return list(rows.values_list("public_id", flat=True))


def assert_owned(opened: Opened) -> None:
    owned_session(session_id=opened.payload["sessionId"], presented=opened.cookie, now=datetime.now(UTC))


def refuse_the(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the database refuse as a company is retired for the n-th time, counted from one."""
    retire, asked = tenants.retire, []

    def refusing(*, company_id: str) -> None:
        asked.append(company_id)
        if len(asked) == call:
            raise OperationalError("database is locked")
        retire(company_id=company_id)

    monkeypatch.setattr(tenants, "retire", refusing)


# ---------------------------------------------------------------- another tab meanwhile
@pytest.mark.requirement("opening.rotation.followed")
def test_an_open_that_waited_for_another_tabs_new_chat_follows_it(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.gates.start.hold()
    rotating = Later(chat.new_chat)
    assert agents.gates.start.reached.wait(5)
    in_line, waiting = opening._one_at_a_time, threading.Event()

    def noticed() -> Any:
        waiting.set()
        return in_line()

    monkeypatch.setattr(opening, "_one_at_a_time", noticed)
    refreshing = Later(lambda: sessions.open_room(session_id=None, presented=chat.cookie))
    assert waiting.wait(5)
    agents.gates.start.release()
    rotated, refreshed = rotating.outcome(), refreshing.outcome()
    assert refreshed.cookie == rotated.cookie
    assert_owned(refreshed)
    assert open_ids() == [rotated.payload["sessionId"]]


@pytest.mark.requirement("opening.rotation.followed")
@pytest.mark.parametrize("rotate", [Chat.new_chat, Chat.reset])
def test_a_try_again_after_a_lost_answer_finds_the_room_that_was_opened(
    agents: MemoryDriver, chat: Chat, rotate: Callable[[Chat], Opened]
) -> None:
    lost = rotate(chat)
    again = sessions.open_room(session_id=chat.session_id, presented=chat.cookie)
    assert (again.cookie, again.payload["sessionId"]) == (lost.cookie, lost.payload["sessionId"])
    assert BrowserCapability.objects.count() == 2
    assert ChatSession.objects.count() == 2


@pytest.mark.requirement("opening.rotation.followed")
def test_the_old_cookie_opens_under_the_new_one_once_the_room_of_the_rotation_is_gone(
    agents: MemoryDriver, chat: Chat, bounds: Bounds
) -> None:
    lost = chat.new_chat()
    bounds(rooms=1)
    Chat.open(agents)
    again = sessions.open_room(session_id=chat.session_id, presented=chat.cookie)
    assert again.cookie == lost.cookie
    assert open_ids() == [again.payload["sessionId"]]
    assert_owned(again)


@pytest.mark.requirement("opening.rotation.followed")
def test_a_refresh_during_which_its_room_is_rotated_away_does_not_send_the_old_cookie(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, rotated = opening.payload_of, []

    def drawing(session: ChatSession) -> Any:
        if not rotated:
            rotated.append(None)
            rotated[0] = chat.new_chat()
        return draw(session)

    monkeypatch.setattr(opening, "payload_of", drawing)
    refreshed = sessions.open_room(session_id=chat.session_id, presented=chat.cookie)
    assert refreshed.cookie == rotated[0].cookie
    assert_owned(refreshed)


# ---------------------------------------------------------------- all or nothing
@pytest.mark.requirement("opening.rotation.atomic")
@pytest.mark.parametrize("rotate", [Chat.new_chat, Chat.reset])
def test_a_rotation_that_the_database_refuses_half_way_changes_nothing(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch, rotate: Callable[[Chat], Opened]
) -> None:
    refuse_the(1, monkeypatch)
    with pytest.raises(OperationalError):
        rotate(chat)
    assert open_ids() == [chat.session_id]
    assert ChatSession.objects.count() == BrowserCapability.objects.count() == 1
    agents.wait_until(lambda: len(agents.living) == 1)
    assert chat.talk().event_type == "turn.completed"


@pytest.mark.requirement("opening.rotation.atomic")
def test_when_a_second_room_cannot_yield_the_first_has_not_yielded_either(
    agents: MemoryDriver, bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = [Chat.open(agents) for _ in range(3)]
    bounds(rooms=2)
    refuse_the(2, monkeypatch)
    with pytest.raises(OperationalError):
        sessions.open_room(session_id=None, presented=None)
    assert open_ids() == [chat.session_id for chat in chats]
    agents.wait_until(lambda: len(agents.living) == 3)
    assert [chat.talk().event_type for chat in chats] == ["turn.completed"] * 3


# ---------------------------------------------------------------- what is remembered
@pytest.mark.django_db
@pytest.mark.requirement("opening.rotation.atomic")
def test_a_revoked_capability_is_not_renewed() -> None:
    capability, _ = mint(surface=Surface.CLEANROOM, now=NOW, limits=limits.cleanroom())
    BrowserCapability.objects.update(revoked_at=NOW)
    assert not renew(capability, now=NOW + timedelta(days=1), limits=limits.cleanroom())
    assert BrowserCapability.objects.get().expires_at == NOW + timedelta(days=30)


@pytest.mark.requirement("opening.rotation.memory")
def test_a_rotated_cookie_is_followed_by_whoever_presents_it_and_only_for_its_time() -> None:
    successions = Successions()
    successions.remember(old=OLD, new=NEW, now=NOW)
    assert successions.successor_of(OLD, now=NOW + SUCCESSION) == NEW
    assert successions.successor_of(NEW, now=NOW) is None
    assert successions.successor_of(OLD, now=NOW + SUCCESSION + timedelta(seconds=1)) is None


@pytest.mark.requirement("opening.rotation.memory")
def test_no_cookie_rests_in_memory_as_it_is_and_what_rests_is_bounded() -> None:
    successions = Successions()
    successions.remember(old=OLD, new=NEW, now=NOW)
    held = repr([vars(successions), [vars(one) for one in successions._sealed.values()]])
    assert OLD not in held
    assert NEW not in held
    for place in range(2 * REMEMBERED):
        successions.remember(old=f"{place:043}", new=NEW, now=NOW)
    assert len(successions) == REMEMBERED
    successions.successor_of(OLD, now=NOW + 2 * SUCCESSION)  # any look drops what is over
    assert len(successions) == 0
