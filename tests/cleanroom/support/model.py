"""A Responses endpoint on loopback whose answers a test writes down beforehand.

It knows only the stream format that Codex reads. What it was asked is kept in `requests`, parsed. An answer is a list
of steps; each request takes the next answer, and a request without one gets a short text, so that no turn hangs by
accident.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Request = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """Prose, streamed in the given pieces."""

    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Begin:
    """Prose that is streamed but never finished."""

    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """One function call; `arguments` is sent as given when it is text."""

    name: str
    arguments: Any = field(default_factory=dict)


@dataclass(frozen=True)
class Think:
    """One reasoning item with a summary."""

    summary: str


@dataclass(frozen=True)
class Wait:
    """Hold the stream open until the test sets the event (for ever when it never does)."""

    until: asyncio.Event


@dataclass(frozen=True)
class Refuse:
    """Answer with an HTTP status and a body in place of a stream."""

    status: int
    body: str


@dataclass(frozen=True)
class Drop:
    """Cut the connection in the middle of the stream."""


Step = Say | Begin | Call | Think | Wait | Refuse | Drop


def say(*pieces: str) -> Say:
    return Say(pieces)


def begin(*pieces: str) -> Begin:
    return Begin(pieces)


class ScriptedModel:
    """`async with ScriptedModel() as model`: then `model.url` is the base address for Codex."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self.authorizations: list[str | None] = []
        self.choose: Callable[[Request], list[Step] | None] = lambda request: None
        self.asked = asyncio.Event()
        self._answers: deque[list[Step]] = deque()
        self._ids = itertools.count(1)

    def answer(self, *steps: Step) -> None:
        """Queue the answer of one request."""
        self._answers.append(list(steps))

    def forget(self) -> None:
        """Drop the answers that no request has taken."""
        self._answers.clear()

    async def wait_for_requests(self, count: int) -> None:
        async with asyncio.timeout(10):
            while len(self.requests) < count:
                self.asked.clear()
                await self.asked.wait()

    def texts_of(self, index: int) -> str:
        """Everything the model was told in request `index`, as one JSON text."""
        return json.dumps(self.requests[index]["input"])

    async def __aenter__(self) -> ScriptedModel:
        app = web.Application(client_max_size=32 * 1024 * 1024)
        app.router.add_post("/v1/responses", self._respond)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._runner.cleanup()

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.authorizations.append(request.headers.get("Authorization"))
        self.asked.set()
        steps = self.choose(body)
        if steps is None:
            steps = self._answers.popleft() if self._answers else [say("nothing was scripted")]
        if steps and isinstance(steps[0], Refuse):
            return web.Response(status=steps[0].status, text=steps[0].body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            await self._stream(response, steps)
        except (ConnectionResetError, asyncio.CancelledError):
            pass
        return response

    async def _stream(self, response: web.StreamResponse, steps: list[Step]) -> None:
        number = next(self._ids)
        await self._send(response, {"type": "response.created", "response": {"id": f"resp_{number}"}})
        for index, step in enumerate(steps):
            if isinstance(step, Wait):
                await step.until.wait()
            elif isinstance(step, Drop):
                assert response._req is not None
                transport = response._req.transport
                assert transport is not None
                transport.abort()
                return
            elif isinstance(step, (Say, Begin)):
                await self._say(response, step, index, f"msg_{number}_{index}")
            elif isinstance(step, (Call, Think)):
                await self._done(response, index, self._item(step, f"{number}_{index}"))
        usage = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        }
        await self._send(response, {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}})

    async def _say(self, response: web.StreamResponse, step: Say | Begin, index: int, item_id: str) -> None:
        item = {"type": "message", "role": "assistant", "id": item_id, "content": []}
        await self._send(response, {"type": "response.output_item.added", "output_index": index, "item": item})
        for piece in step.pieces:
            await self._send(
                response,
                {
                    "type": "response.output_text.delta",
                    "item_id": item_id,
                    "output_index": index,
                    "content_index": 0,
                    "delta": piece,
                },
            )
        if isinstance(step, Begin):
            return
        text = "".join(step.pieces)
        await self._done(response, index, item | {"content": [{"type": "output_text", "text": text}]})

    def _item(self, step: Call | Think, key: str) -> dict[str, Any]:
        if isinstance(step, Think):
            summary = [{"type": "summary_text", "text": step.summary}]
            return {"type": "reasoning", "id": f"rs_{key}", "summary": summary, "encrypted_content": "x"}
        arguments = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
        return {
            "type": "function_call",
            "id": f"fc_{key}",
            "call_id": f"call_{key}",
            "name": step.name,
            "arguments": arguments,
        }

    async def _done(self, response: web.StreamResponse, index: int, item: dict[str, Any]) -> None:
        await self._send(response, {"type": "response.output_item.done", "output_index": index, "item": item})

    async def _send(self, response: web.StreamResponse, event: dict[str, Any]) -> None:
        await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
