"""Text that both databases can hold, and JSON with one spelling. Knows no model and no rule."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
MAX_DEPTH = 64  # far above any card or payload, far below what recursion can take

# `json.dumps` with options makes its encoder anew each time, which costs twice the encoding of a small value.
_SPELLING = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False
)
_encode = json.encoder.c_make_encoder(  # type: ignore[attr-defined]  # the arguments `JSONEncoder.iterencode` gives it
    None, _SPELLING.default, json.encoder.encode_basestring_ascii, None, ":", ",", True, False, False
)


def canonical(value: Any) -> str:
    """Return `value` as canonical JSON: sorted keys, no spaces, ASCII only, so any string is safe in any database.

    Raises `ValueError` for NaN and infinities, `TypeError` for what is no JSON value, and `RecursionError` for a value
    that holds itself.
    """
    return "".join(_encode(value, 0))


def clean(value: Any, *, depth: int = MAX_DEPTH) -> Any:
    """Return a copy of a JSON-like value whose strings hold no NUL and no lone surrogate.

    PostgreSQL refuses both and agents send both; each becomes U+FFFD. Applied once, where a command or a read enters.
    Raises `ValueError` for a value nested more than `depth` levels deep.
    """
    if isinstance(value, str):
        return clean_text(value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        raise ValueError(f"a value is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        return {clean(key): clean(inner, depth=depth - 1) for key, inner in value.items()}
    return type(value)(clean(inner, depth=depth - 1) for inner in value)


def clean_text(text: str) -> str:
    """Return `text` with NUL and lone surrogates replaced by U+FFFD."""
    text = text.replace("\0", REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(REPLACEMENT if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def iso(moment: datetime) -> str:
    """Return an aware UTC moment as the contract writes it: `2026-08-09T00:00:00.000Z`."""
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
