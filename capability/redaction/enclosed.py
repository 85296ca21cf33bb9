"""Secrets that take more than a word behind their name: an object or a list, the lines below it, an element of markup.

Pure: a text and a place in it in, findings out. What is masked here is masked whole. Each is read up to a bound, and
what was masked is not read again, so that a text full of openings costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from capability.redaction.folding import PARTIAL
from capability.redaction.judging import END_OF_LINE, NOTHING, SETTLED, Finding, Value, is_secret_value, judge
from capability.redaction.names import Kind

# ---------------------------------------------------------------- API_KEYS = ["…"], {"token": {"a": "…"}}
STRING = re.compile(
    r"(?P<text>\\{1,8}\"[^\"\n]*+\"|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'|`[^`\n]*+`)(?P<name>\s{0,8}:)?"
    r"|(?P<open>[{\[(])|(?P<close>[}\])])"
)
CONTAINER_MAX_CHARS = 4096  # what is longer is masked up to here
CONTAINER_MAX_DEPTH = 16
FIRST_TEXT_CHARS = 256  # a container whose first text comes later is none of secrets
EMPTY_TEXT = re.compile(r"[\\\"'`]*(?:\[REDACTED\])?[\\\"'`]*")
TUPLE = re.compile(r"\(\s{0,8}[\"']")


def find_container(text: str, start: int) -> Iterator[Finding]:
    """Yield the object or list at `start` when it holds a text, or that it is not known yet whether it does."""
    if text[start : start + 1] not in ("{", "[") and not TUPLE.match(text, start):
        return
    last = min(len(text), start + CONTAINER_MAX_CHARS)
    depth, holds = 0, False
    for token in STRING.finditer(text, start, last):
        if token["text"]:
            holds = holds or not (token["name"] or EMPTY_TEXT.fullmatch(token["text"]))
        else:
            depth += 1 if token["open"] else -1
        if depth == 0:
            if holds:
                yield Finding(start, token.end(), True, False)
            return
        if not holds and (depth > CONTAINER_MAX_DEPTH or token.end() - start > FIRST_TEXT_CHARS):
            return
    if holds or last == len(text):
        yield Finding(start, last, holds, last == len(text))


# ---------------------------------------------------------------- the lines below `password: |`, `password:`, `tokens:`
INDICATOR = re.compile(r"[|>][-+0-9]{0,2}[ \t]{0,64}(?=\r?(?:\n|\Z))")
LINE = re.compile(r"\r?\n(?P<blank>[ \t]{0,64}+)(?P<item>[-*][ \t]{1,8})?")
LINE_OR_END = re.compile(r"(?:\r?\n[ \t]{0,64}|\r)?(?:[-*][ \t]{0,8})?\Z")
BLOCK_MAX_CHARS = 4096
DIGIT = re.compile(r"\d")


def find_below(text: str, start: int, kind: Kind) -> Iterator[Finding]:
    """Yield the block of lines that YAML writes behind `|` or `>`, or the value that stands alone on the next line."""
    indicator = INDICATOR.match(text, start)
    if indicator:
        yield _block(text, indicator.end())
    elif LINE_OR_END.match(text, start):
        yield Finding(start, len(text), False, True)
    else:
        yield from _listed(text, start, kind)


def _block(text: str, start: int) -> Finding:
    """Read the lines that are indented as far as the first of them is."""
    last = min(len(text), start + BLOCK_MAX_CHARS)
    end = position = start
    indent = ""
    while position < last:
        line_end = text.find("\n", position + 1, last)
        line_end = last if line_end < 0 else line_end
        line = text[position:line_end].lstrip("\r\n")
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if line.strip():
            indent = indent or blank
            if not (indent and blank.startswith(indent)):
                break
            end = line_end
        position = line_end
    first = end - len(text[start:end].lstrip())
    return Finding(first, end, end > first, position == len(text))


def _listed(text: str, start: int, kind: Kind) -> Iterator[Finding]:
    line = LINE.match(text, start)
    while line:
        found = judge(text, line.end(), lambda value, line=line: _stands_alone(text, value, kind, line))  # type: ignore[misc]
        yield found if SETTLED.match(text, found.end) else found._replace(open=True)
        end = END_OF_LINE.match(text, found.end)
        following = LINE.match(text, text.find("\n", found.end)) if end and line["item"] and found.secret else None
        line = following if following and following["item"] else None


def _stands_alone(text: str, value: Value, kind: Kind, line: re.Match[str]) -> bool:
    """Tell a secret from a word of a sentence, from a name with more below it, and from a name in a list."""
    word = text[value.start : value.end]
    indented = kind is Kind.PASSWORD and bool(line["blank"]) and not line["item"]
    quoted = value.quoted and text[value.start - 1] != "`"
    if not END_OF_LINE.match(text, value.end) or re.match(r"[\"'`]?:", text[value.end : value.end + 2]):
        return False
    return (indented or quoted or DIGIT.search(word) is not None) and is_secret_value(
        text, value, kind=kind, loose=not quoted
    )


# ---------------------------------------------------------------- <password>…</password>
TAG_BEFORE = re.compile(r"<(?:[A-Za-z][\w.-]{0,32}:)?\Z")
TAG_END = re.compile(r"(?:[ \t][^<>\n]{0,256})?>\s{0,64}+(?:<!\[CDATA\[)?")
CONTENT = re.compile(r"[^<\n]{0,4096}+")
CLOSING = re.compile(r"\s{0,64}+</")
CLOSING_OR_END = re.compile(rf"\s{{0,64}}+(?:<?\Z|{PARTIAL})")


def find_element(text: str, name_start: int, name_end: int) -> Iterator[Finding]:
    """Yield what an element of markup holds, when it is named for a secret and closed behind it."""
    tag = TAG_END.match(text, name_end)
    if not tag or not TAG_BEFORE.search(text, max(0, name_start - 34), name_start):
        return
    start, end = CONTENT.match(text, tag.end()).span()  # type: ignore[union-attr]
    word = text[start:end].strip().removesuffix("]]>")
    is_closed = CLOSING.match(text, end) is not None
    secret = is_closed and bool(word) and word.lower() not in NOTHING and word != "[REDACTED]"
    yield Finding(start, start + len(text[start:end].rstrip()), secret, CLOSING_OR_END.match(text, end) is not None)
