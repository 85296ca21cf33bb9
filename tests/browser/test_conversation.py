"""Saying something and watching the answer, against a scripted server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.support.room_server import RoomServer
from tests.browser.support.thread_page import ThreadPage

pytestmark = pytest.mark.browser
PIECES = [f"token{place} " for place in range(40)]


def stream_reply(server: RoomServer, ordinal: int, pieces: list[str]) -> None:
    room, item_id = server.room, f"item-{ordinal}"
    room.turn(ordinal, state="running")
    room.item(ordinal, item_id, "agent_message", author="Codex", body="", streaming=True)
    for piece in pieces:
        room.text(ordinal, item_id, piece)
    room.item(ordinal, item_id, "agent_message", author="Codex", body="".join(pieces), streaming=False)


@pytest.mark.requirement("page.header")
def test_the_header_says_which_issue_and_who_is_real(chat: ThreadPage) -> None:
    header = chat.page.get_by_role("banner")
    for words in ("MCK-1042", "Clean-room chat", "In progress", "Real Codex", "Real runnerd", "Clean room 00000001"):
        expect(header).to_contain_text(words)
    expect(header.get_by_test_id("model-chip")).to_have_text("Rehearsal model (rules, not a language model)")
    chip = header.get_by_role("button", name="Mock Paperclip")
    expect(chip).to_have_accessible_description(re.compile("mock company"))
    chip.focus()
    expect(header.get_by_role("tooltip")).to_be_visible()


@pytest.mark.requirement("page.header")
def test_a_model_of_ones_own_is_named_and_not_called_a_rehearsal(server: RoomServer, open_page: OpenPage) -> None:
    server.identity |= {"modelLabel": "gpt-local", "rehearsal": False}
    chat = ThreadPage(open_page(server.origin)).ready()
    expect(chat.page.get_by_test_id("model-chip")).to_have_text("gpt-local")


@pytest.mark.requirement("page.blank")
def test_a_blank_room_explains_itself_and_its_examples_fill_the_composer(chat: ThreadPage) -> None:
    blank = chat.page.get_by_test_id("clean-room-empty")
    expect(blank).to_contain_text("A real Codex agent works MCK-1042, a blank issue in a mock company")
    blank.get_by_role("button").first.click()
    expect(chat.field).to_have_value("Read this issue, then record a one-sentence status on it")
    expect(chat.field).to_be_focused()
    expect(chat.send_button).to_be_enabled()


@pytest.mark.requirement("page.rail")
def test_the_rail_and_the_message_stand_before_the_server_says_anything(chat: ThreadPage, server: RoomServer) -> None:
    server.hold("message")
    chat.send("hello")
    expect(chat.rail).to_contain_text("Sending your message to Codex")
    expect(chat.people).to_have_text(re.compile("hello"))
    expect(chat.page.get_by_test_id("clean-room-empty")).to_be_hidden()
    expect(chat.root).to_have_attribute("data-thread-state", "streaming")
    server.release("message")
    server.wait_for("message")
    expect(chat.rail).to_contain_text("Waiting for Codex")
    expect(chat.people).to_have_count(1)


@pytest.mark.requirement("page.rail")
def test_the_rail_follows_the_newest_safe_activity(chat: ThreadPage, server: RoomServer) -> None:
    chat.send("go")
    server.wait_for("message")
    room, tool = (
        server.room,
        {"operationId": "report_progress", "title": "Report progress", "summary": "", "fields": []},
    )
    thought = {"activity": "thinking", "label": "Thinking", "summary": "Thinking", "details": [], "withheld": None}
    room.item(1, "item-1", "progress_activity", status="running", **thought)
    expect(chat.rail).to_contain_text("Thinking")
    room.item(1, "call-1", "tool_activity", status="running", result=None, **tool)
    expect(chat.rail).to_contain_text("Paperclip tool · report_progress")
    room.item(1, "call-1", "tool_activity", status="ok", result=None, **tool)
    expect(chat.rail).to_contain_text("Paperclip tool completed · report_progress")
    room.settle(1)
    expect(chat.rail).to_be_hidden()


@pytest.mark.requirement("page.stream")
def test_prose_streams_as_markdown_and_the_turn_header_sums_up(chat: ThreadPage, server: RoomServer) -> None:
    chat.send("go")
    server.wait_for("message")
    room = server.room
    room.item(1, "item-1", "agent_message", author="Codex", body="", streaming=True)
    for seen, piece in [("Half of", "Half of a **wo"), ("Half of a word", "rd**, ended.")]:
        room.text(1, "item-1", piece)
        expect(chat.prose).to_contain_text(seen)
    expect(chat.prose.locator("strong")).to_have_text("word")
    room.settle(1, seconds=12)
    expect(chat.turns.get_by_role("heading", name="Turn 1")).to_be_visible()
    expect(chat.turns).to_contain_text("12 s")
    chat.is_in("ready")


@pytest.mark.requirement("page.stream")
def test_a_turn_that_ends_without_a_word_says_that_there_is_no_answer(chat: ThreadPage, server: RoomServer) -> None:
    silence = chat.page.get_by_test_id("no-answer")
    chat.send("say nothing")
    server.wait_for("message")
    expect(chat.people).to_have_count(1)
    expect(silence).to_be_hidden()
    server.room.settle(1)
    expect(silence).to_have_text("No answer")
    chat.send("say something")
    server.wait_for("message", count=2)
    stream_reply(server, 2, PIECES)
    server.room.settle(2)
    chat.is_in("ready")
    expect(silence).to_have_count(1)


@pytest.mark.requirement("page.stream.reconnect")
def test_an_agent_that_is_resumed_is_waited_for(chat: ThreadPage, server: RoomServer) -> None:
    banner = chat.page.get_by_test_id("reconnect-banner")
    server.room.emit({"op": "head", "set": {"connection": {"state": "reconnecting", "attempt": 2}}})
    expect(banner).to_contain_text("Reconnecting to the agent…")
    chat.is_in("reconnecting")
    server.room.emit({"op": "head", "set": {"connection": {"state": "closed", "message": "Codex did not start."}}})
    expect(banner).to_contain_text("Codex did not start.")
    expect(banner.get_by_role("button", name="Try again")).to_be_enabled()
    server.room.emit({"op": "head", "set": {"connection": {"state": "connected", "message": None}}})
    expect(banner).to_be_hidden()
    chat.is_in("ready")


@pytest.mark.requirement("page.stream.reconnect")
def test_a_line_cut_three_times_leaves_the_text_whole_and_once(chat: ThreadPage, server: RoomServer) -> None:
    chat.send("go")
    server.wait_for("message")
    room = server.room
    room.item(1, "item-1", "agent_message", author="Codex", body="", streaming=True)
    for place, piece in enumerate(["Hello ", "wide ", "world"]):
        room.text(1, "item-1", piece)
        expect(chat.prose).to_contain_text(piece.strip())
        room.cut()
        server.wait_for("stream", count=2 + place)
    room.settle(1)
    chat.is_in("ready")
    expect(chat.prose).to_have_count(1)
    expect(chat.prose).to_have_text("Hello wide world")


@pytest.mark.requirement("page.stop")
def test_stop_is_there_while_a_turn_runs_and_says_who_stopped_it(chat: ThreadPage, server: RoomServer) -> None:
    expect(chat.stop_button).to_be_hidden()
    chat.send("go")
    server.wait_for("message")
    chat.field.fill("the next thing")
    expect(chat.send_button).to_be_disabled()
    chat.stop_button.press("Enter")
    assert server.wait_for("interrupt") == {"sessionId": "session-1"}
    expect(chat.rail).to_contain_text("Stopping")
    expect(chat.button("Stopping")).to_be_focused()
    chat.page.keyboard.press("Enter")
    server.room.settle(1, state="interrupted", stoppedByUser=True)
    expect(chat.turns).to_contain_text("stopped by you")
    expect(chat.stop_button).to_be_hidden()
    expect(chat.field).to_be_focused()
    assert len(server.bodies("interrupt")) == 1
    expect(chat.field).to_have_value("the next thing")
    expect(chat.send_button).to_be_enabled()


@pytest.mark.requirement("page.composer.keys")
def test_enter_sends_and_shift_enter_breaks_the_line(chat: ThreadPage, server: RoomServer) -> None:
    chat.field.press_sequentially("one")
    chat.field.press("Shift+Enter")
    chat.field.press_sequentially("two")
    chat.field.press("Enter")
    assert server.wait_for("message")["message"] == "one\ntwo"
    expect(chat.field).to_have_value("")


@pytest.mark.requirement("page.composer.keys")
def test_an_enter_that_belongs_to_an_input_method_sends_nothing(chat: ThreadPage, server: RoomServer) -> None:
    chat.field.fill("にほん")
    press = "(field, options) => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ...options }))"
    chat.field.dispatch_event("compositionstart")
    chat.field.evaluate(press, {"isComposing": True, "cancelable": True})
    chat.field.evaluate(press, {"keyCode": 229, "cancelable": True})
    chat.field.dispatch_event("compositionend")
    expect(chat.field).to_have_value("にほん")
    chat.field.press("Enter")
    server.wait_for("message")
    assert [body["message"] for body in server.bodies("message")] == ["にほん"]


@pytest.mark.requirement("page.composer.bytes")
def test_the_counter_counts_as_the_server_does_and_nothing_too_large_is_sent(chat: ThreadPage) -> None:
    count = chat.page.get_by_test_id("byte-count")
    chat.field.fill("é" * 2000)
    expect(count).to_be_hidden()
    chat.field.fill("é" * 4096)
    expect(count).to_have_text("8,192 of 8,192 bytes")
    expect(chat.send_button).to_be_enabled()
    chat.field.fill("é" * 4096 + "a")
    expect(count).to_have_text("8,193 of 8,192 bytes: 1 too many")
    expect(chat.send_button).to_be_disabled()
    expect(chat.field).to_have_attribute("aria-invalid", "true")


@pytest.mark.requirement("page.draft")
def test_a_draft_outlives_a_refresh_which_returns_to_the_same_room(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("hello")
    server.room.settle(1)
    expect(chat.people).to_have_count(1)
    chat.field.fill("half a thought")
    chat.page.reload()
    chat.is_in("ready")
    expect(chat.field).to_have_value("half a thought")
    expect(chat.people).to_have_text(re.compile("hello"))
    assert server.bodies("open")[-1] == {"sessionId": "session-1"}
    assert len(server.rooms) == 1


@pytest.mark.requirement("page.refusal")
def test_a_refused_message_returns_with_its_reason_and_new_chat_where_that_helps(
    chat: ThreadPage, server: RoomServer
) -> None:
    server.refuse("message", 429, "turn_limit", "This chat has used all its 24 turns; New chat starts a fresh room.")
    chat.send("one more")
    error = chat.page.get_by_test_id("action-error")
    expect(error).to_contain_text("used all its 24 turns")
    expect(chat.field).to_have_value("one more")
    expect(chat.people).to_have_count(0)
    error.get_by_role("button", name="New chat").click()
    expect(chat.page.get_by_test_id("room-chip")).to_have_text("Clean room 00000002")
    expect(error).to_be_hidden()
    expect(chat.field).to_have_value("one more")
    assert len(server.bodies("message")) == 1


@pytest.mark.requirement("page.announce")
def test_a_long_answer_is_announced_as_a_start_and_an_end(chat: ThreadPage, server: RoomServer) -> None:
    chat.listen()
    chat.send("go")
    server.wait_for("message")
    stream_reply(server, 1, PIECES)
    server.room.settle(1)
    chat.is_in("ready")
    expect(chat.page.get_by_test_id("thread-live-region")).to_have_text("Codex finished.")
    assert chat.heard("polite") == ["Codex started working.", "Codex finished."]
    assert chat.heard("assertive") == []


@pytest.mark.requirement("page.announce")
def test_a_failure_is_announced_at_once_and_once(chat: ThreadPage, server: RoomServer) -> None:
    chat.listen()
    chat.send("go")
    server.wait_for("message")
    server.room.settle(1, state="failed", error={"code": "provider_error", "message": "The model is overloaded."})
    error = chat.page.get_by_test_id("turn-error")
    expect(error).to_contain_text("The model is overloaded. provider_error")
    expect(error).to_contain_text("Send the message again, or start a New chat.")
    assert chat.heard("assertive") == ["The turn failed. The model is overloaded."]


@pytest.mark.requirement("page.announce")
def test_a_turn_that_ended_with_its_room_is_no_failure_and_nobody_is_told_to_send_again(
    chat: ThreadPage, server: RoomServer
) -> None:
    chat.listen()
    chat.send("go")
    server.wait_for("message")
    server.room.settle(1, state="failed", error={"code": "session_closed", "message": "The chat was closed."})
    server.room.emit({"op": "head", "set": {"session": {"closed": True, "code": "reset"}}})
    server.room.close("reset")
    error = chat.page.get_by_test_id("turn-error")
    expect(error).to_contain_text("Start a New chat to go on.")
    expect(chat.turns.last).to_contain_text("ended with the room")
    shown = chat.page.locator("body")
    expect(shown).not_to_contain_text("end the message again")
    expect(shown).not_to_contain_text("was not sent again")
    assert "The turn failed." not in " ".join(chat.heard("assertive"))


@pytest.mark.requirement("turn.answer-kept")
def test_nobody_is_told_to_send_an_answer_again(chat: ThreadPage, server: RoomServer) -> None:
    server.room.turns += 1
    server.room.turn(1, state="submitted")
    server.room.settle(1, state="failed", error={"code": "codex_unavailable", "message": "The agent went away."})
    error = chat.page.get_by_test_id("turn-error")
    expect(error).to_contain_text("Your answer is kept.")
    expect(error).to_contain_text("it is handed over with your next message")
    expect(error).not_to_contain_text("Send the message again")


@pytest.mark.requirement("page.announce")
def test_history_is_not_announced(chat: ThreadPage, server: RoomServer) -> None:
    for ordinal in range(1, 25):
        server.room.submit(f"message {ordinal}")
        server.room.settle(ordinal)
    expect(chat.turns).to_have_count(24)
    chat.page.reload()
    expect(chat.turns).to_have_count(24)
    expect(chat.page.get_by_test_id("thread-live-region")).to_be_empty()
    expect(chat.page.get_by_test_id("thread-alert-region")).to_be_empty()


@pytest.mark.requirement("page.scroll")
def test_a_reader_at_the_end_stays_there_and_one_who_scrolled_up_is_left_alone(
    chat: ThreadPage, server: RoomServer
) -> None:
    chat.send("go")
    server.wait_for("message")
    stream_reply(server, 1, ["A paragraph of some length.\n\n"] * 60)
    jump = chat.page.get_by_test_id("jump-to-latest")
    expect(chat.prose.get_by_text("A paragraph").last).to_be_in_viewport()
    expect(jump).to_be_hidden()
    chat.page.mouse.move(700, 400)
    chat.page.mouse.wheel(0, -2000)
    expect(jump).to_be_visible()
    place = chat.page.evaluate("scrollY")
    server.room.item(1, "item-2", "agent_message", author="Codex", body="The very last words.", streaming=False)
    expect(chat.page.get_by_text("The very last words.")).to_be_attached()
    assert chat.page.evaluate("scrollY") == place
    jump.click()
    expect(chat.page.get_by_text("The very last words.")).to_be_in_viewport()
    expect(jump).to_be_hidden()


@pytest.mark.requirement("page.scroll")
def test_a_message_of_ones_own_is_in_sight_wherever_one_was_reading(chat: ThreadPage, server: RoomServer) -> None:
    chat.send("go")
    server.wait_for("message")
    stream_reply(server, 1, ["A paragraph of some length.\n\n"] * 60)
    server.room.settle(1)
    chat.is_in("ready")
    chat.page.mouse.move(700, 400)
    chat.page.mouse.wheel(0, -2000)
    expect(chat.page.get_by_test_id("jump-to-latest")).to_be_visible()
    chat.send("and now this")
    expect(chat.people.last).to_contain_text("and now this")
    expect(chat.people.last).to_be_in_viewport(ratio=1)


@pytest.mark.requirement("page.frame-cost")
def test_a_piece_of_text_redraws_its_own_block_and_nothing_else(chat: ThreadPage, server: RoomServer) -> None:
    room = server.room
    for ordinal in range(1, 13):
        room.submit(f"message {ordinal}")
        room.item(ordinal, f"item-{ordinal}", "agent_message", author="Codex", body="An answer.", streaming=False)
        room.settle(ordinal)
    room.submit("and now")
    room.item(13, "item-13", "agent_message", author="Codex", body="First block.\n\nSecond", streaming=True)
    expect(chat.prose.last).to_contain_text("Second")
    chat.page.evaluate(
        """() => {
          window.touched = new Set()
          new MutationObserver((changes) => changes.forEach(({ target }) => {
            const element = target.nodeType === 1 ? target : target.parentElement
            const part = element.closest('.md-block, .rail, .turn, .topbar, .composer')
            window.touched.add(part?.textContent ?? 'elsewhere')
          })).observe(document.querySelector('.page'), { childList: true, subtree: true, characterData: true })
        }"""
    )
    room.text(13, "item-13", " block grows.")
    expect(chat.prose.last).to_contain_text("Second block grows.")
    touched = [text.strip() for text in chat.page.evaluate("[...window.touched]") if not re.search(r"\d+ s$", text)]
    assert touched == ["Second block grows."]
