"""kill -9 at chosen points: the page is told, the thread goes on, nothing is lost, doubled or left running."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.support import Answer, Browser, Server, browser, descendants, is_alive, items

pytestmark = [pytest.mark.codex]


def find(server: Server, words: str) -> int:
    pids = [pid for pid, line in descendants(server.pid).items() if words in line]
    assert pids, f"no process with {words!r} below the server"
    return pids[-1]


async def gone(pids: list[int], within_s: float = 5.0) -> bool:
    """Wait until none of the processes lives, at most `within_s`."""
    deadline = asyncio.get_running_loop().time() + within_s
    while any(is_alive(pid) for pid in pids):
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


async def streaming_turn(one: Browser) -> Answer:
    """Start a long turn and return once its text has begun to arrive."""
    answer = await one.send("Count slowly to 400")
    assert answer.status == 202
    await one.until(answer.body["cursor"], lambda op: op["op"] == "text")
    return answer


def lost_by(head: dict[str, Any]) -> str | None:
    """Return why the connection went, as a change of the page's head tells it."""
    code: str | None = head["set"].get("connection", {}).get("code")
    return code


@pytest.mark.requirement("kill.codex", "kill.runnerd")
@pytest.mark.parametrize(
    ("words", "code"), [("app-server", "codex_unavailable"), ("cleanroom.runnerd", "runnerd_unavailable")]
)
async def test_a_killed_process_ends_the_turn_by_name_and_the_next_message_resumes_the_thread(
    make_server: Callable[..., Server], words: str, code: str
) -> None:
    server = make_server()
    async with browser(server) as one:
        await one.open()
        await one.turn("Record the status: half of it is done.")
        answer = await streaming_turn(one)
        processes = [pid for pid, line in descendants(server.pid).items() if "rehearsal" not in line]
        os.kill(find(server, words), signal.SIGKILL)
        frames = await one.frames_until(answer.body["cursor"])
        assert frames[-1]["type"] == "error"
        assert frames[-1]["error"]["code"] == code
        assert await gone(processes)

        await one.until(answer.body["cursor"], lambda op: op["op"] == "head" and lost_by(op) == code)
        payload = await one.open(one.session_id)
        assert items(payload, "agent_message")[-1]["body"], "what was streamed is kept"
        assert payload["view"]["connection"]["code"] == code
        _, frames = await one.turn("Read this issue.")
        assert frames[-1]["type"] == "settled"
        payload = await one.open(one.session_id)
        assert len(items(payload, "durable_comment")) == 1
        assert payload["view"]["connection"]["state"] == "connected"


@pytest.mark.requirement("turn.answer-kept")
async def test_an_answer_reaches_the_thread_whenever_codex_is_killed(make_server: Callable[..., Server]) -> None:
    """Codex keeps a message some milliseconds after it has named the turn: the kills fall before, then and after."""
    server = make_server()
    async with browser(server) as one:
        for after_s in (0.0, 0.01, 0.02, 0.03, 0.04, 0.06):
            await one.new_chat()
            await one.turn("Ask me to confirm that we start today")
            card = items(await one.open(one.session_id), "interaction")[-1]
            body = {"sessionId": one.session_id, "interactionId": card["interactionId"], "outcome": "accepted"}
            answer = await one.call("POST", "interaction", {**body, "result": {}})
            assert answer.status == 202, answer.body
            await asyncio.sleep(after_s)  # the moment of the kill is what is varied
            os.kill(find(server, "app-server"), signal.SIGKILL)
            await one.frames_until(answer.body["cursor"])
            _, frames = await one.turn("Read this issue.")
            assert frames[-1]["type"] == "settled"
            assert told_in(server, one.session_id, card["interactionId"]), f"killed {after_s} s after the answer"


def told_in(server: Server, session_id: str, interaction_id: str) -> bool:
    """Say whether Codex's own record of a room's thread holds the board's answer to a card, as a message."""
    kept = [path for path in server.var.rglob("rollout-*.jsonl") if session_id in str(path)]
    records = "".join(path.read_text() for path in kept).replace("\\", "")
    said = f'"schema":"paperclip.semantic-interaction-result.v1","interactionId":"{interaction_id}"'
    return said in records.replace(" ", "")


@pytest.mark.requirement("reconnect.try-again")
async def test_try_again_resumes_the_same_thread_after_a_kill_between_turns(
    make_server: Callable[..., Server],
) -> None:
    server = make_server()
    async with browser(server) as one:
        await one.open()
        _, frames = await one.turn("Record the status: begun.")
        os.kill(find(server, "app-server"), signal.SIGKILL)
        await one.until(frames[-1]["seq"], lambda op: op["op"] == "head" and "connection" in op["set"])
        again = await one.call("POST", "reconnect", {"sessionId": one.session_id})
        assert again.status == 200, again.body
        assert again.body["view"]["connection"]["state"] == "connected"
        _, frames = await one.turn("What did you record?")
        assert frames[-1]["type"] == "settled"
        assert len(items(await one.open(one.session_id), "durable_comment")) == 1


@pytest.mark.requirement("kill.server")
async def test_a_killed_server_keeps_the_room_and_the_next_message_resumes_the_thread(
    make_server: Callable[..., Server],
) -> None:
    server = make_server()
    async with browser(server) as one:
        before = await one.open()
        await one.turn("Record the status: begun.")
        children = list(descendants(server.pid))
        server.kill()
        assert await gone(children), "no orphan after five seconds"
        server.start()
        one.address = server.address
        payload = await one.open(before["sessionId"])
        assert payload["sessionId"] == before["sessionId"]
        assert len(items(payload, "durable_comment")) == 1
        _, frames = await one.turn("What did you record?")
        assert frames[-1]["type"] == "settled"
        assert len(items(await one.open(before["sessionId"]), "durable_comment")) == 1


@pytest.mark.requirement("kill.server-in-turn")
async def test_a_server_killed_in_a_turn_marks_that_turn_as_cut(make_server: Callable[..., Server]) -> None:
    server = make_server()
    async with browser(server) as one:
        await one.open()
        await streaming_turn(one)
        children = list(descendants(server.pid))
        server.kill()
        assert await gone(children)
        server.start()
        one.address = server.address
        payload = await one.open(one.session_id)
        turn = payload["view"]["turns"][-1]
        assert (turn["state"], turn["error"]["code"]) == ("failed", "server_restarted")
        _, frames = await one.turn("Read this issue.")
        assert frames[-1]["type"] == "settled"


@pytest.mark.requirement("stop.frozen")
async def test_a_frozen_codex_cannot_hold_up_stop_or_reset(make_server: Callable[..., Server]) -> None:
    server = make_server()
    async with browser(server) as one:
        await one.open()
        await streaming_turn(one)
        frozen = find(server, "app-server")
        os.kill(frozen, signal.SIGSTOP)
        answer = await one.call("POST", "interrupt", {"sessionId": one.session_id})
        assert answer.status == 202
        async with asyncio.timeout(10):
            reset = await one.call("POST", "reset", {"sessionId": one.session_id})
        assert reset.status == 200
        assert await gone([frozen], 8)
        assert [turn for turn in reset.body["view"]["turns"] if turn["ordinal"] > 0] == []


@pytest.mark.requirement("stop.server")
async def test_a_stopped_server_leaves_no_process_and_exits_cleanly(make_server: Callable[..., Server]) -> None:
    server = make_server()
    async with browser(server) as one:
        await one.open()
        await streaming_turn(one)
        children = list(descendants(server.pid))
        assert await asyncio.to_thread(server.stop) == 0
        assert await gone(children)
