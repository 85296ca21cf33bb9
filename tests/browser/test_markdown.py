"""Hostile prose in a real browser under the real policy: what it may draw, and what it must never do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Request, expect

from tests.browser.support.room_server import RoomServer
from tests.browser.support.thread_page import ThreadPage

pytestmark = pytest.mark.browser
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "js" / "cases" / "markdown.jsonl").read_text().splitlines()
    if line
]
FORBIDDEN = {
    "script": "script",
    "handler": "[onclick], [onerror], [onload], [onmouseover]",
    "fetch": "img, video, audio, source, link, object, embed, [src], [srcset], [background]",
    "fetch-api": "img, [src]",
    "frame": "iframe, frame, object, embed",
    "form": "form, input, textarea, select, button",
    "style": "style, [style]",
    "base": "base, meta",
    "clobber": "[id], [name]",
}


def say(chat: ThreadPage, server: RoomServer, markdown: str) -> Locator:
    """Let the agent say something, piece by piece, and return what is drawn of it."""
    server.room.submit("go")
    server.room.item(1, "item-1", "agent_message", author="Codex", body="", streaming=True)
    for start in range(0, len(markdown), 7):
        server.room.text(1, "item-1", markdown[start : start + 7])
    server.room.item(1, "item-1", "agent_message", author="Codex", body=markdown, streaming=False)
    server.room.item(1, "item-2", "system_notice", glyph="i", text="That was all.", code="end")
    expect(chat.page.get_by_text("That was all.")).to_be_visible()
    return chat.prose.locator(".md")


@pytest.mark.requirement("page.markdown")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_prose_loads_nothing_runs_nothing_and_covers_nothing(
    chat: ThreadPage, server: RoomServer, case: dict[str, Any]
) -> None:
    expect(chat.page).to_have_title(re.compile(r"^MCK-"))  # the room is drawn: from now on nothing else is asked for
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    chat.page.on("request", note)
    title = chat.page.title()
    prose = say(chat, server, case["markdown"])
    for what in case["forbid"]:
        if what in FORBIDDEN:
            expect(prose.locator(FORBIDDEN[what])).to_have_count(0)
    for words in case.get("shown", []):
        expect(prose).to_contain_text(words)
    for link in prose.get_by_role("link").all():
        assert urlsplit(link.get_attribute("href") or "").scheme in {"http", "https", "mailto"}
        assert link.get_attribute("target") == "_blank"
        assert link.get_attribute("rel") == "noopener noreferrer"
    links = [link.get_attribute("href") for link in prose.get_by_role("link").all()]
    assert set(case.get("allow_links", [])) <= set(links)
    assert [url for url in asked if not url.startswith(server.origin + "/static/")] == []
    assert chat.page.title() == title


@pytest.mark.requirement("page.markdown")
def test_a_person_s_words_are_shown_as_typed(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("<b>not bold</b> **nor this**\n  kept \u202eabc\u202c d", redacted=True)
    bubble = chat.people.locator(".bubble")
    assert bubble.text_content() == "<b>not bold</b> **nor this**\n  kept \u202eabc\u202c d"
    expect(chat.people).to_contain_text("left out here and in the log; Codex keeps it until this room ends")
