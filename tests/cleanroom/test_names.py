"""Neutral names: neither the provider's ids nor the machine's directories are told, however the text arrives."""

from __future__ import annotations

from typing import Any

import pytest

from cleanroom.codex import wire
from cleanroom.codex.items import OpenItems
from cleanroom.codex.names import MIN_ID_CHARS, NO_NAMES, PROJECT, names_of
from cleanroom.codex.translate import translate
from cleanroom.harness import ToolAnswer, ToolCall
from tests.cleanroom.support.model import Call, say
from tests.cleanroom.support.session import approve
from tests.cleanroom.test_driver_codex import room, shell

THREAD, TURN = "019a7c3e-thread-of-the-provider", "019a7c3e-turn-of-the-provider"
WORKSPACE = "/srv/state/runs/7/workspace"
NAMES = names_of(workspace=WORKSPACE, thread_id=THREAD, turn_id=TURN)
SAID = f"I am {THREAD} in {TURN}, at {WORKSPACE}/a and {WORKSPACE}, home /srv/state/runs/7/home, code {PROJECT}/x."
TOLD = "I am this-thread in this-turn, at /workspace/a and /workspace, home /room/home, code /server/x."


def translated(method: str, **params: Any) -> list[Any]:
    notification = wire.Notification(method=method, params={"threadId": THREAD, "turnId": TURN} | params)
    return translate(notification, workspace=WORKSPACE)


def test_every_kind_of_text_of_an_item_gets_neutral_names() -> None:
    (message,) = translated("item/completed", item={"id": "i1", "type": "agentMessage", "text": SAID})
    (command,) = translated("item/started", item={"id": "i1", "type": "commandExecution", "command": SAID})
    (tool,) = translated("item/started", item={"id": "i1", "type": "mcpToolCall", "tool": THREAD})
    (plan,) = translated("turn/plan/updated", plan=[{"step": SAID}])
    assert (message.payload["text"], command.payload["command"]) == (TOLD, TOLD)
    assert (plan.payload["steps"][0]["step"], tool.payload["label"]) == (TOLD, "this-thread")
    assert (message.turn_id, plan.item_id) == (TURN, f"plan:{TURN}")  # the host maps these to names of ours


@pytest.mark.parametrize("size", [1, 2, 7, 19, 1000])
def test_a_name_that_is_streamed_in_pieces_is_never_told(size: int) -> None:
    items, told = OpenItems(), ""
    for start in range(0, len(SAID), size):
        for draft in translated("item/agentMessage/delta", itemId="i1", delta=SAID[start : start + size]):
            told += "".join(seen.payload["text"] for seen in items.see(draft) if seen.type == "item.delta")
    assert TOLD.startswith(told)
    assert len(told) > len(TOLD) - 10
    (closed,) = items.close_turn(turn_id=TURN, status="interrupted")
    assert closed.payload["text"] == TOLD


def test_arguments_of_any_shape_get_neutral_names() -> None:
    given = {WORKSPACE: [THREAD, {"a": f"see {WORKSPACE}/b"}], "n": 7, "none": None}
    assert NAMES.hide_in(given) == {"/workspace": ["this-thread", {"a": "see /workspace/b"}], "n": 7, "none": None}


@pytest.mark.parametrize(
    "text",
    [f"x{WORKSPACE}/a", f"{WORKSPACE}-2/b", "/srv/state/runs/70", "https://host/srv/state/runs/7.x", "workspace", ""],
)
def test_what_is_no_name_stays_as_it_is(text: str) -> None:
    kept = NAMES.hide(text)
    assert kept == text or kept.startswith("/room/workspace-2")  # a neighbour lies in the room, which has a name


@pytest.mark.parametrize(("length", "hidden"), [(MIN_ID_CHARS - 1, False), (MIN_ID_CHARS, True)])
def test_an_id_as_short_as_a_word_is_taken_for_a_word(length: int, hidden: bool) -> None:
    names = names_of(workspace=WORKSPACE, thread_id="t" * length)
    assert (names.hide(f"a {'t' * length} b") == "a this-thread b") is hidden


def test_a_room_right_below_the_root_names_no_directory_that_stands_in_other_paths() -> None:
    assert names_of(workspace="/app/workspace").hide("/app/x of /app/workspace/y") == "/app/x of /workspace/y"
    assert NO_NAMES.split("/anything") == ("/anything", "")


@pytest.mark.codex
async def test_what_a_command_prints_about_its_place_reaches_neither_events_nor_tools_under_its_own_name() -> None:
    calls: list[ToolCall] = []

    async def handler(call: ToolCall) -> ToolAnswer:
        calls.append(call)
        return await approve(call)

    async with room(handler=handler) as r:
        await r.turn("where are you?", [shell("env; pwd")], [say("ok")])
        output = next(item["output"] for item in r.told() if item["type"] == "function_call_output")
        thread = r.session.ids().driver_session_id
        assert str(r.request.workspace) in output  # Codex tells the model its directory, and its tools take it
        assert thread not in output
        pieces = [output[start : start + 5] for start in range(0, len(output), 5)]
        ask = Call("get_task", {"body": f"{thread} in {r.request.workspace}"})
        await r.turn("say it", [ask], [say(*pieces, thread)])
        everything = repr([event.payload for event in r.watcher.events])
        assert "HOME=/workspace" in everything
        assert str(r.directory) not in everything
        assert thread not in everything
        assert calls[0].arguments == {"body": "this-thread in /workspace"}
