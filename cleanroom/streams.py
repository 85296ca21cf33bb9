"""The WebSocket of the chat: frames of one session after a cursor. Knows the socket; the record knows the frames.

A refused handshake (Host, Origin, Fetch Metadata) is HTTP 403. Everything later is a close code, because a browser is
told nothing else: 4400 `invalid_cursor`, 4404 `unknown_session` (absent, retired and not yours), 4408
`follower_too_slow`, 4409 `room_yielded`, 4413 `too_much_input`, 4429 `too_many_streams`, 4500 `internal_error`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qs

from autobahn.exception import Disconnected
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.http.cookie import parse_cookie
from django.urls import path

from capability.http import admission
from cleanroom import sessions
from cleanroom.access import cookie_name
from cleanroom.models import Surface
from evidence.follow import Frame, follow, threads
from evidence.views import frames as view_frames
from mockcore.refusal import Refusal

log = logging.getLogger(__name__)

SEND_TIMEOUT_S = 10.0  # shorter than the server's own patience, so that a slow follower still gets its code
MAX_FOLLOWERS = 64  # of one session: tabs of one person
MAX_INPUT_CHARS = 16_384  # the page sends nothing on this socket
CURSOR = re.compile(r"0|[1-9][0-9]{0,15}")

INTERNAL_ERROR = 4500
FOLLOWER_TOO_SLOW = 4408
TOO_MUCH_INPUT = 4413
CLOSE_CODES = {
    "invalid_cursor": 4400,
    "cursor_ahead": 4400,
    "unknown_session": 4404,
    "room_yielded": 4409,
    "too_many_streams": 4429,
}
CLOSED_SESSION = 4404


class InvalidCursor(Refusal):
    """The stream needs one sessionId and one whole, non-negative `after`."""

    code = "invalid_cursor"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What a socket asks for, and the cookie it came with."""

    session_id: str
    after: int
    cookie: str | None


def ask_of(scope: dict[str, Any]) -> Ask:
    """Return what a handshake asks for. Raises `InvalidCursor`; nothing is guessed."""
    asked = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=16)
    session_ids, afters = asked.get("sessionId", []), asked.get("after", [])
    if len(session_ids) != 1 or not 1 <= len(session_ids[0]) <= 160:
        raise InvalidCursor
    if len(afters) != 1 or not CURSOR.fullmatch(afters[0]):
        raise InvalidCursor
    return Ask(session_id=session_ids[0], after=int(afters[0]), cookie=cookie_of(scope["headers"]))


def cookie_of(headers: Any) -> str | None:
    """Return the browser's capability for the chat, or None."""
    sent = "; ".join(value.decode("latin-1") for name, value in headers if name.lower() == b"cookie")
    return parse_cookie(sent).get(cookie_name(Surface.CLEANROOM))


class ThreadStream(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """One follower. It holds a cursor and no queue; its socket ends when its following ends, for any reason."""

    channel_layer_alias: ClassVar[None] = None  # followers read the tape of their process, never a group

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._following: asyncio.Task[None] | None = None
        self._heard_chars = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:  # also when the server gives this connection up
            if self._following is not None:
                self._following.cancel()
                await asyncio.gather(self._following, return_exceptions=True)

    async def connect(self) -> None:
        try:
            admission.admit(admission.knock_of(self.scope["headers"], socket=True))
        except Refusal:
            await self.close()
            raise StopConsumer from None
        await self.accept()
        self._following = asyncio.create_task(self._follow_to_the_end())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Nothing is expected from the page; a little is ignored."""
        self._heard_chars += len(text_data or bytes_data or "")
        if self._heard_chars > MAX_INPUT_CHARS:
            await self.close(TOO_MUCH_INPUT)

    async def _follow_to_the_end(self) -> None:
        try:
            await self.close(await self._follow_until_over())
        except Disconnected:
            pass  # the page went away while it was being sent something

    async def _follow_until_over(self) -> int:
        """Follow, and return the close code for how that ended."""
        try:
            return await self._follow(ask_of(self.scope))
        except Refusal as no:
            if no.code == "unknown_session":
                await self._send(view_frames.closed(0, no.code))
            return CLOSE_CODES.get(no.code, INTERNAL_ERROR)
        except TimeoutError:
            return FOLLOWER_TOO_SLOW
        except Disconnected:
            raise
        except Exception:
            log.exception("a stream broke")
            return INTERNAL_ERROR

    async def _follow(self, ask: Ask) -> int:
        """Send frames until the log is closed, and return the close code for that."""
        await threads.do(sessions.authorize_stream, session_id=ask.session_id, cookie_value=ask.cookie)
        following = follow(session_id=ask.session_id, after=ask.after, at_most=MAX_FOLLOWERS)
        async with aclosing(following) as frames:
            async for frame in frames:
                await self._send(frame)
                if frame.type == "closed":
                    return CLOSE_CODES.get(json.loads(frame.text)["code"], CLOSED_SESSION)
        return CLOSED_SESSION

    async def _send(self, frame: Frame) -> None:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            await self.send(text_data=frame.text)


socket_urls = [path("api/capability/ui/stream", ThreadStream.as_asgi())]
