"""The driver against a scripted agent: orders and faults that the real Codex shows rarely or never."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cleanroom.codex import binary as codex_binary
from cleanroom.codex import sandbox
from cleanroom.harness import (
    AgentUnavailableError,
    HarnessCapabilityUnavailableError,
    HarnessOperationAlreadyTerminalError,
    HarnessReconciliationError,
    HarnessSession,
    HarnessStaleTurnError,
    HarnessTurnActiveError,
    HarnessUnavailableError,
    LoginRequiredError,
    SessionSnapshot,
    ToolAnswer,
    ToolCall,
)
from tests.cleanroom.support.agent import ScriptedAgent
from tests.cleanroom.support.session import (
    TERMINALS,
    Watcher,
    approve,
    driver,
    is_alive,
    open_request,
    run_directory,
    until,
)


@dataclass
class Scene:
    """A scripted agent with one open session."""

    agent: ScriptedAgent
    session: HarnessSession
    watcher: Watcher
    directory: Path


@asynccontextmanager
async def scene(
    *, handler: Any = approve, settings: dict[str, Any] | None = None, **agent: Any
) -> AsyncIterator[Scene]:
    async with run_directory() as directory, ScriptedAgent(directory / "bin", **agent) as scripted:
        opened = driver(directory, scripted.codex_bin, **(settings or {}))
        session = await opened.open_session(open_request(directory, on_tool_call=handler))
        try:
            yield Scene(scripted, session, Watcher(session), directory)
        finally:
            await session.close(reason="the test is over", force=True)


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


# ---------------------------------------------------------------- items
async def test_items_open_at_the_end_of_a_turn_are_closed_before_its_terminal() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.item("started", "u1", {"type": "commandExecution", "id": "c1", "command": "sleep 9"})
        s.agent.item("started", "u1", {"type": "agentMessage", "id": "m1", "text": ""})
        s.agent.notify("item/agentMessage/delta", turnId="u1", itemId="m1", delta="half a sen")
        s.agent.end_turn("u1", "interrupted")
        end = await s.watcher.turn_end()
        closed = {e.item_id: e for e in s.watcher.of("item.completed", "item.failed")}
        assert closed["c1"].type == "item.failed"
        assert closed["c1"].payload["status"] == "interrupted"
        assert closed["m1"].payload["text"] == "half a sen"
        assert max(e.source_seq for e in closed.values()) < end.source_seq
        assert [e.source_seq for e in s.watcher.events] == list(range(1, len(s.watcher.events) + 1))


async def test_a_late_item_keeps_its_old_turn_even_during_the_next_one() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.item("started", "u1", {"type": "commandExecution", "id": "c1", "command": "sleep 9"})
        s.agent.end_turn("u1")
        await s.watcher.turn_end()
        await s.session.start_turn(message="next")
        command = {"type": "commandExecution", "id": "c1", "command": "sleep 9", "status": "completed", "exitCode": 0}
        s.agent.item("completed", "u1", command)
        s.agent.end_turn("u2")
        await s.watcher.turn_end(2)
        late = [e for e in s.watcher.of("item.completed") if e.item_id == "c1"][-1]
        assert (late.turn_id, late.payload["exitCode"]) == ("u1", 0)


async def test_a_message_cut_by_a_retry_is_closed_and_the_notice_holds_none_of_the_providers_text() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.notify("item/agentMessage/delta", turnId="u1", itemId="m1", delta="Hel")
        error = {
            "message": "Reconnecting... 1/5",
            "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": 401}},
            "additionalDetails": "Incorrect API key provided: sk-FAKE-1",
        }
        s.agent.notify("error", turnId="u1", error=error, willRetry=True)
        s.agent.end_turn("u1", "failed", {"message": "status gone sk-FAKE-1", "codexErrorInfo": "other"})
        end = await s.watcher.turn_end()
        assert s.watcher.payloads("item.failed", "agent_message")[0]["text"] == "Hel"
        notice = s.watcher.of("harness.diagnostic")[0].payload
        assert (notice["code"], notice["retrying"]) == ("codex_login_required", True)
        assert end.payload["code"] == "codex_login_required"
        assert "FAKE" not in repr(s.watcher.events)


@pytest.mark.requirement("driver.failure.final-error")
async def test_a_final_error_without_an_end_of_the_turn_fails_turn_and_session_by_its_name() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        error = {"message": "failed to refresh login", "codexErrorInfo": "unauthorized"}
        s.agent.notify("error", turnId="u1", error=error, willRetry=False)
        events = await s.watcher.ended()
        assert [event.type for event in events[-2:]] == ["turn.failed", "session.failed"]
        assert {event.payload["code"] for event in events[-2:]} == {"codex_login_required"}
        await s.session.close(reason="over")
        assert not is_alive(s.agent.pids[-1])


# ---------------------------------------------------------------- requests of Codex
@pytest.mark.requirement("driver.requests.answered")
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("item/commandExecution/requestApproval", {"result": {"decision": "decline"}}),
        ("item/fileChange/requestApproval", {"result": {"decision": "decline"}}),
        ("item/permissions/requestApproval", {"result": {"permissions": {}, "scope": "turn"}}),
        ("item/tool/requestUserInput", {"result": {"answers": {}}}),
        ("mcpServer/elicitation/request", {"result": {"action": "decline", "content": None, "_meta": None}}),
        ("account/chatgptAuthTokens/refresh", {"error": {"code": -32601, "message": "not supported by this client"}}),
    ],
)
async def test_what_a_clean_room_does_not_support_is_answered_at_once(method: str, expected: dict[str, Any]) -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.ask(0, method, turnId="u1", itemId="i1", permissions={"fileSystem": {"write": ["/"]}})
        assert await s.agent.wait_for_answer(0) == {"id": 0} | expected
        notice = await s.watcher.wait_for("harness.diagnostic")
        assert notice.payload["code"] == "unsupported_request"
        assert notice.turn_id == "u1"


@pytest.mark.requirement("driver.tools.binding")
@pytest.mark.parametrize(
    "wrong", [{"threadId": "t2"}, {"turnId": "u0"}, {"turnId": None}, {"callId": ""}, {"callId": None}, {"tool": 7}]
)
async def test_a_foreign_or_late_tool_call_is_answered_and_not_carried_out(wrong: dict[str, Any]) -> None:
    calls: list[ToolCall] = []

    async def handler(call: ToolCall) -> ToolAnswer:
        calls.append(call)
        return ToolAnswer(success=True, text="{}")

    async with scene(handler=handler) as s:
        await s.session.start_turn(message="go")
        good = {"turnId": "u1", "callId": "c1", "tool": "get_task", "arguments": {"a": 1}}
        s.agent.ask(0, "item/tool/call", **(good | wrong))
        s.agent.ask(1, "item/tool/call", **good)
        assert (await s.agent.wait_for_answer(0))["result"]["success"] is False
        assert (await s.agent.wait_for_answer(1))["result"]["success"] is True
        assert [call.call_id for call in calls] == ["c1"]
        assert calls[0].arguments == {"a": 1}


async def test_a_tool_call_that_overtakes_the_start_of_its_turn_names_the_turn() -> None:
    async with scene() as s:
        s.agent.hold_turn_name()
        starting = asyncio.create_task(s.session.start_turn(message="go"))
        await s.agent.wait_for("turn/start")
        s.agent.ask(0, "item/tool/call", turnId="u1", callId="c1", tool="get_task", arguments={})
        assert (await s.agent.wait_for_answer(0))["result"]["success"] is True
        assert await starting == "u1"
        s.agent.start_turn("u1")
        s.agent.end_turn("u1")
        await s.watcher.turn_end()
        assert len(s.watcher.of("turn.started")) == 1


async def test_a_handler_that_fails_is_told_to_the_agent_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(call: ToolCall) -> ToolAnswer:
        raise RuntimeError("password FAKE-2")

    async with scene(handler=handler) as s:
        await s.session.start_turn(message="go")
        s.agent.ask("0", "item/tool/call", turnId="u1", callId="c1", tool="get_task", arguments={})
        answer = (await s.agent.wait_for_answer("0"))["result"]
        assert answer["success"] is False
        assert "FAKE" not in repr(answer)


async def test_a_tool_call_does_not_overtake_the_prose_before_it() -> None:
    seen: list[str] = []

    async def handler(call: ToolCall) -> ToolAnswer:
        seen.extend(event.type for event in watchers[0].events)
        return ToolAnswer(success=True, text="{}")

    watchers: list[Watcher] = []
    async with scene(handler=handler) as s:
        watchers.append(s.watcher)
        await s.session.start_turn(message="go")
        for _ in range(50):
            s.agent.notify("item/agentMessage/delta", turnId="u1", itemId="m1", delta="x")
        s.agent.ask(0, "item/tool/call", turnId="u1", callId="c1", tool="get_task", arguments={})
        await s.agent.wait_for_answer(0)
        assert seen.count("item.delta") == 50


# ---------------------------------------------------------------- withheld names
def _withheld(call_id: str = "w1") -> dict[str, Any]:
    return {"type": "function_call", "name": "assign_task", "arguments": '{"to":"x"}', "call_id": call_id}


@pytest.mark.requirement("driver.tools.withheld")
async def test_a_call_of_a_withheld_name_reaches_the_host_and_its_denial_is_steered_into_the_turn() -> None:
    calls: list[ToolCall] = []

    async def handler(call: ToolCall) -> ToolAnswer:
        calls.append(call)
        return await approve(call)

    async with scene(handler=handler) as s:
        await s.session.start_turn(message="go")
        s.agent.notify("rawResponseItem/completed", turnId="u1", item=_withheld())
        s.agent.notify("rawResponseItem/completed", turnId="u1", item=_withheld())  # seen twice, handled once
        s.agent.notify("rawResponseItem/completed", turnId="u1", item=_withheld("w2") | {"name": "get_task"})
        s.agent.notify("rawResponseItem/completed", turnId="u1", item={"type": "message", "content": "secret"})
        steer = (await s.agent.wait_for("turn/steer"))["params"]
        assert steer["expectedTurnId"] == "u1"
        assert "operation_withheld" in steer["input"][0]["text"]
        s.agent.end_turn("u1")
        await s.watcher.turn_end()
        assert [(c.call_id, c.operation_id, c.arguments, c.exposed) for c in calls] == [
            ("w1", "assign_task", {"to": "x"}, False)
        ]
        assert "secret" not in repr(s.watcher.events)
        assert len(s.agent.received("turn/steer")) == 1


@pytest.mark.requirement("driver.tools.withheld")
async def test_a_denial_that_comes_too_late_for_its_turn_waits_in_the_thread_and_the_end_waits_for_the_record() -> None:
    release = asyncio.Event()

    async def handler(call: ToolCall) -> ToolAnswer:
        await release.wait()
        return await approve(call)

    async with scene(handler=handler) as s:
        s.agent.hold("turn/steer")
        await s.session.start_turn(message="go")
        s.agent.notify("rawResponseItem/completed", turnId="u1", item=_withheld())
        s.agent.end_turn("u1")
        s.agent.ask(5, "item/tool/requestUserInput", turnId="u1")
        await s.agent.wait_for_answer(5)  # so the end of the turn has been read
        assert s.watcher.of("turn.completed") == []
        release.set()
        s.agent.refuse(await s.agent.wait_for("turn/steer"), -32600, "no active turn to steer")
        item = (await s.agent.wait_for("thread/inject_items"))["params"]["items"][0]
        assert "operation_withheld" in item["content"][0]["text"]
        await s.watcher.turn_end()


# ---------------------------------------------------------------- bytes
async def test_noise_is_skipped_and_a_broken_object_ends_turn_and_session() -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.write(b"entering shell\n[]\nnull\n")
        s.agent.notify("item/agentMessage/delta", turnId="u1", itemId="m1", delta="still here")
        await s.watcher.wait_for("item.delta")
        s.agent.write(b'{"method":"turn/completed","params":{"threadId":"t1"\n')
        events = await s.watcher.ended()
        assert [event.type for event in events[-3:]] == ["item.failed", "turn.failed", "session.failed"]
        assert events[-2].payload["code"] == "codex_unavailable"
        assert events[-1].payload["code"] == "protocol_failure"


@pytest.mark.parametrize("params", [{}, {"turn": None}, {"turn": {}}, {"turn": {"id": ["u1"]}}])
async def test_a_message_without_its_facts_ends_the_session_by_name(params: dict[str, Any]) -> None:
    async with scene() as s:
        await s.session.start_turn(message="go")
        s.agent.notify("turn/completed", **params)
        assert (await s.watcher.ended())[-1].payload["code"] == "protocol_failure"


@pytest.mark.requirement("driver.memory.bounded")
async def test_a_consumer_that_stops_makes_codex_wait_and_then_misses_nothing() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        session = await driver(directory, agent.codex_bin).open_session(open_request(directory))
        await session.start_turn(message="go")
        for number in range(4000):  # 32 MB, nobody consumes
            plan = [{"step": f"step {number}", "status": "completed"}]
            agent.notify("turn/plan/updated", turnId="u1", plan=plan, explanation="x" * 8000)
        agent.end_turn("u1")
        assert agent._writer is not None
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(agent._writer.drain(), 1)  # the pipes are full all the way back
        waiting = session.snapshot().last_source_seq
        assert waiting < 600
        watcher = Watcher(session)
        await watcher.turn_end()
        steps = [plan["steps"][0]["step"] for plan in watcher.payloads("item.completed", "plan")]
        assert steps == [f"step {number}" for number in range(4000)]
        await session.close(reason="done")


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
