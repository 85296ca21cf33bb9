"""For every eye, hand and window: axe at two viewports in two schemes, keyboard, narrow windows, page weight."""

from __future__ import annotations

from pathlib import Path

import brotli
import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from playwright.sync_api import expect

from cleanroom import pages
from tests.browser.conftest import NARROW, WIDE, OpenPage
from tests.browser.support.axe import axe_findings
from tests.browser.support.room_server import RoomServer
from tests.browser.support.thread_page import ThreadPage

pytestmark = pytest.mark.browser
SCRIPT_BYTES = 150 * 1024
SHOWS_FOCUS = """
(element) => [element, element.closest('.composer')].filter(Boolean).map(getComputedStyle)
  .some(({ outlineStyle, boxShadow }) => outlineStyle !== 'none' || boxShadow !== 'none')
"""


def fill(server: RoomServer) -> None:
    """A room with one of everything that can be drawn."""
    room = server.room
    room.submit("Write a plan, then ask me")
    thought = {"activity": "command", "label": "Shell command", "summary": "ls -la", "withheld": "Output is withheld."}
    room.item(1, "i1", "progress_activity", status="failed", details=[{"label": "Exit code", "value": "6"}], **thought)
    tool = {"operationId": "write_document", "title": "Write document", "summary": "state 1 → 2", "fields": ["body"]}
    room.item(1, "c1", "tool_activity", status="ok", result={"ok": True, "stateRevision": 2, "command": None}, **tool)
    document = {
        "documentKey": "plan",
        "title": "Plan",
        "author": "Mock Agent",
        "excerpt": "# Goals\n\n" + "- one\n" * 60,
    }
    room.item(1, "r1", "document", revisionFrom=None, revisionTo=1, **document)
    room.item(1, "r2", "durable_comment", author="Mock Agent", body="Recorded.", operationId="report_progress")
    room.item(1, "r3", "denial", operationId="decide_approval", code="actor_role_denied", reason="Only the board may.")
    room.item(1, "r4", "system_notice", glyph="i", text="Commands are off here.", code="sandbox")
    prose = "# Done\n\n| a | b |\n|:-|-:|\n| 1 | 2 |\n\n```\ncode\n```\n\n> quote\n\nSee https://example.test/ `now`."
    room.item(1, "m1", "agent_message", author="Codex", body=prose, streaming=False)
    room.settle(1, state="failed", error={"code": "turn_timeout", "message": "The turn took too long."})
    room.submit("And now?")
    room.item(2, "m2", "user_message", author="Board user", body="Never mind", redacted=False, recorded=True)
    card = {"title": "budget", "prompt": "Please decide.", "payload": {"details": [{"label": "amount", "value": "1"}]}}
    state = {"state": "pending", "stateLabel": "Waiting for you", "resolvedSummary": [], "reason": None}
    room.item(2, "k1", "interaction", interactionId="a1", interactionKind="approval", **card, **state)
    done = state | {"state": "approved", "stateLabel": "Approved", "reason": "Fine."}
    room.item(2, "k2", "interaction", interactionId="a2", interactionKind="approval", **card, **done)
    room.settle(2)


@pytest.mark.requirement("page.axe")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_serious_finding_in_any_state(
    server: RoomServer, open_page: OpenPage, size: dict[str, int], scheme: str
) -> None:
    server.refuse("open", 503, "codex_login_required", "Codex has no login.")
    page = open_page(server.origin, size=size, color_scheme=scheme)
    expect(page.get_by_test_id("surface-error")).to_be_visible()
    assert axe_findings(page) == []
    page.get_by_test_id("surface-error-retry").click()
    chat = ThreadPage(page).ready()
    assert axe_findings(page) == []
    fill(server)
    chat.is_in("waiting")
    for strip in page.locator("details").all():
        strip.locator("summary").click()
    assert axe_findings(page) == []
    chat.send("go")
    chat.is_in("streaming")
    chat.field.fill("x" * 9000)
    assert axe_findings(page) == []
    server.room.emit({"op": "head", "set": {"connection": {"state": "closed", "message": "Codex ended."}}})
    chat.is_in("unavailable")
    assert axe_findings(page) == []
    chat.button("Reset").click()
    expect(page.get_by_test_id("reset-dialog")).to_be_visible()
    assert axe_findings(page) == []
    page.keyboard.press("Escape")
    server.room.close("room_yielded")
    expect(page.get_by_test_id("room-over")).to_be_visible()
    assert axe_findings(page) == []


@pytest.mark.requirement("page.narrow")
@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_the_window(server: RoomServer, open_page: OpenPage, width: int) -> None:
    page = open_page(server.origin, size={"width": width, "height": 844})
    chat = ThreadPage(page).ready()
    fill(server)
    server.room.submit("averyverylongword" * 40)
    long = f"`{'code' * 80}`\n\n```\n{'line ' * 80}\n```\n\nhttps://example.test/{'path/' * 60}"
    server.room.item(3, "m3", "agent_message", author="Codex", body=long, streaming=False)
    expect(chat.prose).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in ("New chat", "Reset"):
        expect(chat.button(name)).to_be_in_viewport(ratio=1)
    expect(page.get_by_test_id("model-chip")).to_be_in_viewport(ratio=1)


@pytest.mark.requirement("page.narrow")
@pytest.mark.parametrize("width", [320, 390])
def test_a_message_far_too_long_leaves_room_for_the_thread_and_for_the_buttons(
    server: RoomServer, open_page: OpenPage, width: int
) -> None:
    page = open_page(server.origin, size={"width": width, "height": 844})
    chat = ThreadPage(page).ready()
    chat.field.fill("x" * 8_200)
    heights = {
        name: page.locator(name).bounding_box()["height"]  # type: ignore[index]
        for name in (".composer", ".composer-row", ".count")
    }
    assert heights[".composer"] < 844 / 2, heights
    assert heights[".composer-row"] < 80, heights
    assert heights[".count"] < 30, heights
    expect(chat.send_button).to_be_in_viewport(ratio=1)
    expect(page.get_by_test_id("byte-count")).to_be_in_viewport(ratio=1)
    expect(chat.field).to_have_accessible_description("Enter sends. Shift+Enter starts a new line.")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.requirement("page.narrow")
def test_titles_and_summaries_are_whole_in_a_narrow_window(server: RoomServer, open_page: OpenPage) -> None:
    page = open_page(server.origin, size=NARROW)
    ThreadPage(page).ready()
    title = "An issue whose title needs rather more room than a telephone has in one line"
    server.room.emit({"op": "head", "set": {"issue": {"title": title}}})
    fill(server)
    summary = "cat notes/one.md notes/two.md notes/three.md | sort | uniq -c"
    server.room.item(3, "i9", "progress_activity", status="complete", label="Shell command", summary=summary)
    expect(page.locator(".strip-summary").last).to_have_text(summary)
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
    assert page.locator(".issue-title, .strip-title, .strip-summary").evaluate_all(cut) == []
    for name in ("New chat", "Reset"):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)


@pytest.mark.requirement("page.keyboard")
def test_the_whole_page_can_be_walked_by_keyboard_with_the_focus_in_sight(chat: ThreadPage, server: RoomServer) -> None:
    fill(server)
    chat.is_in("waiting")
    chat.button("Reset").focus()
    walked = ["Reset"]
    while walked[-1] != "message":
        chat.page.keyboard.press("Tab")
        focused = chat.page.locator(":focus")
        assert focused.count() == 1, walked
        assert focused.evaluate(SHOWS_FOCUS), walked
        walked.append(focused.evaluate("e => e.id === 'message' ? e.id : e.textContent.trim() || e.tagName"))
    for name in ("New chat", "Mock Paperclip", "Approve", "Reject", "Cancel"):
        assert name in walked, walked


@pytest.mark.requirement("page.motion")
def test_who_asks_for_less_motion_gets_none_that_glides(server: RoomServer, open_page: OpenPage) -> None:
    chat = ThreadPage(open_page(server.origin, reduced_motion="reduce")).ready()
    chat.send("go")
    pulse = chat.rail.locator(".pulse")
    expect(pulse).to_have_css("animation-timing-function", "steps(4)")


@pytest.mark.requirement("page.weight")
def test_the_page_s_scripts_stay_below_their_bar() -> None:
    names = [address.removeprefix(settings.STATIC_URL) for address in pages.module_addresses()]
    packed = {name: len(brotli.compress(Path(str(finders.find(name))).read_bytes(), quality=9)) for name in names}
    assert len(packed) > 30
    assert sum(packed.values()) < SCRIPT_BYTES
