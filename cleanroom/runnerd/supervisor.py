"""One thread and one `poll` loop between a parent and a child process.

It passes bytes both ways through bounded queues, reports facts about the process, and guarantees the end: when the
parent asks, when the parent is gone, or when the child exits, the child and everything it started are gone too. It does
not know what the bytes mean. Source: design section 6, architecture note B.

The end of our input is the order to stop. It goes in steps: close the child's stdin and read on (only this lets Codex
kill its own commands), TERM for its group, KILL for its group and for every adopted child.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping

from cleanroom.runnerd import children, frames
from cleanroom.runnerd.backlog import Backlog

HIGH_BYTES = 2 * 1024 * 1024  # a queue this long stops the side that fills it
READ_BYTES = frames.MAX_FRAME_BYTES
STDIN_GRACE_S = 1.0  # after stdin was closed; Codex takes about 30 ms
TERM_GRACE_S = 0.5
KILL_GRACE_S = 1.0  # for the kernel to take killed processes away
GIVE_UP_S = 60.0  # a process in an uninterruptible state: nothing more can be done from here
FLUSH_GRACE_S = 2.0  # for a parent that is slow to read the rest
TICK_S = 0.05  # while orphans are being killed, which nothing announces

PARENT_IN, PARENT_OUT = 0, 1


class Supervisor:
    """Runs one child to its end. `run` returns runnerd's own exit code."""

    def __init__(self, *, argv: list[str], environment: Mapping[str, str]) -> None:
        self._up, self._down = Backlog(), Backlog()
        self._wake = self._signals()
        self._parent_is_gone = False  # nobody reads what we write
        self._parent_in_ended = False  # nothing more to pass on: the order to stop
        self._status: int | None = None  # the child's wait status, once it ended
        self._steps: list[tuple[float, str]] = []  # what to do next to end it, and when
        self._child_in: int | None
        self._pid, self._child_in, out, err = children.start(argv, environment)
        self._outputs = {out: frames.OUTPUT, err: frames.ERROR_OUTPUT}
        self._fact('{"fact":"started","pid":%d}' % self._pid)  # noqa: UP031 (nothing to quote, and no json to import)
        os.set_blocking(PARENT_IN, False)
        os.set_blocking(PARENT_OUT, False)
        self._write_parent(select.POLLOUT)
        children.adopt_orphans()

    def run(self) -> int:
        while self._status is None:
            self._wait()
        self._kill_leftovers()  # first: an orphan could go on writing into the pipes for ever
        self._read_rest()
        self._fact(_exited(self._status))
        self._flush()
        return 0

    # ------------------------------------------------------------ one round
    def _wait(self) -> None:
        poll = select.poll()
        for fd, mask in self._watched().items():
            poll.register(fd, mask)
        timeout = max(0.0, self._steps[0][0] - time.monotonic()) * 1000 if self._steps else None
        for fd, event in poll.poll(timeout):
            self._serve(fd, event)
        for pid, status in (children.reap() or {}).items():
            if pid == self._pid:
                self._status = status
        while self._steps and self._steps[0][0] <= time.monotonic():
            self._take_step(self._steps.pop(0)[1])

    def _watched(self) -> dict[int, int]:
        """An empty mask still reports a hang-up: a full queue must not hide that the parent is gone."""
        watched = {self._wake: select.POLLIN}
        if not self._parent_in_ended:
            watched[PARENT_IN] = select.POLLIN if self._down.size < HIGH_BYTES else 0
        if not self._parent_is_gone:
            watched[PARENT_OUT] = select.POLLOUT if self._up.size else 0
        if self._child_in is not None:
            watched[self._child_in] = select.POLLOUT if self._down.size else 0
        if self._up.size < HIGH_BYTES or self._steps:
            watched |= dict.fromkeys(self._outputs, select.POLLIN)
        return watched

    def _serve(self, fd: int, event: int) -> None:
        if fd == self._wake:
            self._drain_wake()
        elif fd == PARENT_IN:
            self._read_parent(event)
        elif fd == PARENT_OUT:
            self._write_parent(event)
        elif fd == self._child_in:
            self._write_child(event)
        elif fd in self._outputs:
            self._read_child(fd)

    def _drain_wake(self) -> None:
        try:
            numbers = os.read(self._wake, 512)
        except BlockingIOError:
            return
        if set(numbers) & {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}:
            self._begin_end()

    def _read_parent(self, event: int) -> None:
        data = b""
        if event & select.POLLIN:
            try:
                data = os.read(PARENT_IN, READ_BYTES)
            except BlockingIOError:
                return
        if data and self._child_in is not None:
            self._down.add(data)
        elif not data and event & (select.POLLIN | select.POLLHUP | select.POLLERR):
            self._parent_in_ended = True
            self._begin_end()

    def _write_parent(self, event: int) -> None:
        try:
            if event & (select.POLLERR | select.POLLHUP):
                raise BrokenPipeError
            self._up.write_to(PARENT_OUT)
        except OSError:
            self._lose_parent()

    def _write_child(self, event: int) -> None:
        try:
            if event & (select.POLLERR | select.POLLHUP):
                raise BrokenPipeError
            if self._child_in is not None:
                self._down.write_to(self._child_in)
        except OSError:
            self._close_input()  # the child reads no more; its exit tells the rest

    def _read_child(self, fd: int) -> None:
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            del self._outputs[fd]
            os.close(fd)
        elif not self._parent_is_gone and not (self._steps and self._up.size >= HIGH_BYTES):
            self._up.add(frames.header(self._outputs[fd], len(data)), data)
        # else: while ending, the child is read to the end whether or not anybody still takes it

    # ------------------------------------------------------------ the end
    def _lose_parent(self) -> None:
        self._parent_is_gone = True
        self._up.clear()
        self._begin_end()

    def _begin_end(self) -> None:
        if self._steps or self._status is not None:
            return
        self._fact('{"fact":"stopping"}')
        self._close_input()
        now = time.monotonic()
        term, kill = now + STDIN_GRACE_S, now + STDIN_GRACE_S + TERM_GRACE_S
        self._steps = [(term, "term"), (kill, "kill"), (kill + GIVE_UP_S, "give up")]

    def _take_step(self, step: str) -> None:
        if step == "term":
            children.signal_group(self._pid, signal.SIGTERM)
        elif step == "kill":
            children.signal_group(self._pid, signal.SIGKILL)
        else:
            raise SystemExit(1)

    def _close_input(self) -> None:
        if self._child_in is not None:
            os.close(self._child_in)
            self._child_in = None
        self._down.clear()

    def _read_rest(self) -> None:
        """Pass on what the dead child left in its pipes; they hold at most their own size by now."""
        self._close_input()
        for fd in list(self._outputs):
            while fd in self._outputs:
                before = self._up.size
                self._read_child(fd)
                if fd in self._outputs and self._up.size == before:
                    break

    def _kill_leftovers(self) -> None:
        """Kill the group and every adopted child, again and again until we have no child at all."""
        deadline = time.monotonic() + KILL_GRACE_S
        children.signal_group(self._pid, signal.SIGKILL)
        while children.reap() is not None and time.monotonic() < deadline:
            left = children.list_children()
            children.kill(left)
            if left:
                time.sleep(TICK_S / 10)

    def _flush(self) -> None:
        deadline = time.monotonic() + FLUSH_GRACE_S
        poll = select.poll()
        poll.register(PARENT_OUT, select.POLLOUT)
        while self._up.size and not self._parent_is_gone and time.monotonic() < deadline:
            for fd, event in poll.poll(TICK_S * 1000):
                self._serve(fd, event)

    # ------------------------------------------------------------ parts
    def _fact(self, text: str) -> None:
        if not self._parent_is_gone:
            data = text.encode()
            self._up.add(frames.header(frames.FACT, len(data)), data)

    @staticmethod
    def _signals() -> int:
        """Turn signals into bytes on a pipe that the loop watches; return its reading end."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        return read


def _exited(status: int) -> str:
    if os.WIFSIGNALED(status):
        return '{"fact":"exited","code":null,"signal":%d}' % os.WTERMSIG(status)  # noqa: UP031
    return '{"fact":"exited","code":%d,"signal":null}' % os.WEXITSTATUS(status)  # noqa: UP031
