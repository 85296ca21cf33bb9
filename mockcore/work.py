"""The unit of work: the rows one command read, changed, added or removed, and the change set that follows from them.

Knows rows, ids and the company's clock; knows no command and no rule. Nothing is written before `flush`, so a refusal
leaves nothing to undo.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from mockcore import rows
from mockcore.models import Company, Entity
from mockcore.models.base import uid_of, whole_columns

E = TypeVar("E", bound=Entity)
Facts = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RowChange:
    """What happened to one entity: its changed fields, hidden ones too, before and after; None where it was not."""

    row: Company | Entity
    before: Facts | None
    after: Facts | None

    @property
    def ref(self) -> str:
        return self.row.ref


class UnitOfWork:
    """One command's view of one company, whose row the caller has locked.

    Handlers read with `get` and `find`, change rows in place, and call `add` and `remove`. The whole command happens at
    one moment of company time.
    """

    def __init__(self, *, company: Company) -> None:
        self.company = company
        self.now: datetime = company.now()
        self.base = company.standing()  # as this command found it
        self._company_before = company.as_json()
        self._rows: dict[str, dict[str, Entity]] = {}  # kind, then uid: every row seen, in order
        self._before: dict[tuple[str, str], Facts | None] = {}  # None when this command made the row
        self._gone: set[tuple[str, str]] = set()

    # ------------------------------------------------------------ ids
    def next_number(self, name: str) -> int:
        """Count one counter of the company up, from 1."""
        number = int(self.company.counters.get(name, 0)) + 1
        self.company.counters = {**self.company.counters, name: number}
        return number

    def next_id(self, kind: str) -> str:
        """Return the next public id of a kind: `document-0001`."""
        return f"{kind}-{self.next_number(kind):04d}"

    # ------------------------------------------------------------ reading
    def get(self, model: type[E], public_id: str) -> E | None:
        """Return the company's row with that public id, or None."""
        uid = uid_of(self.company.pk, public_id)
        if uid not in self._rows.get(model.KIND, {}):
            self._keep_all(rows.fetch_all(model, uid=uid))
        return None if (model.KIND, uid) in self._gone else self._rows.get(model.KIND, {}).get(uid)  # type: ignore[return-value]

    def find(self, model: type[E], **where: Any) -> list[E]:
        """Return the company's rows whose columns equal `where`, as this command left them, in order of creation."""
        self._keep_all(rows.fetch_all(model, company_id=self.company.pk, **where))
        hits: list[Any] = [
            row for uid, row in self._rows.get(model.KIND, {}).items() if (model.KIND, uid) not in self._gone
        ]
        found = [row for row in hits if all(getattr(row, name) == value for name, value in where.items())]
        return sorted(found, key=lambda row: row.position)

    def keep(self, row: E) -> E:
        """Take in a row that was read elsewhere in the same transaction; returns the one already held, if any."""
        held = self._rows.setdefault(row.KIND, {})
        if row.uid not in held:
            held[row.uid] = row
            self._before[row.KIND, row.uid] = row.whole()
        return held[row.uid]  # type: ignore[return-value]

    def _keep_all(self, found: Iterable[Entity]) -> None:
        for row in sorted(found, key=lambda row: row.position):  # a database returns rows in an order of its own
            self.keep(row)

    # ------------------------------------------------------------ writing
    def add(self, row: E) -> E:
        """Add a new row to the company; returns it."""
        row.company = self.company
        row.position = self.next_number("position")
        row.identify()
        self._rows.setdefault(row.KIND, {})[row.uid] = row
        self._before[row.KIND, row.uid] = None
        return row

    def remove(self, row: Entity) -> None:
        self._gone.add((row.KIND, row.uid))

    def changes(self) -> list[RowChange]:
        """Return what differs from the beginning, entities in the order they were met."""
        out = [_change(self.company, before=self._company_before, after=self.company.as_json())]
        for (kind, uid), before in self._before.items():
            row = self._rows[kind][uid]
            out.append(_change(row, before=before, after=None if (kind, uid) in self._gone else row.whole()))
        return [change for change in out if change.before is not None or change.after is not None]

    def flush(self) -> list[RowChange]:
        """Write every change of an entity and return them all. The company's row is left to the caller."""
        changes = self.changes()
        for change in changes:
            if isinstance(change.row, Entity):
                _write(change.row, change)
        return changes


def _change(row: Company | Entity, *, before: Facts | None, after: Facts | None) -> RowChange:
    if before is not None and after is not None:
        names = [name for name in after if after[name] != before[name]]
        before, after = ({n: before[n] for n in names}, {n: after[n] for n in names}) if names else (None, None)
    return RowChange(row=row, before=before, after=after)


def _write(row: Entity, change: RowChange) -> None:
    if change.before is None:
        rows.insert(row)
    elif change.after is None:
        rows.delete(row)
    else:
        attnames = {name: attname for name, attname, _ in whole_columns(type(row))}
        rows.update(row, [attnames[name] for name in change.after])
