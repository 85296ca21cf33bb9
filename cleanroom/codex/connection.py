"""One process generation of Codex: its runner, its wire, and our requests that wait for an answer.

A request of ours belongs to exactly one connection, and so does a request of Codex: a new process counts its ids from 0
again, and an answer can never reach another generation. Every request has a deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from cleanroom.codex import wire
from cleanroom.codex.runner import STOP_TIMEOUT_S, Runner
from cleanroom.harness import AgentUnavailableError, HarnessUnavailableError, ProtocolFailure, RunnerUnavailableError

logger = logging.getLogger(__name__)

MAX_IN_FLIGHT = 64  # Codex answers -32001 above 128 and loses requests above 260
CLIENT = {"name": "paperclip-runner", "title": "Paperclip Runner Capability", "version": "capability-v1"}

Incoming = wire.Request | wire.Notification
Receiver = Callable[[Incoming], Awaitable[None]]


class CallRefused(Exception):
    """Codex answered with an error. Its text is the provider's: for decisions here, never for a browser."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


async def _ignore(message: Incoming) -> None:
    """Before a session exists, notifications say nothing that anybody needs."""


class Connection:
    """Reads from the moment it is made: Codex must never wait for us. `ended` is done once the process is gone."""

    def __init__(self, *, runner: Runner) -> None:
        self.runner = runner
        self.receiver: Receiver = _ignore
        self.failure: ProtocolFailure | None = None
        self._lines = wire.LineReader()
        self._slots = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._waiting: dict[wire.RequestId, asyncio.Future[Any]] = {}
        self._last_id = 0
        self.ended: asyncio.Task[None] = asyncio.create_task(self._read(), name="codex-reader")

    @property
    def cause(self) -> HarnessUnavailableError:
        """Why nothing can be asked any more: Codex went, or runnerd itself."""
        if self.runner.exit is None and self.failure is None:
            return RunnerUnavailableError("runnerd ended unexpectedly.")
        return AgentUnavailableError("Codex ended unexpectedly.")

    async def call(self, *, method: str, params: dict[str, Any], timeout_s: float) -> Any:
        """Ask Codex and return its result.

        Raises `CallRefused` for an error answer, `HarnessUnavailableError` when no answer comes in `timeout_s` seconds
        or the process is gone.
        """
        try:
            async with asyncio.timeout(timeout_s), self._slots:
                return await self._ask(method, params)
        except TimeoutError as error:
            raise AgentUnavailableError(f"Codex did not answer {method} within {timeout_s:g} seconds.") from error

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        if self.ended.done():
            raise self.cause
        self._last_id += 1
        number = self._last_id
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self.runner.write(wire.request(id=number, method=method, params=params))
            answer: wire.Answer = await future
        finally:
            self._waiting.pop(number, None)
        if answer.error is not None:
            raise CallRefused(_code(answer.error), str(answer.error.get("message", "")))
        return answer.result

    async def send(self, line: bytes) -> None:
        """Send an answer or a notification; one to a process that is gone is dropped."""
        with contextlib.suppress(RunnerUnavailableError):
            await self.runner.write(line)

    async def _read(self) -> None:
        try:
            while (data := await self.runner.read()) is not None:
                for message in self._lines.feed(data):
                    if isinstance(message, wire.Answer):
                        self._settle(message)
                    else:
                        await self.receiver(message)
        except ProtocolFailure as failure:
            self.failure = failure
        except Exception:
            logger.exception("a message of Codex could not be handled")
            self.failure = ProtocolFailure("unexpected_message", "A message of Codex could not be understood.")
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(self.cause)

    def _settle(self, answer: wire.Answer) -> None:
        future = self._waiting.get(answer.id)  # an answer that nobody waits for (any more) is noise
        if future is not None and not future.done() and not isinstance(answer.id, str):
            future.set_result(answer)

    async def close(self, *, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """End Codex and runnerd, reading on to the end; kill them when they take longer than `timeout_s`."""
        self.receiver = _ignore
        self.runner.request_stop()
        await asyncio.wait({self.ended}, timeout=timeout_s)
        if not self.ended.done():
            self.ended.cancel()
            await self.runner.kill()
            await asyncio.wait({self.ended})
        elif self.failure is not None:
            await self.runner.run_to_end(timeout_s=timeout_s)  # what follows a broken message is read and dropped
        await self.runner.wait(timeout_s=timeout_s)


async def initialize(*, connection: Connection, timeout_s: float) -> str:
    """Shake hands; return the version of Codex. Raises `HarnessUnavailableError`."""
    params = {"clientInfo": CLIENT, "capabilities": {"experimentalApi": True, "requestAttestation": False}}
    try:
        answer = await connection.call(method="initialize", params=params, timeout_s=timeout_s)
    except CallRefused as refused:
        raise AgentUnavailableError("Codex refused the handshake.") from refused
    await connection.send(wire.notification(method="initialized"))
    agent = str(answer.get("userAgent", "")) if isinstance(answer, dict) else ""
    version = re.match(r"[^/]*/([\w.+-]+)", agent)
    return version.group(1) if version else "unknown"


def _code(error: dict[str, Any]) -> int:
    code = error.get("code")
    return code if isinstance(code, int) else 0
