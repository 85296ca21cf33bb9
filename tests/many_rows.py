"""Many rows of any model, filled in by the kinds of its columns. Their references lead nowhere, so roll them back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import models

from mockcore.admin import known_words

COMPANIES = 50  # the rows are spread over this many
BATCH = 2_000
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
CHOSEN: dict[str, Any] = {"allowed": True, "code": "allowed", "phase": "invocation", "state": "completed", "after": {}}
OPEN = {"ChatSession": {"state": "open"}, "Fault": {"code": "outage"}}


def add_many(model: type[models.Model], count: int, *, first: int = 0) -> None:
    """Add `count` rows, numbered from `first`; rows of a model with a numbered parent get one parent each."""
    parents = [field for field in model._meta.concrete_fields if is_numbered_parent(field)]
    for parent in parents:
        add_many(parent.related_model, count, first=first)
    keys = {
        p.attname: list(p.related_model.objects.order_by("-pk").values_list("pk", flat=True)[:count]) for p in parents
    }
    numbers = range(first, first + count)
    rows = [build(model, n, {name: of[n - first] for name, of in keys.items()}) for n in numbers]
    model._default_manager.bulk_create(rows, batch_size=BATCH)


def is_numbered_parent(field: models.Field) -> bool:
    return isinstance(field, models.ForeignKey) and isinstance(field.related_model._meta.pk, models.AutoField)


def build(model: type[models.Model], number: int, given: dict[str, Any]) -> models.Model:
    company = f"company-{number % COMPANIES}"
    values = {}
    for field in model._meta.concrete_fields:
        if not isinstance(field, models.AutoField) and field.attname not in given:
            values[field.attname] = value_of(model, field, number, company)
    return model(**values, **given)


def value_of(model: type[models.Model], field: models.Field, number: int, company: str) -> Any:
    """Return a value that the column's constraints take; unique where it must be."""
    words, name = known_words(model, field.name), field.attname
    if name == "uid":
        return f"{company}/thing-{number}"
    if name == "company_id":
        return f"{company}-{number}" if field.primary_key else company
    special = OPEN.get(model.__name__, {}).get(name, CHOSEN.get(name))
    if special is not None:
        return special
    if words:
        return field.default if field.has_default() else words[number % len(words)]
    if isinstance(field, models.ForeignKey):
        return None if field.null else f"{company}/{field.name}-{number}"
    if field.null:
        return None
    return by_kind(field, number)


def by_kind(field: models.Field, number: int) -> Any:
    if isinstance(field, models.DateTimeField):
        return BEGINNING + timedelta(seconds=number)
    if isinstance(field, models.BooleanField):
        return field.default if field.has_default() else True
    if isinstance(field, models.IntegerField):
        return number + 1
    if isinstance(field, models.BinaryField):
        return b"packed"
    if field.name == "public_id":
        return f"thing-{number}"
    if field.name == "format":
        return "markdown"
    if type(field).__name__ == "CanonicalJSON":
        return {"some": "facts " * 20}
    return f"{field.name}-{number}"[: field.max_length or 200]
