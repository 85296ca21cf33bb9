"""The driver over a scripted Codex: items, requests, withheld names, bytes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cleanroom.harness import (
    ToolAnswer,
    ToolCall,
)
from tests.cleanroom.support.agent import ScriptedAgent
from tests.cleanroom.support.scene import scene
from tests.cleanroom.support.session import (
    Watcher,
    approve,
    driver,
    is_alive,
    open_request,
    run_directory,
)


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
