"""`python -m cleanroom.rehearsal --port 0`: serve until SIGTERM, or until the pipe on standard input is closed.

Prints one line, the address to give to Codex, once it can be asked. Binds loopback only.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import stat
import sys

from cleanroom.rehearsal.server import DEFAULT_PACE_S, RehearsalServer

DEFAULT_PACE_MS = round(DEFAULT_PACE_S * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m cleanroom.rehearsal", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--pace", type=int, default=DEFAULT_PACE_MS, help="milliseconds between groups of words")
    chosen = parser.parse_args()
    asyncio.run(serve(port=chosen.port, pace_s=chosen.pace / 1000))


async def serve(*, port: int, pace_s: float) -> None:
    """Serve until asked to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if is_pipe(sys.stdin.fileno()):
        loop.add_reader(sys.stdin.fileno(), read_or_stop, sys.stdin.fileno(), stop)
    async with RehearsalServer(port=port, pace_s=pace_s) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await stop.wait()
    if is_pipe(sys.stdin.fileno()):
        loop.remove_reader(sys.stdin.fileno())


def is_pipe(descriptor: int) -> bool:
    """Whether someone holds the other end, so that its closing means that they are gone."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def read_or_stop(descriptor: int, stop: asyncio.Event) -> None:
    if not os.read(descriptor, 4096):
        asyncio.get_running_loop().remove_reader(descriptor)
        stop.set()


if __name__ == "__main__":
    main()
