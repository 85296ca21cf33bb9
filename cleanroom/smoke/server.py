"""A server of our own for one run: `manage.py dev` with a fresh database on a free port, and gone at the end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from django.conf import settings

from cleanroom.codex.home import remove_tree

START_S = 60
STOP_S = 15
LOG_LINES = 15
READY = "Chat"  # the line that says where to look, printed once the server can be asked


class ServerDidNotStart(Exception):
    """The server ended or stayed silent; the message holds the end of its log."""


@asynccontextmanager
async def own_server(
    *, var: Path, environment: Mapping[str, str] | None = None, drawn: bool = False
) -> AsyncIterator[str]:
    """Start a server with a database of its own in `var`; yields its address, and has ended when the block has.

    It has the rehearsal model behind it, unless the environment given names another (`CAPABILITY_MODEL_URL`). Raises
    `ServerDidNotStart`. `drawn`: a browser will draw its page, so the browser's files are collected and compressed.
    """
    log = var / "server.log"
    (var / "static" / settings.BUILD_ID).mkdir(parents=True)
    process = await start(
        var=var, log=log, environment=environment or {}, prepare="--prepare" if drawn else "--migrate"
    )
    try:
        yield await ready_address(process, log)
    finally:
        await stop(process)


@contextmanager
def own_directory(purpose: str) -> Iterator[Path]:
    """Make a directory for one run below the project's `var`, and remove it at the end, whatever happened."""
    folder = Path(settings.VAR_DIR) / purpose
    sweep(folder)
    made = folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
    made.mkdir(parents=True)
    try:
        yield made
    finally:
        remove_tree(path=made)
        with suppress(OSError):
            folder.rmdir()  # unless another run is in it


async def start(*, var: Path, log: Path, environment: Mapping[str, str], prepare: str) -> asyncio.subprocess.Process:
    """Start the server. It dies with us: it watches the pipe that is its standard input."""
    command = [sys.executable, "manage.py", "dev", "--port", "0", prepare, "--exit-with-parent"]
    if "CAPABILITY_MODEL_URL" not in environment:
        command.append("--rehearsal")
    with log.open("w") as file:
        return await asyncio.create_subprocess_exec(
            *command,
            cwd=settings.BASE_DIR,
            env={**os.environ, **own_database(var), **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=file,
            start_new_session=True,  # Ctrl-C reaches us alone, and we end it in order
        )


def own_database(var: Path) -> dict[str, str]:
    """Return the environment that keeps a process of ours away from the database and the rooms of anybody else."""
    return {"CAPABILITY_VAR_DIR": str(var), "DATABASE_URL": ""}


async def ready_address(process: asyncio.subprocess.Process, log: Path) -> str:
    """Read what the server prints until it names its address."""
    try:
        async with asyncio.timeout(START_S):
            while process.stdout is not None and (line := await process.stdout.readline()):
                words = line.decode(errors="replace").split()
                if words[:1] == [READY]:
                    return words[1].split("/#")[0]
    except TimeoutError:
        pass
    raise ServerDidNotStart(f"the server did not start:\n{end_of(log)}")


def end_of(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])


async def stop(process: asyncio.subprocess.Process) -> None:
    """End the server as a person would; kill what does not end."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(STOP_S):
            await process.communicate()
    except TimeoutError:
        process.kill()
        await process.communicate()


def sweep(folder: Path) -> None:
    """Remove what runs that were killed have left: directories named for a process that is no more."""
    for left in folder.glob("*-*"):
        pid = left.name.split("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            remove_tree(path=left)
