"""Secrets that show by the command they are given to: `--token …`, `curl -u a:…`, `mysql -p…`, `machine … password …`.

Pure: a text in, findings out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from capability.redaction.judging import Finding, Value, is_secret_value, judge
from capability.redaction.names import Kind, words

FLAG_PROSE = words("""
    flag flags option options argument arguments parameter parameters switch is are was and or to for the a an in on
    with without if instead from as when value values must can may should will file of at by takes sets needs
""")


def flag_value(text: str, position: int, kind: Kind) -> Finding:
    """Judge what stands behind a flag: not the next word of a sentence about it."""

    def is_secret(value: Value) -> bool:
        prose = not value.quoted and text[value.start : value.end].lower() in FLAG_PROSE
        return not prose and is_secret_value(text, value, kind=kind, loose=False)

    return judge(text, position, is_secret)


# ---------------------------------------------------------------- -u user:password
LOGIN = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user|-U)[ =]{0,2}[\"']?[^\s:\"']{0,128}+:")


def find_logins(text: str) -> Iterator[Finding]:
    """Yield the password of `curl -u name:password`."""

    def is_secret(value: Value) -> bool:
        word = text[value.start : value.end]
        return bool(word) and not word.isdigit() and word != "[REDACTED"

    for match in LOGIN.finditer(text):
        yield judge(text, match.end(), is_secret)


# ---------------------------------------------------------------- -p password
SHORT_FLAG = re.compile(
    r"(?:(?:mysql|mariadb)\w{0,16}[^\n|;&]{0,200}?[ \t]-p(?=[^\s-])"
    r"|sshpass[ \t]{1,8}-p[ \t]{0,8}|login[ \t][^\n|;&]{0,200}?(?<=[ \t])-p[ \t=]{1,8})",
    re.IGNORECASE,
)


def find_short_flags(text: str) -> Iterator[Finding]:
    """Yield the password of `mysql -p…`, `sshpass -p …` and `docker login -p …`."""
    for match in SHORT_FLAG.finditer(text):
        yield flag_value(text, match.end(), Kind.PASSWORD)


# ---------------------------------------------------------------- machine host login name password …
NETRC = re.compile(r"(?:machine\s{1,16}\S{1,128}|default)\s{1,16}login\s{1,16}\S{1,128}\s{1,16}password\s{1,16}(?=\S)")


def find_netrc(text: str) -> Iterator[Finding]:
    """Yield the passwords of a `.netrc` file."""

    def is_secret(value: Value) -> bool:
        return is_secret_value(text, value, kind=Kind.PASSWORD, loose=False)

    for match in NETRC.finditer(text):
        yield judge(text, match.end(), is_secret)
