"""Bytes that wait to be written to a pipe: bounded by their owner, and cheap however large one write was."""

from __future__ import annotations

import os
from collections import deque

MAX_PIECES = 64  # of one writev; far below the system's limit of 1,024


class Backlog:
    """A queue of byte strings. A growing `bytearray` would copy and peak at three times the memory."""

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()
        self.size = 0

    def add(self, *pieces: bytes) -> None:
        for piece in pieces:
            if piece:
                self._pieces.append(memoryview(piece))
                self.size += len(piece)

    def clear(self) -> None:
        self._pieces.clear()
        self.size = 0

    def write_to(self, fd: int) -> None:
        """Write as much as the pipe takes now. Raises `OSError` when nobody reads it any more."""
        while self._pieces:
            batch = [self._pieces[index] for index in range(min(MAX_PIECES, len(self._pieces)))]
            try:
                written = os.writev(fd, batch)
            except BlockingIOError:
                return
            self._drop(written)

    def _drop(self, count: int) -> None:
        self.size -= count
        while count:
            first = self._pieces[0]
            if count < len(first):
                self._pieces[0] = first[count:]
                return
            count -= len(first)
            self._pieces.popleft()
