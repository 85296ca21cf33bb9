"""Bounded, typed copies of single values: what is not of the expected type leaves as nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

LABEL_CHARS = 240  # names, titles, summaries; source: reference B section 1.10, "Narrowings"
LONG_CHARS = 20_000  # prompts, comment and document bodies, reasons, notices
CODE_CHARS = 120
CHUNK_CHARS = 16_000  # at most 192 KB as JSON: a message body of any length travels in pieces
ENTRIES = 64  # options, tasks, references of one record


def clamp(value: Any, limit: int) -> str:
    """Return text of at most `limit` characters, the last one an ellipsis when some were left out."""
    if not isinstance(value, str):
        return ""
    return value if len(value) <= limit else value[: limit - 1] + "…"


def label(value: Any) -> str:
    return clamp(value, LABEL_CHARS)


def long_text(value: Any) -> str:
    return clamp(value, LONG_CHARS)


def code(value: Any) -> str:
    return clamp(value, CODE_CHARS)


def optional_long(value: Any) -> str | None:
    return long_text(value) or None


def optional_code(value: Any) -> str | None:
    return code(value) or None


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag(value: Any) -> bool:
    return value is True


def labels(value: Any, *, limit: int = ENTRIES) -> list[str]:
    """Return at most `limit` labels of a list; anything else in it is left out."""
    return [label(entry) for entry in entries(value) if isinstance(entry, str)][:limit]


def spoken(value: Any) -> str:
    """Return any JSON value as one readable line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {spoken(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(spoken(entry) for entry in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def entries(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return at most `ENTRIES` objects of a list."""
    return [entry for entry in entries(value) if isinstance(entry, Mapping)][:ENTRIES]


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def chunks(text: str) -> Iterator[str]:
    """Yield `text` in pieces of at most `CHUNK_CHARS`; one empty piece for an empty text."""
    for start in range(0, max(len(text), 1), CHUNK_CHARS):
        yield text[start : start + CHUNK_CHARS]
