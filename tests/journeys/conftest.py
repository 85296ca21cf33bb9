"""Servers for journeys: one that the gentle tests share, and fresh ones for those that break things."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio

from tests.journeys.support import Browser, Server, browser


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Server]:
    server = Server()
    try:
        yield server.start()
    finally:
        server.remove()


@pytest.fixture
def make_server() -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def make(**options: object) -> Server:
        server = Server(**options)  # type: ignore[arg-type]
        made.append(server)
        return server.start()

    yield make
    for server in made:
        server.remove()


@pytest_asyncio.fixture
async def ada(shared_server: Server) -> AsyncIterator[Browser]:
    """Ada owns a room."""
    async with browser(shared_server) as one:
        await one.open()
        yield one


@pytest_asyncio.fixture
async def cleo(shared_server: Server) -> AsyncIterator[Browser]:
    """Cleo is a stranger: another browser, another cookie jar."""
    async with browser(shared_server) as one:
        yield one
