"""Finds and kills what a dead runnerd could not: processes that still carry a session's marks in their environment.

Codex sets `CODEX_THREAD_ID` on every command, and each session's Codex has a CODEX_HOME of its own. Used when a runnerd
died, before a thread is resumed, and when a server starts.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

ROUNDS = 3  # a process may start another while it is being killed


def sweep(*, thread_id: str | None = None, home: Path | None = None) -> int:
    """Kill every process of this user marked with the thread or the home; return how many were found.

    Blocking, a few milliseconds; absent marks are ignored, and without any mark nothing is done.
    """
    marks = set()
    if thread_id:
        marks.add(f"CODEX_THREAD_ID={thread_id}".encode())
    if home is not None:
        marks.add(b"CODEX_HOME=" + os.fsencode(home))
    killed: set[int] = set()
    for _ in range(ROUNDS if marks else 0):
        found = [pid for pid in _pids() if pid not in killed and _kill_if_marked(pid, marks)]
        killed.update(found)
        if not found:
            break
    return len(killed)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def _kill_if_marked(pid: int, marks: set[bytes]) -> bool:
    """Held by a descriptor, so that the number cannot come to mean another process in between."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            if marks.isdisjoint(file.read().split(b"\0")):
                return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:  # ended, or not ours
        return False
    finally:
        os.close(handle)
    return True
