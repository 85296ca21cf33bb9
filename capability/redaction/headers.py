"""Secrets that show by a word or a header before them: `Bearer …`, `Cookie: …`, `?code=…`.

Pure: a text in, findings out.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Iterator

from capability.redaction.judging import (
    JUDGED_CHARS,
    PLAIN,
    PRODUCT_ID,
    Finding,
    Value,
    at_end,
    judge,
)
from capability.redaction.shapes import ESCAPE_BEFORE, at_boundary, is_joined_words

# ---------------------------------------------------------------- Bearer …, Basic …, password is …
SPOKEN = re.compile(r"(bearer|basic)(?:\s{1,4}|%20|\+)(?:token\s{1,4})?", re.IGNORECASE)
SPOKEN_CHARS = 1024  # a credential is judged by this much
CREDENTIAL = re.compile(r"[A-Za-z0-9._~+/=-]*+")
BASE64 = re.compile(r"[A-Za-z0-9+/]*+={0,2}+")
STATED = re.compile(
    rf"(?:(?<![A-Za-z])|{ESCAPE_BEFORE})(?:password|passphrase|passcode|passwd|pwd)\s{{1,4}}(?:is|was)\s{{1,4}}",
    re.IGNORECASE,
)
STRONG = re.compile(r"(?=[^\d]*+\d)(?=.*[A-Za-z!@#$%^&*]).{4,}")


def find_spoken(text: str) -> Iterator[Finding]:
    """Yield what follows `Bearer` or `Basic` when it is a credential, not the next word of a sentence."""
    done = 0
    for match in SPOKEN.finditer(text):
        if match.end() < done or not at_boundary(text, match.start(), start="-"):
            continue
        start = match.end()
        is_basic = match.group(1).lower() == "basic"
        body, is_secret = (BASE64, _is_basic) if is_basic else (CREDENTIAL, _is_bearer)
        end = body.match(text, start, start + SPOKEN_CHARS).end()  # type: ignore[union-attr]
        secret = is_secret(text[start:end].rstrip(".-"))
        if secret and end - start >= SPOKEN_CHARS:
            end = body.match(text, start).end()  # type: ignore[union-attr]
        done = end if secret else done
        stripped = start + len(text[start:end].rstrip(".-"))
        yield Finding(start, stripped, secret, at_end(text, end))


def _is_bearer(word: str) -> bool:
    if len(word) < 8 or PLAIN.fullmatch(word) or PRODUCT_ID.fullmatch(word):
        return len(word) >= 24 and word.isalpha()
    return not is_joined_words(word.lstrip(string.digits).lstrip("-"))  # `2-year-bonds`


def _is_basic(word: str) -> bool:
    try:
        plain = base64.b64decode(word.rstrip("=") + "=" * (-len(word.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


def find_stated(text: str) -> Iterator[Finding]:
    """Yield a password that a sentence tells: `my password is hunter2`."""

    def is_secret(value: Value) -> bool:
        word = text[value.start : value.end]
        strong = STRONG.fullmatch(word) is not None and not PRODUCT_ID.fullmatch(word)
        return strong and not value.stands_for

    for match in STATED.finditer(text):
        yield judge(text, match.end(), is_secret)


# ---------------------------------------------------------------- cookies and query parameters
COOKIE = re.compile(
    rf"(?:(?:(?<![A-Za-z0-9-])|{ESCAPE_BEFORE})(set-)?cookie\\{{0,8}}[\"'`]?[ \t]{{0,4}}:[ \t]{{0,4}}"
    r"|(?<!\S)--cookie[ =])"
    r"\\{0,8}[\"'`]?",
    re.IGNORECASE,
)
COOKIE_PAIR = re.compile(r"[!#$%&'*+.^_|~\w-]{1,128}+=")
COOKIE_VALUE = re.compile(r"[^;\s\"'\\]*+")
COOKIE_NEXT = re.compile(r";[ \t]{0,4}")
QUERY = re.compile(
    r"(?:[?&;#]|\\u0026)(?:code|state|key|sig|signature|x-amz-signature|x-goog-signature|sid)=([^&;#\s\"'<>`\\]*+)",
    re.IGNORECASE,
)
QUERY_LEAST_CHARS = 10  # shorter values are states of things: `?state=open`


def find_cookies(text: str) -> Iterator[Finding]:
    """Yield every value of a `Cookie` header, and the first of a `Set-Cookie` header."""
    match = COOKIE.search(text)
    while match:
        first = position = match.end()
        pair = COOKIE_PAIR.match(text, position)
        while pair:
            position = COOKIE_VALUE.match(text, pair.end()).end()  # type: ignore[union-attr]
            more = None if match.group(1) else COOKIE_NEXT.match(text, position)
            yield Finding(pair.end(), position, position > pair.end(), False)
            if at_end(text, position) or (more and at_end(text, more.end())):
                yield Finding(first, position, False, True)  # the header goes on: it is held back from its first value
            pair = COOKIE_PAIR.match(text, more.end()) if more else None
        match = COOKIE.search(text, position)


def find_parameters(text: str) -> Iterator[Finding]:
    """Yield the OAuth `code` and `state` and the signatures in a URL."""
    for match in QUERY.finditer(text):
        start, end = match.span(1)
        word = text[start : min(end, start + JUDGED_CHARS)]
        secret = len(word) >= QUERY_LEAST_CHARS and not is_joined_words(word) and "[REDACTED]" not in word
        yield Finding(start, end, secret, at_end(text, end))
