"""The host: one agent at a time, every turn ends once, whatever comes at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError

from capability.models import AuthorizationRecord
from cleanroom import startup, turn_rows
from cleanroom.harness import HarnessTurnActiveError, HarnessUnavailableError
from cleanroom.host import Host
from cleanroom.hostloop import host_loop
from cleanroom.registry import registry
from cleanroom.turns import AlreadyTerminal
from evidence.views import thread
from mockcore import history
from tests.cleanroom.support.chat import Chat, Later
from tests.cleanroom.support.memory_driver import MemoryDriver
from tests.cleanroom.support.scripts import STATUS, calls, endless

Bounds = Callable[..., None]


def host_of(chat: Chat) -> Host:
    host = registry.find(chat.session_id)
    assert host is not None
    return host


def started(chat: Chat, ordinal: int) -> None:
    """Wait until a turn runs."""
    chat.agents.wait_until(lambda: chat.turn(ordinal).state == "running")


def shown_turn(chat: Chat, ordinal: int) -> dict:
    view, _ = thread.snapshot(session_id=chat.session_id)
    [turn] = [turn for turn in view["turns"] if turn["id"] == f"turn-{ordinal}"]
    return turn


def closed_once(agents: MemoryDriver) -> list[int]:
    return [agent.closed_times for agent in agents.agents]


# ---------------------------------------------------------------- one agent at a time
@pytest.mark.requirement("host.one-agent")
def test_a_message_during_a_reconnect_runs_on_the_new_agent(agents: MemoryDriver, chat: Chat) -> None:
    agents.gates.start.hold()
    reconnecting = Later(chat.reconnect)
    assert agents.gates.start.reached.wait(5)
    ordinal = chat.send("Hello")
    agents.gates.start.release()
    assert chat.end_of(ordinal).event_type == "turn.completed"
    assert reconnecting.outcome().payload["sessionId"] == chat.session_id
    assert [agent.messages for agent in agents.agents] == [[], ["Hello"]]
    assert closed_once(agents) == [1, 0]


@pytest.mark.requirement("host.one-agent")
def test_a_reconnect_that_meets_a_turn_at_its_agent_leaves_both_alone(agents: MemoryDriver, chat: Chat) -> None:
    agents.gates.terminal.hold()
    ordinal = chat.send()
    started(chat, ordinal)
    with pytest.raises(HarnessTurnActiveError):
        host_loop.call(host_of(chat).reconnect(), timeout_s=5)
    agents.gates.terminal.release()
    assert chat.end_of(ordinal).event_type == "turn.completed"
    assert closed_once(agents) == [0]


@pytest.mark.requirement("host.rest")
def test_a_message_while_the_agent_goes_to_rest_wakes_another(agents: MemoryDriver, chat: Chat, bounds: Bounds) -> None:
    bounds(idle_s=0.0)
    agents.gates.close.hold()
    resting = Later(lambda: host_loop.call(host_of(chat).rest(), timeout_s=5))
    assert agents.gates.close.reached.wait(5)
    ordinal = chat.send("Wake up")
    agents.gates.close.release()
    assert chat.end_of(ordinal).event_type == "turn.completed"
    assert resting.outcome() is True
    assert [agent.messages for agent in agents.agents] == [[], ["Wake up"]]
    assert closed_once(agents) == [1, 0]


@pytest.mark.requirement("host.rest")
def test_a_rested_room_says_so_and_resumes_its_thread_with_the_next_message(
    agents: MemoryDriver, chat: Chat, bounds: Bounds
) -> None:
    chat.talk("One")
    bounds(idle_s=0.0)
    assert host_loop.call(host_of(chat).rest(), timeout_s=5)
    assert agents.living == []
    assert chat.events("runner.disconnected")[-1].payload["code"] == "idle"
    view, _ = thread.snapshot(session_id=chat.session_id)
    assert view["composer"]["state"] == "ready"
    assert chat.talk("Two").event_type == "turn.completed"
    [snapshot] = agents.recovered
    assert snapshot.has_messages
    assert snapshot.driver_session_id == agents.agents[0].ids().driver_session_id


@pytest.mark.requirement("host.call-names")
def test_no_name_of_a_call_is_given_twice_although_one_could_not_be_recorded(
    agents: MemoryDriver, chat: Chat, bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_: Any) -> Any:
        raise OperationalError("database is locked")

    bounds(idle_s=0.0)
    agents.scripts += [calls("report_progress", STATUS | {"idempotencyKey": str(number)}) for number in range(4)]
    chat.talk()
    with monkeypatch.context() as locked:
        locked.setattr(history, "entities", refused)
        chat.talk()
    chat.talk()
    assert host_loop.call(host_of(chat).rest(), timeout_s=5)
    chat.talk()
    assert [event.item_id for event in chat.calls()] == ["call-1", "call-3", "call-4"]
    recorded = AuthorizationRecord.objects.filter(phase="invocation", run_id=chat.row.run_id).order_by("number")
    assert list(recorded.values_list("call_id", flat=True)) == ["call-1", "call-3", "call-4"]


def test_a_room_that_works_does_not_rest(agents: MemoryDriver, chat: Chat, bounds: Bounds) -> None:
    bounds(idle_s=0.0)
    agents.gates.terminal.hold()
    ordinal = chat.send()
    started(chat, ordinal)
    assert not host_loop.call(host_of(chat).rest(), timeout_s=5)
    agents.gates.terminal.release()
    chat.end_of(ordinal)


# ---------------------------------------------------------------- an agent that goes away
@pytest.mark.requirement("host.lost-agent")
def test_a_turn_that_its_agent_cut_fails_once_and_the_next_resumes(agents: MemoryDriver, chat: Chat) -> None:
    agents.scripts.append(endless)
    ordinal = chat.send("One")
    started(chat, ordinal)
    agents.agents[0].die()
    assert chat.end_of(ordinal).payload["code"] == "codex_unavailable"
    assert chat.talk("Two").event_type == "turn.completed"
    assert agents.recovered[0].has_messages
    assert closed_once(agents) == [1, 0]


@pytest.mark.requirement("host.lost-agent")
def test_a_message_while_a_dead_agent_is_cleared_away_is_not_lost_with_it(agents: MemoryDriver, chat: Chat) -> None:
    agents.gates.close.hold()
    agents.agents[0].die()
    assert agents.gates.close.reached.wait(5)
    ordinal = chat.send("Hello")
    agents.gates.close.release()
    assert chat.end_of(ordinal).event_type == "turn.completed"
    assert [agent.messages for agent in agents.agents] == [[], ["Hello"]]


@pytest.mark.requirement("host.lost-agent")
def test_a_message_meets_no_agent_that_has_died_and_not_said_so_yet(agents: MemoryDriver, chat: Chat) -> None:
    agents.gates.farewell.hold()
    agents.agents[0].die()
    assert agents.gates.farewell.reached.wait(5)
    ordinal = chat.send("Hello")
    assert host_of(chat).holds(ordinal)
    agents.gates.farewell.release()
    assert chat.end_of(ordinal).event_type == "turn.completed"
    assert [agent.messages for agent in agents.agents] == [[], ["Hello"]]


# ---------------------------------------------------------------- stops
@pytest.mark.requirement("host.stop.forced")
def test_a_deaf_agent_is_replaced_and_the_message_after_the_stop_meets_the_new_one(
    agents: MemoryDriver, chat: Chat, bounds: Bounds
) -> None:
    bounds(settle_s=0.05)
    agents.deaf = True
    agents.scripts.append(endless)
    agents.gates.close.hold()
    ordinal = chat.send("One")
    started(chat, ordinal)
    chat.interrupt()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"
    following = chat.send("Two")  # the old agent is still being ended
    agents.gates.close.release()
    assert chat.end_of(following).event_type == "turn.completed"
    assert [agent.messages for agent in agents.agents] == [["One"], ["Two"]]
    assert closed_once(agents) == [1, 0]
    assert agents.recovered[0].has_messages


@pytest.mark.requirement("host.stop.forced")
def test_a_room_closed_in_the_middle_of_a_forced_stop_leaves_no_agent(
    agents: MemoryDriver, chat: Chat, bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, writing, go_on = turn_rows.settle_turn, threading.Event(), threading.Event()

    def slow(*args: Any, **facts: Any) -> bool:
        writing.set()
        assert go_on.wait(5)
        return settle(*args, **facts)

    bounds(settle_s=0.05)
    agents.deaf = True
    agents.scripts.append(endless)
    ordinal = chat.send()
    started(chat, ordinal)
    monkeypatch.setattr(turn_rows, "settle_turn", slow)
    chat.interrupt()
    assert writing.wait(5)  # the old agent is detached, and its turn's end on its way
    close = registry.close(chat.session_id, reason="reset", remove=True)
    closing = Later(lambda: host_loop.call(close, timeout_s=5))
    agents.wait_until(lambda: registry.find(chat.session_id) is None)
    go_on.set()
    assert closing.outcome() is True
    assert closed_once(agents) == [1]
    assert not agents.agents[0].request.workspace.exists()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"


@pytest.mark.requirement("host.stop.queued")
def test_a_stop_before_the_turn_has_a_name_is_delivered_once_it_has(agents: MemoryDriver, chat: Chat) -> None:
    agents.gates.name.hold()
    ordinal = chat.send()
    agents.wait_until(lambda: agents.messages)
    chat.interrupt()
    agents.gates.name.release()
    assert chat.end_of(ordinal).payload["byUser"] is True
    assert agents.agents[0].interrupts == 1


@pytest.mark.requirement("host.stop.queued")
def test_a_turn_stopped_before_there_is_an_agent_never_reaches_one(
    agents: MemoryDriver, chat: Chat, bounds: Bounds
) -> None:
    bounds(idle_s=0.0)
    assert host_loop.call(host_of(chat).rest(), timeout_s=5)
    agents.gates.start.hold()
    ordinal = chat.send()
    assert agents.gates.start.reached.wait(5)
    chat.interrupt()
    agents.gates.start.release()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"
    assert agents.messages == []


@pytest.mark.requirement("host.stop.clock")
def test_a_stop_just_before_the_clock_runs_out_stays_the_users(
    agents: MemoryDriver, chat: Chat, bounds: Bounds
) -> None:
    bounds(turn_timeout_s=0.3, settle_s=1.0)
    agents.deaf = True
    agents.scripts.append(endless)
    ordinal = chat.send()
    started(chat, ordinal)
    chat.interrupt()  # its patience ends after the clock
    assert chat.end_of(ordinal).event_type == "turn.interrupted"
    assert chat.turn(ordinal).state == "interrupted"
    assert shown_turn(chat, ordinal)["stoppedByUser"] is True
    assert agents.agents[0].interrupts == 1


@pytest.mark.requirement("host.stop.clock")
def test_a_stop_after_the_clock_ran_out_changes_nothing(agents: MemoryDriver, chat: Chat, bounds: Bounds) -> None:
    bounds(turn_timeout_s=0.2, settle_s=1.0)
    agents.deaf = True
    agents.scripts.append(endless)
    ordinal = chat.send()
    agents.wait_until(lambda: agents.agents[0].interrupts)
    chat.interrupt()
    end = chat.end_of(ordinal)
    assert (end.event_type, end.payload["code"]) == ("turn.failed", "turn_timeout")
    assert chat.talk("Go on").event_type == "turn.completed"


def test_there_is_nothing_to_stop_between_turns(chat: Chat) -> None:
    with pytest.raises(AlreadyTerminal):
        chat.interrupt()
    chat.talk()
    with pytest.raises(AlreadyTerminal):
        chat.interrupt()


# ---------------------------------------------------------------- late calls
@pytest.mark.requirement("host.late-call")
def test_a_call_of_a_turn_that_has_ended_is_refused_and_never_dispatched(agents: MemoryDriver, chat: Chat) -> None:
    chat.talk("One")
    late = chat.turn(1).provider_turn_id
    agents.scripts.append(calls("report_progress", {"idempotencyKey": "late", "body": "Late."}, turn_id=late))
    chat.talk("Two")
    [answer] = agents.agents[0].answers
    assert not answer.success
    assert [e for e in chat.events("item.completed", "item.failed") if e.payload["kind"] == "semantic_tool"] == []


# ---------------------------------------------------------------- a server that stops during a command
@pytest.mark.requirement("host.close.bounded")
def test_a_server_that_stops_does_not_wait_for_an_agent_that_a_reconnect_starts(
    agents: MemoryDriver, chat: Chat
) -> None:
    agents.gates.start.hold()
    reconnecting = Later(chat.reconnect)
    assert agents.gates.start.reached.wait(5)
    startup.close_all()
    assert isinstance(reconnecting.outcome(), HarnessUnavailableError)
    assert agents.living == []
    assert closed_once(agents) == [1, 1]


@pytest.mark.requirement("host.close.bounded")
def test_a_server_that_stops_waits_for_the_agent_that_a_reconnect_was_ending(agents: MemoryDriver, chat: Chat) -> None:
    agents.gates.close.hold()
    reconnecting = Later(chat.reconnect)
    assert agents.gates.close.reached.wait(5)
    stopping = Later(startup.close_all)
    assert isinstance(reconnecting.outcome(), HarnessUnavailableError)
    assert registry._closings  # the host's end is under way, and stays so until the agent has ended
    agents.gates.close.release()
    assert stopping.outcome() is None
    assert closed_once(agents) == [1]
