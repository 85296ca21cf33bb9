"""Door: one entity as it was at a state revision. Reads only; costs the later changes of that entity, and no others."""

from __future__ import annotations

from typing import Any

from mockcore import history
from mockcore.models import Change, Company
from mockcore.rebuild import require_whole

JSON = dict[str, Any]


def entity_at(*, company_id: str, ref: str, revision: int) -> JSON | None:
    """Return the entity `kind:id` as it was after `revision`, or None when it was not there then.

    It is the entity of now with every later change taken back, newest first. Raises `RevisionMissing` for what is no
    revision yet.
    """
    require_whole(revision)
    newest = Company.objects.filter(pk=company_id).values_list("revision", flat=True).first()
    if newest is not None and revision > newest:
        raise history.RevisionMissing(f"there is no revision {revision} of {company_id} yet")
    kind, _, public_id = ref.partition(":")
    facts = history.entities(company_id=company_id, refs=[ref]).get(ref)
    later = Change.objects.filter(company_id=company_id, entity=kind, entity_id=public_id, revision__gt=revision)
    for change in later.order_by("-revision").iterator():
        facts = None if change.before is None else {**(facts or {}), **change.before}
    return facts
