"""Masking one text. JSON inside it, of any depth, is masked leaf by leaf in place, so that what parsed still parses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from capability.redaction.folding import fold
from capability.redaction.names import Kind, is_kept, is_secret_number, kind_of
from capability.redaction.rules import find_spans, may_hold_secret
from capability.redaction.shapes import Span

MASK = "[REDACTED]"

JSON_MAX_DEPTH = 8  # of JSON in strings in JSON …; what lies deeper is masked as plain text
NAME_KEYS = frozenset({"name", "key", "header"})  # `{"Name": "API_KEY", "Value": …}`: the name is itself a value
VALUE_KEYS = frozenset({"value", "values"})
ISLAND_TRIES = 64  # a text may hold this many brackets that begin no JSON before the search for more is given up
ISLAND = re.compile(r"[{\[](?=\s*[\"{\[])")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|-?\d[\d.eE+-]*+')
decoder = json.JSONDecoder()


def redact_text(text: str) -> str:
    """Return `text` with every secret in it replaced by `[REDACTED]`, and everything else as it was.

    A text without a secret comes back unchanged, byte for byte. Doing it twice is doing it once.
    """
    return _redact(text, 0)


def _redact(text: str, depth: int) -> str:
    if not may_hold_secret(text):
        return text
    if depth < JSON_MAX_DEPTH and '"' in text:
        islands = list(_islands(text))
        if islands == [(0, len(text))]:
            return _redact_json(text, depth + 1)
        if islands:
            return _redact_around(text, islands, depth)
    return mask_plain(text)


def _redact_around(text: str, islands: list[Span], depth: int) -> str:
    """Mask a text that holds JSON: the JSON leaf by leaf, unless what stands around it makes all of it secret."""
    parts: list[str] = []
    done = 0
    for start, end, is_json in _stretches(islands, _plain_spans(text)):
        parts += [text[done:start], _redact_json(text[start:end], depth + 1) if is_json else MASK]
        done = end
    return "".join(parts) + text[done:]


def _stretches(islands: list[Span], spans: list[Span]) -> list[tuple[int, int, bool]]:
    """Return what to replace, in order, and whether it is JSON to look into: an island that holds every span it meets.

    A secret that begins where an island begins, or that reaches over its edge, takes all of it along.
    """
    found: list[tuple[int, int, bool]] = []
    for start, is_json, end in sorted([(a, False, b) for a, b in spans] + [(a, True, b) for a, b in islands]):
        if found and start < found[-1][1]:
            first, last, was_json = found[-1]
            found[-1] = first, max(last, end), was_json and end <= last
        else:
            found.append((start, end, is_json))
    return found


def mask_plain(text: str) -> str:
    """Mask the spans of a text that is not looked at as JSON."""
    return splice(text, _plain_spans(text))


def _plain_spans(text: str) -> list[Span]:
    folded = fold(text)
    return [(folded.at(start), folded.at(end)) for start, end in find_spans(folded.text)]


def splice(text: str, spans: list[Span]) -> str:
    """Return `text` with each span replaced by the mask."""
    if not spans:
        return text
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += [text[done:start], MASK]
        done = end
    return "".join(parts) + text[done:]


def _islands(text: str) -> Iterator[Span]:
    """Yield the JSON values in a text: the whole of it, its lines, or an object in a log line."""
    if text[:1] == '"':
        end = _decodes(text, 0)
        if end is not None and not text[end:].strip():
            yield 0, end
            return
    tries, position = 0, 0
    while tries < ISLAND_TRIES:
        bracket = ISLAND.search(text, position)
        if not bracket:
            return
        end = _decodes(text, bracket.start())
        if end is None:
            tries += 1
            position = bracket.start() + 1
        else:
            yield bracket.start(), end
            position = end


def _decodes(text: str, position: int) -> int | None:
    try:
        return decoder.raw_decode(text, position)[1]
    except (ValueError, RecursionError):
        return None


def _redact_json(source: str, depth: int) -> str:
    """Mask the leaves of valid JSON where they stand. Spacing, order, doubled keys and harmless numbers stay."""
    parts: list[str] = []
    done = 0
    for leaf in list(_leaves(source)):  # all are read before the first is judged: a name may stand after its value
        kind = leaf.kind or (leaf.pair.named if leaf.pair else None)
        text = source[leaf.start : leaf.end] if leaf.text is None else leaf.text
        if leaf.text is None:
            masked = MASK if is_secret_number(kind, text) else text
        else:
            masked = MASK if text and not is_kept(kind, text) else _redact(text, depth)
        if masked != text:
            parts += [source[done : leaf.start], json.dumps(masked)]
            done = leaf.end
    return "".join(parts) + source[done:]


class _Container:
    """One open container on the way through JSON text."""

    def __init__(self, *, is_object: bool, kind: Kind | None = None, pair: _Container | None = None) -> None:
        self.is_object = is_object
        self.kind = kind  # what a name above promises of everything in here
        self.pair = pair  # the object that this is the `value` of
        self.key = ""
        self.key_kind: Kind | None = None
        self.named: Kind | None = None  # what `{"name": …}` says of the `value` beside it

    def promised(self) -> Kind | None:
        """Return what names promise of the value that comes next."""
        return self.kind or self.key_kind

    def pair_of_next(self) -> _Container | None:
        """Return the object that the value that comes next is the `value` of."""
        return self.pair or (self if self.key.lower() in VALUE_KEYS else None)


class _Leaf(NamedTuple):
    """A text (or a number: None) of JSON: where it stands, and what names promise of it."""

    start: int
    end: int
    text: str | None
    kind: Kind | None
    pair: _Container | None


def _leaves(source: str) -> Iterator[_Leaf]:
    """Yield each text and number of valid JSON. A name is a text of which nothing is promised."""
    stack = [_Container(is_object=False)]
    is_key = False
    for token in TOKEN.finditer(source):
        mark, top = token.group(), stack[-1]
        if mark in "{[":
            stack.append(_Container(is_object=mark == "{", kind=top.promised(), pair=top.pair_of_next()))
            is_key = mark == "{"
        elif mark in "}]":
            stack.pop()
        elif mark in ",:":
            is_key = mark == "," and top.is_object
        elif mark[0] != '"':
            yield _Leaf(*token.span(), None, top.promised(), top.pair_of_next())
        elif is_key:
            top.key = json.loads(mark, strict=False)
            top.key_kind = kind_of(top.key)
            yield _Leaf(*token.span(), top.key, None, None)
        else:
            text = json.loads(mark, strict=False)
            if top.is_object and top.key.lower() in NAME_KEYS:
                top.named = top.named or kind_of(text)
            yield _Leaf(*token.span(), text, top.promised(), top.pair_of_next())
