"""The company at any kept revision, and what differs between two of them. Reads only.

Time depends on the size of the state and not on the length of the history: the world comes from the nearest keyframe
and at most 64 change sets. Only the three lists of the ledger, which the whole root has by contract, grow with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mockcore import keyframes, snapshot
from mockcore.models import Company
from mockcore.models.base import shown_facts
from mockcore.plane import CompanyMissing
from mockcore.refusal import Refusal
from mockcore.text import canonical
from mockcore.world import World

JSON = dict[str, Any]
VALUE_CHARS = 120  # of one value in a line for a person
MOVING = ("clock", "counters", "lifecycle", "activeRunId", "outOfScopeTaskIds")  # of the root, beside the entities


class RevisionMissing(Refusal):
    """The company keeps no such revision."""

    code = "revision_missing"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What differs for one entity. `what` is added, removed or changed; each field has its value before and after.

    The fields of an added entity have None before, those of a removed one None after. `ref` is `kind:id`, or `state`
    for the clock, the counters and the active run.
    """

    ref: str
    what: str
    fields: dict[str, tuple[Any, Any]]


@dataclass(frozen=True, kw_only=True)
class Diff:
    """What differs between revisions `a` and `b`, of which either may be the older: entities in order of their ref."""

    company_id: str
    a: int
    b: int
    differences: tuple[Difference, ...]

    def as_json(self) -> JSON:
        entities = [
            {
                "ref": one.ref,
                "what": one.what,
                "fields": {name: {"before": before, "after": after} for name, (before, after) in one.fields.items()},
            }
            for one in self.differences
        ]
        return {"companyId": self.company_id, "a": self.a, "b": self.b, "entities": entities}

    def lines(self) -> Iterator[str]:
        """Yield the difference for a person: one line for an entity, one for each field of it."""
        for one in self.differences:
            yield f"{one.what} {one.ref}"
            for name, (before, after) in one.fields.items():
                sides = {"added": _short(after), "removed": _short(before)}
                yield f"  {name}: {sides.get(one.what, f'{_short(before)} → {_short(after)}')}"


# ---------------------------------------------------------------- one revision
def state_at(*, company_id: str, revision: int) -> JSON:
    """Return the whole state root as the plane returned it when `revision` was left; of the newest, as it is now.

    Decisions that refused at a revision belong to it. Its audit, decision and idempotency lists are as long as the
    history, so for looking at a state `world_at` is the one. Raises `CompanyMissing` and `RevisionMissing`.
    """
    company = _company(company_id, revision)
    root = _root(company, revision)
    return {**root, **snapshot.ledger_lists(company, revision=revision)}


def world_at(*, company_id: str, revision: int) -> JSON:
    """Return the state root without its `audit`, `decisions` and `idempotency`: what an inspector opens.

    Raises `CompanyMissing` and `RevisionMissing`. Source: design section 11, opening a revision under 50 ms.
    """
    return _root(_company(company_id, revision), revision)


def kept_revisions(*, company_id: str) -> tuple[int, int]:
    """Return the oldest and the newest revision that can be opened. Raises `CompanyMissing`."""
    company = Company.objects.filter(pk=company_id).first()
    if company is None:
        raise CompanyMissing
    return company.base_revision, company.revision


def _company(company_id: str, *revisions: int) -> Company:
    company = Company.objects.filter(pk=company_id).first()
    if company is None:
        raise CompanyMissing
    for number in revisions:
        require_kept(company, number)
    return company


def require_whole(revision: Any) -> None:
    """Raise `RevisionMissing` for what is no number of a revision at all, such as 1.5, True or "1"."""
    if type(revision) is not int or revision < 0:
        raise RevisionMissing("a revision is a whole number, not negative")


def require_kept(company: Company, revision: int) -> None:
    """Raise `RevisionMissing` unless the company keeps the revision."""
    require_whole(revision)
    if not company.base_revision <= revision <= company.revision:
        kept = f"{company.base_revision} to {company.revision}"
        raise RevisionMissing(f"there is no revision {revision} of {company.pk}; it keeps {kept}")


def _root(company: Company, revision: int) -> JSON:
    return snapshot.world_root(
        snapshot.then(company, revision=revision), keyframes.world_at(company, revision=revision)
    )


# ---------------------------------------------------------------- two revisions
def diff(*, company_id: str, a: int, b: int) -> Diff:
    """Return what differs between two kept revisions, for each entity and each field.

    Raises `CompanyMissing` and `RevisionMissing`. Costs two openings, however far apart they are.
    """
    company = _company(company_id, a, b)
    old, new = keyframes.worlds_at(company, a=a, b=b)
    found = [*_state(company, a, b), *_company_facts(company, old, new), *_entities(old, new)]
    return Diff(company_id=company_id, a=a, b=b, differences=tuple(found))


def _state(company: Company, a: int, b: int) -> Iterator[Difference]:
    nothing = World(company={})
    old, new = (snapshot.world_root(snapshot.then(company, revision=number), nothing) for number in (a, b))
    fields = _fields({name: old[name] for name in MOVING}, {name: new[name] for name in MOVING})
    if fields:
        yield Difference(ref="state", what="changed", fields=fields)


def _company_facts(company: Company, old: World, new: World) -> Iterator[Difference]:
    if fields := _fields(old.company, new.company):
        yield Difference(ref=company.ref, what="changed", fields=fields)


def _entities(old: World, new: World) -> Iterator[Difference]:
    for kind in sorted(old.entities.keys() | new.entities.keys()):
        before, after = old.entities.get(kind, {}), new.entities.get(kind, {})
        for public_id in sorted(before.keys() | after.keys()):
            one = _entity(f"{kind}:{public_id}", before.get(public_id), after.get(public_id))
            if one is not None:
                yield one


def _entity(ref: str, before: JSON | None, after: JSON | None) -> Difference | None:
    if before == after:
        return None
    what = "added" if before is None else "removed" if after is None else "changed"
    fields = _fields(shown_facts(before or {}), shown_facts(after or {}))
    return Difference(ref=ref, what=what, fields=fields) if fields else None


def _fields(before: JSON, after: JSON) -> dict[str, tuple[Any, Any]]:
    names = dict.fromkeys([*before, *after])
    return {
        n: (before.get(n), after.get(n)) for n in names if n not in before or n not in after or before[n] != after[n]
    }


def _short(value: Any) -> str:
    text = canonical(value) if not isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"
