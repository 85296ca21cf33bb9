"""Secrets that show by the name before them: `API_KEY=…`, `"token": …`, `--password …`, `Authorization: …`.

Pure: a text in, findings out. Looking for the nouns of such names is cheaper than looking for names.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from capability.redaction.commands import flag_value
from capability.redaction.enclosed import find_below, find_container, find_element
from capability.redaction.judging import PLAIN, QUOTE, Finding, Value, at_end, is_secret_value, judge
from capability.redaction.names import Kind, kind_of

# ---------------------------------------------------------------- name = value, --name value
# Every name of `names` that promises something holds one of these.
NOUNS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "authorization",
    "cookie",
    "jwt",
    "code",
    "connection",
    "assertion",
)
NAME_CHARS = string.ascii_letters + string.digits + "_.-"
NAME_SIDE_CHARS = 128  # a name reaches at most this far to each side of its noun
NAME_END = re.compile(rf"[\w.-]{{0,{NAME_SIDE_CHARS}}}+", re.ASCII)
BLANKS = r"[ \t]{0,64}+"  # tables of settings line their values up
ASSIGNS = re.compile(
    rf"(?:\\{{0,8}}[\"'`]|%22|&quot;|&#34;)?\]?\*{{0,2}}{BLANKS}(?P<sep>=>|:=|===?|:(?!:)|=)\*{{0,2}}{BLANKS}"
)
REST_OF_ESCAPE = {
    "\\": re.compile(r"[nrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}"),
    "%": re.compile(r"[0-9A-Fa-f]{2}"),
}
PASSES = re.compile(r"[ \t]{1,8}(?!-)")
OWNER = re.compile(r"([A-Za-z]+) \Z")  # `api key: …` is written with a space too
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]{2,20})[ \t]+")
PAIR_SCHEMES = frozenset(
    ["bearer", "basic", "token", "bot", "apikey", "api-key", "negotiate", "ntlm", "dpop", "key", "ssws"]
)
LINE_SCHEMES = frozenset(["digest", "aws4-hmac-sha256", "oauth", "hawk", "signature", "mac", "gnap"])
SPOKEN_ABOUT = frozenset({"authentication", "credentials", "authorization", "certificate"})
REST_OF_LINE = re.compile(r"[^\n'`\\]*+")


class Name(NamedTuple):
    """A name as written, and where it stands."""

    text: str
    start: int
    end: int


def find_named(text: str) -> Iterator[Finding]:
    """Yield the value of every `name=value`, `name: value`, `"name": "value"` and `--name value` that is promised."""
    done = 0
    for position in _noun_positions(text):
        if position < done:
            continue
        name = _read_name(text, position)
        done = name.end
        for finding in _named_values(text, name):
            yield finding
            done = max(done, finding.end) if finding.secret else done


def _named_values(text: str, name: Name) -> Iterator[Finding]:
    yield from _values(text, name)
    if escape := _escape_before(text, name):  # it may be one, and it may be the name's own beginning
        yield from _values(text, Name(name.text[escape:], name.start + escape, name.end))


def _escape_before(text: str, name: Name) -> int:
    """Return how many characters of a name may be the rest of an escape such as `\\n` or `%0A`; 0 for none."""
    rest = REST_OF_ESCAPE.get(text[name.start - 1]) if name.start else None
    found = rest.match(name.text) if rest else None
    return found.end() if found else 0


def _values(text: str, name: Name) -> Iterator[Finding]:
    assigns = ASSIGNS.match(text, name.end)
    if assigns:
        kind = _promised(text, name)
        if kind:
            yield from _assigned_values(text, name, assigns, kind)
    elif not (kind := kind_of(name.text)):
        return
    elif name.text.startswith("-") and (passes := PASSES.match(text, name.end)):
        yield flag_value(text, passes.end(), kind)
    elif pair := _pair(text, name):
        yield judge(text, pair.end(), _is_quoted)
    else:
        yield from find_element(text, name.start, name.end)


def _assigned_values(text: str, name: Name, assigns: re.Match[str], kind: Kind) -> Iterator[Finding]:
    """Yield what a name is given: all of an object, the lines below, or one value."""
    for finding in find_container(text, assigns.end()):
        yield finding
        if finding.secret:
            return
    if assigns["sep"] == ":":
        yield from find_below(text, assigns.end(), kind)
    yield _assigned(text, name, assigns, kind)


# `{"name": "API_KEY", "value": "…"}` in a text that is not looked at as JSON, and `name="…" value="…"` in markup: the
# name is a value.
PAIR_QUOTE = r"\\{0,8}[\"']"
PAIR_NAME = re.compile(rf"\b(?:name|key|header)(?:{PAIR_QUOTE})?\s{{0,8}}[:=]\s{{0,8}}{PAIR_QUOTE}\Z", re.IGNORECASE)
PAIR_VALUE = re.compile(
    rf"{PAIR_QUOTE}\s{{0,8}},?\s{{0,8}}(?:{PAIR_QUOTE})?values?(?:{PAIR_QUOTE})?\s{{0,8}}[:=][\s\[]{{0,8}}",
    re.IGNORECASE,
)
PAIR_NAME_CHARS = 64


def _pair(text: str, name: Name) -> re.Match[str] | None:
    """Return what leads from a name that is itself a value to the value beside it."""
    before = PAIR_NAME.search(text, max(0, name.start - PAIR_NAME_CHARS), name.start)
    return PAIR_VALUE.match(text, name.end) if before else None


def _is_quoted(value: Value) -> bool:
    return value.quoted


def _noun_positions(text: str) -> list[int]:
    low = text.lower()
    if len(low) != len(text):  # a few letters grow when lowered, and positions would move
        low = "".join(char.lower() if char.isascii() else char for char in text)
    positions = []
    for noun in NOUNS:
        position = low.find(noun)
        while position >= 0:
            positions.append(position)
            position = low.find(noun, position + len(noun))
    return sorted(positions)


def _read_name(text: str, position: int) -> Name:
    before = text[max(0, position - NAME_SIDE_CHARS) : position]
    start = position - len(before) + len(before.rstrip(NAME_CHARS))
    end = NAME_END.match(text, position).end()  # type: ignore[union-attr]
    return Name(text[start:end], start, end)


def _promised(text: str, name: Name) -> Kind | None:
    last = name.text.rstrip(".").rpartition(".")[2]  # of `spring.datasource.password` the last part counts
    if last.lower() in ("key", "keys"):
        owner = OWNER.search(text, max(0, name.start - 20), name.start)
        last = f"{owner.group(1)}_{last}" if owner else last
    return kind_of(last)


def _assigned(text: str, name: Name, assigns: re.Match[str], kind: Kind) -> Finding:
    start = assigns.end()
    if kind is Kind.HEADER:
        header = _scheme(text, start)
        if header:
            return header
    sep = assigns["sep"]
    loose = sep != "=" or text[start - 1] in " \t" or text[assigns.start("sep") - 1] in " \t"

    def is_secret(value: Value) -> bool:
        if not value.quoted and (sep in ("=>", "==", "===") or text[value.start : value.end] == name.text):
            return False
        return is_secret_value(text, value, kind=kind, loose=loose)

    return judge(text, start, is_secret)


def _scheme(text: str, position: int) -> Finding | None:
    """Read `Bearer <token>` and the like behind a header's name; digests take the rest of the line."""
    quote = QUOTE.match(text, position)
    scheme = SCHEME.match(text, quote.end() if quote else position)
    if not scheme:
        return None
    name = scheme.group(1).lower()
    if name in LINE_SCHEMES:
        end = REST_OF_LINE.match(text, scheme.end()).end()  # type: ignore[union-attr]
        return Finding(scheme.end(), end, end > scheme.end(), at_end(text, end))
    if name not in PAIR_SCHEMES:
        return None

    def is_secret(value: Value) -> bool:
        word = text[value.start : value.end]
        spoken = PLAIN.fullmatch(word) is not None and (len(word) < 8 or word in SPOKEN_ABOUT)
        return not spoken and is_secret_value(text, value, kind=Kind.SECRET, loose=False)

    return judge(text, scheme.end(), is_secret)
