"""The rehearsal model as a child process, for whoever wants it beside them for a while."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
START_S = 20
STOP_S = 5


class RehearsalDidNotStart(Exception):
    """The rehearsal model printed no address in time."""


@asynccontextmanager
async def rehearsal_process(*, pace_ms: int) -> AsyncIterator[str]:
    """Start the model in a process of its own; yields its address. It ends with the block, and with us."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "cleanroom.rehearsal", "--port", "0", "--pace", str(pace_ms)),
        cwd=PROJECT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield await address_of(process)
    finally:
        await end(process)


async def address_of(process: asyncio.subprocess.Process) -> str:
    try:
        async with asyncio.timeout(START_S):
            line = await process.stdout.readline() if process.stdout is not None else b""
    except TimeoutError:
        line = b""
    if not line.startswith(b"http://"):
        raise RehearsalDidNotStart("the rehearsal model did not start")
    return line.decode().strip()


async def end(process: asyncio.subprocess.Process) -> None:
    """Close its input, which ends it; kill it when that does not."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
