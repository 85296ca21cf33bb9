"""Which names promise a secret. Pure: a name in, a kind out.

A name is read as words (`apiKey`, `API_KEY` and `api-key` are the same two), so that `secretary`, `tokenizer`, `monkey`
and `passport` stay what they are. Source: reference A section 2.12, made exact by the cases T13 and T15.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

NAME_MAX_CHARS = 256  # longer keys are data, and their text is still searched for credentials
CODE_LEAST_DIGITS = 6  # of a one-time code


class Kind(StrEnum):
    """What a name promises: it decides how sure a plain-looking value has to be."""

    PASSWORD = "password"  # noqa: S105 (a kind) anything may be one, `hunter` too
    PWD = "pwd"  # noqa: S105 (a kind) the shell's working directory, or a password: its value tells
    SECRET = "secret"  # noqa: S105 (a kind) made by a machine: digits or mixed case
    TOKENS = "tokens"  # the plural, which more often counts than holds
    HEADER = "header"  # `authorization`, `cookie`: a scheme may stand before the secret


ABSOLUTE_PATH = re.compile(r"/[\w.@+~/ -]*")  # what a shell keeps under `PWD` and `OLDPWD`
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set: a list of words is easier to read without its quotes."""
    return frozenset(text.split())


SHELL_DIRECTORIES = (["pwd"], ["oldpwd"], ["old", "pwd"])
PASSWORDS = ("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "storepass", "keypass")
SECRETS = ("secret", "secrets", "token", "tokens", "apikey", "apikeys", "secretkey", "privatekey", "accesskey")
HEADERS = words("authorization cookie cookies jwt")
HEADER_WORDS = words("header headers value values")  # behind one: `authorizationHeader`, but not `authorizationRecords`
CREDENTIALS = words("credential credentials creds")

# `key` and `code` are ordinary words: they promise a secret only behind one of these.
KEY_OWNERS = words(
    "api access private secret signing signature encryption master auth account ssh deploy consumer license "
    "subscription"
)
CODE_OWNERS = words("device auth authorization otp recovery backup")
OWNERS: dict[str, frozenset[str]] = {
    "key": KEY_OWNERS,
    "keys": KEY_OWNERS,
    "code": CODE_OWNERS,
    "codes": CODE_OWNERS,
    "verifier": words("code"),
    "string": words("connection"),
    "assertion": words("client"),
    "pass": words("db database smtp mail user ftp mysql redis admin root login proxy http sudo"),
}

# A word behind the noun that makes it a fact about a secret: `token_type`, `passwordPolicy`, `tokenCount`.
ABOUT = words("""
    id ids name names count counts counter type types kind status state size length len limit limits budget usage used
    max min at expiry expires expired expiration expire lifetime ttl age url uri endpoint path paths file files dir
    directory policy policies page rotation rule rules hint label title description version ref refs reference
    references scheme prefix suffix required present enabled exposed configured valid invalid read metadata field
    fields format manager provider store stdin strength env issuer audience owner window cost price rate exists
    algorithm alg disposition detail details style color position index per mode santa
""")
QUESTIONS = words("is has have allow allows needs requires no enable disable use uses show hide per")
MARKERS = words("max min num number page continuation special stop bos eos pad")  # of one token
COUNTERS = MARKERS | words(
    "input output total cached speculative prompt completion reasoning used remaining write read context"
)


def is_kept(kind: Kind | None, text: str) -> bool:
    """Say whether a whole text may stay below a name that promises `kind`: only a path may, under a shell's `PWD`."""
    return kind is None or (kind is Kind.PWD and ABSOLUTE_PATH.fullmatch(text) is not None)


def is_secret_number(kind: Kind | None, number: str) -> bool:
    """Say whether a number, as written, is what a name that promises `kind` holds. A short one more often counts."""
    if kind in (Kind.PASSWORD, Kind.PWD):
        return True
    return kind in (Kind.SECRET, Kind.HEADER) and number.isdigit() and len(number) >= CODE_LEAST_DIGITS


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """Return what `name` promises, or None for a harmless name."""
    if len(name) > NAME_MAX_CHARS:
        return None
    parts = [part.lower() for part in WORD.findall(name)]
    if not parts or parts[0] in QUESTIONS:
        return None
    if parts in SHELL_DIRECTORIES:
        return Kind.PWD
    for position in reversed(range(len(parts))):
        kind = _noun(parts, position)
        if kind:
            return None if ABOUT.intersection(parts[position + 1 :]) else kind
    return None


def _noun(parts: list[str], position: int) -> Kind | None:
    word, owner = parts[position], parts[position - 1] if position else ""
    if word in OWNERS and owner in OWNERS[word]:
        return Kind.PASSWORD if word == "pass" else Kind.SECRET
    if word in HEADERS and HEADER_WORDS.issuperset(parts[position + 1 :]):
        return Kind.HEADER
    if word.endswith(PASSWORDS):
        return Kind.PASSWORD
    if word in CREDENTIALS:
        return Kind.SECRET
    if word.endswith(SECRETS):
        counting = {"token": MARKERS, "tokens": COUNTERS}.get(word, frozenset())
        if counting.intersection(parts[:position]):
            return None
        return Kind.TOKENS if word == "tokens" else Kind.SECRET
    return None
