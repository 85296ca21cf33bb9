"""Text as a reader sees it: without invisible characters and terminal colours, and with look-alike forms made plain.

A key with a zero-width space in it, or printed in red, is still a key to whoever copies it. Rules run on the folded
text, and what they find is masked in the text as written.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# Drawn as nothing: category Cf beyond ASCII, the grapheme joiner, variation selectors.
INVISIBLE = re.compile(
    "[\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f\u034f\ufe00-\ufe0f]"
)
# A terminal's control sequence (colours, erasing), also as JSON and shells write its first character.
CONTROL = re.compile(r"(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;:?]{0,24}[A-Za-z]")


class Folded(NamedTuple):
    """A folded text and, unless folding changed nothing, where each of its characters stood (and the length, last)."""

    text: str
    origin: list[int] | None

    def at(self, position: int) -> int:
        """Return the position in the text as written."""
        return position if self.origin is None else self.origin[position]


def plain(text: str) -> str:
    """Return the folded text alone: enough to see that there is nothing to find."""
    if _may_hold_control(text):
        text = CONTROL.sub("", text)
    return text if text.isascii() else unicodedata.normalize("NFKC", INVISIBLE.sub("", text))


def _may_hold_control(text: str) -> bool:
    return "[" in text and ("\x1b" in text or "\\" in text)


def fold(text: str) -> Folded:
    """Drop invisible characters and apply NFKC character by character, keeping track of where each stood."""
    controls = list(CONTROL.finditer(text)) if _may_hold_control(text) else []
    if text.isascii() and not controls:
        return Folded(text, None)
    folded: list[str] = []
    origin: list[int] = []
    hidden = {position for control in controls for position in range(*control.span())}
    for position, char in enumerate(text):
        if position in hidden:
            continue
        if char.isascii():
            folded.append(char)
            origin.append(position)
        elif not INVISIBLE.match(char):
            forms = unicodedata.normalize("NFKC", char)
            folded.append(forms)
            origin.extend([position] * len(forms))
    origin.append(len(text))
    return Folded("".join(folded), origin)
