"""Masking and scanning JSON values: names on the way down, texts at the leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from capability.redaction.names import Kind, is_kept, is_secret_number, kind_of
from capability.redaction.rules import known_secrets
from capability.redaction.texts import MASK, NAME_KEYS, VALUE_KEYS, redact_text

PAIR_MAX_KEYS = 64  # an object with more is no pair of a name and a value
MAX_DEPTH = 64  # deeper output is masked whole; inputs are refused long before

# Bounds of a tool input; what is out of bounds counts as protected. Source: reference A section 2.12, later revision.
INPUT_MAX_DEPTH = 16
INPUT_MAX_NODES = 10_000
INPUT_MAX_TEXT_CHARS = 200_000


def redact(value: Any) -> Any:
    """Return a copy of a JSON value with every secret replaced by `[REDACTED]`: same keys, same shape, same order.

    Below a name that promises a secret every text is masked, and a number that may be one (`is_secret_number`); other
    numbers, booleans and null stay everywhere. Other texts are searched (`redact_text`). A name that is itself a
    credential is masked too. Anything that is no JSON value is taken as its text.
    """
    return _redact(value, None, MAX_DEPTH)


def _redact(value: Any, kind: Kind | None, depth: int) -> Any:
    if isinstance(value, str):
        if is_kept(kind, value):
            return redact_text(value)
        return MASK if value else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return MASK if kind and is_secret_number(kind, _written(value)) else value
    if depth == 0:
        return MASK
    if isinstance(value, Mapping):
        named = _named(value)
        return {
            _safe_name(name): _redact(item, kind or promised(name, named), depth - 1) for name, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_redact(item, kind, depth - 1) for item in value]
    return MASK if kind else redact_text(str(value))


def _written(number: float) -> str:
    """Return a number as text; of one that Python does not write, as many digits as anybody reads."""
    return "9" * 309 if isinstance(number, int) and number.bit_length() > 1024 else str(number)


def promised(name: Any, named: Kind | None) -> Kind | None:
    """Return what the value of `name` is, where `named` is what a neighbouring `{"name": …}` promises."""
    return named if named and str(name).lower() in VALUE_KEYS else kind_of(str(name))


def _named(value: Mapping[Any, Any]) -> Kind | None:
    low = {str(name).lower(): item for name, item in value.items()} if len(value) <= PAIR_MAX_KEYS else {}
    if VALUE_KEYS.isdisjoint(low):
        return None
    names = (low[key] for key in NAME_KEYS if isinstance(low.get(key), str))
    return next((kind for kind in map(kind_of, names) if kind), None)


def _safe_name(name: Any) -> str:
    text = str(name)
    return text if len(text) < 8 else _safe_long_name(text, known_secrets.generation)


@lru_cache(maxsize=4096)
def _safe_long_name(name: str, _generation: int) -> str:
    return redact_text(name)


def find_protected(value: Any) -> str | None:
    """Return the path of the first protected name or credential in a tool input, as `$.items[0].apiKey`, or None.

    A protected name counts whatever its value. So does whatever is out of bounds: nesting deeper than 16, more than
    10,000 nodes, a text longer than 200,000 characters. The path never repeats a credential. Source: reference A
    section 2.12.
    """
    left: list[tuple[str, Any, int]] = [("$", value, 0)]
    nodes = 0
    while left:
        path, item, depth = left.pop()
        nodes += 1
        if nodes > INPUT_MAX_NODES or depth > INPUT_MAX_DEPTH:
            return path
        if isinstance(item, str):
            if len(item) > INPUT_MAX_TEXT_CHARS or redact_text(item) != item:
                return path
        elif isinstance(item, Mapping):
            named = _named(item)
            for name in item:
                if promised(name, named) or _safe_name(name) != str(name):
                    return f"{path}.{_safe_name(name)}"
            left += [(f"{path}.{name}", below, depth + 1) for name, below in reversed(list(item.items()))]
        elif isinstance(item, Sequence) and not isinstance(item, (bytes, bytearray)):
            left += [(f"{path}[{index}]", below, depth + 1) for index, below in reversed(list(enumerate(item)))]
    return None


def preview(text: str, limit: int) -> str:
    """Return `text` redacted, then cut to about `limit` characters: its head, how much is hidden, its tail.

    Redaction comes first: a secret on the cut would keep its head otherwise.
    """
    safe = redact_text(text)
    if len(safe) <= limit:
        return safe
    tail = limit // 4
    head = limit - tail
    hidden = len(safe) - head - tail
    return f"{safe[:head]} … [{hidden:,} characters hidden] … {safe[len(safe) - tail :]}"
