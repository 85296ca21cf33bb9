"""The asyncio side of runnerd: starts one, writes to its child, reads what the child says, and ends it.

Knows frames and process facts, nothing of what the bytes mean. Must be used from one loop only; the loop's thread must
live as long as the runner.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleanroom.harness import AgentUnavailableError, RunnerUnavailableError
from cleanroom.runnerd import frames
from cleanroom.runnerd.environment import allowed

logger = logging.getLogger(__name__)

PROJECT_DIR = Path(__file__).resolve().parent.parent.parent
READ_LIMIT_BYTES = 256 * 1024  # of asyncio's own buffer; beyond it runnerd has to wait
STDERR_TAIL_BYTES = 16 * 1024
START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 4.0  # runnerd needs at most 1.0 + 0.5 + 1.0 s, and the flush


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How the child ended: an exit code, or the signal that killed it."""

    code: int | None
    signal: int | None


class Runner:
    """One runnerd and its child. Make it with `start`; read it to its end, also while writing."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._tail = bytearray()
        self._is_gone = False  # runnerd's output has ended: what is written now would vanish
        self.agent_pid: int | None = None
        self.exit: Exit | None = None  # None after the end: runnerd itself died

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The last of the child's error output: for the server's log at most, never for a browser."""
        return self._tail.decode("utf-8", "replace")

    @classmethod
    async def start(cls, *, argv: Sequence[str], directory: Path, environment: Mapping[str, str]) -> Runner:
        """Start runnerd and its child.

        Raises `RunnerUnavailableError` when runnerd cannot run, `AgentUnavailableError` when the program cannot.
        """
        command = [sys.executable, "-S", "-m", "cleanroom.runnerd", str(directory), *argv]
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=None if sys.stderr else DEVNULL,
                cwd=PROJECT_DIR,
                env=allowed(environment),
                limit=READ_LIMIT_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            raise RunnerUnavailableError("runnerd could not be started.") from error
        runner = cls(process)
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await runner._await_started()
        except BaseException as error:
            await runner.kill()
            if isinstance(error, TimeoutError):
                raise RunnerUnavailableError("runnerd did not start in time.") from error
            raise
        return runner

    async def _await_started(self) -> None:
        kind, data = await self._frame()
        if kind == frames.FACT:
            fact = json.loads(data)
            if fact["fact"] == "started":
                self.agent_pid = int(fact["pid"])
                return
            reason = os.strerror(int(fact.get("errno", 0)))
            raise AgentUnavailableError(f"Codex could not be started: {reason}.")
        raise RunnerUnavailableError("runnerd ended before it had started anything.")

    async def read(self) -> bytes | None:
        """Return the child's next output, of any cut; None at the end, when `exit` says how it ended."""
        while True:
            kind, data = await self._frame()
            if kind == frames.OUTPUT:
                return data
            if kind == frames.ERROR_OUTPUT:
                self._tail += data
                del self._tail[:-STDERR_TAIL_BYTES]
            elif kind == frames.FACT:
                self._note(json.loads(data))
            else:
                return None

    def _note(self, fact: dict[str, Any]) -> None:
        if fact["fact"] == "exited":
            self.exit = Exit(code=fact["code"], signal=fact["signal"])

    async def _frame(self) -> tuple[bytes, bytes]:
        """The next frame; the kind is empty when runnerd is gone."""
        assert self._process.stdout is not None
        try:
            kind, size = frames.HEADER.unpack(await self._process.stdout.readexactly(frames.HEADER.size))
            if size > frames.MAX_FRAME_BYTES:
                raise ConnectionError
            return kind, await self._process.stdout.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._is_gone = True
            return b"", b""

    async def write(self, data: bytes) -> None:
        """Hand bytes to the child; waits while the queues are full. Raises `RunnerUnavailableError` when it is gone."""
        pipe = self._process.stdin
        assert pipe is not None
        if self._is_gone or pipe.is_closing():
            raise RunnerUnavailableError
        try:
            pipe.write(data)
            await pipe.drain()
        except (ConnectionError, RuntimeError) as error:
            raise RunnerUnavailableError from error

    def request_stop(self) -> None:
        """End the child's input, which is the order to stop. Its output still comes, until `read` returns None.

        What was not written yet is dropped: a frozen child with full queues must not delay its own end.
        """
        pipe = self._process.stdin
        assert pipe is not None
        if not pipe.is_closing():
            pipe.transport.abort()

    async def wait(self, *, timeout_s: float) -> None:
        """Wait until runnerd has ended, or kill it and its child's group after `timeout_s`."""
        try:
            await asyncio.wait_for(self._process.wait(), timeout_s)
        except TimeoutError:
            logger.warning("runnerd %s did not end in time and is killed", self.pid)
            await self.kill()

    async def kill(self) -> None:
        """Kill the child's group and runnerd at once. Orphans of the child are for `sweep`."""
        if self.agent_pid is not None and self.exit is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.agent_pid, signal.SIGKILL)
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        self.request_stop()
        # Nobody reads the rest of its output, and `wait` returns only once its pipes are closed.
        self._process._transport.close()  # type: ignore[attr-defined]
        await self._process.wait()

    async def run_to_end(self, *, timeout_s: float) -> Exit | None:
        """Let the child run by itself, output ignored; return how it ended, None when it had to be killed."""
        try:
            async with asyncio.timeout(timeout_s):
                while await self.read() is not None:
                    pass
        except TimeoutError:
            await self.kill()
            return None
        await self.wait(timeout_s=STOP_TIMEOUT_S)
        return self.exit
