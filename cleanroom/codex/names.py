"""Neutral names for what an agent may say of where and as what it runs. Pure.

The model knows its directory, which Codex tells it, and commands print paths. The provider's ids of the thread and the
turn, and directories of this machine, enter neither the log nor the company: they are replaced wherever the agent's
words or arguments become ours. Streamed text is told up to where a name may just be beginning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath, PurePosixPath
from typing import Any

WORKSPACE, ROOM, SERVER = "/workspace", "/room", "/server"
THREAD, TURN = "this-thread", "this-turn"
PROJECT = PurePath(__file__).parents[2]
MIN_ID_CHARS = 16  # a shorter one could be an ordinary word; those of Codex have 36
MIN_PATH_PARTS = 3  # with the root: `/app` tells nothing, and stands in many other paths
BEFORE, AFTER = r"(?<![\w.~-])", r"(?![\w-])"  # a path is not replaced inside a longer word


@dataclass(frozen=True)
class Names:
    """What to replace by what. Equal values of everything make equal names."""

    pairs: tuple[tuple[str, str], ...] = ()
    workspace: str = ""

    def hide(self, text: str) -> str:
        """Return the text with every name replaced."""
        if not self.pairs or not any(name in text for name, _ in self.pairs):
            return text
        neutral = dict(self.pairs)
        return _pattern(self.pairs).sub(lambda match: neutral[match[0]], text)

    def hide_in(self, value: Any) -> Any:
        """Return a JSON value with every name replaced, in keys as well."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, Mapping):
            return {self.hide(key): self.hide_in(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.hide_in(inner) for inner in value]
        return value

    def split(self, text: str) -> tuple[str, str]:
        """Return the part of a streamed text that can be told, names replaced, and the end that has to wait.

        What waits is where a name may have begun, or has just ended: whether it is one, the next character decides.
        """
        waiting = max((_overlap(text, name) for name, _ in self.pairs), default=0)
        told = text[: len(text) - waiting]
        return self.hide(told), text[len(told) :]


NO_NAMES = Names()


@lru_cache(maxsize=256)
def names_of(*, workspace: str, thread_id: str = "", turn_id: str = "") -> Names:
    """Return the names of one turn in one room; the longest first, because they may contain each other."""
    room = PurePosixPath(workspace).parent
    paths = [(workspace, WORKSPACE), (str(room), ROOM), (str(PROJECT), SERVER)]
    found = [(path, name) for path, name in paths if len(PurePosixPath(path).parts) >= MIN_PATH_PARTS]
    found += [(id, name) for id, name in ((thread_id, THREAD), (turn_id, TURN)) if len(id) >= MIN_ID_CHARS]
    return Names(pairs=tuple(sorted(found, key=lambda pair: -len(pair[0]))), workspace=workspace)


@lru_cache(maxsize=256)
def _pattern(pairs: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    parts = [f"{BEFORE}{re.escape(name)}{AFTER}" if name.startswith("/") else re.escape(name) for name, _ in pairs]
    return re.compile("|".join(parts))


def _overlap(text: str, name: str) -> int:
    """Return how long the longest end of the text is that is a beginning of the name."""
    longest = min(len(text), len(name))
    return next((size for size in range(longest, 0, -1) if text.endswith(name[:size])), 0)
