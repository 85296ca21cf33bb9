"""A scripted stand-in for the session API, so that a browser test decides what the server says and when.

It speaks the contract of `ARCHITECTURE.md` (HTTP, frames, thread view) and serves the real page with its real modules
under the real content policy. Knows no agent, no rows, no rules: a test scripts all of that. No part of the product.
"""

from __future__ import annotations

import asyncio
import mimetypes
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, web
from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest
from django.test import RequestFactory

from capability.http.pages import ContentPolicy
from cleanroom import pages
from evidence.views.fold import apply_ops, copy_view, empty_view

API = pages.API_BASE
WAIT_S = 5
IMMUTABLE = {"Cache-Control": "max-age=31536000, immutable"}
AT = "2026-01-02T03:04:05.000Z"

mimetypes.add_type("text/javascript", ".mjs")


class Room:
    """One scripted room: its view, its frames, and the sockets that follow it."""

    def __init__(self, server: RoomServer, number: int) -> None:
        self.server, self.number = server, number
        self.session_id = f"session-{number}"
        self.seq = 0
        self.frames: list[dict[str, Any]] = []
        self.sockets: set[web.WebSocketResponse] = set()
        self.retired = False
        self.turns = 0
        self.view = empty_view(session_id=self.session_id, identity=server.identity, issue=self.issue)

    @property
    def issue(self) -> dict[str, Any]:
        return {"identifier": f"MCK-{1041 + self.number}", "title": "Clean-room chat", "status": "in_progress"}

    def payload(self) -> dict[str, Any]:
        token = f"{self.number:08x}"
        identity = {
            "token": token,
            "sequence": 1041 + self.number,
            "companyId": f"company-cleanroom-{token}",
            "actorId": f"actor-cleanroom-{token}",
            "taskId": f"task-cleanroom-{token}",
            "identifier": self.issue["identifier"],
        }
        return {
            "sessionId": self.session_id,
            "surface": "cleanroom",
            "identity": identity,
            "limits": {"maxTurns": 24, "maxMessageBytes": 8192},
            "turns": self.turns,
            "cursor": self.seq,
            "view": copy_view(self.view),
        }

    # -------------------------------------------------------------- what a test may let happen
    def emit(self, *ops: dict[str, Any], kind: str = "frame", error: dict[str, str] | None = None) -> None:
        """Append one event that means these ops, and send its frame."""
        self.server.run(self._emit(list(ops), kind, error))

    def cut(self) -> None:
        """Drop every socket without a word, as a broken line does."""
        self.server.run(self._each(lambda socket: socket.close(code=WSCloseCode.GOING_AWAY)))

    def close(self, code: str) -> None:
        """End the room as the server does: the last frame names the reason."""
        self.server.run(self._close(code))

    async def _emit(self, ops: list[dict[str, Any]], kind: str, error: dict[str, str] | None) -> None:
        before = self._works()
        apply_ops(self.view, ops)
        frame = {"type": kind, "after": self.seq, "seq": self.seq + 1, "ops": ops}
        if (working := self._works()) != before:
            frame["working"] = working
        self.seq += 1
        self.frames.append(frame | ({"error": error} if error else {}))
        await self._each(lambda socket: socket.send_json(self.frames[-1]))

    def _works(self) -> bool:
        return any(turn["state"] in {"submitted", "running"} for turn in self.view["turns"])

    async def _close(self, code: str) -> None:
        self.retired = True
        await self._each(lambda socket: socket.send_json({"type": "closed", "seq": self.seq, "code": code}))
        await self._each(lambda socket: socket.close())

    async def _each(self, act: Callable[[web.WebSocketResponse], Coroutine[Any, Any, Any]]) -> None:
        for socket in list(self.sockets):
            await act(socket)

    # -------------------------------------------------------------- shorthands for scripts
    def turn(self, ordinal: int, **facts: Any) -> None:
        self.emit({"op": "turn", "turn": {"id": f"turn-{ordinal}", "ordinal": ordinal, **facts}})

    def item(self, ordinal: int, item_id: str, kind: str, **facts: Any) -> None:
        self.emit(item(ordinal, item_id, kind, **facts))

    def text(self, ordinal: int, item_id: str, text: str) -> None:
        self.emit({"op": "text", "turnId": f"turn-{ordinal}", "id": item_id, "text": text})

    def submit(self, text: str, *, redacted: bool = False) -> int:
        """Begin the next turn with a person's message, as the server does when it admits one."""
        self.server.run(self.submitting(text, redacted=redacted))
        return self.turns

    async def submitting(self, text: str, *, redacted: bool = False) -> None:
        self.turns += 1
        turn = {"id": f"turn-{self.turns}", "ordinal": self.turns, "state": "submitted", "at": self.server.clock()}
        message = item(
            self.turns, f"message-{self.turns}", "user_message", author="Board user", body=text, redacted=redacted
        )
        await self._emit([{"op": "turn", "turn": turn}, message], "frame", None)

    async def answering(self) -> None:
        self.turns += 1
        turn = {"id": f"turn-{self.turns}", "ordinal": self.turns, "state": "submitted", "hidden": True}
        await self._emit([{"op": "turn", "turn": turn | {"at": self.server.clock()}}], "frame", None)

    def settle(self, ordinal: int, *, state: str = "completed", seconds: float = 2.0, **facts: Any) -> None:
        """End a turn, well or badly."""
        facts = {"state": state, "endedAt": AT, "durationMs": int(seconds * 1000), **facts}
        turn = {"op": "turn", "turn": {"id": f"turn-{ordinal}", **facts}}
        self.emit(turn, kind="error" if facts.get("error") else "settled", error=facts.get("error"))


def item(ordinal: int, item_id: str, kind: str, **facts: Any) -> dict[str, Any]:
    return {"op": "item", "turnId": f"turn-{ordinal}", "item": {"id": item_id, "kind": kind, "at": AT, **facts}}


class RoomServer:
    """The server of all scripted rooms, on a loop and a thread of its own. `with RoomServer() as server: …`"""

    def __init__(self) -> None:
        self.clock: Callable[[], str] = lambda: AT
        self.origin = ""
        self._loop = asyncio.new_event_loop()
        self._arrived = threading.Condition()
        self.forget()

    def forget(self) -> None:
        """Begin anew, without rooms, calls or refusals."""
        self.identity: dict[str, Any] = {
            "agentLabel": "Real Codex",
            "runnerAttached": True,
            "modelLabel": "Rehearsal model (rules, not a language model)",
            "rehearsal": True,
        }
        self.rooms: dict[str, Room] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.refusals: dict[str, deque[tuple[int, str, str]]] = defaultdict(deque)
        self.gates: dict[str, asyncio.Event] = {}  # a route with a gate answers once it is opened

    # -------------------------------------------------------------- life
    def __enter__(self) -> RoomServer:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something on the server's loop, from the test's thread, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)

    async def _start(self) -> None:
        app = web.Application()
        app.add_routes(
            [
                web.get("/", self._page),
                web.get(settings.STATIC_URL + "{path:.*}", self._static),
                web.get(API + "cleanroom/session", self._open),
                web.post(API + "cleanroom/session", self._new_chat),
                web.post(API + "{route:message|interrupt|reconnect|reset|interaction}", self._command),
                web.get(API + "stream", self._stream),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.origin = f"http://127.0.0.1:{port}"

    # -------------------------------------------------------------- what a test asks
    @property
    def room(self) -> Room:
        """The newest room."""
        return next(reversed(self.rooms.values()))

    def refuse(self, route: str, status: int, code: str, message: str) -> None:
        """Answer the next call of a route with a refusal."""
        self.refusals[route].append((status, code, message))

    def hold(self, route: str) -> None:
        """Leave calls of a route unanswered until `release`."""
        self.gates[route] = asyncio.Event()

    def release(self, route: str) -> None:
        self._loop.call_soon_threadsafe(self.gates.pop(route).set)

    def bodies(self, route: str) -> list[dict[str, Any]]:
        return [body for name, body in self.calls if name == route]

    def wait_for(self, route: str, *, count: int = 1) -> dict[str, Any]:
        """Wait until a route was called `count` times, and return the body of the last call."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.bodies(route)) >= count, WAIT_S):
                raise AssertionError(f"{route} was called {len(self.bodies(route))} times, not {count}")
        return self.bodies(route)[count - 1]

    def add_room(self) -> Room:
        room = Room(self, len(self.rooms) + 1)
        self.rooms[room.session_id] = room
        return room

    # -------------------------------------------------------------- routes
    async def _arrive(self, route: str, body: dict[str, Any]) -> web.Response | None:
        with self._arrived:
            self.calls.append((route, body))
            self._arrived.notify_all()
        if route in self.gates:
            await self.gates[route].wait()
        if self.refusals[route]:
            status, code, message = self.refusals[route].popleft()
            return refusal(status, code, message)
        return None

    def _live(self, session_id: Any) -> Room | None:
        room = self.rooms.get(str(session_id))
        return None if room is None or room.retired else room

    async def _open(self, request: web.Request) -> web.Response:
        session_id = request.query.get("sessionId", "")
        refused = await self._arrive("open", {"sessionId": session_id})
        return refused or web.json_response((self._live(session_id) or self.add_room()).payload())

    async def _new_chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        refused = await self._arrive("new_chat", body)
        if refused:
            return refused
        for room in list(self.rooms.values()):
            if not room.retired:
                await room._close("new_chat")
        return web.json_response(self.add_room().payload(), status=201)

    async def _command(self, request: web.Request) -> web.Response:
        route, body = request.match_info["route"], await request.json()
        refused = await self._arrive(route, body)
        room = self._live(body.get("sessionId"))
        if refused or room is None:
            return refused or refusal(404, "unknown_session", "This room does not exist.")
        answer = await getattr(self, f"_{route}")(room, body)
        return web.json_response(answer, status=200 if route in {"reconnect", "reset"} else 202)

    async def _message(self, room: Room, body: dict[str, Any]) -> dict[str, Any]:
        await room.submitting(body["message"])
        turn = {"id": f"turn-{room.turns}", "ordinal": room.turns}
        return {"sessionId": room.session_id, "turn": turn, "cursor": room.seq}

    async def _interrupt(self, room: Room, body: dict[str, Any]) -> dict[str, Any]:
        return {"sessionId": room.session_id, "cursor": room.seq}

    async def _reconnect(self, room: Room, body: dict[str, Any]) -> dict[str, Any]:
        mended = {"state": "connected", "code": None, "message": None}
        await room._emit([{"op": "head", "set": {"connection": mended}}], "frame", None)
        return room.payload()

    async def _reset(self, room: Room, body: dict[str, Any]) -> dict[str, Any]:
        await room._close("reset")
        return self.add_room().payload()

    async def _interaction(self, room: Room, body: dict[str, Any]) -> dict[str, Any]:
        """Admit the hidden turn that hands the answer on; a test says what becomes of the card."""
        await room.answering()
        turn = {"id": f"turn-{room.turns}", "ordinal": room.turns}
        return {
            "sessionId": room.session_id,
            "interactionId": body["interactionId"],
            "turn": turn,
            "cursor": room.seq,
        }

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        room = self._live(request.query.get("sessionId"))
        if room is None:
            await socket.close(code=4404)
            return socket
        after = int(request.query["after"])
        for frame in [frame for frame in room.frames if frame["seq"] > after]:
            await socket.send_json(frame)
        room.sockets.add(socket)
        with self._arrived:
            self.calls.append(("stream", {"after": after}))
            self._arrived.notify_all()
        async for _ in socket:
            pass
        room.sockets.discard(socket)
        return socket

    async def _page(self, request: web.Request) -> web.Response:
        page = await asyncio.to_thread(ContentPolicy(pages.chat), page_request(request.host))
        headers = {name: value for name, value in page.items() if name != "Content-Type"}
        return web.Response(body=page.content, content_type="text/html", charset="utf-8", headers=headers)

    async def _static(self, request: web.Request) -> web.StreamResponse:
        found = finders.find(request.match_info["path"])
        return web.FileResponse(Path(str(found)), headers=IMMUTABLE) if found else web.Response(status=404)


def page_request(host: str) -> HttpRequest:
    return RequestFactory().get("/", headers={"host": host})


def refusal(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": code, "message": message}, status=status)
