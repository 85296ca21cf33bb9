"""Read and write rows with SQL built once per model and shape.

The ORM's own building of queries costs several times the SQL, and a command must answer in a few milliseconds. Here
tables, columns and the conversion of values still come from the model; what is left out are signals, returned keys and
building the same SQL again. Reads compare columns for equality, and one of them for "until"; anything richer is the
ORM's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models.base import ModelState

from mockcore.appending import AppendOnly, AppendOnlyRow
from mockcore.models.base import CanonicalJSON
from mockcore.text import canonical

M = TypeVar("M", bound=models.Model)
_here = threading.local()
# Values of these columns go to the database as they are; all others are converted by their field.
AS_IS = frozenset(
    {
        "BigIntegerField",
        "BooleanField",
        "CharField",
        "ForeignKey",
        "IntegerField",
        "PositiveBigIntegerField",
        "PositiveIntegerField",
        "TextField",
    }
)


# ---------------------------------------------------------------- statements
@dataclass(frozen=True)
class Ran:
    """What a statement returned, and how many rows it changed."""

    rows: list[Any]
    count: int


def run(sql: str, values: Sequence[Any]) -> Ran:
    """Run one statement, written with `%s` for each value and no other percent sign."""
    return _run(_database(), sql, values)


def run_many(sql: str, values: Sequence[Sequence[Any]]) -> None:
    """Run one statement, which returns nothing, with each of the lists of values."""
    _run_many(_database(), sql, values)


def _run(database: Any, sql: str, values: Sequence[Any]) -> Ran:
    if _may_ask_sqlite(database):
        with database.wrap_database_errors:
            done = database.connection.execute(sql.replace("%s", "?"), values)
            return Ran(done.fetchall(), done.rowcount)
    with database.cursor() as cursor:
        cursor.execute(sql, values)
        return Ran(cursor.fetchall() if cursor.description else [], cursor.rowcount)


def _run_many(database: Any, sql: str, values: Sequence[Sequence[Any]]) -> None:
    if len(values) == 1:
        _run(database, sql, values[0])
        return
    with database.cursor() as cursor:
        cursor.executemany(sql, values)


def _database() -> Any:
    """Return this thread's connection. Django's own way to it costs a tenth of a small statement."""
    database = getattr(_here, "database", None)
    if database is None:
        database = _here.database = connections[DEFAULT_DB_ALIAS]
    return database


def _may_ask_sqlite(database: Any) -> bool:
    """Say whether SQLite may be asked directly: inside a transaction that holds the gate, with nobody counting.

    Django's cursor costs as much as the statement, twenty times for one tool call. It also refuses to go on in a
    transaction that is lost already, so that one is left to it.
    """
    plain = database.vendor == "sqlite" and database.in_atomic_block
    return bool(plain and not database.needs_rollback and not database.force_debug_cursor)


# ---------------------------------------------------------------- reading
def fetch(model: type[M], *related: str, lock: bool = False, **where: Any) -> M | None:
    """Return the first row whose columns equal `where`, or None.

    `related` names foreign keys, never null, whose rows are loaded in the same query. `lock` locks the row until the
    end of the transaction, on a database that has such locks.
    """
    found = _select(model, related, lock, where)
    return found[0] if found else None


def fetch_all(model: type[M], **where: Any) -> list[M]:
    """Return all rows whose columns equal `where`, in no particular order."""
    return _select(model, (), False, where)


def fetch_until(model: type[M], *, column: str, **where: Any) -> list[M]:
    """Return all rows whose columns equal `where`, but whose `column` is at most the value given for it."""
    return _select(model, (), False, where, until=column)


def _select(model: type[M], related: tuple[str, ...], lock: bool, where: dict[str, Any], *, until: str = "") -> list[M]:
    database = _database()
    plan = _select_plan(model, database.vendor, related, lock, tuple(where), until)
    values = [_ready(value, write, database) for value, write in zip(where.values(), plan.parameters, strict=True)]
    return [_build(plan, selected, database) for selected in _run(database, plan.sql, values).rows]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The columns of one model inside a selected row."""

    model: type[models.Model]
    name: str  # of the foreign key that leads here; empty for the model itself
    start: int
    attnames: tuple[str, ...]
    readers: tuple[tuple[int, Any, tuple[Callable[..., Any], ...]], ...]  # index, expression, converters


@dataclass(frozen=True, kw_only=True)
class _Plan:
    sql: str
    parts: tuple[_Part, ...]
    parameters: tuple[Any, ...]


def _build(plan: _Plan, selected: Sequence[Any], database: Any) -> Any:
    values = list(selected)
    rows: list[Any] = []
    for part in plan.parts:
        for index, expression, converters in part.readers:
            for convert in converters:
                values[index] = convert(values[index], expression, database)
        columns = values[part.start : part.start + len(part.attnames)]
        row = _row(part.model, dict(zip(part.attnames, columns, strict=True)), adding=False)
        rows.append(row)
        if part.name:
            setattr(rows[0], part.name, row)
    return rows[0]


@cache
def _select_plan(
    model: type[models.Model], vendor: str, related: tuple[str, ...], lock: bool, where: tuple[str, ...], until: str
) -> _Plan:
    base = _quoted(model._meta.db_table)
    parts, columns, joins = [_part(model, "", 0, "base")], _columns(model, "base"), ""
    for name in related:
        field: Any = model._meta.get_field(name)
        other, alias = field.related_model, f"r_{name}"
        parts.append(_part(other, name, len(columns), alias))
        columns += _columns(other, alias)
        key = _quoted(str(other._meta.pk.column))
        joins += f" JOIN {_quoted(other._meta.db_table)} {alias} ON {alias}.{key} = base.{_quoted(field.column)}"
    by_attname = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_attname[name] for name in where]
    signs = ["<=" if field.attname == until else "=" for field in fields]
    tests = " AND ".join(f"base.{_quoted(str(f.column))} {sign} %s" for f, sign in zip(fields, signs, strict=True))
    sql = f"SELECT {', '.join(columns)} FROM {base} base{joins} WHERE {tests}"  # noqa: S608 - names of our own models
    if lock and connection.features.has_select_for_update:
        sql += " FOR UPDATE OF base"
    return _Plan(sql=sql, parts=tuple(parts), parameters=tuple(map(_writer, fields)))


def _columns(model: type[models.Model], alias: str) -> list[str]:
    return [f"{alias}.{_quoted(str(field.column))}" for field in model._meta.concrete_fields]


def _part(model: type[models.Model], name: str, start: int, alias: str) -> _Part:
    readers = []
    for index, field in enumerate(model._meta.concrete_fields, start=start):
        column = field.get_col(alias)
        converters = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
        if converters:
            readers.append((index, column, tuple(converters)))
    attnames = tuple(field.attname for field in model._meta.concrete_fields)
    return _Part(model=model, name=name, start=start, attnames=attnames, readers=tuple(readers))


# ---------------------------------------------------------------- writing
def make(model: type[M], **values: Any) -> M:
    """Return a row not stored yet, as `model(**values)` does, for columns named as they are stored."""
    return _row(model, {name: default() for name, default in _defaults(model)} | values, adding=True)


def _row(model: type[M], values: dict[str, Any], *, adding: bool) -> M:
    """Return a row without the signals and descriptors of a model's own making, which cost more than reading it."""
    row = model.__new__(model)
    row.__dict__ = values
    row._state = state = ModelState()
    state.adding, state.db = adding, None if adding else DEFAULT_DB_ALIAS
    return row


@cache
def _defaults(model: type[models.Model]) -> tuple[tuple[str, Callable[[], Any]], ...]:
    return tuple((field.attname, field.get_default) for field in model._meta.concrete_fields)


def insert(*rows: models.Model) -> None:
    """Insert rows of one model. A generated key is not read back."""
    if not rows:
        return
    database = _database()
    sql, writers = _insert_sql(type(rows[0]), database.vendor)
    _run_many(database, sql, [_values(row, writers, database) for row in rows])
    for row in rows:
        row._state.adding = False
        row._state.db = DEFAULT_DB_ALIAS


def update(row: models.Model, attnames: Sequence[str]) -> None:
    """Write the named columns of one row. Raises `LookupError` when it is not there, `AppendOnly` for a ledger's."""
    _refuse_ledgers(row)
    database = _database()
    _run_on_one(database, row, *_update_sql(type(row), database.vendor, tuple(attnames)))


def delete(row: models.Model) -> None:
    """Remove one row. Raises `LookupError` when the row is not there, `AppendOnly` for a ledger's."""
    _refuse_ledgers(row)
    database = _database()
    _run_on_one(database, row, *_delete_sql(type(row), database.vendor))


def _refuse_ledgers(row: models.Model) -> None:
    if isinstance(row, AppendOnlyRow):
        raise AppendOnly(AppendOnly.__doc__)


def _run_on_one(database: Any, row: models.Model, sql: str, writers: Sequence[Any]) -> None:
    if _run(database, sql, _values(row, writers, database)).count != 1:
        raise LookupError(f"{type(row).__name__} {row.pk} is not stored")


Writer = tuple[str, Callable[..., Any] | None]  # attribute, and its conversion when it needs one


def _values(row: models.Model, writers: Sequence[Writer], database: Any) -> list[Any]:
    return [_ready(getattr(row, writer[0]), writer, database) for writer in writers]


def _ready(value: Any, writer: Writer, database: Any) -> Any:
    convert = writer[1]
    return value if convert is None else convert(value, database)


def _writer(field: Any) -> Writer:
    if isinstance(field, CanonicalJSON):
        return field.attname, _write_json
    if type(field) is models.DateTimeField:
        return field.attname, _write_moment
    as_is = field.get_internal_type() in AS_IS and type(field).__module__.startswith("django.")
    return field.attname, None if as_is else field.get_db_prep_save


def _write_json(value: Any, database: Any) -> str | None:
    return None if value is None else canonical(value)


def _write_moment(value: datetime | None, database: Any) -> Any:
    return None if value is None else database.ops.adapt_datetimefield_value(value)


def _key(model: type[models.Model]) -> Any:
    return model._meta.pk


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


@cache
def _insert_sql(model: type[models.Model], vendor: str) -> tuple[str, tuple[Writer, ...]]:
    fields = [f for f in model._meta.concrete_fields if not isinstance(f, models.AutoField)]
    columns = ", ".join(_quoted(str(f.column)) for f in fields)
    marks = ", ".join(["%s"] * len(fields))
    sql = f"INSERT INTO {_quoted(model._meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608
    return sql, tuple(map(_writer, fields))


@cache
def _update_sql(model: type[models.Model], vendor: str, attnames: tuple[str, ...]) -> tuple[str, tuple[Writer, ...]]:
    by_attname = {f.attname: f for f in model._meta.concrete_fields}
    fields = [by_attname[name] for name in attnames]
    columns = ", ".join(f"{_quoted(str(f.column))} = %s" for f in fields)
    table, key = _quoted(model._meta.db_table), _key(model)
    sql = f"UPDATE {table} SET {columns} WHERE {_quoted(key.column)} = %s"  # noqa: S608
    return sql, (*map(_writer, fields), _writer(key))


@cache
def _delete_sql(model: type[models.Model], vendor: str) -> tuple[str, tuple[Writer, ...]]:
    key = _key(model)
    sql = f"DELETE FROM {_quoted(model._meta.db_table)} WHERE {_quoted(key.column)} = %s"  # noqa: S608
    return sql, (_writer(key),)
