"""How a stored file differs from what the registry says now, in words a person can act on. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

MISSING = object()
VALUE_CHARS = 120  # of one value, in a message


def differences(*, name: str, stored: str | None, fresh: str) -> list[str]:
    """Return one line for each difference, beginning with the file and naming the operation; none when equal.

    `stored` is None when the file is missing. Any difference of bytes gives at least one line.
    """
    if stored == fresh:
        return []
    if stored is None:
        return [f"{name}: the file is missing"]
    told = list(_json(stored, fresh) if name.endswith(".json") else _page(stored, fresh))
    return [f"{name}: {line}" for line in told or ["the bytes differ, though nothing that is said does"]]


def _json(stored: str, fresh: str) -> Iterator[str]:
    try:
        old, new = json.loads(stored), json.loads(fresh)
    except ValueError:
        yield "the file is no JSON"
        return
    if not isinstance(old, list) or not all(isinstance(entry, dict) for entry in old):
        yield "the file is no list of entries"
        return
    before, now = _named(old), _named(new)
    for key in [*now, *(key for key in before if key not in now)]:
        if key not in before:
            yield f"{key}: is not in the file"
        elif key not in now:
            yield f"{key}: is in the file and not in the catalog"
        else:
            yield from (f"{key}{line}" for line in _inside("", before[key], now[key]))
    shared = [key for key in before if key in now]
    if shared != [key for key in now if key in before]:
        moved = next(a for a, b in zip(shared, (key for key in now if key in before), strict=True) if a != b)
        yield f"{moved}: the order of the entries differs from here on"


def _named(entries: list[Any]) -> dict[str, Any]:
    """Return entries by what they are about: an operation, or a promise."""
    return {str(entry.get("operationId") or entry.get("name") or entry.get("id")): entry for entry in entries}


def _inside(path: str, before: Any, now: Any) -> Iterator[str]:
    if before == now and type(before) is type(now):
        return
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in sorted({*before, *now}):
            yield from _inside(f"{path}.{name}", before.get(name, MISSING), now.get(name, MISSING))
    elif isinstance(before, list) and isinstance(now, list) and _has_objects(before, now):
        for index, (one, other) in enumerate(zip_longest(before, now, fillvalue=MISSING)):
            yield from _inside(f"{path}[{index}]", one, other)
    else:
        yield f"{path}: stored {_shown(before)}, now {_shown(now)}"


def _has_objects(*lists: list[Any]) -> bool:
    return any(isinstance(entry, Mapping | list) for entries in lists for entry in entries)


def _shown(value: Any) -> str:
    text = "nothing" if value is MISSING else json.dumps(value)
    return text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]}…"


def _page(stored: str, fresh: str) -> Iterator[str]:
    before, now = _sections(stored), _sections(fresh)
    for title in [*now, *(title for title in before if title not in now)]:
        if title not in before:
            yield f"{title}: has no section"
        elif title not in now:
            yield f"{title}: has a section and is not in the catalog"
        elif before[title] != now[title]:
            yield from (f"{title}: {line}" for line in _lines(before[title], now[title]))


def _lines(before: list[str], now: list[str]) -> Iterator[str]:
    yield from (f"stored {_shown(line)}" for line in before if line not in now)
    yield from (f"now {_shown(line)}" for line in now if line not in before)


def _sections(page: str) -> dict[str, list[str]]:
    """Return the lines of each operation's section; what stands before the first is the overview."""
    found: dict[str, list[str]] = {"overview": []}
    title = "overview"
    for line in page.split("\n"):
        if heading := re.fullmatch(r"## `(\w+)`", line):
            title = heading[1]
        found.setdefault(title, []).append(line)
    return found
