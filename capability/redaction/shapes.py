"""Secrets that show by their own shape: keys with a known beginning, JWTs, key blocks, credentials in a URL.

Pure: a text in, spans out. Every search is linear: a candidate is found by its literal beginning, judged by a bounded
part of it, and only an accepted one is read to its end, where the search goes on.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

Span = tuple[int, int]

JUDGED_CHARS = 256  # a candidate is judged by at most this much; what is accepted is still masked to its end
WORDS = re.compile(r"[a-z]+(?:[_-][a-z]+)+")  # `sk-learn-based`: words joined, no key
KNOWN_START = re.compile(r"(?:proj|ant|svcacct|admin|live|test|or|prod)[-_]")
ESCAPED = re.compile(r"(?:\\(?:[nrtbf]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2})\Z")
ESCAPE_CHARS = 6  # the longest of them
ESCAPE_BEFORE = r"(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})|(?<=%[0-9A-Fa-f]{2})"  # looking back


def is_joined_words(text: str) -> bool:
    """Say whether a value is lower-case words joined by `-` or `_`, as names and states are."""
    return WORDS.fullmatch(text) is not None


def _any(_tail: str) -> bool:
    return True


def _not_words(tail: str) -> bool:
    return KNOWN_START.match(tail) is not None or not WORDS.fullmatch(tail)


def _has_digit(tail: str) -> bool:
    return any(char.isdigit() for char in tail)


class Shape(NamedTuple):
    """A key that begins with `start`, then at least `least` characters of `body`.

    `inside` says that it is known by its beginning even within a word; any other is only one where a word may begin.
    """

    start: str
    body: str
    least: int
    accepts: Callable[[str], bool] = _any
    inside: bool = False


WIDE = "[A-Za-z0-9_-]"
FLAT = "[A-Za-z0-9]"
DASHED = "[A-Za-z0-9-]"
SHAPES = (
    *(Shape(f"sk-{maker}-", WIDE, 8, _has_digit, inside=True) for maker in ("proj", "ant", "svcacct")),
    Shape("sk-", WIDE, 8, _not_words),
    Shape("glpat-", WIDE, 8, inside=True),
    Shape("glrt-", WIDE, 8, _not_words),
    Shape("xox", "[abeoprs]-[A-Za-z0-9-]", 8),
    Shape("xapp-", DASHED, 8, _not_words),
    Shape("pypi-", WIDE, 40, _has_digit),
    Shape("AGE-SECRET-KEY-", "[0-9A-Z]", 16),
    Shape("sk_", WIDE, 8, _not_words),
    Shape("pk_", WIDE, 8, _not_words),
    Shape("rk_", WIDE, 8, _not_words),
    Shape("rt_", "[A-Za-z0-9_.-]", 20, _has_digit),  # a provider's refresh token
    Shape("pcgw_", WIDE, 8, inside=True),
    Shape("pcp_", WIDE, 8),
    *(Shape(f"gh{kind}_", WIDE, 8, inside=True) for kind in "posur"),
    Shape("github_pat_", WIDE, 8, inside=True),
    Shape("whsec_", "[A-Za-z0-9+/=_-]", 8, inside=True),
    Shape("npm_", FLAT, 20),
    Shape("hf_", FLAT, 20),
    Shape("gsk_", FLAT, 20),
    Shape("dckr_pat_", WIDE, 8, inside=True),
    Shape("dop_v1_", FLAT, 20, inside=True),
    Shape("shpat_", FLAT, 16, inside=True),
    Shape("AKIA", "[0-9A-Z]", 12),
    Shape("ASIA", "[0-9A-Z]", 16, _has_digit),
    Shape("AIza", WIDE, 30),
    Shape("ya29.", "[A-Za-z0-9_.-]", 20),
    Shape("SG.", "[A-Za-z0-9_.-]", 30, _has_digit),
)
STARTS = tuple(shape.start for shape in SHAPES)
KEY_LEAST_CHARS = 11
TO_LOWER = {ord(upper): ord(upper.lower()) for upper in string.ascii_uppercase}


class _Search(NamedTuple):
    shape: Shape
    judge: re.Pattern[str]
    rest: re.Pattern[str]


def _searches(mark: str) -> tuple[_Search, ...]:
    """Prepare the shapes whose beginning holds `mark`; the empty mark stands for those with neither `-` nor `_`."""
    chosen = [s for s in SHAPES if (mark in s.start if mark else not {"-", "_"} & set(s.start))]
    body = {s: s.body[s.body.rindex("[") :] for s in chosen}
    first = {s: s.body[: s.body.rindex("[")] for s in chosen}
    return tuple(
        _Search(s, re.compile(f"{first[s]}{body[s]}{{{s.least},{JUDGED_CHARS}}}"), re.compile(f"{body[s]}*+"))
        for s in chosen
    )


# Most texts hold no `_`, and many no `-`: one look for a character saves twenty for words.
DASH_SEARCHES, UNDERSCORE_SEARCHES, OTHER_SEARCHES = _searches("-"), _searches("_"), _searches("")


def at_boundary(text: str, position: int, *, start: str) -> bool:
    """Say whether a key may begin here: not inside a word (`task-…`), though an escape such as `\\n` is no word."""
    if position == 0:
        return True
    before = text[position - 1]
    if not (before.isascii() and before.isalnum()) and (before != "_" or "_" not in start):
        return True
    return ESCAPED.search(text[max(0, position - ESCAPE_CHARS) : position]) is not None


def lowered(text: str) -> str:
    """Return the text with ASCII letters in lower case, every character in its place."""
    return text.lower() if text.isascii() else text.translate(TO_LOWER)


def find_keys(text: str) -> Iterator[Span]:
    """Yield every key of `SHAPES`, also one whose beginning was put in capitals, as at the start of a sentence."""
    if len(text) < KEY_LEAST_CHARS:
        return
    low = lowered(text)
    yield from _find_keys(text, low, OTHER_SEARCHES)
    if "-" in text:
        yield from _find_keys(text, low, DASH_SEARCHES)
    if "_" in text:
        yield from _find_keys(text, low, UNDERSCORE_SEARCHES)


def _find_keys(text: str, low: str, searches: tuple[_Search, ...]) -> Iterator[Span]:
    for shape, judge, rest in searches:
        start, seen = shape.start, low if shape.start.islower() else text
        position = seen.find(start)
        while position >= 0:
            body = position + len(start)
            judged = (
                judge.match(_as_written(text, low, position, start), body)
                if _may_begin(text, position, shape)
                else None
            )
            if judged and shape.accepts(judged.group()):
                body = rest.match(text, judged.end()).end()  # type: ignore[union-attr]
                yield position, body
            position = seen.find(start, body)


def _may_begin(text: str, position: int, shape: Shape) -> bool:
    """Say whether a key of this shape may begin here. In capitals, names with `_` are constants of a program."""
    start = shape.start
    written = text[position : position + len(start)]
    if written[1:] != start[1:] and ("_" in start or written != start.upper()):
        return False
    return shape.inside or at_boundary(text, position, start=start)


def _as_written(text: str, low: str, position: int, start: str) -> str:
    """Return what a body is judged by: its own letters, or lower case ones when the beginning was changed, too."""
    return text if text.startswith(start, position) else low


# ---------------------------------------------------------------- JSON Web Tokens
JWT = re.compile(
    r"[eE]yJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){0,3}|(?:\.[A-Za-z0-9_-]*+){2,4})"
)
RUN = re.compile(r"[A-Za-z0-9_-]*+")


def _jwt_start(text: str, position: int) -> int:
    """Return where a token's first three letters stand, also when a sentence begins with it; -1 for nowhere."""
    found = text.find("yJ", position + 1)
    while found >= 0 and text[found - 1] not in "eE":
        found = text.find("yJ", found + 1)
    return found - 1 if found >= 0 else -1


def find_jwts(text: str) -> Iterator[Span]:
    """Yield every signed, unsigned or encrypted JSON Web Token."""
    position = _jwt_start(text, 0)
    while position >= 0:
        after = position + 3
        if at_boundary(text, position, start="eyJ-"):
            token = JWT.match(text, position)
            if token:
                yield token.span()
            # A run that is no token holds none further on either: step over it, and read it once only.
            after = token.end() if token else max(after, RUN.match(text, position).end())  # type: ignore[union-attr]
        position = _jwt_start(text, after)


# ---------------------------------------------------------------- key blocks
BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}")
END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}")


def find_blocks(text: str) -> Iterator[Span]:
    """Yield every private key block, its lines included. One without an end reaches to the end of the text."""
    begin = BEGIN.search(text)
    while begin:
        end = END.search(text, begin.end())
        yield begin.start(), end.end() if end else len(text)
        begin = BEGIN.search(text, end.end()) if end else None


# ---------------------------------------------------------------- credentials in a URL
AUTHORITY = re.compile(r":(?://|\\/\\/)([^\s/\"'<>`\\]*+)")
OPAQUE = re.compile(r"(?=[^0-9]*+[0-9])[A-Za-z0-9_.%~+=-]{20,}")  # a user name that is itself a token
WEB = re.compile(r"https?\Z", re.IGNORECASE)  # where a name without a password is a token, or a plain word
WEB_OPAQUE = re.compile(r"(?=[^0-9]*+[0-9])[A-Za-z0-9_.%~+=-]{8,}|[A-Za-z0-9_.%~+=-]{20,}")


def find_userinfo(text: str) -> Iterator[Span]:
    """Yield the password of `scheme://user:password@host`, and a user name that is a token."""
    for authority in AUTHORITY.finditer(text):
        info, at, _host = authority.group(1).rpartition("@")
        if not at:
            continue
        start = authority.start(1)
        user, colon, password = info.partition(":")
        is_web = WEB.search(text, max(0, authority.start() - len("https")), authority.start())
        if (WEB_OPAQUE if is_web and not password else OPAQUE).fullmatch(user):
            yield start, start + len(user)
        if colon and password:
            yield start + len(user) + 1, start + len(info)
