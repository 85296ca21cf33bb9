"""Who wrote it: for any field of any entity, the revision that wrote it last, and so its cause. Reads only.

Knows the change sets; what a cause's ids mean is known to the houses above. In a fork, what was written before the fork
is blamed on the parent's revision, and what a cause names then stands with the parent too: `Revision.company_id` says
whose ledger that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from mockcore import world
from mockcore.models import Change, Company, Entity, StateRevision
from mockcore.models.base import json_columns, uid_of, whole_columns
from mockcore.plane import CompanyMissing
from mockcore.port import Cause, Principal
from mockcore.rebuild import require_kept, require_whole
from mockcore.refusal import Refusal
from mockcore.snapshot import LISTS
from mockcore.text import clean_text, iso

JSON = dict[str, Any]
ABSENT = object()


class EntityMissing(Refusal):
    """The company never had such an entity."""

    code = "entity_missing"


class FieldMissing(Refusal):
    """The entity has no such field."""

    code = "field_missing"


@dataclass(frozen=True, kw_only=True)
class Revision:
    """One successful mutation. `at` is company time.

    `company_id` is the company that was changed. In a fork it may be an ancestor: ids of authorization records are
    counted in each company alone, so the fork may have another record of that very id.
    """

    company_id: str
    number: int
    operation: str
    principal: Principal
    run_id: str
    command_id: str
    at: str
    cause: Cause

    @property
    def authorization_ledger(self) -> str:
        """Return the company in whose ledger the authorization record stands; empty where the cause names none."""
        return self.company_id if self.cause.authorization_id else ""

    @classmethod
    def of(cls, row: StateRevision) -> Revision:
        cause = Cause(
            turn_id=row.cause_turn_id,
            call_id=row.cause_call_id,
            message_id=row.cause_message_id,
            authorization_id=row.cause_authorization_id,
        )
        return cls(
            company_id=row.company_id,
            number=row.number,
            operation=row.operation,
            principal=Principal(row.principal),
            run_id=row.run_id,
            command_id=row.command_id,
            at=iso(row.at),
            cause=cause,
        )


def blame(*, company_id: str, ref: str, field: str, revision: int | None = None) -> Revision | None:
    """Return the revision that last wrote `field` of the entity `ref` (`kind:id`); None when it still is as seeded.

    `field` is a name of the public JSON, or a path into a value: `payload.questions.0.prompt`. A list of entities drawn
    inside another, such as a document's `revisions`, was written last when one of them was. For an entity that is gone
    it is the revision that removed it. `revision` asks as of then. Raises `CompanyMissing`, `EntityMissing`,
    `FieldMissing`, and `RevisionMissing` for one that is not there, neither here nor with an ancestor.
    """
    company = Company.objects.filter(pk=company_id).first()
    if company is None:
        raise CompanyMissing
    kind, _, public_id = clean_text(ref).partition(":")
    upto = company.revision if revision is None else revision
    _require_known(company, upto)
    number = max(_own(company, kind, public_id, field, upto), _inside(company, kind, public_id, field, upto))
    if number:
        return Revision.of(StateRevision.objects.get(company_id=company.pk, number=number))
    if company.parent_id is None:
        return None
    inherited = f"{kind}:{company.parent_id}" if kind == Company.KIND else ref
    return blame(company_id=company.parent_id, ref=inherited, field=field, revision=min(upto, company.base_revision))


def _require_known(company: Company, revision: int) -> None:
    """Raise `RevisionMissing` unless the company or an ancestor of it was once at the revision."""
    require_whole(revision)
    if revision > company.revision or company.parent_id is None:
        require_kept(company, revision)


def _own(company: Company, kind: str, public_id: str, field: str, upto: int) -> int:
    """Return the newest revision that wrote the field itself, or began such a list; 0 for the seed."""
    model = _model(kind)
    name, *path = field.split(".")
    is_list = name in _drawn_inside(kind)
    if not is_list and name not in [column for column, _, _ in json_columns(model)]:
        raise FieldMissing(f"a {kind} has no field {name}")
    touched = Change.objects.filter(company_id=company.pk, entity=kind, entity_id=public_id, revision__lte=upto)
    for change in touched.order_by("-revision").iterator():
        if _wrote(change, name, path, is_list=is_list):
            return int(change.revision)
    if not _is_there(company, model, public_id):
        raise EntityMissing(f"there is no {kind}:{public_id}")
    return 0


def _wrote(change: Change, name: str, path: list[str], *, is_list: bool) -> bool:
    if change.before is None or change.after is None:
        return True
    return not is_list and name in change.after and _dig(change.before[name], path) != _dig(change.after[name], path)


def _dig(value: Any, path: list[str]) -> Any:
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


def _model(kind: str) -> Any:
    model = Company if kind == Company.KIND else world.kinds().get(kind)
    if model is None:
        raise EntityMissing(f"there is no kind of entity named {kind}")
    return model


def _is_there(company: Company, model: Any, public_id: str) -> bool:
    if model is Company:
        return public_id == company.pk
    return bool(model.objects.filter(uid=uid_of(company.pk, public_id)).exists())


# ---------------------------------------------------------------- lists of entities inside an entity
def _drawn_inside(kind: str) -> dict[str, tuple[type[Entity], str]]:
    return {name: found for one in LISTS.values() if kind == one.model.KIND for name, found in one.inside.items()}


def _inside(company: Company, kind: str, public_id: str, field: str, upto: int) -> int:
    """Return the newest revision that wrote one of the entities drawn in the list `field`, when it is such a list."""
    found = _drawn_inside(kind).get(field)
    if found is None:
        return 0
    model, owner = found
    inner = list(_owned(company, model, owner, public_id))
    touched: QuerySet[Change] = Change.objects.filter(
        company_id=company.pk, entity=model.KIND, entity_id__in=inner, revision__lte=upto
    )
    return touched.order_by("-revision").values_list("revision", flat=True).first() or 0


def _owned(company: Company, model: type[Entity], owner: str, public_id: str) -> Iterator[str]:
    attname = next(attname for name, attname, _ in whole_columns(model) if name == owner)
    where = {attname: uid_of(company.pk, public_id)}
    yield from model.objects.filter(company_id=company.pk, **where).values_list("public_id", flat=True)  # type: ignore[attr-defined]
