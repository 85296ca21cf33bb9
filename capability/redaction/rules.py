"""Every rule in one table: when to look, and what to mask. Pure: a text in, spans out.

Looking is cheap: a rule runs only when the text holds one of its hints, and a text of plain prose holds none.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from capability.redaction import commands, fields, headers, shapes
from capability.redaction.folding import plain
from capability.redaction.judging import Finding
from capability.redaction.shapes import Span

KNOWN_LEAST_CHARS = 8  # a shorter registered value would blank ordinary words


class Rule(NamedTuple):
    """`find` runs when any of `hints`, all lower case, is in the lower-case text."""

    hints: tuple[str, ...]
    find: Callable[[str], Iterator[Finding]]
    also: tuple[str, ...] = ()  # when given, one of these must be there too


RULES = (
    Rule(fields.NOUNS, fields.find_named, also=("=", ":", "-", ">")),
    Rule(("bearer", "basic"), headers.find_spoken),
    Rule((" is", " was"), headers.find_stated, also=("pass", "pwd")),
    Rule(("cookie",), headers.find_cookies, also=("=",)),
    Rule(("code=", "state=", "key=", "sig=", "signature=", "sid="), headers.find_parameters),
    Rule(("curl", "wget"), commands.find_logins, also=("-u", "--proxy-user")),
    Rule(("-p",), commands.find_short_flags, also=("mysql", "mariadb", "sshpass", "login")),
    Rule(("password",), commands.find_netrc, also=("login",)),
)


class KnownSecrets:
    """Values that this process itself holds and that must never leave it, whatever their shape. Safe across threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: tuple[str, ...] = ()
        self.generation = 0  # grows with every value, so that nothing decided before is remembered

    def add(self, value: str) -> None:
        """Mask `value` from now on. One shorter than eight characters is not taken: it would blank ordinary text."""
        if len(value) < KNOWN_LEAST_CHARS:
            return
        with self._lock:
            self._values = tuple(sorted({*self._values, value}, key=len, reverse=True))
            self.generation += 1

    def find(self, text: str) -> Iterator[Span]:
        for value in self._values:
            position = text.find(value)
            while position >= 0:
                yield position, position + len(value)
                position = text.find(value, position + len(value))

    def begins_at_end(self, text: str) -> int:
        """Return where a tail of `text` starts that is the beginning of a known value; the length when none is."""
        start = len(text)
        for value in self._values:
            for length in range(min(len(value) - 1, len(text)), 0, -1):
                if value[0] == text[-length] and text.endswith(value[:length]):
                    start = min(start, len(text) - length)
                    break
        return start


known_secrets = KnownSecrets()


def find_fields(text: str) -> Iterator[Finding]:
    """Yield the findings of every rule whose hints are in the text."""
    low = text.lower()
    for hints, find, also in RULES:
        if (not also or _holds(low, also)) and _holds(low, hints):
            yield from find(text)


def _holds(low: str, hints: tuple[str, ...]) -> bool:
    for hint in hints:  # noqa: SIM110 (`any` with a generator costs three times as much)
        if hint in low:
            return True
    return False


def find_shapes(text: str) -> Iterator[Span]:
    """Yield every secret that shows by its own shape, and every known one."""
    yield from shapes.find_keys(text)
    if "eyJ" in text:
        yield from shapes.find_jwts(text)
    if "BEGIN" in text:
        yield from shapes.find_blocks(text)
    if "@" in text:
        yield from shapes.find_userinfo(text)
    yield from known_secrets.find(text)


def _tree(words: set[str]) -> str:
    """Write a pattern for any of `words` that looks at each letter once."""
    if "" in words:
        return ""
    branches = [re.escape(first) + _tree({word[1:] for word in words if word[0] == first}) for first in _firsts(words)]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _firsts(words: set[str]) -> list[str]:
    return sorted({word[0] for word in words})


# One look over a lower-case text tells that it holds nothing. `task-…` is everywhere: `sk-` counts only at a boundary.
ESCAPED = r"(?<=\\[nrtbf]sk)|(?<=%[0-9a-f]{2}sk)|(?<=\\u[0-9a-f]{4}sk)|(?<=\\x[0-9a-f]{2}sk)"
SK = rf"sk(?:(?<![a-z0-9]sk)|{ESCAPED})[-_]|sk-(?:proj|ant|svcacct)-"
LITERALS = {start.lower() for start in shapes.STARTS if not start.startswith(("sk-", "sk_"))}
WORDS = {hint for rule in RULES for hint in rule.hints if hint[0].isalpha()}
HINTS = re.compile(f"{SK}|{_tree(LITERALS | WORDS | {'eyj', 'begin'})}")


def may_hold_secret(text: str) -> bool:
    """Say whether a text is worth a closer look. Most are not, and this is all that they cost."""
    seen = plain(text)
    return (
        HINTS.search(seen.lower()) is not None
        or ("@" in seen and ":" in seen)
        or ("\\" in seen and "\\u" in seen)
        or ("-" in seen and "-p" in seen)
        or next(known_secrets.find(seen), None) is not None
    )


def find_spans(text: str) -> list[Span]:
    """Return every span of `text` to mask, in order, without overlaps."""
    found = [*find_shapes(text), *((one.start, one.end) for one in find_fields(text) if one.secret)]
    return merge(found)


def merge(spans: list[Span]) -> list[Span]:
    """Return the spans sorted, with those that overlap joined. Empty ones are dropped."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
