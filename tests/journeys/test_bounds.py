"""Bounds, refusals and the shapes of bad requests, through real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.support import Browser, Server, browser

pytestmark = [pytest.mark.codex]
POST_ROUTES = ("cleanroom/session", "message", "interrupt", "reconnect", "reset", "interaction")
BODIES = Path(__file__).parent / "data" / "json-bodies.jsonl"


def body_cases() -> list[Any]:
    rows = [json.loads(line) for line in BODIES.read_text().splitlines()]
    return [pytest.param(row, id=row["id"]) for row in rows]


def bytes_of(row: dict[str, Any]) -> bytes:
    if "text" in row:
        return str(row["text"]).encode()
    parts = row["raw_repeat"]
    return b"".join(parts[n].encode() * parts[n + 1] for n in range(0, len(parts), 2))


@pytest.mark.requirement("api.bodies")
@pytest.mark.parametrize("row", body_cases())
async def test_a_hostile_body_is_refused_by_name_and_changes_nothing(ada: Browser, row: dict[str, Any]) -> None:
    answer = await ada.call("POST", "message", bytes_of(row))
    assert answer.status in row["expect_status"]
    assert answer.code
    assert (await ada.open(ada.session_id))["turns"] == 0


@pytest.mark.requirement("api.methods")
@pytest.mark.parametrize("route", POST_ROUTES)
async def test_every_route_enforces_its_method_and_its_content_type(ada: Browser, route: str) -> None:
    answer = await ada.call("DELETE", route)
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    if route != "cleanroom/session":
        assert (await ada.call("GET", route)).status == 405
    plain = await ada.call("POST", route, b"{}", headers={"Content-Type": "text/plain"})
    assert (plain.status, plain.code) == (415, "unsupported_media_type")


@pytest.mark.requirement("api.methods")
@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH"])
async def test_no_other_method_opens_a_room_or_describes_one(ada: Browser, method: str) -> None:
    answer = await ada.call(method, "cleanroom/session")
    assert answer.status == 405
    assert "set-cookie" not in {name.lower() for name in answer.headers}


async def test_an_unknown_address_below_the_prefix_is_an_unknown_route(ada: Browser) -> None:
    answer = await ada.call("GET", "nowhere")
    assert (answer.status, answer.code) == (404, "unknown_route")


@pytest.mark.requirement("api.admission")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "attacker.example"}, 421),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Mode": "navigate"}, 403),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_opening_a_room_is_refused_from_elsewhere_also_on_get(
    ada: Browser, headers: dict[str, str], status: int
) -> None:
    answer = await ada.call("GET", "cleanroom/session", headers=headers)
    assert answer.status == status
    assert answer.code


async def test_a_browser_that_omits_fetch_metadata_is_still_served(ada: Browser) -> None:
    async with ada.http.get(f"{ada.address}/api/capability/ui/cleanroom/session?sessionId={ada.session_id}") as answer:
        assert answer.status == 200


@pytest.mark.requirement("message.size")
async def test_a_message_of_8192_bytes_is_admitted_and_one_of_8193_is_not(ada: Browser) -> None:
    refused = await ada.send("é" * 4096 + "a")
    assert (refused.status, refused.code) == (413, "message_too_large")
    answer, frames = await ada.turn("é" * 4096)
    assert answer.status == 202
    assert frames[-1]["type"] == "settled"


@pytest.mark.requirement("message.once")
async def test_a_message_sent_again_under_its_name_has_one_turn_and_one_answer(ada: Browser) -> None:
    body = {"sessionId": ada.session_id, "message": "hello", "clientMessageId": "a-1"}
    answers = [await ada.call("POST", "message", body) for _ in range(2)]
    assert [answer.status for answer in answers] == [202, 202]
    assert answers[0].body == answers[1].body
    assert (await ada.open(ada.session_id))["turns"] == 1


@pytest.mark.requirement("message.once")
@pytest.mark.parametrize("name", ["", "a" * 65, "a b", "é", "a_1", "a\n", 7, ["a"]])
async def test_a_name_of_another_shape_is_refused_and_changes_nothing(ada: Browser, name: Any) -> None:
    answer = await ada.call(
        "POST", "message", {"sessionId": ada.session_id, "message": "hello", "clientMessageId": name}
    )
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert (await ada.open(ada.session_id))["turns"] == 0


@pytest.mark.requirement("room.limit")
async def test_the_fifth_room_makes_the_oldest_yield(make_server: Callable[..., Server]) -> None:
    server = make_server()
    async with browser(server) as first, browser(server) as second:
        await first.open()
        ids = [(await second.open())["sessionId"] for _ in range(3)]
        assert (await first.open(first.session_id))["sessionId"] == first.session_id
        oldest = first.session_id
        await second.open()
        gone = await first.call("POST", "message", {"sessionId": oldest, "message": "hello"})
        assert (gone.status, gone.code) == (404, "unknown_session")
        assert (await second.open(ids[0]))["sessionId"] == ids[0]
        assert len(list((server.var / "runs").iterdir())) == 4


@pytest.mark.requirement("turn.limit")
async def test_the_turn_after_the_last_is_refused_and_points_at_new_chat(make_server: Callable[..., Server]) -> None:
    server = make_server(environment={"CLEANROOM_MAX_TURNS": "2"})
    async with browser(server) as one:
        await one.open()
        await one.turn("hello")
        await one.turn("hello again")
        answer = await one.send("and again")
        assert (answer.status, answer.code) == (429, "turn_limit")
        assert "New chat" in answer.body["message"]
        assert (await one.open(one.session_id))["turns"] == 2


@pytest.mark.requirement("turn.timeout")
async def test_a_turn_that_takes_too_long_is_failed_by_name_and_the_chat_goes_on(
    make_server: Callable[..., Server],
) -> None:
    server = make_server(environment={"CLEANROOM_TURN_TIMEOUT_S": "2"})
    async with browser(server) as one:
        await one.open()
        _, frames = await one.turn("Count slowly to 200")
        assert frames[-1]["type"] == "error"
        assert frames[-1]["error"]["code"] == "turn_timeout"
        _, frames = await one.turn("hello")
        assert frames[-1]["type"] == "settled"


@pytest.mark.requirement("login.required")
async def test_without_a_login_and_a_model_opening_says_so_and_keeps_nothing(
    make_server: Callable[..., Server], tmp_path: Path
) -> None:
    server = make_server(rehearsal=False, environment={"CODEX_HOME": str(tmp_path), "CAPABILITY_MODEL_URL": ""})
    async with browser(server) as one:
        answer = await one.call("GET", "cleanroom/session")
        assert (answer.status, answer.code) == (503, "codex_login_required")
        assert "no login" in answer.body["message"]
        runs = server.var / "runs"
        assert not runs.exists() or not list(runs.iterdir())


async def test_without_a_codex_binary_opening_says_so(make_server: Callable[..., Server]) -> None:
    server = make_server(environment={"CODEX_BIN": "/nowhere/codex"})
    async with browser(server) as one:
        answer = await one.call("GET", "cleanroom/session")
        assert (answer.status, answer.code) == (503, "codex_unavailable")


HOSTILE_IDS = ("\0", "a\0b", "x" * 10_000, "é" * 300, "../../etc", "%00", " ", "' OR 1=1 --")


@pytest.mark.requirement("api.ids")
@pytest.mark.parametrize("name", HOSTILE_IDS, ids=lambda name: repr(name)[:12])
async def test_an_id_that_cannot_be_one_is_refused_by_name_on_every_route(ada: Browser, name: str) -> None:
    fields = {"message": "Hello", "interactionId": "interaction-0001", "outcome": "accepted"}
    needed = {"message": ("message",), "interaction": ("interactionId", "outcome")}
    for route in POST_ROUTES[1:]:
        body = {"sessionId": name} | {field: fields[field] for field in needed.get(route, ())}
        answer = await ada.call("POST", route, body)
        assert (route, answer.status, answer.code) == (route, 404, "unknown_session")
    mine = {"sessionId": ada.session_id}
    answer = await ada.call("POST", "interaction", {**mine, "interactionId": name, "outcome": "accepted"})
    assert (answer.status, answer.code) == (404, "interaction_missing")
    answer = await ada.call("POST", "interaction", {**mine, "interactionId": "interaction-0001", "outcome": name})
    assert (answer.status, answer.code) == (404, "interaction_missing")
    answer = await ada.call("POST", "message", {**mine, "message": "Hello", "clientMessageId": name})
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert (await ada.open(ada.session_id))["turns"] == 0


@pytest.mark.requirement("api.ids")
@pytest.mark.parametrize("name", HOSTILE_IDS, ids=lambda name: repr(name)[:12])
async def test_an_id_that_cannot_be_one_is_absent_on_the_two_open_routes(ada: Browser, name: str) -> None:
    before = ada.session_id
    opened = await ada.open(name if len(name) < 1_000 else name[:1_000])
    assert opened["sessionId"] != before
    answer = await ada.call("POST", "cleanroom/session", {"sessionId": name})
    assert answer.status == 201
    assert answer.body["sessionId"] not in {before, opened["sessionId"]}


@pytest.mark.requirement("api.bodies")
@pytest.mark.parametrize("charset", ["base64", "hex", "rot13", "no-such-thing", "utf-16", '"', "utf-8; charset=zlib"])
async def test_a_content_type_with_a_strange_charset_is_read_as_json_or_refused(ada: Browser, charset: str) -> None:
    strange = {"Content-Type": f"application/json; charset={charset}"}
    body = json.dumps({"sessionId": ada.session_id, "message": ""}).encode()
    answer = await ada.call("POST", "message", body, headers=strange)
    assert (answer.status, answer.code) in {(400, "message_empty"), (415, "unsupported_media_type")}
    answer = await ada.call("GET", f"cleanroom/session?sessionId={ada.session_id}", headers=strange)
    assert (answer.status, answer.body["sessionId"]) == (200, ada.session_id)
