"""The loopback server: takes a Responses-API request, decides, streams. Keeps nothing between requests."""

from __future__ import annotations

import asyncio
import json
import uuid
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from cleanroom.rehearsal import MODEL_NAME
from cleanroom.rehearsal.decide import decide
from cleanroom.rehearsal.reply import Reply
from cleanroom.rehearsal.wire import WORDS_IN_A_DELTA, Event, events

DEFAULT_PACE_S = 0.015  # the pause after each group of words, so that streaming can be seen
MAX_REQUEST_BYTES = 32 * 1024 * 1024  # a long thread is sent whole with every request
SHUTDOWN_S = 1.0


class RehearsalServer:
    """The model as an async context manager: `async with RehearsalServer(pace_s=0) as model: model.url`.

    `url` ends in `/v1`, which is what Codex wants as a base URL; `requests` holds the bodies received, for tests.
    """

    def __init__(self, *, port: int = 0, pace_s: float = DEFAULT_PACE_S, host: str = "127.0.0.1") -> None:
        self.host, self.port, self.pace_s = host, port, pace_s
        self.requests: list[dict[str, Any]] = []
        self.keep_requests = False
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        for prefix in ("", "/v1"):
            app.router.add_post(f"{prefix}/responses", self.respond)
            app.router.add_get(f"{prefix}/models", self.models)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL_NAME, "object": "model"}], "models": []})

    async def respond(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw)
        except ValueError:
            return refusal(400, "the body is not JSON")
        if not isinstance(body, dict):
            return refusal(400, "the body is not a JSON object")
        if self.keep_requests:
            self.requests.append(body)
        reply = decide(body)
        if reply.failure is not None:
            return refusal(reply.failure, "The rehearsal model was asked to fail, and does.")
        if body.get("stream") is not True:
            return web.json_response(whole_response(reply, len(raw)))
        return await self.stream(request, reply, len(raw))

    async def stream(self, request: web.Request, reply: Reply, input_characters: int) -> web.StreamResponse:
        """Send the events, pausing after each group of words. A reader that has gone ends it, silently."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        try:
            for event in events(reply, new_id=new_id, input_characters=input_characters):
                await response.write(event.encode())
                pause = self.pause_after(event, reply)
                if pause:
                    await asyncio.sleep(pause)
            await response.write_eof()
        except ConnectionError:
            pass  # the turn was interrupted: nobody reads the rest
        return response

    def pause_after(self, event: Event, reply: Reply) -> float:
        if reply.seconds_a_word is not None:
            return reply.seconds_a_word * event.words
        return self.pace_s * event.words / WORDS_IN_A_DELTA


def whole_response(reply: Reply, input_characters: int) -> dict[str, Any]:
    """Return the response as one object, for a caller that does not stream."""
    sent = [event.data for event in events(reply, new_id=new_id, input_characters=input_characters)]
    output = [data["item"] for data in sent if data["type"] == "response.output_item.done"]
    return {"object": "response", "status": "completed", "model": MODEL_NAME, "output": output, **sent[-1]["response"]}


def refusal(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"type": "invalid_request_error", "message": message}}, status=status)


def new_id() -> str:
    return uuid.uuid4().hex[:24]
