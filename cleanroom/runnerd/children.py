"""Processes: starting the one child, and ending it with everything that it leaves behind.

Each command that Codex runs has a session and a group of its own, so killing Codex's group reaches none of them.
runnerd makes itself the reaper of its descendants: an orphan becomes its child, can be listed, and is killed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping

PR_SET_CHILD_SUBREAPER = 36  # <sys/prctl.h>


def start(argv: list[str], environment: Mapping[str, str]) -> tuple[int, int, int, int]:
    """Start the program in its own process group; return its pid and our ends of stdin, stdout and stderr.

    Raises `OSError` when the program cannot be executed. No parent-death signal is set: a closed stdin lets Codex kill
    its own commands first, which a signal would not. Source: design section 6.
    """
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate((in_read, out_write, err_write))]
    try:
        pid = os.posix_spawn(
            argv[0], argv, dict(environment), file_actions=actions, setpgroup=0, setsigdef=[signal.SIGPIPE]
        )
    finally:
        for fd in (in_read, out_write, err_write):
            os.close(fd)
    for fd in (in_write, out_read, err_read):
        os.set_blocking(fd, False)
    return pid, in_write, out_read, err_read


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies."""
    import ctypes  # after the child was started: loading it takes as long as the rest of runnerd's start

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def list_children() -> list[int]:
    """Return the pids of our children, adopted ones included."""
    me = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent_of(name) == me]


def _parent_of(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])  # the command's name may hold any character
    except (OSError, ValueError, IndexError):
        return 0


def signal_group(pid: int, number: signal.Signals) -> None:
    """Signal the child's whole group; a group that is gone is fine."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def reap() -> dict[int, int] | None:
    """Collect every child that ended: pid to wait status. None when there are no children at all any more."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended or None
        if pid == 0:
            return ended
        ended[pid] = status
