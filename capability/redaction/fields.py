"""Secrets that show by the name before them: `API_KEY=…`, `"token": …`, `--password …`, `Authorization: …`.

Pure: a text in, findings out. Looking for the nouns of such names is cheaper than looking for names.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from capability.redaction.judging import PLAIN, QUOTE, Finding, Value, is_secret_value, judge
from capability.redaction.names import Kind, kind_of, words

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
ASSIGNS = re.compile(r"\\{0,8}[\"'`]?\]?\*{0,2}[ \t]{0,8}(?P<sep>=>|:=|===?|:(?!:)|=)\*{0,2}[ \t]{0,8}")
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
        if kind and kind is not Kind.HEADER and text[assigns.end() : assigns.end() + 1] in ("{", "["):
            yield from _contained(text, assigns.end())
        elif kind:
            yield _assigned(text, name, assigns, kind)
    elif name.text.startswith("-") and (passes := PASSES.match(text, name.end)):
        kind = kind_of(name.text)
        if kind:
            yield _flag_value(text, passes.end(), kind)
    elif kind_of(name.text) and (pair := _pair(text, name)):
        yield judge(text, pair.end(), _is_quoted)


# `{"name": "API_KEY", "value": "…"}` in a text that is not looked at as JSON, a streamed one: the name is a value.
PAIR_NAME = re.compile(r"\\{0,8}\"(?:name|key|header)\\{0,8}\"\s{0,8}:\s{0,8}\\{0,8}\"\Z", re.IGNORECASE)
PAIR_VALUE = re.compile(r"\\{0,8}\"\s{0,8},\s{0,8}\\{0,8}\"values?\\{0,8}\"\s{0,8}:[\s\[]{0,8}", re.IGNORECASE)
PAIR_NAME_CHARS = 64


def _pair(text: str, name: Name) -> re.Match[str] | None:
    """Return what leads from a name that is itself a value to the value beside it."""
    before = PAIR_NAME.search(text, max(0, name.start - PAIR_NAME_CHARS), name.start)
    return PAIR_VALUE.match(text, name.end) if before else None


def _is_quoted(value: Value) -> bool:
    return value.quoted


CONTAINED = re.compile(r"(?P<string>\"(?:[^\"\\\n]|\\.)*+(?P<closed>\"?))(?P<name>\s{0,8}:)?|[{\[]|[}\]]")
CONTAINED_MAX_CHARS = 1024


def _contained(text: str, start: int) -> Iterator[Finding]:
    """Yield the texts of an object or list that a promising name holds, in JSON that is not whole (yet)."""
    depth = 0
    last = min(len(text), start + CONTAINED_MAX_CHARS)
    for token in CONTAINED.finditer(text, start, last):
        if token["string"] is None:
            depth += 1 if token.group() in "{[" else -1
            if depth == 0:
                return
        elif not token["name"]:
            first, end = token.span("string")
            yield Finding(first + 1, end - len(token["closed"]), True, False)
    if last == len(text):
        yield Finding(start, last, False, True)


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
        return Finding(scheme.end(), end, end > scheme.end(), end == len(text))
    if name not in PAIR_SCHEMES:
        return None

    def is_secret(value: Value) -> bool:
        word = text[value.start : value.end]
        spoken = PLAIN.fullmatch(word) is not None and (len(word) < 8 or word in SPOKEN_ABOUT)
        return not spoken and is_secret_value(text, value, kind=Kind.SECRET, loose=False)

    return judge(text, scheme.end(), is_secret)


FLAG_PROSE = words("""
    flag flags option options argument arguments parameter parameters switch is are was and or to for the a an in on
    with without if instead from as when value values must can may should will file of at by takes sets needs
""")


def _flag_value(text: str, position: int, kind: Kind) -> Finding:
    def is_secret(value: Value) -> bool:
        prose = not value.quoted and text[value.start : value.end].lower() in FLAG_PROSE
        return not prose and is_secret_value(text, value, kind=kind, loose=False)

    return judge(text, position, is_secret)
