"""Django behind ASGI with one change of thread for each request.

All our views and middlewares are synchronous. Django's own ASGI handler changes threads for its first signal, for each
middleware and for the end of the response, and keeps two tasks for each request: together that costs more than the
view. Here everything that Django does of a request happens in one call, in the one thread that
`capability.serve.KeptThreads` lends to it; a small file is read there as well. A view runs to its end, also when its
client has left: what it was asked to do is done, and daphne drops the answer. An asynchronous view would be run on a
loop of its own: streams are served beside Django, not through it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from contextvars import copy_context
from typing import IO, Any, cast

import django
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix

THREAD = "capability.thread"  # in the scope: the executor that this request runs in
WHOLE_FILE_BYTES = 1 << 20  # a file up to this size is read at once, instead of piece by piece with a change of thread


class OneHopHandler(ASGIHandler):
    """`ASGIHandler` whose requests run in one synchronous call, from the first signal to the last."""

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"Django answers HTTP, not {scope['type']}.")
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with closing(body):
            response = await _in_thread(scope, self._respond, scope, body)
            if response.streaming and not response.is_async:
                response.streaming_content = _pieces(scope, iter(response.streaming_content))
            try:
                await self.send_response(response, send)
            finally:
                if response.streaming:
                    await _in_thread(scope, response.close)

    def _respond(self, scope: dict[str, Any], body: IO[bytes]) -> HttpResponseBase:
        """Return the response to a request, whole and closed unless it is a large file."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=type(self), scope=scope)
        request, refusal = self.create_request(scope, body)
        response: Any = refusal if request is None else self.get_response(request)
        response._handler_class = type(self)  # what `close` sends its signal for
        if response.streaming and _announced_bytes(response) > WHOLE_FILE_BYTES:
            return cast(StreamingHttpResponse, response)
        with closing(response):
            return whole(response) if response.streaming else cast(HttpResponse, response)


def whole(response: StreamingHttpResponse) -> HttpResponseBase:
    """Return a streamed response in one piece."""
    answer = HttpResponse(b"".join(response), status=response.status_code, headers=dict(response.headers))
    answer.cookies = response.cookies
    return answer


def _announced_bytes(response: StreamingHttpResponse) -> float:
    return float(response.headers.get("Content-Length", "inf"))


async def _pieces(scope: dict[str, Any], pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what is read in the request's thread, so that no more than one piece is in memory."""
    while (piece := await _in_thread(scope, next, pieces, None)) is not None:
        yield piece


async def _in_thread(scope: dict[str, Any], work: Callable[..., Any], *args: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(scope.get(THREAD), copy_context().run, work, *args)


def application() -> OneHopHandler:
    """Load the apps and return the handler of HTTP requests."""
    django.setup(set_prefix=False)
    return OneHopHandler()
