"""What stands there before anybody speaks: a server without an agent, its start and memory, and the page's scripts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from cleanroom import pages
from cleanroom.smoke import server

STARTS = 3


class NotMeasured(Exception):
    """The figure could not be had."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Seconds of each start on a prepared machine, MiB of the server's resident memory, bytes of compressed script."""

    start_s: list[float]
    memory_mib: list[float]
    script_bytes: int


async def measure_standing(var: Path, *, environment: Mapping[str, str]) -> Standing:
    """Start a server in `var` a few times; the first start, which prepares it, is left out."""
    starts, memory = [], []
    (var / "static" / settings.BUILD_ID).mkdir(parents=True)
    for number in range(STARTS + 1):
        log, began = var / "server.log", time.perf_counter()
        process = await server.start(var=var, log=log, environment=environment, prepare="--prepare")
        try:
            await server.ready_address(process, log)
            if number > 0:
                starts.append(time.perf_counter() - began)
                memory.append(resident_mib(process.pid))
        finally:
            await server.stop(process)
    return Standing(start_s=starts, memory_mib=memory, script_bytes=script_bytes(var / "static" / settings.BUILD_ID))


def resident_mib(pid: int) -> float:
    """Return the memory that a process holds now. Raises `NotMeasured` where there is no /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024
    except (OSError, StopIteration) as error:
        raise NotMeasured("the memory of the server cannot be read on this system") from error


def script_bytes(collected: Path) -> int:
    """Return how many bytes of script the page loads, compressed as they are sent."""
    names = [address.removeprefix(settings.STATIC_URL) for address in pages.module_addresses()]
    return sum(min(compressed.stat().st_size for compressed in collected.glob(f"{name}*")) for name in names)
