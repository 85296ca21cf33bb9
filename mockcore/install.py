"""Write the rows of a new company from a world: the columns that facts are the JSON of, and what they may refer to.

Knows columns and keys; knows neither where the facts come from nor the ledger.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import models

from mockcore import rows
from mockcore.models import Company, Entity
from mockcore.models.base import CanonicalJSON, json_columns, uid_of, whole_columns
from mockcore.refusal import Refusal
from mockcore.state_fields import StateInvalid as StateInvalid
from mockcore.state_fields import company_id as wrong_id
from mockcore.world import Facts, World, kinds


class CompanyExists(Refusal):
    """There is a company of that name already."""

    code = "company_exists"


def company(world: World, *, standing: Facts, revision: int, **columns: Any) -> Company:
    """Return the unsaved row of a company whose history begins at `revision`.

    Raises `StateInvalid` and `CompanyExists`.
    """
    facts = dict(world.company)
    budget_id = uid_of(facts["id"], facts.pop("budgetId"))
    own = {attname: facts.pop(name) for name, attname, _ in json_columns(Company) if attname != "budget_id"}
    if facts or wrong_id(own["public_id"]):
        raise StateInvalid("the company has not the facts of one")
    if Company.objects.filter(pk=own["public_id"]).exists():
        raise CompanyExists(f"there is a company {own['public_id']} already")
    return Company(
        **own,
        **columns,
        budget_id=budget_id,
        clock_tick=standing["tick"],
        counters=standing["counters"],
        active_run_id=standing["activeRunId"],
        revision=revision,
        base_revision=revision,
    )


def write(company: Company, world: World) -> None:
    """Write the company and every entity of a world. Raises `StateInvalid` when one refers to what is not there."""
    built = {model: _rows(model, company, world) for model in kinds().values()}
    there = {row.pk for found in built.values() for row in found}
    for model, found in built.items():
        for attname in _references(model):
            if missing := {getattr(row, attname) for row in found} - there - {None}:
                raise StateInvalid(f"{model.KIND}.{attname} names what is not there: {sorted(missing)[0]}")
    if company.budget_id not in there:
        raise StateInvalid("the company's budget is not there")
    rows.insert(company)
    for found in built.values():
        rows.insert(*found)


def _rows(model: Any, company: Company, world: World) -> list[Entity]:
    found = []
    for facts in world.of_kind(model.KIND):
        row = model(company_id=company.pk, **columns(model, facts, company_id=company.pk))
        row.identify()
        found.append(row)
    return found


@cache
def _references(model: Any) -> tuple[str, ...]:
    fields = [field for field in model._meta.concrete_fields if isinstance(field, models.ForeignKey)]
    return tuple(field.attname for field in fields if field.related_model is not Company)


def columns(model: Any, facts: Facts, *, company_id: str = "") -> Facts:
    """Return the columns that these facts are the JSON of. A fact that no column has is a `KeyError`."""
    by_attname = {field.attname: field for field in model._meta.concrete_fields}
    by_name = {name: attname for name, attname, _ in _named(model)}
    found = {by_name[name]: value for name, value in facts.items()}
    found.pop("company_id", None)
    return {
        attname: _value(by_attname[attname], value, company_id)
        for attname, value in found.items()
        if attname in by_attname
    }


def _named(model: Any) -> Any:
    return whole_columns(model) if issubclass(model, Entity) else json_columns(model)


def _value(field: Any, value: Any, company_id: str) -> Any:
    if value is None or isinstance(field, CanonicalJSON):
        return value
    if isinstance(field, models.ForeignKey):
        return uid_of(company_id, value)
    if isinstance(field, models.DateTimeField):
        return datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    return value
