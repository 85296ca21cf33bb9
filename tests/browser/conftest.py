"""One Chromium for all browser tests; a fresh context for each, at the size and in the colours a test asks for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.browser.support.room_server import RoomServer
from tests.browser.support.thread_page import ThreadPage

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
CHROMIUM_FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
TIMEOUT_MS = 5_000

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or the one that CHROMIUM_BIN names; nothing is downloaded."""
    program = os.environ.get("CHROMIUM_BIN") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.fail("no Chromium found: install one, or name it in CHROMIUM_BIN")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """Open an address in a fresh profile (or in that of `beside`); the test fails when the page reports an error."""
    contexts = []
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def open_(address: str, *, size: dict[str, int] = WIDE, beside: Page | None = None, **options: Any) -> Page:
        if beside is None:
            contexts.append(chromium.new_context(viewport=size, **options))
        page = (beside.context if beside else contexts[-1]).new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("console", listen)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not complaints, complaints


@pytest.fixture
def server() -> Iterator[RoomServer]:
    with RoomServer() as running:
        yield running


@pytest.fixture
def chat(server: RoomServer, open_page: OpenPage) -> ThreadPage:
    """The page of a blank room, ready to type."""
    return ThreadPage(open_page(server.origin)).ready()
