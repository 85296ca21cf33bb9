"""What there is to ask about when a name was not known: companies, kinds, entities, fields. Reads only, and little."""

from __future__ import annotations

from mockcore import world
from mockcore.models import Company
from mockcore.models.base import json_columns
from mockcore.snapshot import LISTS

NAMED = 10  # of what could have been meant; a sentence holds no more


def sentence(*, company_id: str, ref: str) -> str:
    """Return what could be asked in the place of an unknown company, entity (`kind:id`) or field, the first that is."""
    kind, _, public_id = ref.partition(":")
    if not Company.objects.filter(pk=company_id).exists():
        return f"Companies: {_some([*Company.objects.order_by('pk').values_list('pk', flat=True)[: NAMED + 1]])}."
    if kind == Company.KIND:
        return f"Of a company: company:{company_id}." if public_id != company_id else f"Fields: {_fields(kind)}."
    model = world.kinds().get(kind)
    if model is None:
        return f"Kinds: {', '.join(sorted([Company.KIND, *world.kinds()]))}."
    there = model._default_manager.filter(company_id=company_id)
    if there.filter(public_id=public_id).exists():
        return f"Fields: {_fields(kind)}."
    ids = there.order_by("-position").values_list("public_id", flat=True)[: NAMED + 1]
    return f"Newest of that kind: {_some([f'{kind}:{one}' for one in ids])}."


def _fields(kind: str) -> str:
    model = Company if kind == Company.KIND else world.kinds()[kind]
    inside = [name for one in LISTS.values() if kind == one.model.KIND for name in one.inside]
    return ", ".join([*(name for name, _, _ in json_columns(model)), *inside])


def _some(names: list[str]) -> str:
    return ", ".join(names[:NAMED] or ["none"]) + (" and more" if len(names) > NAMED else "")
