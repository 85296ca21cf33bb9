"""All entities of a company at one revision, as plain values that change sets move forwards and backwards.

Knows the models and their columns; knows no command, no keyframe and no contract. A new kind of entity, or a new
column, needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import transaction

from mockcore.models import Change, Company, Entity
from mockcore.models.base import POSITION

T = TypeVar("T")
Facts = dict[str, Any]
Moved = tuple[str, str, Facts | None, Facts | None]  # kind, public id, before, after
READS = 3  # attempts to read the rows between two mutations, before the company is locked


def kinds() -> dict[str, type[Entity]]:
    """Return every kind of entity with its model."""
    found: list[Any] = Entity.__subclasses__()
    return {model.KIND: model for model in found}


@dataclass
class World:
    """The company's own facts, and the whole facts of every entity by kind and public id."""

    company: Facts
    entities: dict[str, dict[str, Facts]] = field(default_factory=dict)

    def redo(self, moves: Iterable[Moved]) -> None:
        """Apply changes, oldest first."""
        for kind, public_id, before, after in moves:
            self._become(kind, public_id, was=before, is_now=after)

    def undo(self, moves: Iterable[Moved]) -> None:
        """Take changes back, newest first."""
        for kind, public_id, before, after in moves:
            self._become(kind, public_id, was=after, is_now=before)

    def of_kind(self, kind: str) -> list[Facts]:
        """Return the whole facts of a kind's entities in order of creation."""
        return sorted(self.entities.get(kind, {}).values(), key=lambda facts: int(facts[POSITION]))

    def copy(self) -> World:
        """Return a world that moves by itself. Facts are never changed in place, so both may hold the same."""
        return World(company=self.company, entities={kind: dict(held) for kind, held in self.entities.items()})

    def _become(self, kind: str, public_id: str, *, was: Facts | None, is_now: Facts | None) -> None:
        held = self.entities.setdefault(kind, {})
        if kind == Company.KIND:
            self.company = {**self.company, **(is_now or {})}
        elif is_now is None:
            del held[public_id]
        else:
            held[public_id] = is_now if was is None else {**held[public_id], **is_now}

    def as_json(self) -> Facts:
        return {"company": self.company, "entities": {kind: held for kind, held in self.entities.items() if held}}

    @classmethod
    def from_json(cls, value: Facts) -> World:
        return cls(company=value["company"], entities=value["entities"])


def present(company_id: str) -> tuple[int, World]:
    """Return the newest revision and the world at it, from the rows. Raises `Company.DoesNotExist`."""
    return undisturbed(company_id, lambda company: (company.revision, read(company)))


def undisturbed(company_id: str, reading: Callable[[Company], T]) -> T:
    """Return what several statements read of one revision. Raises `Company.DoesNotExist`.

    No lock is taken: the rows are read again when a mutation came in between. Inside a transaction that has locked the
    company, or on a database whose transactions read one snapshot, the first reading stands.
    """
    for _ in range(READS):
        before = Company.objects.get(pk=company_id)
        found = reading(before)
        if Company.objects.values_list("revision", flat=True).get(pk=company_id) == before.revision:
            return found
    with transaction.atomic():
        return reading(Company.objects.select_for_update().get(pk=company_id))


def read(company: Company) -> World:
    """Return the world as the rows are now."""
    world = World(company=company.as_json())
    for kind, model in kinds().items():
        found = model.objects.filter(company_id=company.pk)  # type: ignore[attr-defined]
        world.entities[kind] = {row.public_id: row.whole() for row in found.iterator()}
    return world


def moves(company_id: str, *, after: int, upto: int, newest_first: bool = False) -> Iterable[Moved]:
    """Return the changes of the revisions `after + 1` to `upto`."""
    found = Change.objects.filter(company_id=company_id, revision__gt=after, revision__lte=upto)
    order = "-revision" if newest_first else "revision"
    return found.order_by(order).values_list("entity", "entity_id", "before", "after").iterator()
