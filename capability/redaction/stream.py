"""Masking a text that arrives in pieces: what can no longer become a secret goes out at once, the rest waits.

A piece of plain prose passes through. Held back is only a tail that more text could turn into a secret (`undecided`).
Some text already sent is remembered, because a name that promises a secret stands before its value.
"""

from __future__ import annotations

import re
import string

from capability.redaction import shapes
from capability.redaction.folding import PARTIAL_AT_END, PARTIAL_MAX_CHARS, Folded, fold
from capability.redaction.judging import at_end
from capability.redaction.rules import find_fields, find_shapes, find_spans, known_secrets, merge
from capability.redaction.shapes import Span, at_boundary, lowered
from capability.redaction.texts import MASK, splice

CONTEXT_CHARS = 512  # of text already sent, to know what stands before a value
HELD_MAX_CHARS = 8192  # a longer undecided tail is masked, and dropped up to where it can end
BLOCK_END_CHARS = 128  # an end line is never longer
HELD_PER_NEW_CHAR = 128  # a held tail is looked at again once this share of it is new: a long one costs no more than it

STARTS = tuple(start.lower() for start in (*shapes.STARTS, "eyJ"))  # looked for in lower case: holding is harmless
PARTIAL_STARTS = frozenset(start[:length] for start in STARTS for length in range(1, len(start)))
# Some count inside a word too. There the first two letters are let go, or every word on `s` would wait.
INSIDE = tuple(shape.start for shape in shapes.SHAPES if shape.inside)
PARTIAL_INSIDE = frozenset(start[:length] for start in INSIDE for length in range(3, len(start)))
PARTIAL_START_MAX_CHARS = max(map(len, PARTIAL_STARTS))
BODY_CHARS = string.ascii_letters + string.digits + "_.+/=-"
BEGIN_AT_END = re.compile(r"-{1,5} ?\Z|-{4,5} ?B[A-Z0-9 ]{0,70}-{0,5}\Z")
BEGIN_MAX_CHARS = 90
AUTHORITY_AT_END = re.compile(r":(?://|\\/\\/)([^\s/\"'<>`\\]*+)\Z")

RUN_ENDS = re.compile(r"[\s\"'`<>]")
LINE_ENDS = re.compile(r"\n")


class StreamRedactor:
    """Redact one text that arrives piece by piece. `feed` each piece, `flush` once at the end.

    The pieces given out join to the whole text, masked; a secret never appears, wherever the pieces were cut. Not more
    than about 8,000 characters are ever held. One instance serves one text, from one thread at a time.
    """

    def __init__(self) -> None:
        self._sent = ""  # the end of what has left, as it was written
        self._held = ""
        self._new_chars = 0  # of what is held, since it was last looked at
        self._dropping: re.Pattern[str] | None = None  # set while the rest of an over-long secret is thrown away

    def feed(self, chunk: str) -> str:
        """Take the next piece; return the masked text that is safe to show by now, which may be empty."""
        self._held += chunk
        self._new_chars += len(chunk)
        self._drop()
        if self._dropping or self._new_chars * HELD_PER_NEW_CHAR < len(self._held) or not self._held:
            return ""
        self._new_chars = 0
        text = self._sent + self._held
        folded = fold(text)
        spans, hold = _decide(folded)
        if len(text) - hold > HELD_MAX_CHARS:
            return self._release(text, spans, max(hold, len(self._sent))) + self._give_up()
        return self._release(text, spans, max(hold, len(self._sent)))

    def flush(self) -> str:
        """End the text: return what was held back, masked."""
        if self._dropping:
            self._held = ""
            return ""
        text = self._sent + self._held
        folded = fold(text)
        return self._release(text, _origin(folded, find_spans(folded.text)), len(text))

    def _release(self, text: str, spans: list[Span], end: int) -> str:
        start = len(self._sent)
        safe = splice(
            text[start:end],
            [(max(a, start) - start, min(b, end) - start) for a, b in spans if max(a, start) < min(b, end)],
        )
        self._sent = _context(text[:end])
        self._held = text[end:]
        return safe

    def _give_up(self) -> str:
        """Mask a tail that grew too long to be held, and drop the rest of it as it comes."""
        if shapes.BEGIN.match(self._held):
            self._dropping = shapes.END
        else:
            self._dropping = LINE_ENDS if re.search(r"\s", self._held) else RUN_ENDS
        self._drop()
        return MASK

    def _drop(self) -> None:
        if not self._dropping:
            return
        end = self._dropping.search(self._held)
        if end:
            self._held = self._held[end.end() if self._dropping is shapes.END else end.start() :]
            self._sent, self._dropping = "", None
        else:
            self._held = self._held[-BLOCK_END_CHARS:]


def _decide(folded: Folded) -> tuple[list[Span], int]:
    """Return the spans to mask and where the undecided tail begins, both as positions in the text as written."""
    text = folded.text
    found = list(find_shapes(text))
    hold = min(undecided(text), known_secrets.begins_at_end(text))
    for one in find_fields(text):
        if one.secret:
            found.append((one.start, one.end))
        if one.open:
            hold = min(hold, one.start)
    spans = merge(found)
    for start, end in reversed(spans):
        if at_end(text, end) or start < hold < end:
            hold = min(hold, start)
    return _origin(folded, spans), folded.at(hold)


def undecided(text: str) -> int:
    """Return where a tail begins that more text could turn into a secret of a known shape."""
    partial = PARTIAL_AT_END.search(text, max(0, len(text) - PARTIAL_MAX_CHARS))
    if partial:  # whole, it would be folded away
        return min(partial.start(), _undecided(text[: partial.start()]))
    return _undecided(text)


def _undecided(text: str) -> int:
    end, low = len(text), lowered(text)
    holds = [end]
    run = len(text.rstrip(BODY_CHARS))
    holds += [position for start in STARTS if (position := _find_start(low, start, run)) >= 0]
    for length in range(1, min(PARTIAL_START_MAX_CHARS, end) + 1):
        partial = low[end - length :]
        if partial in PARTIAL_INSIDE or (partial in PARTIAL_STARTS and at_boundary(text, end - length, start="-")):
            holds.append(end - length)
    begin = BEGIN_AT_END.search(text, max(0, end - BEGIN_MAX_CHARS))
    if begin:
        holds.append(begin.start())
    scheme = max(text.rfind("://"), text.rfind(":\\/\\/"))
    authority = AUTHORITY_AT_END.match(text, scheme) if scheme >= 0 else None
    if authority:
        holds.append(authority.start(1))
    return min(holds)


def _find_start(text: str, start: str, position: int) -> int:
    """Return where a key with this beginning may stand at or after `position`, or -1."""
    found = text.find(start, position)
    while found >= 0 and start not in INSIDE and not at_boundary(text, found, start="-"):
        found = text.find(start, found + 1)
    return found


def _origin(folded: Folded, spans: list[Span]) -> list[Span]:
    return [(folded.at(start), folded.at(end)) for start, end in spans]


def _context(text: str) -> str:
    """Return the end of a text, cut between words, or marked as the inside of one."""
    if len(text) <= CONTEXT_CHARS:
        return text
    tail = text[-CONTEXT_CHARS:]
    space = re.search(r"\s", tail)
    return tail[space.start() :] if space else f"x{tail}"
