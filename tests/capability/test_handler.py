"""Django behind ASGI: a request changes threads once, and a small file comes in one piece."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core import signals
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from capability.http import handler

CONTENT = b"0123456789" * 20
opened: list[io.BytesIO] = []


@csrf_exempt
def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"{threading.get_ident()} {request.body.decode()}", headers={"X-Own": "kept"})


def file(request: HttpRequest) -> HttpResponseBase:
    opened.append(io.BytesIO(CONTENT))
    response = FileResponse(opened[-1], filename="digits.txt")
    response.set_cookie("seen", "yes")
    return response


def broken(request: HttpRequest) -> HttpResponseBase:
    raise LookupError("as planned")


urlpatterns = [path("plain", plain), path("file", file), path("broken", broken)]


@pytest.fixture(autouse=True)
def own_urls(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__


@pytest.fixture
def lent() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


async def ask(where: str, *, lent: ThreadPoolExecutor, method: str = "GET", body: bytes = b"") -> list[dict[str, Any]]:
    """Return what the handler sent."""
    sent: list[dict[str, Any]] = []
    heard = iter([{"type": "http.request", "body": body}])

    async def receive() -> dict[str, Any]:
        return next(heard)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": where,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        handler.THREAD: lent,
    }
    await handler.OneHopHandler()(scope, receive, send)
    return sent


def headers_of(sent: list[dict[str, Any]]) -> dict[bytes, bytes]:
    return dict(sent[0]["headers"])


@pytest.mark.requirement("server.kept-threads")
async def test_a_request_runs_from_its_first_signal_to_its_last_in_the_thread_that_it_was_lent(
    lent: ThreadPoolExecutor,
) -> None:
    seen = []

    def note(**signal: Any) -> None:
        seen.append(threading.get_ident())

    signals.request_started.connect(note)
    signals.request_finished.connect(note)
    try:
        sent = await ask("/plain", lent=lent, method="POST", body=b"hello")
    finally:
        signals.request_started.disconnect(note)
        signals.request_finished.disconnect(note)
    own = lent.submit(threading.get_ident).result()
    assert seen == [own, own]
    assert sent[1] == {"type": "http.response.body", "body": f"{own} hello".encode(), "more_body": False}
    assert sent[0]["status"] == 200
    assert headers_of(sent)[b"X-Own"] == b"kept"


async def test_a_small_file_comes_in_one_piece_and_is_closed(lent: ThreadPoolExecutor) -> None:
    sent = await ask("/file", lent=lent)
    assert [message.get("body") for message in sent[1:]] == [CONTENT]
    assert headers_of(sent)[b"Content-Length"] == b"200"
    assert headers_of(sent)[b"Set-Cookie"] == b"seen=yes; Path=/"
    assert opened[-1].closed


async def test_a_large_file_comes_in_pieces_and_is_closed(
    lent: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "WHOLE_FILE_BYTES", len(CONTENT) - 1)
    sent = await ask("/file", lent=lent)
    assert b"".join(message.get("body", b"") for message in sent[1:]) == CONTENT
    assert [message.get("more_body", False) for message in sent[1:]] == [True, False]
    assert opened[-1].closed


async def test_a_view_that_fails_is_a_500_and_a_body_that_never_came_is_nothing(lent: ThreadPoolExecutor) -> None:
    assert (await ask("/broken", lent=lent))[0]["status"] == 500
    sent: list[Any] = []

    async def leave() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await handler.OneHopHandler()({"type": "http", handler.THREAD: lent}, leave, send)
    assert sent == []
    with pytest.raises(ValueError, match="not websocket"):
        await handler.OneHopHandler()({"type": "websocket"}, leave, send)
