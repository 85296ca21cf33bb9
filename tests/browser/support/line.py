"""A line between browser and server that can fall silent: what is sent is lost, and neither side is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.browser.support.room_server import RoomServer

PIECE_BYTES = 65_536


class Line:
    """A relay of TCP on the server's own loop. A connection that was silenced once stays dead."""

    def __init__(self, server: RoomServer) -> None:
        self._server = server
        self._port = urlsplit(server.origin).port
        self._silent = False
        self._dead: set[asyncio.StreamWriter] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.origin = ""

    def fall_silent(self) -> None:
        self._server.run(self._fall_silent())

    def come_back(self) -> None:
        """Let new connections through."""
        self._silent = False

    async def start(self) -> None:
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.origin = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    async def end(self) -> None:
        self._listener.close()
        for writer in self._writers:
            writer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _fall_silent(self) -> None:
        self._silent = True
        self._dead |= self._writers

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, to_server}
        if self._silent:
            self._dead |= {writer, to_server}
        for source, sink in ((reader, to_server), (there, writer)):
            task = asyncio.create_task(self._relay(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _relay(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(PIECE_BYTES):
            if sink not in self._dead:
                sink.write(piece)
                await sink.drain()
        if sink not in self._dead:
            sink.close()


@contextmanager
def line_to(server: RoomServer) -> Iterator[Line]:
    line = Line(server)
    server.run(line.start())
    try:
        yield line
    finally:
        server.run(line.end())
