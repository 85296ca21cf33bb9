"""The driver against a scripted agent: orders and faults that the real Codex shows rarely or never."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from pathlib import Path
from typing import Any

import pytest

from cleanroom.codex import binary as codex_binary
from cleanroom.codex import sandbox
from cleanroom.harness import (
    AgentUnavailableError,
    HarnessOperationAlreadyTerminalError,
    HarnessStaleTurnError,
    HarnessTurnActiveError,
    HarnessUnavailableError,
    LoginRequiredError,
)
from tests.cleanroom.support.agent import ScriptedAgent
from tests.cleanroom.support.scene import scene
from tests.cleanroom.support.session import (
    TERMINALS,
    Watcher,
    driver,
    is_alive,
    open_request,
    run_directory,
)


# ---------------------------------------------------------------- opening
async def test_an_open_session_says_what_it_runs_and_sends_policy_and_profile_but_never_a_classic_sandbox() -> None:
    async with scene() as s:
        assert [event.type for event in s.watcher.events] in ([], ["session.started"])
        started = await s.watcher.wait_for("session.started")
        assert started.payload == {"model": "test-model", "agentVersion": "0.132.0", "sandboxed": True}
        assert started.source_seq == 1
        params = (await s.agent.wait_for("thread/start"))["params"]
        assert params["approvalPolicy"] == "never"
        assert params["permissions"] == "workspace-only"
        assert params["experimentalRawEvents"] is True
        assert [tool["name"] for tool in params["dynamicTools"]] == ["get_task"]
        assert "sandbox" not in params
        assert "environments" not in params
        assert s.session.process().runner_pid != s.session.process().agent_pid


@pytest.mark.requirement("driver.open.login")
async def test_without_login_and_without_a_model_address_opening_fails_by_name_and_leaves_no_process() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        agent.rules["account/read"] = lambda _: {"account": None, "requiresOpenaiAuth": True}
        with pytest.raises(LoginRequiredError):
            await driver(directory, agent.codex_bin, model_url="").open_session(open_request(directory))
        assert agent.received("thread/start") == []
        assert not any(is_alive(pid) for pid in agent.pids)


async def test_with_a_login_and_without_a_model_address_the_session_opens() -> None:
    async with scene(settings={"model_url": ""}) as s:
        assert len(s.agent.received("account/read")) == 1


async def test_a_codex_that_is_not_installed_is_unavailable_by_name() -> None:
    async with run_directory() as directory:
        with pytest.raises(AgentUnavailableError, match="not installed"):
            await driver(directory, directory / "nothing").open_session(open_request(directory))


@pytest.mark.requirement("driver.request.deadline")
@pytest.mark.parametrize("method", ["initialize", "thread/start"])
async def test_a_codex_that_does_not_answer_while_opening_is_unavailable_in_time_and_gone(method: str) -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        opened = driver(directory, agent.codex_bin, request_timeout_s=0.5)
        await (await opened.open_session(open_request(directory, name="template"))).close(reason="made")
        agent.hold(method)
        before = time.monotonic()
        with pytest.raises(AgentUnavailableError, match=f"did not answer {method}"):
            await opened.open_session(open_request(directory))
        assert time.monotonic() - before < 4
        assert not any(is_alive(pid) for pid in agent.pids)


async def test_an_open_that_is_cancelled_leaves_no_process() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        agent.hold("thread/start")
        opening = asyncio.create_task(driver(directory, agent.codex_bin).open_session(open_request(directory)))
        await agent.wait_for("thread/start")
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert not any(is_alive(pid) for pid in agent.pids)


async def test_a_codex_that_ignores_the_profile_is_refused() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        thread = agent.rules["thread/start"]
        agent.rules["thread/start"] = lambda message: thread(message) | {"activePermissionProfile": None}
        with pytest.raises(AgentUnavailableError, match="sandbox"):
            await driver(directory, agent.codex_bin).open_session(open_request(directory))


@pytest.mark.requirement("driver.sandbox.forbidden")
async def test_where_the_system_forbids_the_sandbox_the_thread_and_its_turns_have_no_environment() -> None:
    async with scene(sandbox_exit=1) as s:
        assert s.session.process().sandboxed is False
        assert (await s.watcher.wait_for("session.started")).payload["sandboxed"] is False
        start = (await s.agent.wait_for("thread/start"))["params"]
        assert start["environments"] == []
        assert start["config"] == {"features.shell_tool": False}
        await s.session.start_turn(message="go")
        assert (await s.agent.wait_for("turn/start"))["params"]["environments"] == []
        assert codex_binary.find(codex_bin=s.agent.codex_bin).fingerprint not in sandbox._allowed  # asked again


class NeverAsked:
    """Stands for the runner of a probe that must not be."""

    @staticmethod
    async def start(**facts: Any) -> None:
        raise AssertionError("the sandbox was asked for again")


async def test_a_sandbox_that_was_allowed_once_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        opened = driver(directory, agent.codex_bin)
        await (await opened.open_session(open_request(directory, name="one"))).close(reason="done")
        monkeypatch.setattr(sandbox, "Runner", NeverAsked)
        session = await opened.open_session(open_request(directory, name="two"))
        assert session.process().sandboxed is True
        await session.close(reason="done")


# ---------------------------------------------------------------- turns
async def test_a_turn_has_its_id_when_it_started_and_not_when_it_was_answered() -> None:
    async with scene() as s:
        s.agent.hold_turn_name()
        starting = asyncio.create_task(s.session.start_turn(message="go"))
        await s.agent.wait_for("turn/start")
        assert s.session.snapshot().active_turn_id is None
        s.agent.start_turn("u1")
        assert await starting == "u1"
        with pytest.raises(HarnessTurnActiveError):
            await s.session.start_turn(message="again")
        s.agent.end_turn("u1")
        assert (await s.watcher.turn_end()).payload == {"durationMs": 7, "byUser": False}
        assert s.session.snapshot().terminal_turns[0][0] == "u1"


async def test_a_refused_turn_is_unavailable_and_the_session_takes_the_next_one() -> None:
    async with scene() as s:
        normal = s.agent.rules.pop("turn/start")
        starting = asyncio.create_task(s.session.start_turn(message="go"))
        s.agent.refuse(await s.agent.wait_for("turn/start"), -32000, "overloaded sk-FAKE-secret")
        with pytest.raises(AgentUnavailableError) as refusal:
            await starting
        assert "FAKE" not in refusal.value.message
        s.agent.rules["turn/start"] = normal
        assert await s.session.start_turn(message="go") == "u1"
        assert s.watcher.of("turn.failed", "session.failed") == []


@pytest.mark.requirement("driver.request.deadline")
async def test_a_turn_that_is_never_started_ends_the_session_in_time() -> None:
    async with scene(settings={"request_timeout_s": 0.5}) as s:
        s.agent.hold_turn_name()
        with pytest.raises(HarnessUnavailableError):
            await s.session.start_turn(message="go")
        assert [event.type for event in await s.watcher.ended()] == ["session.started", "session.failed"]
        with pytest.raises(HarnessUnavailableError):
            await s.session.start_turn(message="again")


async def test_a_turn_that_codex_starts_by_itself_is_adopted() -> None:
    async with scene() as s:
        s.agent.start_turn("goal-1")
        assert (await s.watcher.wait_for("turn.started")).turn_id == "goal-1"
        with pytest.raises(HarnessTurnActiveError):
            await s.session.start_turn(message="go")
        s.agent.end_turn("goal-1")
        assert (await s.watcher.turn_end()).turn_id == "goal-1"


async def test_a_repeated_end_is_ignored_and_a_contradicting_one_ends_the_session() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.end_turn("u1")
        s.agent.end_turn("u1")
        await s.watcher.turn_end()
        await s.session.start_turn(message="again")
        s.agent.end_turn("u1", "failed", {"message": "x"})
        types = [event.type for event in await s.watcher.ended()]
        assert types.count("turn.completed") == 1
        assert types[-2:] == ["turn.failed", "session.failed"]
        assert s.watcher.events[-1].payload["code"] == "protocol_failure"


async def test_other_threads_are_ignored() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.notify("turn/completed", threadId="t2", turn={"id": "u1", "status": "failed"})
        s.agent.notify("item/agentMessage/delta", threadId="t2", turnId="u1", itemId="i9", delta="foreign")
        s.agent.end_turn("u1")
        await s.watcher.turn_end()
        assert s.watcher.of("turn.failed", "item.delta", "item.started") == []


RECORDED = {path.stem: path.read_text() for path in (Path(__file__).parent / "data/codex-wire").glob("*.jsonl")}


@pytest.mark.requirement("driver.events")
@pytest.mark.parametrize("case", sorted(RECORDED))
async def test_what_the_real_codex_said_ends_every_turn_once_and_every_item_before_it(case: str) -> None:
    """Requests and notifications of Codex 0.132.0 as recorded; the secrets in them are invented."""
    messages = [json.loads(line) for line in RECORDED[case].splitlines()]
    thread_id = next(m["params"]["threadId"] for m in messages if m["method"] == "turn/started")
    ends = [m["params"] for m in messages if m["method"] == "turn/completed"]
    expected = [params["turn"]["id"] for params in ends if params["threadId"] == thread_id]  # some hold more threads
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        start = agent.rules["thread/start"]
        agent.rules["thread/start"] = lambda message: start(message) | {"thread": {"id": thread_id}}
        session = await driver(directory, agent.codex_bin).open_session(open_request(directory))
        watcher = Watcher(session)
        for message in messages:
            agent.write_message(message)
        await watcher.turn_end(len(expected))
        await session.close(reason="done")
        events = await watcher.ended()
    assert [e.turn_id for e in events if e.type in TERMINALS] == expected
    for turn_id in expected:
        of_turn = [e for e in events if e.turn_id == turn_id]
        end = next(e.source_seq for e in of_turn if e.type in TERMINALS)
        started = {e.item_id for e in of_turn if e.type == "item.started"}
        closed = {e.item_id for e in of_turn if e.type in ("item.completed", "item.failed") and e.source_seq < end}
        assert started <= closed
    assert [e.source_seq for e in events] == list(range(1, len(events) + 1))
    told = repr([e.payload for e in events if e.payload.get("kind") not in ("agent_message", "command")])
    assert "FAKE" not in told
    assert thread_id not in repr([e.payload for e in events])


# ---------------------------------------------------------------- interrupts
@pytest.mark.requirement("turn.interrupt.before-start")
async def test_an_interrupt_sent_before_the_turn_has_a_name_is_delivered_once_it_has() -> None:
    async with scene() as s:
        s.agent.hold_turn_name()
        starting = asyncio.create_task(s.session.start_turn(message="count to a million"))
        await s.agent.wait_for("turn/start")
        await s.session.interrupt(reason="stop")
        assert s.agent.received("turn/interrupt") == []
        assert s.watcher.payloads("item.completed", "interrupt_acknowledgement") in ([], [_ack("queued")])

        s.agent.start_turn("u1")
        assert await starting == "u1"
        assert (await s.agent.wait_for("turn/interrupt"))["params"] == {"threadId": "t1", "turnId": "u1"}
        s.agent.end_turn("u1", "interrupted")
        assert (await s.watcher.turn_end()).payload == {"durationMs": 7, "byUser": True}
        await s.agent.wait_for("thread/backgroundTerminals/clean")
        acks = s.watcher.payloads("item.completed", "interrupt_acknowledgement")
        assert acks == [_ack("queued"), _ack("acknowledged")]


def _ack(status: str) -> dict[str, str]:
    return {"kind": "interrupt_acknowledgement", "status": status, "reason": "stop"}


@pytest.mark.requirement("turn.interrupt.once")
async def test_a_turn_is_interrupted_once_and_never_after_its_end() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.hold("turn/interrupt")
        first = asyncio.create_task(s.session.interrupt(reason="stop"))
        await s.agent.wait_for("turn/interrupt")
        await s.session.interrupt(reason="stop again")
        s.agent.end_turn("u1", "interrupted")
        await asyncio.wait_for(first, 2)  # the provider never answers it: the turn's end is enough
        await s.watcher.turn_end()
        with pytest.raises(HarnessOperationAlreadyTerminalError):
            await s.session.interrupt(reason="third")
        assert len(s.agent.received("turn/interrupt")) == 1


async def test_an_interrupt_that_is_never_answered_leaves_no_complaint_behind() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.hold("turn/interrupt")
        stopping = asyncio.create_task(s.session.interrupt(reason="stop"))
        await s.agent.wait_for("turn/interrupt")
        s.agent.end_turn("u1", "interrupted")
        await asyncio.wait_for(stopping, 5)
        await s.session.close(reason="reset")  # and with it the call that still waits for its answer
    del s, stopping
    gc.collect()
    # The scripted agent's own end of a closed pipe may complain too: what counts is an error that nobody read.
    assert [one for one in complaints if "never retrieved" in one["message"]] == []


async def test_an_interrupt_that_loses_the_race_says_so_and_the_turn_stays_completed() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.hold("turn/interrupt")
        stopping = asyncio.create_task(s.session.interrupt(reason="stop"))
        s.agent.refuse(await s.agent.wait_for("turn/interrupt"), -32600, "no active turn to interrupt")
        s.agent.end_turn("u1", "completed")
        with pytest.raises(HarnessOperationAlreadyTerminalError):
            await stopping
        end = await s.watcher.turn_end()
        assert (end.type, end.payload["byUser"]) == ("turn.completed", False)


async def test_steering_checks_the_turn() -> None:
    async with scene() as s:
        with pytest.raises(HarnessOperationAlreadyTerminalError):
            await s.session.steer(turn_id="u1", message="also B")
        await s.session.start_turn(message="go")
        with pytest.raises(HarnessStaleTurnError):
            await s.session.steer(turn_id="u0", message="also B")
        await s.session.steer(turn_id="u1", message="also B")
        assert (await s.agent.wait_for("turn/steer"))["params"]["expectedTurnId"] == "u1"
