"""Taking a person's words apart: quoted text, the words after a colon, names, options, numbers. Pure.

Words in quotes or after a colon are taken exactly and are never read as a request. "then" starts the next request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

QUOTES = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|‘([^’\n]+)’|(?<![\w'])'([^'\n]+)'(?!\w)")
THEN = re.compile(r"\n|[,.;]?\s+(?:and\s+)?then\b", re.IGNORECASE)
COLON = re.compile(r"^(?:[^.;:\n?!]|\.(?=\w)){0,80}?:\s+(?=\S)")
SAYING = re.compile(
    r"\b(?:that says|which says|saying|with the (?:text|words|body|note)|because|that)\s+(?P<words>.+)",
    re.IGNORECASE | re.DOTALL,
)
LEADS_ON = r"(?:with|saying|that|about|and|then|which|containing|because|for|on|in)\b"
NAMED = re.compile(
    rf"\b(?:called|named|titled|with the (?:title|name|key))\s+(?P<name>\w[\w.-]*(?: (?!{LEADS_ON})\w[\w.-]*)*)",
    re.IGNORECASE,
)
ABOUT = re.compile(r"\b(?:about|on|for)\s+(?P<words>[^.;:?!\n]+)", re.IGNORECASE)
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
TURNED = {"i": "you", "me": "you", "my": "your", "mine": "yours", "am": "are"}
TURNED |= {"you are": "I am", "you": "I", "your": "my", "yourself": "myself", "myself": "yourself"}
TURNING = re.compile(
    r"\byou are\b|(?P<object>\byou\b(?=\s*(?:$|[?.!,;]|(?:to|for|with|and|or|about|in|on|at|now|an?|the)\b)))"
    r"|\b[a-z]+\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Clause:
    """The part of a message that belongs to one request. `tail` is what follows the words that named the request."""

    text: str
    tail: str

    @property
    def quoted(self) -> tuple[str, ...]:
        return tuple(next(part for part in match.groups() if part is not None) for match in QUOTES.finditer(self.text))

    @property
    def after_colon(self) -> str:
        match = COLON.search(hide_quotes(self.tail))
        return tidy(self.tail[match.end() :]) if match else ""

    @property
    def verbatim(self) -> str:
        """The words after a colon or in quotes, which nothing is ever done to. Empty when there are none."""
        return self.after_colon or " ".join(words for words in self.quoted if words != self.name).strip()

    @property
    def exact(self) -> str:
        """The words to use: after a colon, in quotes, or after "that" or "saying". Empty when there are none."""
        match = None if self.verbatim else SAYING.search(self.tail)
        return tidy(match["words"]) if match else self.verbatim

    @property
    def sentence(self) -> str:
        """The same to be recorded: verbatim words as they are, those after "that" or "because" made a sentence."""
        return self.verbatim or one_sentence(self.exact)

    @property
    def name(self) -> str:
        """What a thing is to be called: `called Plan B`, `titled "Plan B"`. Empty when not said."""
        match = re.search(r"\b(?:called|named|titled|with the (?:title|name|key))\s+$", self.before_first_quote)
        if match and self.quoted:
            return self.quoted[0]
        named = NAMED.search(hide_quotes(self.text))
        return named["name"].strip(" .") if named else ""

    @property
    def about(self) -> str:
        match = ABOUT.search(self.text)
        return tidy(match["words"]) if match else ""

    @property
    def options(self) -> tuple[str, ...]:
        """The choices in the exact words: `red, green or blue`. Empty when there are fewer than two."""
        if len(self.quoted) > 1:
            return self.quoted
        words = self.after_colon or self.exact
        found = [part.strip(" .?!\"'“”") for part in re.split(r",\s*(?:or|and)\s+|[,;/]\s*|\s+or\s+|\s+and\s+", words)]
        return tuple(part for part in found if part) if sum(map(bool, found)) > 1 else ()

    @property
    def number(self) -> int | None:
        match = re.search(r"\b(\d{1,6})\b", self.text)
        return int(match[1]) if match else None

    def count_of(self, thing: str) -> int | None:
        """How many of a thing are asked for: 3 for "step" in `with three short steps`. None when not said."""
        match = re.search(rf"\b(\d{{1,3}}|{'|'.join(NUMBERS)})[- ](?:\w+ )?{thing}s?\b", hide_quotes(self.text), re.I)
        return (NUMBERS.get(match[1].lower()) or int(match[1])) if match else None

    @property
    def before_first_quote(self) -> str:
        match = QUOTES.search(self.text)
        return self.text[: match.start()] if match else ""


def hide_quotes(text: str) -> str:
    """Return the text with what is in quotes overwritten, character for character, so that nothing in it matches."""
    return QUOTES.sub(lambda match: "\0" * len(match[0]), text)


def tidy(words: str) -> str:
    """Strip spaces, one pair of surrounding quotes, and a dangling "and" or comma."""
    words = re.sub(r"[\s,;]+(?:and)?\s*$", "", words.strip())
    whole = QUOTES.fullmatch(words)
    return next(part for part in whole.groups() if part is not None).strip() if whole else words


def exact_words(text: str, start: int, *, greedy: bool) -> tuple[int, int] | None:
    """Return where exact words that open right after `start` begin and end; None when none open.

    They open after a colon. With `greedy` they open at once: one quoted piece, else everything up to "then".
    """
    colon = COLON.search(text[start:])
    begin = start + (colon.end() if colon else len(text[start:]) - len(text[start:].lstrip()))
    quoted = QUOTES.match(text, begin)
    if greedy and quoted:
        return begin, quoted.end()
    if not colon and not greedy:
        return None
    stop = THEN.search(text, begin)
    return begin, stop.start() if stop else len(text)


def turned_around(words: str) -> str:
    """Say a person's words back to them: `which colour I like` becomes `which colour do you like`."""
    words = re.sub(
        r"^(?=wh(?!ether)|how)(.*?) I (?!am\b|was\b|can\b|should\b|would\b)(?=\w)", r"\1 do I ", words, flags=re.I
    )
    return TURNING.sub(lambda match: "me" if match["object"] else TURNED.get(match[0].lower(), match[0]), words)


def one_sentence(words: str, *, limit: int = 400) -> str:
    """Return the words as one bounded sentence: a capital first, but not in a name such as `a_b`; a full stop last."""
    words = " ".join(words.split())
    if len(words) > limit:
        words = words[: limit - 1].rstrip() + "…"
    if not words:
        return ""
    first = words[0] if "_" in words.split(" ", 1)[0] else words[0].upper()
    return first + words[1:] + ("" if words[-1] in ".!?…" else ".")


def slug(words: str, *, limit: int = 60) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:limit].strip("-") or "notes"


def shortened(text: str, *, limit: int = 240) -> str:
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def in_words(items: list[str]) -> str:
    """Join a list as a person would: `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
