"""The driver over a scripted Codex: how a session ends, and how one is taken up again."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

import pytest

from cleanroom.harness import (
    AgentUnavailableError,
    HarnessCapabilityUnavailableError,
    HarnessReconciliationError,
    HarnessUnavailableError,
    SessionSnapshot,
    ToolAnswer,
    ToolCall,
)
from tests.cleanroom.support.agent import ScriptedAgent
from tests.cleanroom.support.scene import scene
from tests.cleanroom.support.session import (
    Watcher,
    driver,
    is_alive,
    open_request,
    run_directory,
    until,
)


# ---------------------------------------------------------------- ends
@pytest.mark.requirement("driver.death.one-terminal")
@pytest.mark.parametrize(
    ("victim", "code"), [("agent_pid", "codex_unavailable"), ("runner_pid", "runnerd_unavailable")]
)
async def test_the_death_of_codex_or_runnerd_fails_the_turn_once_and_then_the_session(victim: str, code: str) -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.notify("item/agentMessage/delta", turnId="u1", itemId="m1", delta="partial")
        await s.watcher.wait_for("item.delta")
        os.kill(getattr(s.session.process(), victim), signal.SIGKILL)
        events = await s.watcher.ended()
        assert [event.type for event in events[-3:]] == ["item.failed", "turn.failed", "session.failed"]
        assert [event.payload["code"] for event in events[-2:]] == [code, code]
        assert events[-3].payload["text"] == "partial"
        await s.session.close(reason="over")
        facts = s.session.process()
        await until(lambda: not is_alive(facts.agent_pid) and not is_alive(facts.runner_pid))
        with pytest.raises(HarnessUnavailableError):
            await s.session.start_turn(message="again")


@pytest.mark.requirement("driver.close.bounded")
@pytest.mark.parametrize("how", ["frozen", "deaf"])
async def test_closing_is_bounded_when_codex_is_frozen_or_deaf_to_every_request_to_end(how: str) -> None:
    async with scene(stubborn=how == "deaf") as s:
        await s.session.start_turn(message="go")
        agent_pid = s.session.process().agent_pid
        assert agent_pid is not None
        if how == "frozen":
            os.kill(agent_pid, signal.SIGSTOP)
        before = time.monotonic()
        await s.session.close(reason="reset")
        assert time.monotonic() - before < 5
        assert not is_alive(agent_pid)
        assert [event.type for event in await s.watcher.ended()][-1] == "turn.interrupted"


async def test_closing_is_bounded_when_runnerd_is_frozen() -> None:
    async with scene() as s:
        facts = s.session.process()
        os.kill(facts.runner_pid or 0, signal.SIGSTOP)
        before = time.monotonic()
        await s.session.close(reason="reset", force=True)
        assert time.monotonic() - before < 5
        await until(lambda: not is_alive(facts.agent_pid) and not is_alive(facts.runner_pid))


async def test_closing_twice_and_while_a_tool_call_hangs_is_fine() -> None:
    async def handler(call: ToolCall) -> ToolAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async with scene(handler=handler) as s:
        await s.session.start_turn(message="go")
        s.agent.ask(0, "item/tool/call", turnId="u1", callId="c1", tool="get_task", arguments={})
        await s.watcher.wait_for("turn.started")
        await asyncio.gather(s.session.close(reason="one"), s.session.close(reason="two"))
        await s.session.close(reason="three")
        with pytest.raises(HarnessUnavailableError):
            await s.session.start_turn(message="again")


# ---------------------------------------------------------------- recovery
def _snapshot(**changes: Any) -> SessionSnapshot:
    values: dict[str, Any] = {
        "driver_kind": "codex_app_server",
        "driver_session_id": "t1",
        "provider_session_id": "session-1",
        "run_id": "run",
        "normalized_session_id": "session-run",
        "active_turn_id": None,
        "last_source_seq": 41,
        "terminal_turns": (("u0", "f"),),
        "has_messages": True,
    }
    return SessionSnapshot(**(values | changes))


@pytest.mark.requirement("driver.resume.policy")
async def test_a_resume_sends_policy_and_profile_again_and_goes_on_counting() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        session = await driver(directory, agent.codex_bin).recover_session(open_request(directory), _snapshot())
        watcher = Watcher(session)
        assert (await watcher.wait_for("session.resumed")).source_seq == 42
        params = agent.received("thread/resume")[0]["params"]
        assert (params["threadId"], params["approvalPolicy"], params["permissions"]) == (
            "t1",
            "never",
            "workspace-only",
        )
        assert "sandbox" not in params
        assert agent.received("thread/start") == []
        agent.end_turn("u0", "interrupted")
        await session.close(reason="done")
        assert session.snapshot().terminal_turns == (("u0", "f"),)


async def test_a_thread_without_a_message_is_started_anew() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        opened = driver(directory, agent.codex_bin)
        session = await opened.recover_session(open_request(directory), _snapshot(has_messages=False))
        watcher = Watcher(session)
        assert (await watcher.wait_for("session.started")).source_seq == 42
        assert agent.received("thread/resume") == []
        await session.close(reason="done")


@pytest.mark.parametrize(
    ("code", "text", "outcome"),
    [
        (-32600, "no rollout found for thread id t1", None),
        (-32601, "list_turns is not supported yet", HarnessCapabilityUnavailableError),
        (-32600, "something else sk-FAKE-3", AgentUnavailableError),
    ],
)
async def test_a_refused_resume_is_named_or_replaced_by_a_new_thread(
    code: int, text: str, outcome: type[Exception] | None
) -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        agent.hold("thread/resume")
        opened = driver(directory, agent.codex_bin)
        recovering = asyncio.create_task(opened.recover_session(open_request(directory), _snapshot()))
        agent.refuse(await agent.wait_for("thread/resume"), code, text)
        if outcome is None:
            await (await recovering).close(reason="done")
            assert len(agent.received("thread/start")) == 1
            return
        with pytest.raises(outcome) as refusal:
            await recovering
        assert "FAKE" not in str(refusal.value)
        assert not any(is_alive(pid) for pid in agent.pids)


async def test_another_thread_than_the_one_that_was_left_is_refused() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        thread = agent.rules["thread/start"]
        agent.rules["thread/resume"] = lambda message: thread(message) | {"thread": {"id": "t9"}}
        with pytest.raises(HarnessReconciliationError):
            await driver(directory, agent.codex_bin).recover_session(open_request(directory), _snapshot())
        assert not any(is_alive(pid) for pid in agent.pids)
