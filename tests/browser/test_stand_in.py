"""The scripted stand-in answers as the product does: the same fields of the same kinds, on each route and in frames."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import pytest

from tests.browser.support.room_server import API, RoomServer
from tests.journeys.support import Server

PATIENCE_S = 30
ROUTES = ("open", "message", "interaction", "interrupt", "reconnect", "reset", "new_chat", "unknown")
FREE = frozenset({"turns"})  # of a view: what happened in the room


def shape(value: Any, *, name: str = "") -> Any:
    """Return what kind of thing a value is, name by name. Lists count as lists: how much is in one depends."""
    if isinstance(value, dict):
        return {key: shape(inner, name=key) for key, inner in value.items() if not (name == "view" and key in FREE)}
    return type(value).__name__ if value is not None else None


async def conversation(origin: str, *, asked: Any) -> dict[str, Any]:
    """Drive each route once as the page does; return the status and the answer of each, and the frames seen."""
    seen: dict[str, Any] = {}
    headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Origin": origin}
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar, headers=headers) as http, asyncio.timeout(PATIENCE_S):

        async def post(name: str, route: str, **body: Any) -> Any:
            async with http.post(f"{origin}{API}{route}", json=body) as answer:
                seen[name] = (answer.status, await answer.json())
                return seen[name][1]

        async with http.get(f"{origin}{API}cleanroom/session") as answer:
            seen["open"] = (answer.status, await answer.json())
        room = seen["open"][1]["sessionId"]
        address = f"{origin}{API}stream?sessionId={room}&after={seen['open'][1]['cursor']}"
        socket = await http.ws_connect(address, headers={"Sec-Fetch-Mode": "websocket", "Sec-Fetch-Dest": "websocket"})
        frames: list[dict[str, Any]] = []

        async def until(kind: str) -> None:
            while not frames or frames[-1]["type"] != kind:
                frames.append(await socket.receive_json())

        await post(
            "message",
            "message",
            sessionId=room,
            message="Request an approval for a budget of 250 EUR",
            clientMessageId="a-1",
        )
        await asked(1)
        await until("settled")
        cards = [op["item"] for frame in frames for op in frame["ops"] if op["op"] == "item"]
        card = next(item["interactionId"] for item in reversed(cards) if item.get("interactionId"))
        await post(
            "interaction", "interaction", sessionId=room, interactionId=card, outcome="approved", result={"note": "Yes"}
        )
        await asked(2)
        frames.append(await socket.receive_json())
        await until("settled")
        await post("message", "message", sessionId=room, message="Count slowly to 400", clientMessageId="a-2")
        await post("interrupt", "interrupt", sessionId=room)
        await asked(3)
        frames.append(await socket.receive_json())
        await until("settled")
        await post("reconnect", "reconnect", sessionId=room)
        reset = await post("reset", "reset", sessionId=room)
        await until("closed")
        await post("new_chat", "cleanroom/session", sessionId=reset["sessionId"])
        await post("unknown", "message", sessionId=room, message="Hello", clientMessageId="a-3")
        seen["frames"] = {json.dumps(shape(frame) | {"type": frame["type"]}, sort_keys=True) for frame in frames}
        await socket.close()
    return seen


@pytest.mark.requirement("page.stand-in")
def test_the_stand_in_answers_with_the_fields_of_the_product(product: Server, server: RoomServer) -> None:
    async def nothing(ordinal: int) -> None:
        """The product's own agent does what it is asked."""

    async def script(ordinal: int) -> None:
        await asyncio.to_thread(play, ordinal)

    def play(ordinal: int) -> None:
        if ordinal == 1:
            server.room.item(1, "card", "approval", interactionId="approval-0001", state="pending", title="Spend")
        stopped = {"state": "interrupted", "stoppedByUser": True} if ordinal == 3 else {}
        server.room.settle(ordinal, **stopped)

    with ThreadPoolExecutor(1) as apart:  # this thread may have Playwright's loop
        ours = apart.submit(asyncio.run, conversation(product.address, asked=nothing)).result()
        theirs = apart.submit(asyncio.run, conversation(server.origin, asked=script)).result()
    for route in ROUTES:
        assert (route, theirs[route][0], shape(theirs[route][1])) == (route, ours[route][0], shape(ours[route][1]))
    assert theirs["frames"] == ours["frames"]
