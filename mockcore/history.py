"""What happened in a company, and how its entities are now. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from mockcore import models, rows
from mockcore.models import Approval, AuditRecord, Change, DecisionRecord, Entity, Interaction, StateRevision
from mockcore.models.base import uid_of
from mockcore.port import Cause, Principal
from mockcore.queries import document_json, whole_approvals
from mockcore.text import clean_text, iso
from mockcore.vocabulary import ApprovalStatus, InteractionStatus

JSON = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Revision:
    """One successful mutation. `at` is company time."""

    number: int
    operation: str
    principal: Principal
    run_id: str
    command_id: str
    at: str
    cause: Cause


@dataclass(frozen=True, kw_only=True)
class EntityChange:
    """What one revision did to one entity: changed fields before and after; None where the entity was not."""

    revision: int
    ref: str
    before: JSON | None
    after: JSON | None


# ---------------------------------------------------------------- what happened
def list_revisions(*, company_id: str, after: int = 0, limit: int = 200) -> list[Revision]:
    """Return up to `limit` revisions numbered above `after`, oldest first. Revision 0, the seed, has no row."""
    found = StateRevision.objects.filter(company_id=company_id, number__gt=after).order_by("number")[:limit]
    return [_revision(row) for row in found]


def changes(*, company_id: str, revision: int) -> list[EntityChange]:
    """Return the change set of one revision; empty for one that is not there."""
    return [_change(row) for row in Change.objects.filter(company_id=company_id, revision=revision).order_by("pk")]


def list_audit(*, company_id: str, after: int = 0, limit: int = 200) -> list[JSON]:
    """Return up to `limit` audit records after the one of revision `after`, oldest first."""
    found = AuditRecord.objects.filter(company_id=company_id, number__gt=after).order_by("number")[:limit]
    return [row.as_json() for row in found]


def list_decisions(*, company_id: str, after: int = 0, limit: int = 200) -> list[JSON]:
    """Return up to `limit` decisions numbered above `after`, oldest first; refusals are among them."""
    found = DecisionRecord.objects.filter(company_id=company_id, number__gt=after).order_by("number")[:limit]
    return [row.as_json() for row in found]


def blame(*, company_id: str, ref: str, field: str) -> Revision | None:
    """Return the newest revision that wrote `field` of the entity `ref`; None when it still is as seeded."""
    kind, _, public_id = ref.partition(":")
    touched = Change.objects.filter(company_id=company_id, entity=kind, entity_id=public_id).order_by("-revision")
    for change in touched.iterator():
        if field in (change.after or {}) or change.after is None:
            return _revision(StateRevision.objects.get(company_id=company_id, number=change.revision))
    return None


def _revision(row: StateRevision) -> Revision:
    cause = Cause(
        turn_id=row.cause_turn_id,
        call_id=row.cause_call_id,
        message_id=row.cause_message_id,
        authorization_id=row.cause_authorization_id,
    )
    return Revision(
        number=row.number,
        operation=row.operation,
        principal=Principal(row.principal),
        run_id=row.run_id,
        command_id=row.command_id,
        at=iso(row.at),
        cause=cause,
    )


def _change(row: Change) -> EntityChange:
    ref = f"{row.entity}:{row.entity_id}"
    return EntityChange(revision=row.revision, ref=ref, before=row.before, after=row.after)


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
