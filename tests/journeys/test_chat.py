"""The main job through real HTTP, WebSocket, runnerd and Codex, with the rehearsal model behind it."""

from __future__ import annotations

import json

import pytest

from tests.journeys.support import Browser, items

pytestmark = [pytest.mark.codex]
READ_AND_RECORD = "Read this issue, then record a one-sentence status on it."
SESSION_ROUTES = {
    "message": {"message": "hello"},
    "interrupt": {},
    "reconnect": {},
    "reset": {},
    "interaction": {"interactionId": "interaction-0001", "outcome": "answered", "result": None},
}


@pytest.mark.requirement("open.blank")
async def test_a_fresh_room_is_blank_and_its_issue_is_in_progress(ada: Browser) -> None:
    view = ada.payload["view"]
    assert [turn for turn in view["turns"] if turn["ordinal"] > 0] == []
    assert view["mode"] == "live"
    assert view["issue"]["status"] == "in_progress"
    assert view["issue"]["identifier"] == ada.payload["identity"]["identifier"]
    assert view["issue"]["identifier"].startswith("MCK-")
    assert view["composer"]["state"] == "ready"
    assert view["identity"]["agentLabel"] == "Real Codex"
    assert view["identity"]["runnerLabel"] == "Real runnerd"
    assert view["identity"]["controlPlaneLabel"] == "Mock Paperclip"
    assert view["identity"]["modelLabel"] == "Rehearsal model (rules, not a language model)"


@pytest.mark.requirement("chat.whole-way", "stream.equals-snapshot")
async def test_a_message_becomes_streamed_prose_two_tool_strips_and_one_durable_comment(ada: Browser) -> None:
    answer, frames = await ada.turn(READ_AND_RECORD)
    assert answer.body["turn"] == {"id": "turn-1", "ordinal": 1}
    assert frames[-1]["type"] == "settled"
    texts = [op for frame in frames for op in frame["ops"] if op["op"] == "text"]
    assert len(texts) >= 2

    payload = await ada.open(ada.session_id)
    strips = items(payload, "tool_activity")
    assert [strip["operationId"] for strip in strips] == ["get_task_context", "report_progress"]
    assert {strip["status"] for strip in strips} == {"ok"}
    assert len(items(payload, "durable_comment")) == 1
    prose = items(payload, "agent_message")[-1]["body"]
    assert prose.endswith("".join(op["text"] for op in texts if op["id"] == texts[-1]["id"]))
    assert payload["identity"]["identifier"] in json.dumps(items(payload, "agent_message"))
    assert payload["view"]["composer"]["state"] == "ready"
    assert payload["cursor"] == frames[-1]["seq"]


@pytest.mark.requirement("chat.second-turn")
async def test_a_second_message_goes_on_the_same_thread(ada: Browser) -> None:
    await ada.turn("Record the status: the first half is done.")
    answer, frames = await ada.turn(READ_AND_RECORD)
    assert answer.body["turn"]["ordinal"] == 2
    assert frames[-1]["type"] == "settled"
    payload = await ada.open(ada.session_id)
    assert payload["turns"] == 2
    assert len(items(payload, "durable_comment")) == 2


@pytest.mark.requirement("open.refresh")
async def test_a_refresh_returns_to_the_same_room_and_costs_nothing(ada: Browser) -> None:
    first = ada.payload
    again = await ada.open(ada.session_id)
    assert again == first


@pytest.mark.requirement("retire.404", "new-chat.rotates")
async def test_new_chat_rotates_every_identity_and_the_old_id_is_gone_everywhere(ada: Browser) -> None:
    old = ada.payload
    old_cookies = {cookie.key: cookie.value for cookie in ada.http.cookie_jar}
    new = await ada.new_chat()
    for name in ("token", "companyId", "actorId", "taskId"):
        assert new["identity"][name] != old["identity"][name]
    assert {cookie.key: cookie.value for cookie in ada.http.cookie_jar} != old_cookies

    for cookies in (None, old_cookies):
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in cookies.items())} if cookies else None
        for route, body in SESSION_ROUTES.items():
            answer = await ada.call("POST", route, {"sessionId": old["sessionId"], **body}, headers=headers)
            assert (answer.status, answer.code) == (404, "unknown_session"), route
    assert await ada.socket_refused(old["sessionId"])

    fresh = await ada.open(old["sessionId"])
    assert fresh["sessionId"] not in {old["sessionId"]}
    assert [turn for turn in fresh["view"]["turns"] if turn["ordinal"] > 0] == []


@pytest.mark.requirement("access.stranger")
async def test_a_stranger_gets_404_for_a_living_room_on_every_route(ada: Browser, cleo: Browser) -> None:
    await cleo.open()
    theirs = cleo.payload["sessionId"]
    for route, body in SESSION_ROUTES.items():
        answer = await cleo.call("POST", route, {"sessionId": ada.session_id, **body})
        assert (answer.status, answer.code) == (404, "unknown_session"), route
    for method, route, body in (
        ("GET", f"cleanroom/session?sessionId={ada.session_id}", None),
        ("POST", "cleanroom/session", {"sessionId": ada.session_id}),
    ):
        answer = await cleo.call(method, route, body)
        assert (answer.status, answer.code) == (404, "unknown_session")
    assert (await cleo.open(theirs))["sessionId"] == theirs


@pytest.mark.requirement("access.cookie")
async def test_the_cookie_is_httponly_strict_and_lives_thirty_days(ada: Browser) -> None:
    answer = await ada.call("GET", f"cleanroom/session?sessionId={ada.session_id}")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"paperclip_capability_chat_{ada.address.rpartition(':')[2]}=")
    for attribute in ("HttpOnly", "SameSite=Strict", "Max-Age=2592000", "Path=/"):
        assert attribute in cookie


@pytest.mark.requirement("turn.active")
async def test_a_message_during_a_turn_is_refused_and_counts_for_nothing(ada: Browser) -> None:
    first = await ada.send("Count slowly to 40")
    second = await ada.send("And this?")
    assert (second.status, second.code) == (409, "turn_active")
    answer = await ada.call("POST", "interrupt", {"sessionId": ada.session_id})
    assert answer.status == 202
    frames = await ada.frames_until(first.body["cursor"])
    assert frames[-1]["type"] == "settled"
    payload = await ada.open(ada.session_id)
    assert payload["turns"] == 1
    turn = payload["view"]["turns"][-1]
    assert (turn["state"], turn["stoppedByUser"]) == ("interrupted", True)
    late = await ada.call("POST", "interrupt", {"sessionId": ada.session_id})
    assert (late.status, late.code) == (409, "already_terminal")


@pytest.mark.requirement("approval.board-decides")
async def test_an_approval_is_asked_for_on_a_card_decided_by_the_board_and_handed_back(ada: Browser) -> None:
    await ada.turn("Request an approval to spend 100 dollars on hosting.")
    payload = await ada.open(ada.session_id)
    card = items(payload, "interaction")[-1]
    assert (card["interactionKind"], card["state"]) == ("approval", "pending")
    assert payload["view"]["composer"]["state"] == "waiting"
    assert payload["view"]["issue"]["status"] == "in_review"

    body = {"sessionId": ada.session_id, "interactionId": card["interactionId"], "outcome": "approved"}
    answer = await ada.call("POST", "interaction", {**body, "result": {"note": "Within budget."}})
    assert answer.status == 202, answer.body
    frames = await ada.frames_until(answer.body["cursor"])
    assert frames[-1]["type"] == "settled"
    payload = await ada.open(ada.session_id)
    card = items(payload, "interaction")[-1]
    assert (card["state"], card["reason"]) == ("approved", "Within budget.")
    assert payload["view"]["issue"]["status"] == "in_progress"
    assert payload["turns"] == 1, "an answer is no message"
    assert len(items(payload, "user_message")) == 1, "the answer handed to the agent is hidden"

    again = await ada.call("POST", "interaction", {**body, "result": {"note": ""}})
    assert (again.status, again.code) == (409, "approval_already_decided")


@pytest.mark.requirement("interaction.resumes")
async def test_a_question_waits_for_the_board_and_its_answer_resumes_the_thread(ada: Browser) -> None:
    await ada.turn("Ask me a question about which colour to use.")
    payload = await ada.open(ada.session_id)
    card = items(payload, "interaction")[-1]
    assert card["state"] == "pending"
    body = {"sessionId": ada.session_id, "interactionId": card["interactionId"], "outcome": "nonsense", "result": None}
    refused = await ada.call("POST", "interaction", body)
    assert refused.status in {400, 409}
    assert (await ada.open(ada.session_id))["cursor"] == payload["cursor"], "a refusal moves nothing"
    outcome = "accepted" if card["interactionKind"] in {"confirmation", "checkbox", "suggest_tasks"} else "answered"
    answer = await ada.call("POST", "interaction", {**body, "outcome": outcome, "result": {"answers": {"q1": "blue"}}})
    assert answer.status == 202, answer.body
    await ada.frames_until(answer.body["cursor"])
    assert items(await ada.open(ada.session_id), "interaction")[-1]["state"] == outcome


@pytest.mark.requirement("denial.reachable")
@pytest.mark.parametrize(
    ("words", "operation", "code"),
    [
        ("Decide the approval yourself.", "decide_approval", "actor_role_denied"),
        ("Restart the workspace service.", "control_workspace_service", "required_claim_missing"),
        ("Call the generic API.", "generic_api_request", "task_mode_denied"),
    ],
)
async def test_a_withheld_tool_is_denied_by_name_and_moves_nothing(
    ada: Browser, words: str, operation: str, code: str
) -> None:
    before = await ada.open(ada.session_id)
    _, frames = await ada.turn(words)
    assert frames[-1]["type"] == "settled"
    payload = await ada.open(ada.session_id)
    denial = items(payload, "denial")[-1]
    assert (denial["operationId"], denial["code"]) == (operation, code)
    assert code in items(payload, "agent_message")[-1]["body"], "the agent was told in the same turn"
    assert payload["view"]["issue"] == before["view"]["issue"]
    rows = payload["view"]["evidence"]["authorization"]
    assert any(row.get("operationId") == operation and not row.get("allowed", False) for row in rows)


@pytest.mark.requirement("guard.row")
async def test_the_network_guard_row_is_measured_and_clean(ada: Browser) -> None:
    rows = ada.payload["view"]["evidence"]["controlPlane"]
    row = next(one for one in rows if one["id"] == f"network-guard-{ada.session_id}")
    assert row["outcome"] == "no_real_paperclip_request"
    assert row["reason"] == "Real Paperclip API requests: 0. Child PAPERCLIP_* environment keys: none."


@pytest.mark.requirement("finish.keeps-talking")
async def test_after_finishing_the_agent_still_talks_and_reads_but_may_not_write(ada: Browser) -> None:
    await ada.turn("Finish the task.")
    payload = await ada.open(ada.session_id)
    assert payload["view"]["issue"]["status"] == "done"
    assert payload["view"]["composer"]["state"] == "ready"
    await ada.turn(READ_AND_RECORD)
    payload = await ada.open(ada.session_id)
    assert items(payload, "denial")[-1]["code"] == "task_state_denied"
    assert items(payload, "tool_activity")[-1]["operationId"] == "get_task_context"


async def test_a_shell_command_runs_in_the_workspace_and_leaves_a_row(ada: Browser) -> None:
    await ada.turn("Run the shell command `echo hello from the workspace`")
    rows = [row for row in items(await ada.open(ada.session_id), "progress_activity") if row["activity"] == "command"]
    assert rows
    assert "echo hello" in rows[-1]["summary"] + json.dumps(rows[-1].get("details") or {})
