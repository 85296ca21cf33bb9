"""An admitted turn on its way to its host: begun or ended exactly once, and nobody waits inside a transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, connection

from cleanroom import handover, sessions, turn_rows
from cleanroom.handover import Sent
from cleanroom.harness import HarnessUnavailableError
from cleanroom.host import Host
from cleanroom.hostloop import HostLoop
from cleanroom.turns import AlreadyTerminal, TurnActive
from mockcore import history
from tests.cleanroom.support.chat import Chat, at_once
from tests.cleanroom.support.memory_driver import MemoryDriver
from tests.cleanroom.support.scripts import QUESTION, calls, endless

SHORT_S = 0.05


def asked(agents: MemoryDriver, chat: Chat) -> str:
    """Let the agent ask one question, and return its id."""
    agents.scripts.append(calls("request_human_input", QUESTION))
    assert chat.talk().event_type == "turn.completed"
    return chat.cards()[-1]


def running(chat: Chat) -> int:
    """Send a message whose turn runs until it is stopped."""
    chat.agents.scripts.append(endless)
    ordinal = chat.send()
    chat.agents.wait_until(lambda: chat.turn(ordinal).state == "running")
    return ordinal


def send_as(chat: Chat, name: str, text: str = "Hello") -> Sent:
    return sessions.send_message(session_id=chat.session_id, presented=chat.cookie, text=text, client_message_id=name)


# ---------------------------------------------------------------- after the commit
@pytest.mark.requirement("turn.handed-over")
def test_nothing_that_can_fail_stands_between_an_answers_commit_and_its_turn(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    card, entities = asked(agents, chat), history.entities

    def only_inside(**query: Any) -> Any:
        if not connection.in_atomic_block:
            raise OperationalError("database is locked")
        return entities(**query)

    monkeypatch.setattr(history, "entities", only_inside)
    ordinal = chat.answer(card, "accepted")
    monkeypatch.setattr(history, "entities", entities)
    assert chat.end_of(ordinal).event_type == "turn.completed"


@pytest.mark.requirement("turn.handed-over")
def test_a_turn_that_its_host_begins_as_the_wait_is_over_runs_to_its_own_end(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, call, given_up = Host.begin, HostLoop.call, threading.Event()

    def late(self: Host, **turn: Any) -> None:
        begin(self, **turn)
        assert given_up.wait(5)  # the loop is not free before the sender has stopped waiting

    def impatient(self: HostLoop, coro: Any, *, timeout_s: float) -> Any:
        try:
            return call(self, coro, timeout_s=min(timeout_s, SHORT_S))
        finally:
            given_up.set()

    monkeypatch.setattr(Host, "begin", late)
    monkeypatch.setattr(HostLoop, "call", impatient)
    ordinal = chat.send()
    monkeypatch.setattr(HostLoop, "call", call)
    assert chat.end_of(ordinal).event_type == "turn.completed"
    assert agents.messages == ["Hello"]


@pytest.mark.requirement("turn.handed-over")
def test_a_turn_that_came_to_no_host_in_time_ends_and_is_not_begun_later(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.put_to_rest()
    is_live, go_on = turn_rows.is_live, threading.Event()

    def slow(session_id: str, ordinal: int) -> bool:
        assert go_on.wait(5)
        return is_live(session_id, ordinal)

    monkeypatch.setattr(turn_rows, "is_live", slow)
    monkeypatch.setattr(handover, "HAND_OVER_S", SHORT_S)
    ordinal = chat.send()
    go_on.set()
    assert chat.end_of(ordinal).payload["code"] == "internal_error"
    monkeypatch.undo()
    monkeypatch.setattr("cleanroom.agent.make_driver", lambda: agents)
    assert chat.talk("Again").event_type == "turn.completed"
    assert agents.messages == ["Again"]


# ---------------------------------------------------------------- a host that is asked
@pytest.mark.requirement("turn.asked-outside")
@pytest.mark.parametrize("command", [Chat.send, Chat.reconnect])
def test_a_host_is_asked_about_a_turn_outside_of_every_transaction(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, command: Callable[[Chat], Any]
) -> None:
    ordinal, call = running(chat), HostLoop.call
    inside: list[bool] = []

    def watched(self: HostLoop, coro: Any, *, timeout_s: float) -> Any:
        inside.append(connection.in_atomic_block)
        return call(self, coro, timeout_s=timeout_s)

    monkeypatch.setattr(HostLoop, "call", watched)
    with pytest.raises(TurnActive):
        command(chat)
    assert inside == [False]
    chat.interrupt()
    chat.end_of(ordinal)


@pytest.mark.requirement("turn.asked-outside")
def test_a_turn_whose_host_does_not_answer_is_not_taken_for_lost(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    ordinal, is_lost, go_on = running(chat), handover._is_lost, threading.Event()

    async def silent(*args: Any) -> bool:
        go_on.wait(5)  # the loop itself is busy
        return await is_lost(*args)

    monkeypatch.setattr(handover, "_is_lost", silent)
    monkeypatch.setattr(handover, "HAND_OVER_S", SHORT_S)
    with pytest.raises(TurnActive):
        chat.send()
    go_on.set()
    monkeypatch.setattr(handover, "HAND_OVER_S", 5.0)
    chat.interrupt()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"


@pytest.mark.requirement("turn.asked-outside")
def test_a_stop_that_the_host_does_not_hear_in_time_is_unavailable_and_can_be_sent_again(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinal, interrupt, go_on = running(chat), Host.interrupt, threading.Event()

    async def silent(self: Host) -> None:
        go_on.wait(5)  # the loop itself is busy
        await interrupt(self)

    with monkeypatch.context() as busy:
        busy.setattr(Host, "interrupt", silent)
        busy.setattr(sessions, "HAND_OVER_S", SHORT_S)
        with pytest.raises(HarnessUnavailableError, match="could not be asked to stop"):
            chat.interrupt()
        go_on.set()
    with suppress(AlreadyTerminal):  # the first may have been heard after all
        chat.interrupt()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"


# ---------------------------------------------------------------- the same message again
@pytest.mark.requirement("message.once")
def test_a_message_sent_again_under_its_name_is_answered_as_before_whatever_its_turn_does(
    agents: MemoryDriver, chat: Chat
) -> None:
    agents.gates.terminal.hold()
    first = send_as(chat, "a-1")
    assert send_as(chat, "a-1") == first  # its turn runs
    agents.gates.terminal.release()
    chat.end_of(first.ordinal)
    assert send_as(chat, "a-1") == first  # its turn is over
    assert (agents.messages, chat.row.turn_count, chat.row.turns.count()) == (["Hello"], 1, 1)
    second = send_as(chat, "a-2")
    assert second.ordinal == 2
    chat.end_of(2)


@pytest.mark.requirement("message.once")
def test_of_two_sendings_of_one_message_at_once_one_starts_a_turn(agents: MemoryDriver, chat: Chat) -> None:
    first, second = at_once(lambda: send_as(chat, "a-1"), lambda: send_as(chat, "a-1"))
    assert first == second
    assert chat.end_of(first.ordinal).event_type == "turn.completed"
    assert agents.messages == ["Hello"]


@pytest.mark.requirement("message.once")
def test_a_message_that_superseded_a_card_has_the_same_cursor_again(agents: MemoryDriver, chat: Chat) -> None:
    asked(agents, chat)
    first = send_as(chat, "a-1", "Never mind")
    chat.end_of(first.ordinal)
    assert chat.events("issue.status.decision.applied")[-1].number == first.cursor
    assert send_as(chat, "a-1", "Never mind") == first


@pytest.mark.requirement("message.once")
def test_a_name_means_a_message_of_its_own_chat_and_no_name_means_none(agents: MemoryDriver, chat: Chat) -> None:
    other = Chat.open(agents)
    chat.end_of(send_as(chat, "a-1").ordinal)
    other.end_of(send_as(other, "a-1").ordinal)
    for _ in range(2):
        chat.end_of(send_as(chat, "").ordinal)
    assert (chat.row.turn_count, other.row.turn_count) == (3, 1)
