"""Reads the calls that a model made from Codex's own record of a thread, for the one case in which the wire is silent.

Raw items are sent for a thread that was started, never for one that was resumed (0.132.0 has no field for it), and a
call to a name that Codex does not know appears nowhere else on the wire. Codex writes this file itself, in the
session's own home, where no command may write.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_READ_BYTES = 4 * 1024 * 1024  # of one look; a thread grows by a few KB a turn
LOOKS, PAUSE_S = 10, 0.02  # Codex writes its record a moment after it has told the wire


class RolloutReader:
    """Follows one file from its present end. A file outside the home's `sessions` is not read at all."""

    def __init__(self, *, path: Path, home: Path) -> None:
        self._path = path if path.is_relative_to(home.resolve() / "sessions") else None
        self._offset = self._size()
        self._rest = b""
        self._asked_count = 0
        self._answer_count = 0  # ends of model answers found in the record

    async def next_calls(self) -> list[dict[str, Any]]:
        """Return the `function_call` items written since the last look. Call it once for each answer of the model.

        Waits, at most a fifth of a second, until the record of that answer is complete.
        """
        self._asked_count += 1
        found = self._calls()
        for _ in range(LOOKS):
            if self._answer_count >= self._asked_count:
                break
            await asyncio.sleep(PAUSE_S)
            found += self._calls()
        self._answer_count = self._asked_count = max(self._answer_count, self._asked_count)
        return found

    def _calls(self) -> list[dict[str, Any]]:
        found = []
        for record in self._records():
            payload = record.get("payload")
            if not isinstance(payload, dict):
                continue
            if record.get("type") == "response_item" and payload.get("type") == "function_call":
                found.append(payload)
            self._answer_count += payload.get("type") == "token_count"
        return found

    def _records(self) -> Iterator[dict[str, Any]]:
        *lines, self._rest = (self._rest + self._read()).split(b"\n")
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record

    def _read(self) -> bytes:
        if self._path is None:
            return b""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return b""
        try:
            data = os.pread(fd, MAX_READ_BYTES, self._offset)
        finally:
            os.close(fd)
        self._offset += len(data)
        return data

    def _size(self) -> int:
        try:
            return os.lstat(self._path).st_size if self._path is not None else 0
        except OSError:
            return 0
