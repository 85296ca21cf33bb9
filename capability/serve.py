"""daphne's server with what it lacks: back-pressure, the address it really bound, and a clean end. Knows no house.

daphne's `send` returns at once, so a client that does not read would make the server grow by every byte. Here each
connection has a valve: when Twisted's transport is full, a reply waits, a bounded while, until it drains; a follower
that stalls longer is dropped and resumes from its cursor. Source: architecture notes, sections A and D.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from twisted.internet import asyncioreactor

from capability.http import admission

logger = logging.getLogger(__name__)

STALL_S = 20.0  # how long a reply waits for a client that does not read
KEPT_THREADS = 8


class AddressInUse(Exception):
    """The address is taken by another server."""


class Valve:
    """A Twisted push producer that is nothing but an open or closed gate."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self.open.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        self.open.set()

    def stopProducing(self) -> None:  # noqa: N802
        self.open.set()


class KeptThreads:
    """ASGI middleware: lend each HTTP request one of a few long-lived threads, so that its connection stays open."""

    def __init__(self, app: Any, *, keep: int = KEPT_THREADS) -> None:
        self._app = app
        self._keep = keep
        self._idle: list[ThreadPoolExecutor] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        thread = self._idle.pop() if self._idle else ThreadPoolExecutor(1, "request")
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self._app(scope, receive, send)
        finally:
            if len(self._idle) < self._keep:
                self._idle.append(thread)
            else:
                thread.shutdown(wait=False)


def serve(
    *,
    host: str,
    port: int,
    application: str,
    on_ready: Callable[[str, int], None],
    on_stop: Callable[[], None],
) -> None:
    """Serve an ASGI application (`module:name`) on a loopback address until SIGTERM or SIGINT; then call `on_stop`.

    Port 0 takes a free one; `on_ready` is told which. Raises `AddressInUse`.
    """
    _install_reactor()
    from twisted.internet import reactor, threads

    module, _, name = application.partition(":")
    interface = host.replace(":", "\\:")
    server = patient_server()(
        application=KeptThreads(getattr(importlib.import_module(module), name)),
        endpoints=[f"tcp:{port}:interface={interface}"],
        websocket_timeout=-1,
        verbosity=0,
        server_name="capability",
    )
    server.on_listening = lambda bound: (admission.serving(host, bound), on_ready(host, bound))
    reactor.addSystemEventTrigger("before", "shutdown", lambda: threads.deferToThread(_stopped, on_stop))  # type: ignore[attr-defined]
    server.run()
    if server.refused is not None:
        raise AddressInUse(f"Port {port} is taken. Choose another: PORT=4190 make demo") from server.refused


def _stopped(on_stop: Callable[[], None]) -> None:
    try:
        on_stop()
    except Exception:
        logger.exception("the end of the server was not clean")


def _install_reactor() -> None:
    import sys

    if "twisted.internet.reactor" not in sys.modules:
        asyncioreactor.install(asyncio.new_event_loop())


def patient_server() -> type[Any]:
    """Return daphne's server with a valve for each connection. Made late: daphne picks its reactor when imported."""
    from daphne.server import Server

    class PatientServer(Server):  # type: ignore[misc]
        on_listening: Callable[[int], object]
        refused: BaseException | None = None

        def listen_success(self, port: Any) -> None:
            super().listen_success(port)
            self.on_listening(port.getHost().port)

        def listen_error(self, failure: Any) -> None:
            self.refused = failure.value
            self.stop()

        async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
            valve = _valve_of(protocol)
            if valve is not None and not valve.open.is_set():
                try:
                    await asyncio.wait_for(valve.open.wait(), STALL_S)
                except TimeoutError:
                    transport = getattr(protocol, "transport", None)
                    if transport is not None:
                        transport.abortConnection()
                    raise
            await super().handle_reply(protocol, message)

    return PatientServer


def _valve_of(protocol: Any) -> Valve | None:
    """Return the connection's valve, registered with its transport on first use; None once it is gone."""
    found = getattr(protocol, "capability_valve", None)
    if found is not None:
        return found  # type: ignore[no-any-return]
    transport = getattr(protocol, "transport", None)
    if transport is None or not hasattr(protocol, "serverSend"):  # only sockets push without being asked
        return None
    valve = Valve()
    transport.unregisterProducer()
    transport.registerProducer(valve, True)
    protocol.capability_valve = valve
    return valve
