"""Reading a value as it is written, and judging whether it is a secret. Pure.

Every value is judged by a bounded part of it, so that a text full of names costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from capability.redaction.folding import PARTIAL
from capability.redaction.names import Kind, is_kept, is_secret_number, kind_of, words
from capability.redaction.shapes import is_joined_words

JUDGED_CHARS = 256


class Finding(NamedTuple):
    """A value at `start`..`end`; `secret` says it must be masked, `open` that it reaches to the end of the text."""

    start: int
    end: int
    secret: bool
    open: bool


END = re.compile(rf"\Z|{PARTIAL}")


def at_end(text: str, position: int) -> bool:
    """Say whether nothing stands at `position` yet but what may turn out to be an escape or a colour."""
    return END.match(text, position) is not None


# ---------------------------------------------------------------- values
QUOTE = re.compile(r"(?:\$|[bfruBFRU]{0,2})(\"\"\"|'''|\\{0,8}[\"'`])")
QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*+") for quote in "\"'`"}
QUOTED |= {quote * 3: re.compile(rf"(?:[^{quote}\\]|\\.|{quote}(?!{quote}{quote}))*+", re.DOTALL) for quote in "\"'"}
ESCAPED_QUOTED = re.compile(r"[^\"'`\\\n]*+")
BARE = re.compile(r"(?:[^\s\"'`<>\\&]|&(?![\w.-]+=)|\\(?![nrtu\"'`\\/]))*+")
TRAILING = ".,;:!?)]}"
AFTER = r"[ \t.,;:!?)\]}\"'`*]*+"  # what may stand between the value and the end of its line
SETTLED = re.compile(rf"{AFTER}(?!\Z|{PARTIAL})")  # it is seen whether something follows on the line

# What stands for a value instead of being one: `$TOKEN`, `${…}`, `{token}`, `<your token>`, `[see below]`, `get(…)`.
# It is closed on its line, and what it names has no digits: `aB3x[9kqZ7`, `{hunter2}` and `$ecr3t` are passwords.
VARIABLE = r"\$(?:[A-Za-z_]+(?:->[A-Za-z_]+)*|[A-Z0-9_]+|[0-9@*?$])(?![\w!@#$%^&*+]|-(?!>))"
MARKED = r"%\(\w{1,64}\)[a-z](?!\w)|[$%#@][{(\[][^\n]{0,200}?[)\]}](?![A-Za-z0-9!@#$^&*])"
NAMED = r"\{+(?:[^\d\n{}]{0,100}|\d?)\}+(?![A-Za-z0-9!@#$^&*])|<[^\d\n<>]{0,100}>"
TOLD = r"\([^\d\n()]{0,100}\)(?![A-Za-z0-9])|\[(?:[^\d\n\[\]]{0,100}|\d)\](?![A-Za-z0-9])"
CALL = r"(?:[A-Za-z_]+\.){0,8}[A-Za-z_]+[(\[][^\n]{0,200}?[)\]](?![A-Za-z0-9!@#$%^&*])"
MARKS = r"[*•]+(?!\S)|\|(?!\S)|//(?!\S)|:[A-Za-z_]+(?!\S)"
MASKED = r"\[REDACTED\]"
STANDS_FOR = re.compile("|".join([MASKED, VARIABLE, MARKED, NAMED, TOLD, CALL, MARKS]))
STANDS_FOR_QUOTED = re.compile("|".join([MASKED, VARIABLE, MARKED, NAMED]))
MAY_STAND_FOR = re.compile(r"(?:[$%#@]?[{(\[<]|(?:[A-Za-z_]+\.){0,8}[A-Za-z_]+[(\[])[^\n]{0,200}\Z")


class Value(NamedTuple):
    """One value as written: between quotes, or up to a space. `cut` says that it goes on beyond what was read.

    `stands_for` says that it is a placeholder, a variable or a call.
    """

    start: int
    end: int
    quoted: bool
    open: bool
    cut: bool
    stands_for: bool


def read_value(text: str, position: int, *, at_most: int = JUDGED_CHARS) -> Value:
    """Read the value that begins at `position`, in quotes or bare, without its quotes and closing punctuation."""
    quote = QUOTE.match(text, position)
    if quote:
        return _read_quoted(text, quote.end(), quote.group(1), at_most)
    standing = STANDS_FOR.match(text, position)
    if standing:
        return Value(position, standing.end(), False, at_end(text, standing.end()), False, True)
    end = _match_end(BARE, text, position, at_most)
    is_open = (
        at_end(text, end)
        or (text[end] in "\\&" and end + 1 == len(text))
        or not SETTLED.match(text, end)
        or MAY_STAND_FOR.match(text, position) is not None
    )
    trimmed = end
    while trimmed > position and text[trimmed - 1] in TRAILING:
        trimmed -= 1
    return Value(position, trimmed, False, is_open, end - position >= at_most, False)


def _read_quoted(text: str, start: int, mark: str, at_most: int) -> Value:
    end = _match_end(QUOTED.get(mark, ESCAPED_QUOTED), text, start, at_most)
    is_open = at_end(text, end) or (text[end] == "\\" and end + 9 > len(text))
    standing = STANDS_FOR_QUOTED.match(text, start, end)
    return Value(start, end, True, is_open, end - start >= at_most, standing is not None)


def _match_end(pattern: re.Pattern[str], text: str, start: int, at_most: int) -> int:
    return pattern.match(text, start, start + at_most).end()  # type: ignore[union-attr]


def judge(text: str, position: int, is_secret: Callable[[Value], bool]) -> Finding:
    """Judge the value at `position` by its beginning, and read the rest of it only when it is a secret."""
    value = read_value(text, position)
    if not is_secret(value):
        return Finding(value.start, value.end, False, value.open and not value.cut)
    if value.cut:
        value = read_value(text, position, at_most=len(text))
    return Finding(value.start, value.end, True, value.open)


# ---------------------------------------------------------------- judging a value
PLAIN = re.compile(r"[A-Za-z]?[a-z]+(?:[-'’/][a-z]+)*")
PRODUCT_ID = re.compile(r"[a-z]+(?:-[a-z]+)*-\d{1,6}|[A-Z]{2,6}-\d+|r\d+")  # `semantic-auth-000001`, `MCK-1042`
STANDARD = re.compile(r"(?:RFC|ISO|PEP|SHA|HS|RS|ES|PS|AES)-?\d{1,5}")  # `jwt: RFC7519`
REFERENCE = re.compile(r"(?:[A-Za-z_]+\.)+([A-Za-z_]+)")  # `process.env.SECRET`: where a secret is kept
ASSIGNMENT = re.compile(r"[A-Za-z_]+=[^=]")  # `5 tokens: refill=3`
NUMBER = re.compile(r"[\d.,_]+[kKmM%]?")
END_OF_LINE = re.compile(rf"{AFTER}(?:\n|\r|\\n|\Z)")
NOTHING = words("""
    none null nil true false yes no on off required optional missing unset empty unknown absent hidden redacted masked
    withheld string str text number boolean bool int integer bytes object any undefined never array list dict
    placeholder changeme todo tbd n/a ok denied allowed granted exposed invalid expired valid
""")


def is_secret_value(text: str, value: Value, *, kind: Kind, loose: bool) -> bool:
    """Say whether the value behind a promising name is one.

    `loose` is a colon or spaces between name and value, as prose has them: there a plain word is only a word.
    """
    word = text[value.start : value.end]
    if not word or word.lower() in NOTHING:
        return False
    if kind is Kind.PWD:
        if is_kept(kind, word):
            return False
        kind = Kind.PASSWORD
    if value.stands_for or word in ("[REDACTED", "{", "[", "("):
        return False
    if value.quoted:
        return True
    if NUMBER.fullmatch(word):
        return is_secret_number(kind, word)
    reference = REFERENCE.fullmatch(word)
    if reference and kind_of(reference.group(1)):
        return False
    return not loose or _is_secret_in_prose(text, value, kind)


def _is_secret_in_prose(text: str, value: Value, kind: Kind) -> bool:
    word = text[value.start : value.end]
    if PLAIN.fullmatch(word):
        ends_line = END_OF_LINE.match(text, value.end) is not None
        return ends_line and (kind is Kind.PASSWORD or len(word) >= 16) and not is_joined_words(word)
    if kind is Kind.PASSWORD:
        return True
    harmless = PRODUCT_ID.fullmatch(word) or STANDARD.fullmatch(word) or ASSIGNMENT.match(word) or is_joined_words(word)
    return len(word) >= 6 and not harmless
