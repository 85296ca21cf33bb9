"""No op may be larger than a frame: a careless payload loses its tail, the same way live and in a snapshot."""

from __future__ import annotations

import json
from typing import Any

from evidence.views.build import Op
from evidence.views.text import clamp

OP_BYTES = 200 * 1024  # frames stay below 256 KiB; source: design section 3, "Live push"
SMALL_BODY_CHARS = OP_BYTES // 4  # an op repeats at most a few fields of its event
NARROWINGS = ((2_000, 64), (500, 64), (240, 32), (120, 8))  # characters of a text, entries of a list


def encode(value: Any) -> str:
    """Return compact ASCII JSON, so that characters are bytes."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def bounded(ops: list[Op], *, body_chars: int) -> list[Op]:
    """Return ops of at most `OP_BYTES` each. Message bodies come in pieces and are never cut."""
    return ops if body_chars < SMALL_BODY_CHARS else [_bounded(op) for op in ops]


def _bounded(op: Op) -> Op:
    narrowed = op
    for text_chars, entries in NARROWINGS:
        if len(encode(narrowed)) <= OP_BYTES:
            break
        narrowed = _narrow(op, text_chars, entries)
    return narrowed


def _narrow(value: Any, text_chars: int, entries: int) -> Any:
    if isinstance(value, str):
        return clamp(value, text_chars)
    if isinstance(value, list):
        return [_narrow(entry, text_chars, entries) for entry in value[:entries]]
    if isinstance(value, dict):
        return {name: _narrow(entry, text_chars, entries) for name, entry in value.items()}
    return value
