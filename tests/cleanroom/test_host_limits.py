"""What the host refuses, bounds or says when the agent is stopped, replaced, or speaks too fast."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace

import pytest

from cleanroom import outbox as outboxes
from cleanroom import rooms
from cleanroom.harness import HarnessSession, OpenSession, SessionSnapshot
from cleanroom.registry import registry
from cleanroom.rooms import Room
from evidence.views import thread
from mockcore.plane import MockControlPlane
from tests.cleanroom.support.chat import Chat, Later
from tests.cleanroom.support.memory_driver import MemoryAgent, MemoryDriver
from tests.cleanroom.support.scripts import STATUS, endless


# ---------------------------------------------------------------- a stop
@pytest.mark.requirement("host.stop.starting")
def test_a_stop_while_the_agent_is_starting_ends_the_turn_at_once(agents: MemoryDriver, chat: Chat) -> None:
    chat.put_to_rest()
    agents.gates.start.hold()
    stopped = chat.send("One")
    assert agents.gates.start.reached.wait(5)
    chat.interrupt()
    end = chat.end_of(stopped)
    assert (end.event_type, end.payload["byUser"]) == ("turn.interrupted", True)
    agents.gates.start.release()
    assert chat.talk("Two").event_type == "turn.completed"
    assert agents.messages == ["Two"]


@pytest.mark.requirement("host.stop.calls")
def test_a_call_after_the_stop_was_asked_for_changes_nothing(agents: MemoryDriver, chat: Chat) -> None:
    async def stubborn(agent: MemoryAgent, message: str) -> None:
        try:
            await endless(agent, message)
        finally:
            await agent.call("report_progress", STATUS)

    agents.scripts.append(stubborn)
    ordinal = chat.send()
    agents.wait_until(lambda: chat.turn(ordinal).state == "running")
    before = MockControlPlane(company_id=chat.company_id).state_revision()
    chat.interrupt()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"
    [answer] = agents.agents[0].answers
    assert (answer.success, answer.text) == (False, "The turn is being stopped; nothing was done.")
    assert MockControlPlane(company_id=chat.company_id).state_revision() == before
    assert chat.calls() == []


# ---------------------------------------------------------------- another thread, another directory
@pytest.mark.requirement("host.thread-replaced")
@pytest.mark.parametrize("replaced", [True, False])
def test_an_agent_that_came_back_without_its_memory_says_so(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    recover = MemoryDriver.recover_session

    async def elsewhere(driver: MemoryDriver, request: OpenSession, left: SessionSnapshot) -> HarnessSession:
        return await recover(driver, request, replace(left, driver_session_id="another") if replaced else left)

    chat.talk("One")
    chat.put_to_rest()
    monkeypatch.setattr(MemoryDriver, "recover_session", elsewhere)
    chat.talk("Two")
    codes = [event.payload["code"] for event in chat.events("harness.diagnostic")]
    assert codes.count("thread_replaced") == replaced
    view, _ = thread.snapshot(session_id=chat.session_id)
    shown = [item for turn in view["turns"] for item in turn["items"] if item.get("code") == "thread_replaced"]
    assert len(shown) == replaced


@pytest.mark.requirement("host.workspace")
def test_a_workspace_that_was_removed_is_there_again_at_the_next_turn(agents: MemoryDriver, chat: Chat) -> None:
    workspace = agents.agents[0].request.workspace
    shutil.rmtree(workspace)
    chat.talk()
    assert workspace.is_dir()


@pytest.mark.requirement("host.stop.starting")
def test_a_stop_while_the_workspace_is_made_again_reaches_no_agent(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(agents.agents[0].request.workspace)
    make, reached, go_on = rooms.make_directories, threading.Event(), threading.Event()

    def slow(room: Room) -> None:
        reached.set()
        assert go_on.wait(5)
        make(room)

    monkeypatch.setattr(rooms, "make_directories", slow)
    ordinal = chat.send("Never mind")
    assert reached.wait(5)
    chat.interrupt()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"
    go_on.set()
    assert chat.talk("Go on").event_type == "turn.completed"
    assert [agent.messages for agent in agents.agents] == [["Go on"]]
    assert len(chat.ends(ordinal)) == 1


@pytest.mark.requirement("host.workspace")
def test_a_link_in_place_of_the_workspace_is_not_followed(agents: MemoryDriver, chat: Chat) -> None:
    workspace = agents.agents[0].request.workspace
    elsewhere = workspace.parent / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    workspace.rmdir()
    workspace.symlink_to(elsewhere)
    chat.reconnect()
    assert workspace.is_dir()
    assert not workspace.is_symlink()
    assert elsewhere.stat().st_mode & 0o777 == 0o755


# ---------------------------------------------------------------- an agent that speaks too fast
@pytest.mark.requirement("host.bounded")
def test_an_agent_waits_while_too_much_of_what_it_said_is_unwritten(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outboxes, "WAITING_MAX", 8)
    longest = []

    async def talker(agent: MemoryAgent, message: str) -> None:
        host = registry.find(chat.session_id)
        for number in range(200):
            await agent.say(f"Word {number}.")
            longest.append(len(host._outbox._waiting))  # type: ignore[union-attr]

    agents.scripts.append(talker)
    assert Later(chat.talk).outcome(20).event_type == "turn.completed"
    assert max(longest) <= 8
    assert len(chat.events("item.completed")) >= 200
