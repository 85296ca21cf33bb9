"""What a browser does with the clean room, over real HTTP and a real WebSocket: one cookie jar, one origin.

Knows the public contract of `ARCHITECTURE.md` and nothing of the server behind it. Every wait is bounded.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp

PREFIX = "/api/capability/ui/"
REQUEST_S = 30
TURN_S = 150  # the turn clock is 120 s; its failure has to be seen, too
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
ENDINGS = ("settled", "error")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One HTTP answer. `body` is an empty object when the answer was not JSON."""

    status: int
    body: Mapping[str, Any]

    @property
    def code(self) -> str:
        return str(self.body.get("error", ""))


@dataclass(frozen=True, kw_only=True)
class TurnSeen:
    """One turn as the browser saw it: the answer to its message, and every frame until it ended."""

    answer: Answer
    frames: tuple[Mapping[str, Any], ...] = ()

    @property
    def ended(self) -> str:
        return str(self.frames[-1]["type"]) if self.frames else ""


@dataclass(kw_only=True)
class Browser:
    """One cookie jar at one server. `received` keeps the text of everything that came, to look for secrets in."""

    address: str
    http: aiohttp.ClientSession
    received: list[str] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def at(cls, address: str) -> AsyncIterator[Self]:
        """Open a browser with an empty cookie jar at `http://host:port`."""
        jar = aiohttp.CookieJar(unsafe=True)  # unsafe: cookies of an address without a name
        async with aiohttp.ClientSession(cookie_jar=jar, timeout=aiohttp.ClientTimeout(total=REQUEST_S)) as http:
            yield cls(address=address.rstrip("/"), http=http)

    async def get(self, route: str) -> Answer:
        async with self.http.get(self.address + PREFIX + route, headers=SAME_ORIGIN) as response:
            return await self._taken(response)

    async def post(self, route: str, **body: Any) -> Answer:
        headers = SAME_ORIGIN | {"Origin": self.address}
        async with self.http.post(self.address + PREFIX + route, json=body, headers=headers) as response:
            return await self._taken(response)

    async def turn(self, *, session_id: str, cursor: int, text: str) -> TurnSeen:
        """Follow from a cursor, send one message, and return when its turn has ended or the time is up."""
        frames: list[Mapping[str, Any]] = []
        async with self.follow(session_id=session_id, after=cursor) as socket:
            answer = await self.post("message", sessionId=session_id, message=text)
            if answer.status == 202:
                async with asyncio.timeout(TURN_S):
                    async for frame in self.frames(socket):
                        frames.append(frame)
                        if frame["type"] in ENDINGS:
                            break
        return TurnSeen(answer=answer, frames=tuple(frames))

    @asynccontextmanager
    async def follow(self, *, session_id: str, after: int) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open the socket of a session after a cursor."""
        url = f"{self.address}{PREFIX}stream?sessionId={session_id}&after={after}".replace("http", "ws", 1)
        async with self.http.ws_connect(url, headers={"Origin": self.address}, max_msg_size=0) as socket:
            yield socket

    async def frames(self, socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[Mapping[str, Any]]:
        """Yield every frame but heartbeats, until the socket ends."""
        async for message in socket:
            if message.type is not aiohttp.WSMsgType.TEXT:
                continue
            self.received.append(message.data)
            frame = json.loads(message.data)
            if frame["type"] != "heartbeat":
                yield frame

    async def socket_status(self, *, session_id: str) -> int:
        """Return 101 when the session's socket lets this browser in, else the status it is refused with."""
        try:
            async with self.follow(session_id=session_id, after=0) as socket, asyncio.timeout(REQUEST_S):
                async for frame in self.frames(socket):
                    return 404 if frame.get("code") == "unknown_session" else 101
                return socket.close_code or 101
        except aiohttp.WSServerHandshakeError as refused:
            return refused.status

    def cookies(self) -> list[str]:
        return [cookie.key for cookie in self.http.cookie_jar]

    async def _taken(self, response: aiohttp.ClientResponse) -> Answer:
        text = await response.text()
        self.received.append(text)
        try:
            body = json.loads(text)
        except ValueError:
            body = {}
        return Answer(status=response.status, body=body if isinstance(body, dict) else {})
