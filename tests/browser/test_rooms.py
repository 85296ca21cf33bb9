"""Coming in, being thrown out, and going elsewhere, against a scripted server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.support.line import line_to
from tests.browser.support.room_server import RoomServer
from tests.browser.support.thread_page import SESSION_KEY, ThreadPage

pytestmark = pytest.mark.browser
SILENCE_MS = 40_000  # of `stream.js`: two missed heartbeats and a little
CONNECT_MS = 10_000
LONG_MS = 12_000  # several attempts to come back, each later than the one before
CODEX_GONE = {"state": "closed", "code": "codex_unavailable", "message": "Codex ended unexpectedly."}


@pytest.mark.requirement("page.unavailable")
@pytest.mark.parametrize(
    ("code", "title", "todo"),
    [
        ("runnerd_unavailable", "runnerd could not start", "process that supervises Codex"),
        ("codex_unavailable", "Codex could not start", "CODEX_BIN"),
        ("codex_login_required", "Codex is not logged in", "codex login"),
        ("opening_busy", "Other rooms are being opened", "Wait a moment"),
    ],
)
def test_what_cannot_start_is_named_with_what_to_do_and_nothing_else(
    server: RoomServer, open_page: OpenPage, code: str, title: str, todo: str
) -> None:
    server.refuse("open", 503, code, "The exact reason.")
    page = open_page(server.origin)
    error = page.get_by_test_id("surface-error")
    for words in (title, "The exact reason.", todo, code):
        expect(error).to_contain_text(words)
    chat = ThreadPage(page)
    expect(chat.root).to_have_attribute("data-thread-state", "failed")
    expect(page.get_by_role("banner")).to_have_count(0)
    expect(chat.field).to_have_count(0)
    expect(page.get_by_role("button")).to_have_count(1)

    page.get_by_test_id("surface-error-retry").click()
    chat.ready()
    expect(error).to_have_count(0)


@pytest.mark.requirement("page.unavailable")
def test_opening_says_what_it_waits_for(server: RoomServer, open_page: OpenPage) -> None:
    server.hold("open")
    page = open_page(server.origin)
    expect(page.get_by_test_id("surface-loading")).to_contain_text("Starting runnerd and Codex")
    server.release("open")
    ThreadPage(page).ready()


@pytest.mark.requirement("page.route")
@pytest.mark.parametrize(
    "tail", ["", "#/", "#/issue/hb-baseline?mode=fake", "?mode=replay&shot=x&at=3#/chat?at=7&mode=fake"]
)
def test_every_address_leads_to_the_live_chat(server: RoomServer, open_page: OpenPage, tail: str) -> None:
    page = open_page(f"{server.origin}/{tail}")
    chat = ThreadPage(page).ready()
    expect(page).to_have_url(re.compile(r"#/chat"))
    expect(chat.root).to_have_attribute("data-session-mode", "live")
    assert server.bodies("open") == [{"sessionId": ""}]


@pytest.mark.requirement("page.session-key")
def test_a_stale_id_opens_a_fresh_room_and_is_forgotten(server: RoomServer, open_page: OpenPage) -> None:
    chat = ThreadPage(open_page(server.origin)).ready()
    chat.page.evaluate("key => localStorage.setItem(key, 'session-of-last-week')", SESSION_KEY)
    chat.page.reload()
    expect(chat.page.get_by_test_id("room-chip")).to_have_text("Clean room 00000002")
    assert chat.remembered_room() == "session-2"


@pytest.mark.requirement("page.new-chat")
def test_new_chat_moves_to_a_fresh_room_at_once(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("old words")
    server.room.settle(1)
    expect(chat.people).to_have_count(1)
    chat.button("New chat").click()
    expect(chat.page.get_by_test_id("room-chip")).to_have_text("Clean room 00000002")
    expect(chat.people).to_have_count(0)
    expect(chat.page.get_by_test_id("clean-room-empty")).to_contain_text("MCK-1043")
    expect(chat.field).to_be_focused()
    assert server.bodies("new_chat") == [{"sessionId": "session-1"}]
    assert chat.remembered_room() == "session-2"


@pytest.mark.requirement("page.reset")
def test_reset_asks_first_with_cancel_in_focus(chat: ThreadPage, server: RoomServer) -> None:
    chat.button("Reset").click()
    dialog = chat.page.get_by_test_id("reset-dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    chat.page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert server.bodies("reset") == []

    chat.button("Reset").click()
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert server.bodies("reset") == []

    chat.button("Reset").click()
    chat.page.get_by_test_id("reset-confirm").click()
    expect(chat.page.get_by_test_id("room-chip")).to_have_text("Clean room 00000002")
    assert server.bodies("reset") == [{"sessionId": "session-1"}]


@pytest.mark.requirement("page.yielded")
def test_a_room_that_made_way_says_so_keeps_its_words_and_offers_a_new_chat(
    chat: ThreadPage, server: RoomServer
) -> None:
    server.room.submit("old words")
    server.room.settle(1)
    chat.field.fill("and my draft")
    server.room.close("room_yielded")
    over = chat.page.get_by_test_id("room-over")
    expect(over).to_contain_text("made way for a newer one")
    expect(chat.people).to_have_text(re.compile("old words"))
    expect(chat.field).to_have_count(0)
    over.get_by_role("button", name="New chat").click()
    chat.ready()
    expect(chat.field).to_have_value("and my draft")


@pytest.mark.requirement("page.tabs")
def test_two_tabs_show_the_same_room_in_step(chat: ThreadPage, server: RoomServer, open_page: OpenPage) -> None:
    other = ThreadPage(open_page(server.origin)).ready()
    assert len(server.rooms) == 1
    chat.send("from the first tab")
    for tab in (chat, other):
        expect(tab.people).to_have_text(re.compile("from the first tab"))
        tab.is_in("streaming")
    server.room.settle(1)
    for tab in (chat, other):
        tab.is_in("ready")
    expect(other.field).to_have_value("")


@pytest.mark.requirement("page.tabs")
def test_a_new_chat_in_one_tab_is_news_in_the_other_which_may_follow(
    chat: ThreadPage, server: RoomServer, open_page: OpenPage
) -> None:
    other = ThreadPage(open_page(server.origin)).ready()
    chat.button("New chat").click()
    expect(chat.page.get_by_test_id("room-chip")).to_have_text("Clean room 00000002")
    over = other.page.get_by_test_id("room-over")
    expect(over).to_contain_text("A new chat was started in another tab")
    over.get_by_role("button", name="Open the new room").click()
    expect(other.page.get_by_test_id("room-chip")).to_have_text("Clean room 00000002")
    other.ready()
    assert len(server.rooms) == 2


@pytest.mark.requirement("page.connection-lost")
def test_when_the_agent_dies_the_message_returns_and_try_again_sends_nothing(
    chat: ThreadPage, server: RoomServer
) -> None:
    chat.send("do it")
    server.wait_for("message")
    server.room.item(1, "item-1", "agent_message", author="Codex", body="I have beg", streaming=True)
    error = {"code": "codex_unavailable", "message": "Codex ended unexpectedly."}
    server.room.settle(1, state="failed", error=error)
    server.room.emit({"op": "head", "set": {"connection": CODEX_GONE}})
    banner = chat.page.get_by_test_id("reconnect-banner")
    expect(chat.turns.last).to_contain_text("Codex ended unexpectedly.")
    expect(banner).to_contain_text("The agent is not running.")  # the thread has said why
    chat.is_in("unavailable")
    expect(chat.field).to_have_value("do it")
    expect(chat.send_button).to_be_enabled()
    expect(chat.rail).to_be_hidden()
    expect(chat.stop_button).to_be_hidden()
    expect(chat.prose).to_contain_text("I have beg")

    banner.get_by_role("button", name="Try again").press("Enter")
    chat.is_in("ready")
    expect(banner).to_be_hidden()
    expect(chat.field).to_be_focused()
    expect(chat.field).to_have_value("do it")
    expect(chat.page.locator("#composer-helper")).to_contain_text("It was not sent again")
    assert len(server.bodies("message")) == 1
    chat.field.press("Enter")
    server.wait_for("message", count=2)


@pytest.mark.requirement("page.connection-lost")
@pytest.mark.parametrize("phase", ["start", "first token", "tool call", "completion"])
def test_a_failure_in_any_phase_ends_the_rail_and_leaves_a_way_on(
    chat: ThreadPage, server: RoomServer, phase: str
) -> None:
    chat.send("do it")
    server.wait_for("message")
    room = server.room
    if phase != "start":
        room.item(1, "item-1", "agent_message", author="Codex", body="Some", streaming=phase == "first token")
    if phase in {"tool call", "completion"}:
        tool = {
            "operationId": "report_progress",
            "title": "Report progress",
            "summary": "",
            "fields": [],
            "result": None,
        }
        room.item(1, "call-1", "tool_activity", status="running" if phase == "tool call" else "ok", **tool)
    room.settle(1, state="failed", error={"code": "provider_error", "message": "The model failed."})
    expect(chat.page.get_by_test_id("turn-error")).to_contain_text("The model failed.")
    expect(chat.rail).to_be_hidden()
    expect(chat.stop_button).to_be_hidden()
    expect(chat.page.locator(".spinner")).to_have_count(0)
    chat.is_in("ready")
    expect(chat.field).to_have_value("do it")
    expect(chat.button("New chat")).to_be_enabled()


@pytest.mark.requirement("page.connection-lost")
def test_a_server_that_is_away_locks_sending_and_keeps_the_draft_until_it_is_back(
    chat: ThreadPage, server: RoomServer
) -> None:
    chat.field.fill("kept")
    chat.page.context.set_offline(True)
    server.room.cut()
    banner = chat.page.get_by_test_id("reconnect-banner")
    expect(banner).to_contain_text("connection to the server is lost")
    expect(chat.root).to_have_attribute("data-connection-state", "reconnecting")
    expect(chat.send_button).to_be_disabled()
    chat.page.context.set_offline(False)
    expect(banner).to_contain_text("Reconnected")
    chat.is_in("ready")
    expect(chat.field).to_have_value("kept")
    expect(chat.send_button).to_be_enabled()


@pytest.mark.requirement("page.connection-lost")
def test_what_happened_while_the_line_was_gone_for_long_is_there_once_when_it_is_back(
    chat: ThreadPage, server: RoomServer
) -> None:
    chat.field.fill("kept")
    server.room.submit("before")
    server.room.item(1, "item-1", "agent_message", status="running", body="Half ")
    expect(chat.prose).to_have_text(["Half"])
    chat.page.context.set_offline(True)
    server.room.cut()
    expect(chat.root).to_have_attribute("data-connection-state", "reconnecting")
    server.room.text(1, "item-1", "and whole.")
    server.room.settle(1)
    server.room.submit("from another tab")
    server.room.settle(2)
    chat.page.wait_for_timeout(LONG_MS)
    expect(chat.page.get_by_test_id("reconnect-banner")).to_contain_text("connection to the server is lost")
    expect(chat.people).to_have_count(1)
    chat.page.context.set_offline(False)
    chat.is_in("ready")
    expect(chat.prose).to_have_text(["Half and whole."])
    expect(chat.people).to_have_text(["before", "from another tab"])
    expect(chat.turns).to_have_count(2)
    expect(chat.field).to_have_value("kept")


@pytest.mark.requirement("page.connection-lost")
def test_a_line_that_falls_silent_is_given_up_by_itself_and_everything_said_meanwhile_comes_once(
    server: RoomServer, open_page: OpenPage
) -> None:
    with line_to(server) as line:
        page = open_page(line.origin)
        page.clock.install()
        page.reload()
        chat = ThreadPage(page).ready()
        server.room.submit("before")
        expect(chat.people).to_have_text(["before"])
        line.fall_silent()
        server.room.settle(1)
        server.room.submit("from another tab")
        page.clock.run_for(SILENCE_MS - 1_000)
        expect(chat.root).to_have_attribute("data-connection-state", "connected")
        page.clock.run_for(1_000)  # given up, and tried again
        expect(chat.root).to_have_attribute("data-connection-state", "connected")
        page.clock.run_for(CONNECT_MS + 1_000)
        expect(chat.root).to_have_attribute("data-connection-state", "reconnecting")
        expect(chat.people).to_have_count(1)
        line.come_back()
        page.clock.run_for(2 * CONNECT_MS)  # a try that began while the line was dead is given up in its turn
        expect(chat.people).to_have_text(["before", "from another tab"])
        expect(chat.root).to_have_attribute("data-connection-state", "connected")


@pytest.mark.requirement("page.finished")
def test_a_finished_issue_can_still_be_talked_about_and_offers_a_new_chat(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("finish it")
    server.room.emit({"op": "head", "set": {"issue": {"status": "done"}}})
    server.room.settle(1)
    notice = chat.page.get_by_test_id("issue-finished")
    expect(notice).to_contain_text("MCK-1042 is done")
    chat.is_in("ready")
    notice.get_by_role("button", name="New chat").click()
    expect(chat.page.get_by_test_id("room-chip")).to_have_text("Clean room 00000002")


@pytest.mark.requirement("page.refusal")
def test_a_new_chat_that_failed_can_be_asked_for_again_or_left_be(chat: ThreadPage, server: RoomServer) -> None:
    server.refuse("new_chat", 503, "runnerd_unavailable", "runnerd could not be started.")
    chat.button("New chat").click()
    chat.button("Back to your room").click()
    chat.ready()
    assert chat.remembered_room() == "session-1"
    server.refuse("new_chat", 503, "runnerd_unavailable", "runnerd could not be started.")
    chat.button("New chat").click()
    chat.button("Try again").click()
    chat.ready()
    assert chat.remembered_room() == "session-2"


@pytest.mark.requirement("page.turn-limit")
def test_the_last_turns_are_announced_and_after_them_only_a_new_chat_is_left(
    chat: ThreadPage, server: RoomServer
) -> None:
    left = chat.page.get_by_test_id("turns-left")
    for number in range(1, 25):
        server.room.submit(f"message {number}")
        server.room.settle(number)
        if number == 20:
            expect(left).to_have_count(0)
        if number == 22:
            expect(left).to_have_text("2 turns left")
        if number == 23:
            expect(left).to_have_text("Last turn of this chat")
    expect(left).to_have_text("No turns left in this chat.")
    chat.field.fill("one more")
    expect(chat.send_button).to_be_disabled()
    expect(chat.turns.last.get_by_role("heading")).to_have_text("Turn 24")
    chat.page.get_by_test_id("limit-new-chat").click()
    chat.ready()
    expect(chat.field).to_have_value("one more")


@pytest.mark.requirement("page.turn-limit")
def test_turns_have_the_numbers_that_are_stored(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("one")
    server.room.settle(1)
    server.room.turns += 1
    server.room.turn(2, state="running")
    server.room.item(2, "i2", "agent_message", author="Codex", body="Thank you.", streaming=False)
    server.room.settle(2)
    server.room.submit("two")
    headings = chat.turns.get_by_role("heading", level=2)
    expect(headings).to_have_text(["Turn 1", "Turn 2 · after your answer", "Turn 3"])


@pytest.mark.requirement("page.blank")
def test_an_example_never_costs_what_was_typed(chat: ThreadPage) -> None:
    chat.field.fill("My own words")
    chat.page.locator(".example").first.click()
    expect(chat.field).to_have_value(re.compile("^My own words\n\n.+"))
