"""The whole product in a real browser: real Codex under real runnerd, the rehearsal model, real rows and sockets."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW, WIDE, OpenPage
from tests.browser.support.axe import axe_findings
from tests.browser.support.thread_page import ThreadPage
from tests.journeys.support import Server, descendants

pytestmark = [pytest.mark.browser, pytest.mark.codex]
TURN_MS = 30_000  # a real turn on a busy machine
ASK_EVERY_ROUTE = """
async (sessionId) => {
  const post = async (path, body) => {
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch('/api/capability/ui/' + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return [path, answer.status, (await answer.json()).error]
  }
  return [
    await post('message', { sessionId, message: 'hello' }),
    await post('interrupt', { sessionId }),
    await post('reconnect', { sessionId }),
    await post('reset', { sessionId }),
    await post('interaction', { sessionId, interactionId: 'x', outcome: 'accepted', result: null }),
  ]
}
"""
ASK_SOCKET = """
(sessionId) => new Promise((resolve) => {
  const socket = new WebSocket(`ws://${location.host}/api/capability/ui/stream?sessionId=${sessionId}&after=0`)
  const heard = []
  socket.onmessage = ({ data }) => heard.push(JSON.parse(data).type)
  socket.onclose = ({ code }) => resolve([code, heard])
})
"""
OPEN_AGAIN = """
async (sessionId) => {
  const answer = await fetch('/api/capability/ui/cleanroom/session?sessionId=' + sessionId)
  return [answer.status, (await answer.json()).sessionId]
}
"""


@pytest.fixture
def start_product() -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(**options: Any) -> Server:
        made.append(Server(**options))
        return made[-1].start()

    yield start
    for server in made:
        server.remove()


def enter(open_page: OpenPage, server: Server, **options: Any) -> ThreadPage:
    chat = ThreadPage(open_page(server.address, **options))
    expect(chat.composer).to_have_attribute("data-composer-state", "ready", timeout=TURN_MS)
    return chat


def is_settled(chat: ThreadPage, turns: int) -> None:
    ended = chat.page.locator("[data-turn-state=completed], [data-turn-state=interrupted], [data-turn-state=failed]")
    expect(ended.filter(has=chat.page.get_by_role("heading"))).to_have_count(turns, timeout=TURN_MS)


@pytest.mark.requirement("journey.browser")
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_person_opens_asks_refreshes_and_starts_anew(
    product: Server, open_page: OpenPage, size: dict[str, int]
) -> None:
    chat = enter(open_page, product, size=size)
    page = chat.page
    for words in ("Real Codex", "Real runnerd", "Mock Paperclip", "Rehearsal model (rules, not a language model)"):
        expect(page.get_by_role("banner")).to_contain_text(words)
    expect(page.get_by_test_id("issue-status")).to_have_text("In progress")
    assert axe_findings(page) == []

    page.get_by_role("button", name="Read this issue, then record").click()
    chat.field.press("Enter")
    expect(chat.rail).to_be_visible()
    is_settled(chat, 1)
    expect(chat.prose.last).to_contain_text("MCK-")
    strips = page.locator("[data-kind=tool_activity][data-status=ok]")
    expect(strips).to_have_count(2)
    assert [strip.get_attribute("data-operation") for strip in strips.all()] == ["get_task_context", "report_progress"]
    comment = page.locator("[data-kind=durable_comment]")
    expect(comment).to_have_count(1)
    expect(comment).to_contain_text("Recorded to mock thread")
    expect(chat.turns).to_contain_text(re.compile(r"Turn 1.*2 tools", re.DOTALL))
    assert axe_findings(page) == []

    said, old_room = chat.prose.all_inner_texts(), chat.remembered_room()
    chip = page.get_by_test_id("room-chip").inner_text()
    page.reload()
    chat.ready()
    expect(page.get_by_test_id("room-chip")).to_have_text(chip)
    expect(comment).to_have_count(1)
    assert chat.prose.all_inner_texts() == said
    assert chat.remembered_room() == old_room

    chat.button("New chat").click()
    expect(page.get_by_test_id("room-chip")).not_to_have_text(chip, timeout=TURN_MS)
    expect(chat.people).to_have_count(0)
    routes = page.evaluate(ASK_EVERY_ROUTE, old_room)
    assert [(status, code) for _, status, code in routes] == [(404, "unknown_session")] * 5, routes
    code, heard = page.evaluate(ASK_SOCKET, old_room)
    assert (code, set(heard) - {"closed"}) == (4404, set())
    status, fresh = page.evaluate(OPEN_AGAIN, old_room)
    assert status == 200
    assert fresh not in {old_room, chat.remembered_room()}


@pytest.mark.requirement("journey.cards")
def test_a_person_answers_a_question_and_decides_an_approval(product: Server, open_page: OpenPage) -> None:
    chat = enter(open_page, product)
    chat.send("Ask me a question before you begin")
    card = chat.cards.first
    expect(card).to_have_attribute("data-state", "pending", timeout=TURN_MS)
    is_settled(chat, 1)
    card.get_by_label("Wait for my next message").check()
    card.get_by_role("textbox").fill("Begin with the plan.")
    card.get_by_role("button", name="Submit answers").click()
    expect(card).to_have_attribute("data-state", "answered", timeout=TURN_MS)
    is_settled(chat, 2)
    expect(card).to_contain_text("Begin with the plan.")
    expect(chat.turns.last).to_contain_text("Turn 2 · after your answer")

    chat.send("Request an approval for a budget of 250 EUR")
    approval = chat.page.locator("[data-card=approval]")
    expect(approval).to_have_attribute("data-state", "pending", timeout=TURN_MS)
    is_settled(chat, 3)
    expect(chat.page.get_by_test_id("issue-status")).to_have_text("In review")
    approval.get_by_label("Note").fill("Spend it well.")
    approval.get_by_role("button", name="Approve").click()
    expect(approval).to_have_attribute("data-state", "approved", timeout=TURN_MS)
    expect(approval).to_contain_text("Spend it well.")
    is_settled(chat, 4)
    expect(chat.page.get_by_test_id("issue-status")).to_have_text("In progress")
    chat.is_in("ready")


@pytest.mark.requirement("journey.denial")
def test_a_withheld_tool_is_denied_in_sight(product: Server, open_page: OpenPage) -> None:
    chat = enter(open_page, product)
    chat.send("Restart the workspace service")
    denial = chat.page.locator("[data-kind=denial]")
    expect(denial).to_contain_text("control_workspace_service", timeout=TURN_MS)
    expect(denial).to_contain_text("required_claim_missing")
    is_settled(chat, 1)


@pytest.mark.requirement("journey.stop")
def test_a_person_stops_a_long_answer_and_goes_on(product: Server, open_page: OpenPage) -> None:
    chat = enter(open_page, product)
    chat.send("Count slowly to 400")
    expect(chat.prose).to_contain_text("1", timeout=TURN_MS)
    chat.stop_button.click()
    is_settled(chat, 1)
    expect(chat.turns).to_contain_text("stopped by you")
    chat.send("Read this issue")
    is_settled(chat, 2)
    expect(chat.prose.last).to_contain_text("MCK-")


@pytest.mark.requirement("journey.cookie-lost")
@pytest.mark.parametrize("way", ["a refresh", "New chat", "Reset"])
def test_who_has_lost_the_cookie_gets_a_fresh_room(product: Server, open_page: OpenPage, way: str) -> None:
    chat = enter(open_page, product)
    old, chip = chat.remembered_room(), chat.page.get_by_test_id("room-chip").inner_text()
    chat.page.context.clear_cookies()
    if way == "a refresh":
        chat.page.reload()
    elif way == "New chat":
        chat.button("New chat").click()
    else:
        chat.button("Reset").click()
        chat.page.get_by_test_id("reset-confirm").click()
    expect(chat.page.get_by_test_id("room-chip")).not_to_have_text(chip, timeout=TURN_MS)
    chat.is_in("ready")
    assert chat.remembered_room() != old
    chat.send("Read this issue")
    is_settled(chat, 1)


@pytest.mark.requirement("journey.killed")
@pytest.mark.parametrize(
    ("words", "code"), [("app-server", "codex_unavailable"), ("cleanroom.runnerd", "runnerd_unavailable")]
)
def test_when_a_process_is_killed_the_page_says_so_and_try_again_goes_on(
    start_product: Callable[..., Server], open_page: OpenPage, words: str, code: str
) -> None:
    server = start_product()
    chat = enter(open_page, server)
    chat.send("Record the status: begun.")
    is_settled(chat, 1)
    chat.send("Count slowly to 400")
    expect(chat.prose.last).to_contain_text("1", timeout=TURN_MS)
    named = [pid for pid, line in descendants(server.pid).items() if words in line]  # runnerd names its child too
    os.kill(named[-1], signal.SIGKILL)

    banner = chat.page.get_by_test_id("reconnect-banner")
    expect(banner).to_contain_text(code, timeout=TURN_MS)
    expect(chat.page.get_by_test_id("turn-error")).to_contain_text(code)
    expect(chat.field).to_have_value("Count slowly to 400")
    expect(chat.rail).to_be_hidden()
    banner.get_by_role("button", name="Try again").click()
    expect(chat.composer).to_have_attribute("data-composer-state", "ready", timeout=TURN_MS)
    expect(banner).to_be_hidden()
    expect(chat.field).to_have_value("Count slowly to 400")
    chat.send("Read this issue")
    is_settled(chat, 3)
    expect(chat.page.locator("[data-kind=durable_comment]")).to_have_count(1)


@pytest.mark.requirement("journey.no-login")
def test_without_a_login_the_page_names_the_cause_and_draws_nothing_else(
    start_product: Callable[..., Server], open_page: OpenPage, tmp_path: Path
) -> None:
    server = start_product(rehearsal=False, environment={"CODEX_HOME": str(tmp_path), "CAPABILITY_MODEL_URL": ""})
    page = open_page(server.address)
    error = page.get_by_test_id("surface-error")
    expect(error).to_contain_text("Codex is not logged in", timeout=TURN_MS)
    expect(error).to_contain_text("codex_login_required")
    expect(error.get_by_text("node_modules/.bin/codex login", exact=True)).to_have_count(1)
    expect(error).to_contain_text("make demo")
    expect(error).not_to_contain_text("`")
    log = server.log.read_text()
    assert "codex_login_required: Codex has no login" in log
    assert "Service Unavailable" not in log
    expect(page.get_by_role("button")).to_have_text(["Try again"])
    expect(ThreadPage(page).composer).to_have_count(0)
    page.get_by_test_id("surface-error-retry").click()
    expect(error).to_contain_text("Codex is not logged in", timeout=TURN_MS)
