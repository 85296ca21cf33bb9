"""Hash chains over rows that are only ever added: how a row is linked, and how a chain is read back and proved.

Each row carries the SHA-256 over the hash before it and its own canonical content. Who owns the chain (a company, a
session) keeps its head and count in a row of its own, so that a missing tail is found too. The content of a row is a
canonical JSON object of its columns; columns without a value are left out, so a later column that may be null changes
no hash. Knows rows and columns; knows no house. Decision: `mockcore/decisions/0005-histories-and-chains.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import models
from django.db.models import ExpressionWrapper, F, QuerySet

from mockcore.models.base import CanonicalJSON
from mockcore.text import canonical

VERSION = "capability.ledger.v1"
HASH = "hash"
READ_ROWS = 500  # read at a time; twice as many are in memory


def genesis(*, table: str, owner: str) -> str:
    """Return what stands before the first row of a chain: no row of one owner fits the chain of another."""
    return _sha256(canonical([VERSION, table, owner]))


def link(previous: str, content: str) -> str:
    """Return the hash of a row with this content after a row with that hash: 64 lower-case hex characters."""
    return _sha256(f"{previous}\n{content}")


def content_of(row: models.Model, *, owner: str) -> str:
    """Return the canonical content of a row about to be stored. `owner` is the column that the chain belongs to."""
    return content({name: getattr(row, name) for name, _ in _columns(type(row), owner)})


def content(values: Mapping[str, Any]) -> str:
    """Return the canonical content of a row given by its columns; moments are aware."""
    told = {name: value for name, value in values.items() if value is not None}
    return canonical(told | {name: _plain(value) for name, value in told.items() if isinstance(value, datetime)})


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(value, datetime) else value


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# ---------------------------------------------------------------- reading a chain back
@dataclass(frozen=True, kw_only=True)
class Chain:
    """One chain as its owner knows it. `rows` come in the order of the chain.

    Rows numbered up to `after` are older than the chain, or were never here; `start` is the hash before the first one.
    `older` says how many of them there are; None where only their numbers and the database bound them.
    """

    table: str
    owner: str
    owner_column: str
    rows: QuerySet[Any]
    after: int
    count: int
    start: str
    head: str
    older: int | None = 0


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """The first bad row of one chain. `number` counts the rows of the chain's owner."""

    table: str
    owner: str
    number: int
    reason: str

    def __str__(self) -> str:
        return f"{self.table}: row {self.number} of {self.owner or 'no company'}: {self.reason}"


def first_flaw(chain: Chain) -> Flaw | None:
    """Walk a chain from its start and return the first row that does not fit, or None. Memory does not grow with it."""

    def flaw(at: int, reason: str) -> Flaw:
        return Flaw(table=chain.table, owner=chain.owner, number=at, reason=reason)

    number, running, older = chain.after, chain.start, 0
    for stored_number, text, stored_hash in _stored(chain):
        if number == chain.after and _is_older(chain, stored_number, stored_hash, older):
            older += 1
            continue
        number += 1
        if stored_number != number:
            what = "is missing" if stored_number > number else "is there twice, or out of its place"
            return flaw(number if stored_number > number else stored_number, what)
        if number > chain.count:
            return flaw(number, "was added past the end that its owner knows")
        running = link(running, text)
        if running != stored_hash:
            return flaw(number, "does not match its hash: it, or the row before it, was changed")
    if number < chain.count:
        return flaw(number + 1, f"is missing, with all rows up to {chain.count}")
    if chain.older is not None and older < chain.older:
        return flaw(chain.after, f"or a row before it is missing: {chain.older - older} of those older than the chain")
    return None if running == chain.head else flaw(number, "is not the row that its owner knows as the newest")


def _is_older(chain: Chain, number: int, stored_hash: str, seen: int) -> bool:
    """Say whether a row may stand before the chain's first, where `seen` such rows are already: it has no hash."""
    expected = chain.older is None or seen < chain.older
    return 1 <= number <= chain.after and not stored_hash and expected


def _stored(chain: Chain) -> Iterator[tuple[int, str, str]]:
    """Yield number, content and hash of each row there is; JSON columns as the text that is stored."""
    model: type[models.Model] = chain.rows.model
    columns = _columns(model, chain.owner_column)
    names = [name for name, _ in columns]
    place = names.index("number")
    read = [ExpressionWrapper(F(name), output_field=models.TextField()) if raw else F(name) for name, raw in columns]
    found = chain.rows.values_list(*read, HASH)
    heads = [f"{canonical(name)}:" for name in names]
    writers: list[Callable[[Any], str]] = [_as_it_is if raw else _written for _, raw in columns]
    for row in found.iterator(chunk_size=READ_ROWS):
        yield row[place], _joined(heads, writers, row), row[-1]


def _joined(heads: Iterable[str], writers: Iterable[Callable[[Any], str]], values: Iterable[Any]) -> str:
    parts = zip(heads, writers, values, strict=False)  # the last value is the hash
    return "{" + ",".join([head + write(value) for head, write, value in parts if value is not None]) + "}"


def _as_it_is(text: str) -> str:
    """Return stored JSON untouched, so that a change of its spelling is found as well.

    What is no ASCII was not written by us; it is spelled so that it cannot match.
    """
    return text if text.isascii() else canonical(text)


def _written(value: Any) -> str:
    return canonical(_plain(value))


@cache
def _columns(model: type[models.Model], owner: str) -> tuple[tuple[str, bool], ...]:
    """Return (attribute, is it JSON) of each column that a hash covers: all but the key, the owner and the hash."""
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    covered = [(field.attname, isinstance(field, CanonicalJSON)) for field in fields]
    return tuple(sorted((name, raw) for name, raw in covered if name not in (owner, HASH)))
