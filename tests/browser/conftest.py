"""One Chromium and one profile for all browser tests, so that the modules of the page are fetched once.

Between tests its storage is emptied and its pages are closed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.browser.support.room_server import RoomServer
from tests.browser.support.thread_page import ThreadPage
from tests.journeys.support import Server

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
CHROMIUM_FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
TIMEOUT_MS = 5_000
FIRST_LOAD_MS = 20_000  # a cold profile on a busy machine

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def profile() -> Iterator[BrowserContext]:
    """A fresh profile of Debian's Chromium, or of the one that CHROMIUM_BIN names; nothing is downloaded."""
    program = os.environ.get("CHROMIUM_BIN") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.fail("no Chromium found: install one, or name it in CHROMIUM_BIN")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        yield browser.new_context()
        browser.close()


@pytest.fixture
def open_page(profile: BrowserContext) -> Iterator[OpenPage]:
    """Open an address at a size, in the colours and with the motion a test asks for.

    Pages of one test are tabs of one browser. The test fails when a page reports an error.
    """
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error" and not is_about_the_line(message.text):
            complaints.append(message.text)

    def open_(address: str, *, size: dict[str, int] = WIDE, **media: Any) -> Page:
        page = profile.new_page()
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.emulate_media(**media)
        page.set_default_timeout(TIMEOUT_MS)
        page.on("console", listen)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address, timeout=FIRST_LOAD_MS)
        return page

    yield open_
    profile.set_offline(False)
    for page in profile.pages:
        page.evaluate("localStorage.clear()")
        page.close()
    profile.clear_cookies()
    assert not complaints, complaints


def is_about_the_line(text: str) -> bool:
    """Chromium itself reports refusals and broken connections, which tests bring about on purpose."""
    return "Failed to load resource" in text or "WebSocket connection to" in text


@pytest.fixture(scope="session")
def running_server() -> Iterator[RoomServer]:
    with RoomServer() as running:
        yield running


@pytest.fixture
def server(running_server: RoomServer) -> RoomServer:
    """A scripted server without rooms, calls or refusals."""
    running_server.forget()
    return running_server


@pytest.fixture(scope="module")
def product() -> Iterator[Server]:
    """The product itself, for all tests of a module."""
    server = Server()
    try:
        yield server.start()
    finally:
        server.remove()


@pytest.fixture
def chat(server: RoomServer, open_page: OpenPage) -> ThreadPage:
    """The page of a blank room, ready to type."""
    return ThreadPage(open_page(server.origin)).ready()
