"""What happened in a company, how it was at any kept revision, and how its entities are now. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.db.models import Max, OuterRef, Subquery

from mockcore import lineage, models, rows
from mockcore.blame import EntityMissing, FieldMissing, Revision, blame
from mockcore.handlers.answers import shown_payload as card_payload
from mockcore.ledger import list_chains
from mockcore.models import Approval, AuditRecord, Change, DecisionRecord, Entity, Interaction, StateRevision
from mockcore.models.base import shown_facts, uid_of
from mockcore.queries import document_json, whole_approvals
from mockcore.rebuild import Diff, Difference, RevisionMissing, diff, kept_revisions, require_whole, state_at, world_at
from mockcore.text import clean_text
from mockcore.vocabulary import ApprovalStatus, InteractionStatus

__all__ = [
    "Diff",
    "Difference",
    "EntityChange",
    "EntityMissing",
    "FieldMissing",
    "Revision",
    "RevisionMissing",
    "blame",
    "card_payload",
    "changes",
    "diff",
    "entities",
    "kept_revisions",
    "list_audit",
    "list_chains",
    "list_decisions",
    "list_revisions",
    "named_authorizations",
    "pending_approvals",
    "pending_ids",
    "pending_interactions",
    "session_ids",
    "sessions",
    "state_at",
    "world_at",
]

JSON = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class EntityChange:
    """What one revision did to one entity: changed fields before and after; None where the entity was not."""

    revision: int
    ref: str
    before: JSON | None
    after: JSON | None


# ---------------------------------------------------------------- what happened
def list_revisions(*, company_id: str, after: int = 0, limit: int = 200) -> list[Revision]:
    """Return up to `limit` revisions numbered above `after`, oldest first. Revision 0, the seed, has no row.

    This and the lists below raise `RevisionMissing` for an `after` or `revision` that is no whole number.
    """
    require_whole(after)
    found = StateRevision.objects.filter(company_id=company_id, number__gt=after).order_by("number")[:limit]
    return [Revision.of(row) for row in found]


def changes(*, company_id: str, revision: int) -> list[EntityChange]:
    """Return the change set of one revision; empty for one that is not there."""
    require_whole(revision)
    return [_change(row) for row in Change.objects.filter(company_id=company_id, revision=revision).order_by("number")]


def list_audit(*, company_id: str, after: int = 0, limit: int = 200) -> list[JSON]:
    """Return up to `limit` audit records after the one of revision `after`, oldest first."""
    require_whole(after)
    found = lineage.page(company_id=company_id, model=AuditRecord, after=after, limit=limit)
    return [row.as_json() for row in found]


def list_decisions(*, company_id: str, after: int = 0, limit: int = 200) -> list[JSON]:
    """Return up to `limit` decisions numbered above `after`, oldest first; refusals are among them."""
    require_whole(after)
    found = lineage.page(company_id=company_id, model=DecisionRecord, after=after, limit=limit)
    return [row.as_json() for row in found]


def session_ids(*, company_id: str) -> list[str]:
    """Return the sessions whose runs worked in the company."""
    found = models.Run.objects.filter(company_id=company_id).order_by("position").values_list("session_id", flat=True)
    return list(dict.fromkeys(found))


def sessions(*, company_id: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield each company, or that one, with the sessions whose runs worked in it."""
    runs = models.Run.objects.order_by("company_id", "position")
    if company_id is not None:
        runs = runs.filter(company_id=company_id)
    yield from dict.fromkeys(runs.values_list("company_id", "session_id").iterator())


def named_authorizations(*, company_id: str | None = None) -> dict[str, str]:
    """Return, for each company or that one, the authorization record that its newest revision with one names.

    What it means is known above. With it a record that is gone is missed, although nothing of it is left.
    """
    naming = StateRevision.objects.exclude(cause_authorization_id="")
    if company_id is not None:
        naming = naming.filter(company_id=company_id)
    newest = naming.values("company_id").annotate(newest=Max("number")).filter(company_id=OuterRef("company_id"))
    found = naming.filter(number=Subquery(newest.values("newest")))
    return dict(found.values_list("company_id", "cause_authorization_id"))


def _change(row: Change) -> EntityChange:
    before, after = (None if facts is None else shown_facts(facts) for facts in (row.before, row.after))
    return EntityChange(revision=row.revision, ref=f"{row.entity}:{row.entity_id}", before=before, after=after)


# ---------------------------------------------------------------- how things are now
def entities(*, company_id: str, refs: Iterable[str]) -> dict[str, JSON]:
    """Return the entities named by `kind:id` references as they are now, in the order given; unknown ones are left out.

    A document comes with its revisions, an approval with its comments.
    """
    wanted = list(dict.fromkeys(refs))
    by_kind: dict[str, list[str]] = {}
    for ref in wanted:
        kind, _, public_id = ref.partition(":")
        by_kind.setdefault(kind, []).append(uid_of(company_id, clean_text(public_id)))
    found: dict[str, JSON] = {}
    for kind, uids in by_kind.items():
        read = READERS.get(kind)
        if read is not None:
            found |= {f"{kind}:{facts['id']}": facts for facts in read(uids)}
    return {ref: found[ref] for ref in wanted if ref in found}


def pending_interactions(*, company_id: str, task_id: str) -> list[JSON]:
    """Return the task's interactions that wait for the board, oldest first."""
    waiting = Interaction.objects.filter(
        task_id=uid_of(company_id, task_id), status=InteractionStatus.PENDING.value
    ).order_by("position")
    return [interaction.as_json() for interaction in waiting]


def pending_approvals(*, company_id: str, task_id: str) -> list[JSON]:
    """Return the approvals linked to the task that wait for a decision, oldest first."""
    waiting = Approval.objects.filter(company_id=company_id, status=ApprovalStatus.PENDING.value)
    return [approval for approval in whole_approvals(waiting) if task_id in approval["taskIds"]]


def pending_ids(*, company_id: str, task_id: str) -> list[str]:
    """Return the ids of the task's interactions, then approvals, that wait for the board, oldest first.

    Asked with every message of a chat, so it reads no more than the rows that wait.
    """
    task_uid = uid_of(company_id, task_id)
    asked = rows.fetch_all(Interaction, task_id=task_uid, status=InteractionStatus.PENDING.value)
    open_approvals = rows.fetch_all(Approval, company_id=company_id, status=ApprovalStatus.PENDING.value)
    linked = [approval for approval in open_approvals if task_id in approval.task_ids]
    by_age = attrgetter("position")
    return [row.public_id for row in (*sorted(asked, key=by_age), *sorted(linked, key=by_age))]


def _plain(model: type[Entity]) -> Callable[[list[str]], list[JSON]]:
    def read(uids: list[str]) -> list[JSON]:
        if len(uids) == 1:  # what most calls ask for, after each command
            return [row.as_json() for row in rows.fetch_all(model, uid=uids[0])]
        found = model.objects.filter(uid__in=uids)  # type: ignore[attr-defined]
        return [row.as_json() for row in found]

    return read


def _documents(uids: list[str]) -> list[JSON]:
    by_document: dict[str, list[models.DocumentRevision]] = {uid: [] for uid in uids}
    for revision in models.DocumentRevision.objects.filter(document__in=uids).order_by("revision"):
        by_document[revision.document_id].append(revision)
    return [document_json(d, by_document[d.uid]) for d in models.Document.objects.filter(uid__in=uids)]


def _approvals(uids: list[str]) -> list[JSON]:
    return whole_approvals(Approval.objects.filter(uid__in=uids))


READERS: dict[str, Callable[[list[str]], list[JSON]]] = {
    **{
        model.KIND: _plain(model)
        for model in (
            models.Actor,
            models.ApprovalComment,
            models.Artifact,
            models.Blocker,
            models.Budget,
            models.Comment,
            models.DocumentRevision,
            models.Fault,
            models.Interaction,
            models.Run,
            models.RunEvent,
            models.Task,
            models.Wake,
            models.WorkProduct,
            models.WorkspaceService,
        )
    },
    "document": _documents,
    "approval": _approvals,
}
