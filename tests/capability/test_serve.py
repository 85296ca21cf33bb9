"""The server: the port it really bound, back-pressure, and an orderly end. Real processes, real sockets."""

from __future__ import annotations

import asyncio
import base64
import http.client
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings

from capability import serve

SCRIPT = Path(__file__).parent / "tiny_server.py"
WAIT_S = 30  # far more than any step takes; a crowded machine may be slow
BUFFERS_BYTES = 16 * 1024 * 1024  # far more than the sockets' own buffers take, far less than an endless sender sends


@dataclass
class Tiny:
    """A running tiny server."""

    process: subprocess.Popen[str]
    port: int

    def get(self, path: str, body: bytes | None = None) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        try:
            connection.request("POST" if body else "GET", path, body=body)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def connect(self, path: str, *, upgrade: bool) -> socket.socket:
        """Return a socket that has asked for `path` and reads nothing by itself."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        if upgrade:
            key = base64.b64encode(b"0123456789abcdef").decode()
            lines += ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}"]
            lines += ["Sec-WebSocket-Version: 13"]
        client.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return client

    def end(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, output


@contextmanager
def tiny(*arguments: str) -> Iterator[Tiny]:
    process = subprocess.Popen([sys.executable, str(SCRIPT), *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        word, port = process.stdout.readline().split()
        assert word == "ready"
        yield Tiny(process, int(port))
    finally:
        process.kill()
        process.communicate()


def read_bytes(client: socket.socket, amount: int) -> int:
    got = 0
    while got < amount:
        piece = client.recv(1 << 20)
        if not piece:
            break
        got += len(piece)
    return got


@pytest.mark.requirement("server.bound-port")
def test_the_bound_port_is_reported_and_admitted() -> None:
    with tiny() as server:
        assert server.get("/hosts").split() == [f"127.0.0.1:{server.port}", f"localhost:{server.port}"]


@pytest.mark.requirement("server.clean-end")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_runs_the_hook_and_ends_with_zero_even_while_a_request_hangs(number: signal.Signals) -> None:
    """The server's own end takes 5 ms. Python's after it took thirty times as long, ten seconds on a crowded machine.

    It picked apart all that was loaded, for a process that was to be gone. The tiny server says so if that happens.
    """
    with (
        tiny() as server,
        server.connect("/hang", upgrade=False),
        server.connect("/socket", upgrade=True) as client,
    ):
        assert client.recv(64).startswith(b"HTTP/1.1 101")
        assert server.end(number) == (0, "stopped\n")


@pytest.mark.requirement("server.back-pressure")
@pytest.mark.parametrize("upgrade", [True, False], ids=["socket", "http"])
def test_a_client_that_does_not_read_holds_its_sender_back_until_it_reads(upgrade: bool) -> None:
    with tiny() as server, server.connect("/socket" if upgrade else "/endless", upgrade=upgrade) as client:
        held_bytes = int(server.get("/held")) * 65_536
        assert held_bytes < BUFFERS_BYTES
        assert read_bytes(client, held_bytes + 1_000_000) >= held_bytes + 1_000_000


@pytest.mark.requirement("server.back-pressure")
def test_a_client_that_stalls_too_long_is_cut_off_and_the_application_hears_of_it() -> None:
    with tiny("0.5") as server, server.connect("/socket", upgrade=True):
        assert server.get("/gone") == "gone"


@pytest.mark.requirement("api.body-size")
def test_an_upload_is_kept_up_to_a_bound_and_the_next_request_is_whole() -> None:
    with tiny() as server:
        assert server.get("/", body=b"x" * 3_000_000) == str(settings.KEPT_BODY_BYTES)
        assert server.get("/", body=b"x" * 100_000) == "100000"


# ---------------------------------------------------------------- where it listens
@pytest.mark.requirement("server.loopback")
@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.test", "::"])
def test_only_loopback_is_listened_on(host: str) -> None:
    with pytest.raises(serve.CannotListen, match="no loopback address"):
        serve.listen(host=host, port=0)


@pytest.mark.requirement("server.port-in-use")
def test_a_taken_port_is_refused_in_one_line_that_says_what_to_do() -> None:
    with serve.listen(host="localhost", port=0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(serve.AddressInUse) as refused:
            serve.listen(host="127.0.0.1", port=port)
    hint = "Choose another: PORT=4190 CAPABILITY_VAR_DIR=var/two make demo"
    assert str(refused.value) == f"Port {port} is in use. {hint}"


# ---------------------------------------------------------------- kept threads
async def thread_of(application: Any, scope: dict[str, Any] | None = None) -> int:
    seen: list[int] = []

    async def send(message: int) -> None:
        seen.append(message)

    await application(scope or {"type": "http"}, None, send)
    return seen[0]


@pytest.mark.requirement("server.kept-threads")
async def test_requests_one_after_the_other_share_a_thread_and_those_at_once_do_not() -> None:
    together = asyncio.Barrier(2)

    async def view(scope: Any, receive: Any, send: Any) -> None:
        await send(await sync_to_async(threading.get_ident)())
        if scope.get("waits"):
            await together.wait()

    kept = serve.KeptThreads(view)
    first, second = await thread_of(kept), await thread_of(kept)
    assert first == second
    at_once = {"type": "http", "waits": True}
    async with asyncio.timeout(WAIT_S):
        assert len(set(await asyncio.gather(thread_of(kept, at_once), thread_of(kept, at_once)))) == 2
    assert len(kept._idle) == 2


@pytest.mark.requirement("server.kept-threads")
async def test_the_thread_of_a_cancelled_request_is_not_lent_again() -> None:
    started, finish = threading.Event(), threading.Event()

    def block() -> None:
        started.set()
        finish.wait(WAIT_S)

    async def view(scope: Any, receive: Any, send: Any) -> None:
        await sync_to_async(block)()

    kept = serve.KeptThreads(view)
    task = asyncio.create_task(thread_of(kept))
    await asyncio.to_thread(started.wait, WAIT_S)
    task.cancel()
    await asyncio.sleep(0)
    finish.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kept._idle == []
