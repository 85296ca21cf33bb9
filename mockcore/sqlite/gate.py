"""A first-in-first-out gate. Knows threads only: no database, no Django."""

from __future__ import annotations

import threading
from collections import deque


class FairGate:
    """Lets one holder in at a time, in the order of asking.

    A plain `Lock` lets the thread that just released it take it again at once, so under load others starve for
    seconds; here `leave` hands the gate to the longest waiter.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    def enter(self, *, timeout_s: float) -> bool:
        """Wait for the turn and take it. Returns False when `timeout_s` seconds passed first."""
        with self._mutex:
            if not self._held:
                self._held = True
                return True
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=timeout_s):
            return True
        with self._mutex:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return False
        return True  # handed over between the timeout and the mutex: it is ours

    def leave(self) -> None:
        """Hand the gate to the longest waiter, or open it."""
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False

    @property
    def waiting_count(self) -> int:
        with self._mutex:
            return len(self._waiting)


_gates: dict[str, FairGate] = {}
_gates_mutex = threading.Lock()


def gate_of(name: str) -> FairGate:
    """Return this process's one gate for the database file `name`."""
    with _gates_mutex:
        return _gates.setdefault(name, FairGate())
