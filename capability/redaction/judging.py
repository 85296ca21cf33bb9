"""Reading a value as it is written, and judging whether it is a secret. Pure.

Every value is judged by a bounded part of it, so that a text full of names costs no more than its length.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from capability.redaction.names import Kind, words
from capability.redaction.shapes import is_joined_words

JUDGED_CHARS = 256


class Finding(NamedTuple):
    """A value at `start`..`end`; `secret` says it must be masked, `open` that it reaches to the end of the text."""

    start: int
    end: int
    secret: bool
    open: bool


# ---------------------------------------------------------------- values
QUOTE = re.compile(r"(?:\$|[bfruBFRU]{0,2})(\\{0,8}[\"'`])")
QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*+") for quote in "\"'`"}
ESCAPED_QUOTED = re.compile(r"[^\"'`\\\n]*+")
BARE = re.compile(r"(?:[^\s\"'`<>\\&]|&(?![\w.-]+=)|\\(?![nrtu\"'`\\/]))*+")
TRAILING = ".,;:!?)]}"
AFTER = r"[ \t.,;:!?)\]}\"'`*]*+"  # what may stand between the value and the end of its line
SETTLED = re.compile(rf"{AFTER}(?!\\?\Z)")  # it is seen whether something follows on the line


class Value(NamedTuple):
    """One value as written: between quotes, or up to a space."""

    start: int
    end: int
    quoted: bool
    open: bool


def read_value(text: str, position: int) -> Value:
    """Read the value that begins at `position`, in quotes or bare, without its quotes and closing punctuation."""
    quote = QUOTE.match(text, position)
    if quote:
        mark, start = quote.group(1), quote.end()
        body = QUOTED[mark] if len(mark) == 1 else ESCAPED_QUOTED
        end = body.match(text, start).end()  # type: ignore[union-attr]
        return Value(start, end, True, end == len(text) or (text[end] == "\\" and end + 9 > len(text)))
    end = BARE.match(text, position).end()  # type: ignore[union-attr]
    is_open = end == len(text) or (text[end] in "\\&" and end + 1 == len(text)) or not SETTLED.match(text, end)
    trimmed = end
    while trimmed > position and text[trimmed - 1] in TRAILING:
        trimmed -= 1
    return Value(position, trimmed, False, is_open)


# ---------------------------------------------------------------- judging a value
PLAIN = re.compile(r"[A-Za-z]?[a-z]+(?:[-'’/][a-z]+)*")
PRODUCT_ID = re.compile(r"[a-z]+(?:-[a-z]+)*-\d{1,6}|[A-Z]{2,6}-\d+|r\d+")  # `semantic-auth-000001`, `MCK-1042`
CALL = re.compile(r"[A-Za-z_][\w.]*+[(\[]")
NUMBER = re.compile(r"[\d.,_]+[kKmM%]?")
END_OF_LINE = re.compile(rf"{AFTER}(?:\n|\r|\\n|\Z)")
PLACEHOLDER_STARTS = ("$", "<", "{", "[", "*", "(", "%(", "...", "…", "//", ":", "|")
NOTHING = words("""
    none null nil true false yes no on off required optional missing unset empty unknown absent hidden redacted masked
    withheld string str text number boolean bool int integer bytes object any undefined never array list dict
    placeholder changeme todo tbd n/a ok denied allowed granted exposed invalid expired valid
""")


def is_secret_value(text: str, value: Value, *, kind: Kind, loose: bool) -> bool:
    """Say whether the value behind a promising name is one.

    `loose` is a colon or spaces between name and value, as prose has them: there a plain word is only a word.
    """
    word = judged(text, value)
    if not word or word.lower() in NOTHING:
        return False
    if value.quoted:
        return not word.startswith(("$", "<", "{", "[REDACTED]"))
    if word.startswith(PLACEHOLDER_STARTS) or CALL.match(word):
        return False
    if NUMBER.fullmatch(word):
        return kind is Kind.PASSWORD or (kind is Kind.SECRET and word.isdigit() and len(word) >= 6)
    if not loose:
        return True
    if PLAIN.fullmatch(word):
        ends_line = END_OF_LINE.match(text, value.end) is not None
        return ends_line and (kind is Kind.PASSWORD or len(word) >= 16) and not is_joined_words(word)
    if kind is Kind.PASSWORD:
        return True
    return len(word) >= 6 and not PRODUCT_ID.fullmatch(word) and not is_joined_words(word)


def judged(text: str, value: Value) -> str:
    """Return the part of a value that it is judged by."""
    return text[value.start : min(value.end, value.start + JUDGED_CHARS)]
