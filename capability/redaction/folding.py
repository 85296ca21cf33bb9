"""Text as a reader sees it: without invisible characters and terminal colours, with escapes and look-alikes made plain.

A key with a zero-width space in it, or printed in red, is still a key to whoever copies it, and `pass%77ord` is still
that name to whoever decodes it. Rules run on the folded text, and what they find is masked in the text as written.
"""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from typing import NamedTuple

# Drawn as nothing: category Cf beyond ASCII, the grapheme joiner, variation selectors.
INVISIBLE = re.compile(
    "[\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f\u034f\ufe00-\ufe0f]"
)
# A terminal's control sequence (colours, erasing), also as JSON and shells write its first character.
CONTROL_START = r"(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))"
# A character as JSON, a program, a URL or markup writes it.
ESCAPE = r"(?:\\u([0-9A-Fa-f]{4})|(?:\\x|%)([0-9A-Fa-f]{2})|&#(?:([0-9]{1,7})|x([0-9A-Fa-f]{1,6}));)"
WRITTEN = re.compile(rf"{CONTROL_START}\[[0-9;:?]{{0,24}}[A-Za-z]|{ESCAPE}")
WRITTEN_OR_WIDE = re.compile(rf"{WRITTEN.pattern}|[^\x00-\x7f]")
# The beginning of either, at the end of a text that goes on.
PARTIAL = (
    rf"(?:{CONTROL_START}(?:\[[0-9;:?]{{0,24}})?|\\(?:u[0-9A-Fa-f]{{0,3}}|x[0-9A-Fa-f]?|03?)?|%[0-9A-Fa-f]?"
    r"|&(?:#(?:[0-9]{0,7}|x[0-9A-Fa-f]{0,6}))?)\Z"
)
PARTIAL_AT_END = re.compile(PARTIAL)
PARTIAL_MAX_CHARS = 32
# What an escape may hide of a name, of its key's beginning or of what leads to its value. Escaped quotes, brackets and
# blanks stay as they are: in the middle of a value they belong to it, and as themselves they would end it.
MAX_ASCII = 0x7F  # a byte beyond is part of a character only
SPELLED = frozenset(string.ascii_letters + string.digits + "_.-=:")


class Folded(NamedTuple):
    """A folded text and, unless folding changed nothing, where each of its characters stood (and the length, last)."""

    text: str
    origin: list[int] | None

    def at(self, position: int) -> int:
        """Return the position in the text as written."""
        return position if self.origin is None else self.origin[position]


def plain(text: str) -> str:
    """Return the folded text alone: enough to see that there is nothing to find."""
    if _may_hold_written(text):
        text = WRITTEN.sub(_form, text)
    return text if text.isascii() else unicodedata.normalize("NFKC", INVISIBLE.sub("", text))


def _may_hold_written(text: str) -> bool:
    return "\\" in text or "%" in text or "\x1b" in text or "&" in text  # one character is found fastest


def _form(written: re.Match[str]) -> str:
    """Return what a control sequence or an escape is folded to: itself when it hides nothing that matters."""
    wide, byte, decimal, hexadecimal = written.groups()
    digits = wide or byte or hexadecimal
    if not digits and not decimal:
        return ""
    code = int(digits, 16) if digits else int(decimal)
    char = chr(code) if code <= sys.maxunicode and not (byte and code > MAX_ASCII) else "\\"
    form = "" if INVISIBLE.match(char) else unicodedata.normalize("NFKC", char)
    return form if SPELLED.issuperset(form) else written.group()


def fold(text: str) -> Folded:
    """Fold escape by escape and character by character, keeping track of where each stood."""
    if text.isascii() and not _may_hold_written(text):
        return Folded(text, None)
    parts: list[str] = []
    origin: list[int] = []
    done = 0
    for special in WRITTEN_OR_WIDE.finditer(text):
        start, end = special.span()
        form = _wide_form(special.group()) if end - start == 1 else _form(special)
        if form == special.group():
            continue
        parts += [text[done:start], form]
        origin += [*range(done, start), *[start] * len(form)]
        done = end
    return Folded("".join([*parts, text[done:]]), [*origin, *range(done, len(text) + 1)])


def _wide_form(char: str) -> str:
    return "" if INVISIBLE.match(char) else unicodedata.normalize("NFKC", char)
