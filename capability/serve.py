"""daphne's server with what it lacks: back-pressure, the address it really bound, and a clean end. Knows no house.

daphne's `send` returns at once, so a client that does not read would make the server grow by every byte. Here each
connection has a valve: while Twisted's transport is full, a reply waits, for a bounded while; a follower that stalls
longer is dropped, and resumes from its cursor. Source: architecture notes, sections A and D.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import logging
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from daphne.http_protocol import WebRequest
from daphne.server import Server  # installs Twisted's asyncio reactor: it must come before anything else of Twisted
from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string
from twisted.internet import defer, reactor

from capability.http import admission
from capability.http.handler import THREAD

logger = logging.getLogger(__name__)

STALL_S = 20.0  # how long a reply waits for a client that does not read
LEFT_S = 60  # a view whose client has left ends by itself: an open may take ten seconds and wait for another
END_S = 5.0  # how long requests that were told to end may take
KEPT_THREADS = 8
BACKLOG = 128
SWITCH_S = 0.0001  # a message crosses four threads; at Python's 5 ms each crossing may wait that long for a busy one

Application = Callable[[Any, Any, Any], Any]


class CannotListen(Exception):
    """The address cannot be listened on."""


class AddressInUse(CannotListen):
    """The address is taken by another server."""


def serve(
    *,
    host: str,
    port: int = 0,
    listener: socket.socket | None = None,
    application: str | Application,
    on_ready: Callable[[str, int], object],
    on_stop: Callable[[], object],
) -> None:
    """Serve an ASGI application (or the name of one, `module:name`) until SIGTERM or SIGINT; call `on_stop`; return.

    A `listener` is a socket of `listen`, for whoever must know early that the address is free. Only loopback hosts are
    taken. Port 0 takes a free one; `on_ready(host, port)` is told which, when connections are accepted already.
    `on_stop` runs in a thread, before the requests that still run are cancelled. May be called once in a process, since
    Twisted's reactor runs once, and the process is to end soon after. Raises `AddressInUse`, `CannotListen`.
    """
    sys.setswitchinterval(SWITCH_S)
    app = import_string(application.replace(":", ".")) if isinstance(application, str) else application
    listener = listener or listen(host=host, port=port)
    server = PatientServer(KeptThreads(app), listener=listener, on_stop=on_stop)

    def ready(bound: int) -> None:
        admission.serving(host, bound)
        on_ready(host, bound)

    server.on_listening = ready
    server.run()
    gc.freeze()  # the process ends now: to pick apart all it has loaded would take thirty times as long as this end


def listen(*, host: str, port: int) -> socket.socket:
    """Return a socket that listens on a loopback address. Raises `AddressInUse`, `CannotListen`."""
    address = "127.0.0.1" if host == "localhost" else host
    try:
        loopback = ipaddress.ip_address(address)
    except ValueError:
        raise CannotListen(f"{host} is no loopback address.") from None
    if not loopback.is_loopback:
        raise CannotListen(f"{host} is no loopback address: this server is not made to face a network.")
    listener = socket.socket(socket.AF_INET6 if loopback.version == 6 else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)  # Twisted adopts it as it is, and accepts until it would block
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise AddressInUse(
                f"Port {port} is in use. Choose another: PORT=4190 CAPABILITY_VAR_DIR=var/two make demo"
            ) from error
        raise CannotListen(f"Cannot listen on {host}:{port}: {error.strerror}") from error
    return listener


# ---------------------------------------------------------------- back-pressure
class Valve:
    """A Twisted push producer that is nothing but an open or closed gate."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name, as the two below)
        self.open.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        self.open.set()

    def stopProducing(self) -> None:  # noqa: N802
        self.open.set()


class BoundedRequest(WebRequest):  # type: ignore[misc]
    """A request whose body is kept up to a bound, so that no upload fills the disk before a view can refuse it.

    Nothing reads the body before the view does: Twisted's own reading of forms costs more than the rest of its work.
    """

    _kept = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, parsePOSTFormSubmission=False, **kwargs)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        room = settings.KEPT_BODY_BYTES - self._kept
        self._kept += len(data)
        if room > 0:
            super().handleContentChunk(data[:room])


class PatientServer(Server):  # type: ignore[misc]
    """daphne's server on a socket that listens already, with a valve for each connection and an orderly end."""

    on_listening: Callable[[int], object]

    def __init__(
        self, application: Application, *, listener: socket.socket, on_stop: Callable[[], object], **options: Any
    ) -> None:
        in_main = threading.current_thread() is threading.main_thread()
        options = {
            "websocket_timeout": -1,
            "verbosity": 0,
            "server_name": "capability",
            "application_close_timeout": LEFT_S,
            **options,
        }
        super().__init__(
            application,
            endpoints=["adopted"],  # daphne wants one to be named; ours is adopted below
            signal_handlers=in_main,
            ready_callable=self._adopt,
            **options,
        )
        self.endpoints: list[str] = []
        self._listener = listener
        self._on_stop = on_stop
        self._port: Any = None

    def _adopt(self) -> None:
        """Take over the listening socket. The factory exists by now, and the reactor is about to run."""
        build = self.http_factory.buildProtocol

        def build_bounded(address: Any) -> Any:
            channel = build(address)
            channel.requestFactory = BoundedRequest
            return channel

        self.http_factory.buildProtocol = build_bounded
        self.http_factory.log = _no_access_log  # nobody reads it, and it would hold addresses
        bound = self._listener.getsockname()[1]
        self._port = reactor.adoptStreamPort(self._listener.fileno(), self._listener.family, self.http_factory)
        self._listener.close()  # the reactor has its own copy
        self.on_listening(bound)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Pass a reply on once the client has room for it. A client that stalls too long is cut off."""
        valve = self._valve(protocol, message)
        if valve and not valve.open.is_set():
            try:
                await asyncio.wait_for(valve.open.wait(), STALL_S)
            except TimeoutError:
                logger.info("a client read nothing for %s s and was cut off", STALL_S)
                _transport(protocol).abortConnection()
                return
        if valve and is_last(message) and protocol.channel is not None:  # None: the client left meanwhile
            protocol.channel.unregisterProducer()  # only now: nothing opens a valve that is no longer registered
        await super().handle_reply(protocol, message)

    def _valve(self, protocol: Any, message: dict[str, Any]) -> Valve | None:
        """Return the connection's valve, made at the first reply that may be followed by more."""
        details = self.connections.get(protocol)
        if details is None or details.get("disconnected"):
            return None
        kind = message["type"]
        valve: Valve | None = details.get("valve")
        if valve is None and not is_last(message) and kind in ("http.response.body", "websocket.send"):
            details["valve"] = valve = self._fit_valve(protocol, kind)
        return valve

    def _fit_valve(self, protocol: Any, kind: str) -> Valve:
        valve = Valve()
        if kind == "websocket.send":
            protocol.transport.unregisterProducer()  # of the HTTP channel that the socket grew out of
            protocol.transport.registerProducer(valve, True)
        else:
            protocol.channel.registerProducer(valve, True)
        return valve

    def kill_all_applications(self) -> defer.Deferred[None]:
        """End in order, when the reactor was told to stop: it waits for this."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._end()))

    async def _end(self) -> None:
        if self._port is not None:
            await defer.maybeDeferred(self._port.stopListening).asFuture(asyncio.get_running_loop())
        try:
            await asyncio.to_thread(self._on_stop)
        except Exception:
            logger.exception("the end of the server was not clean")
        running = [task for details in self.connections.values() if (task := details.get("application_instance"))]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=END_S)


def is_last(message: dict[str, Any]) -> bool:
    """Whether this ends an HTTP reply; the next request on the connection brings a valve of its own."""
    return message["type"] == "http.response.body" and not message.get("more_body")


def _no_access_log(request: WebRequest) -> None:
    return None


def _transport(protocol: Any) -> Any:
    return protocol.transport if getattr(protocol, "transport", None) else protocol.channel.transport


# ---------------------------------------------------------------- threads for requests
class KeptThreads:
    """ASGI middleware: lend each HTTP request one of a few long-lived threads, so that its connection stays open."""

    def __init__(self, application: Application, *, keep: int = KEPT_THREADS) -> None:
        self._application = application
        self._keep = keep
        self._idle: list[ThreadPoolExecutor] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        thread = self._idle.pop() if self._idle else ThreadPoolExecutor(1, "request")
        reusable = False
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self._application({**scope, THREAD: thread}, receive, send)
            reusable = True
        finally:
            # After a cancelled request the thread may still be at work: the next request must not wait for it.
            if reusable and len(self._idle) < self._keep:
                self._idle.append(thread)
            else:
                thread.submit(connections.close_all)
                thread.shutdown(wait=False)
