"""What all rows share: their public JSON, ids inside a company, and the two column kinds Django lacks.

An entity's primary key is `<company>/<public id>`. So the key is known before the insert, references are true foreign
keys, and the public JSON of a row needs no join. Decision: `mockcore/decisions/0001-rows-are-the-truth.md`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint, Value
from django.db.models.functions import Concat

from mockcore.text import canonical, iso

if TYPE_CHECKING:

    class _Text(models.TextField[Any, Any]):
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

else:
    _Text = models.TextField


class CanonicalJSON(_Text):
    """A JSON value kept as canonical text, equal in bytes on both databases. Migrations see a plain text column."""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else canonical(value)

    def value_to_string(self, obj: models.Model) -> str:
        return canonical(self.value_from_object(obj))

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


HIDDEN = "@"  # begins the name of a column that is no part of the public JSON
POSITION = "@position"


def uid_of(company_id: str, public_id: str) -> str:
    """Return the primary key of an entity."""
    return f"{company_id}/{public_id}"


def public_part(uid: str | None) -> str | None:
    """Return the public id inside a primary key. Company ids hold no slash, so the first one ends the company."""
    return None if uid is None else uid.partition("/")[2]


def one_of(field: str, values: type[StrEnum]) -> CheckConstraint:
    """Return the named constraint that a column holds one of an enum's values."""
    return CheckConstraint(condition=Q(**{f"{field}__in": [str(v) for v in values]}), name=f"%(class)s_{field}_known")


def listed_by(*columns: str, newest: tuple[str, ...] = ("company", "position")) -> list[Index]:
    """Return an index for each column by which the operator's list is narrowed, in the order in which it is shown."""
    return [Index(fields=[column, *newest], name=f"%(class)s_on_{column}") for column in columns]


class Row(models.Model):
    """A row with a public JSON form: the columns named in `PUBLIC`, in the contract's spelling."""

    PUBLIC: ClassVar[tuple[str, ...]]

    class Meta:
        abstract = True

    def as_json(self) -> dict[str, Any]:
        """Return the row's own facts. The value is a copy: later edits of the row do not show in it."""
        return {name: read(getattr(self, attname)) for name, attname, read in json_columns(type(self))}

    def __str__(self) -> str:
        return str(getattr(self, "public_id", self.pk))


@cache
def json_columns(model: type[Row]) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """Return (JSON name, attribute, reader) for each public column of a model."""
    return tuple((camel(attname), attname, _reader(model, attname)) for attname in model.PUBLIC)


def camel(attname: str) -> str:
    """Return the contract's spelling of a column: `checkout_run_id` is `checkoutRunId`, `public_id` is `id`."""
    first, *rest = attname.removeprefix("public_").split("_")
    return first + "".join(word.capitalize() for word in rest)


@cache
def whole_columns(model: type[Row]) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """Return (name, attribute, reader) for each column of an entity: the public ones, then the hidden ones.

    A hidden column is kept in change sets and keyframes, and never shown; its name begins with `HIDDEN`.
    """
    known = {"uid", "company_id", *model.PUBLIC}
    hidden = [field.attname for field in model._meta.concrete_fields if field.attname not in known]
    return json_columns(model) + tuple((HIDDEN + camel(name), name, _reader(model, name)) for name in hidden)


def shown_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts without the hidden ones."""
    return {name: value for name, value in facts.items() if not name.startswith(HIDDEN)}


def _reader(model: type[Row], attname: str) -> Callable[[Any], Any]:
    field = next((f for f in model._meta.concrete_fields if f.attname == attname), None)
    if isinstance(field, models.ForeignKey) and field.related_model != _company():
        return public_part
    if isinstance(field, models.DateTimeField):
        return _moment
    return copy.deepcopy if isinstance(field, CanonicalJSON) else _same


def _company() -> type[models.Model]:
    from mockcore.models.company import Company  # the company's own rows are built on this module

    return Company


def _same(value: Any) -> Any:
    return value


def _moment(value: datetime | None) -> str | None:
    return None if value is None else iso(value)


class Entity(Row):
    """One thing of the mock company. `position` is the order of creation inside the company."""

    KIND: ClassVar[str]  # the word before the colon of an entity reference
    NAMES_COMPANY: ClassVar[tuple[str, ...]] = ()  # columns that may hold the company's id as plain text
    uid = models.CharField(primary_key=True, max_length=500, editable=False)
    company = models.ForeignKey("mockcore.Company", models.PROTECT, related_name="+", db_index=False)
    public_id = models.CharField(max_length=240)
    position = models.PositiveBigIntegerField()

    class Meta:
        abstract = True
        constraints = [
            # With the primary key this makes a public id unique inside its company.
            CheckConstraint(
                condition=Q(uid=Concat(F("company"), Value("/"), F("public_id"))), name="%(class)s_uid_is_its_own"
            ),
            UniqueConstraint(fields=["company", "position"], name="%(class)s_position_unique"),
        ]
        indexes = listed_by("public_id")

    @property
    def ref(self) -> str:
        return f"{self.KIND}:{self.public_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.identify()
        super().save(*args, **kwargs)

    def whole(self) -> dict[str, Any]:
        """Return the public facts and the hidden ones: all that is needed to make the row again."""
        return {name: read(getattr(self, attname)) for name, attname, read in whole_columns(type(self))}

    def identify(self) -> None:
        """Give the row its primary key."""
        self.uid = uid_of(self.company_id, self.public_id)
