"""A tiny ASGI application behind the real server, as a process of its own: the reactor runs once in a process.

Run as `python tiny_server.py [stall seconds]`. Prints `ready <port>` and `stopped`, and `picked apart` if Python
collects at its end what had been loaded.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "capability.settings")

from capability import serve
from capability.http import admission

FRAME = "x" * 65_536
STILL_S = 0.3  # a send that takes longer counts as held back


class Circle:
    """It refers to itself, as most of what a process has loaded does, so only the garbage collector can end it."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self, write: Callable[[int, bytes], int] = os.write) -> None:
        write(1, b"picked apart\n")


class Tiny:
    """GET answers about the socket's sender; POST counts a body; `/hang` never answers; the socket sends for ever."""

    def __init__(self) -> None:
        self.held = asyncio.Event()
        self.held_after = 0
        self.gone = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self.flood(receive, send)
        elif scope["path"] == "/hang":
            await asyncio.Event().wait()
        elif scope["path"] == "/endless":
            await self.endless(send)
        else:
            await self.reply(send, await self.answer(scope["path"], receive))

    async def answer(self, path: str, receive: Any) -> str:
        if path == "/held":
            await self.held.wait()
            return str(self.held_after)
        if path == "/gone":
            await self.gone.wait()
            return "gone"
        if path == "/hosts":
            return " ".join(sorted(admission.allowed_hosts()))
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        return str(size)

    async def reply(self, send: Any, text: str) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": text.encode()})

    async def endless(self, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.push(lambda: send({"type": "http.response.body", "body": FRAME.encode(), "more_body": True}))

    async def flood(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        pushing = asyncio.create_task(self.push(lambda: send({"type": "websocket.send", "text": FRAME})))
        while (await receive())["type"] != "websocket.disconnect":
            pass
        pushing.cancel()
        self.gone.set()

    async def push(self, send_one: Any) -> None:
        count = 0
        while True:
            sending = asyncio.ensure_future(send_one())
            done, _ = await asyncio.wait({sending}, timeout=STILL_S)
            if not done and not self.held.is_set():
                self.held_after = count
                self.held.set()
            await sending
            count += 1
            await asyncio.sleep(0)


def main() -> None:
    serve.STALL_S = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    serve.END_S = 0.5
    loaded = [Circle()]
    serve.serve(
        host="127.0.0.1",
        port=0,
        application=Tiny(),
        on_ready=lambda _host, port: print("ready", port, flush=True),
        on_stop=lambda: print("stopped", flush=True),
    )
    loaded.clear()


if __name__ == "__main__":
    main()
