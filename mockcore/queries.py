"""The named reads of a run, one function each, in the exact shapes of reference A section 1.4.

A read takes the run and keyword arguments, checks nothing about authority, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Count, QuerySet

from mockcore.handlers.approvals import ApprovalMissing
from mockcore.handlers.children import ActorMissing
from mockcore.models import (
    Actor,
    Approval,
    ApprovalComment,
    Comment,
    Document,
    DocumentRevision,
    Run,
    Task,
    WorkspaceService,
)
from mockcore.models.base import uid_of
from mockcore.refusal import Refusal

DEFAULT_LIMIT = 50
JSON = dict[str, Any]


class DocumentMissing(Refusal):
    """The active task has no document with that key."""

    code = "document_missing"


# ---------------------------------------------------------------- whole entities
def document_json(document: Document, revisions: Sequence[DocumentRevision]) -> JSON:
    """Return a document with its revisions inside, oldest first."""
    return {**document.as_json(), "revisions": [revision.as_json() for revision in revisions]}


def approval_json(approval: Approval, comments: Sequence[ApprovalComment]) -> JSON:
    """Return an approval with its comments inside, oldest first."""
    return {**approval.as_json(), "comments": [comment.as_json() for comment in comments]}


def whole_approvals(approvals: QuerySet[Approval]) -> list[JSON]:
    """Return approvals with their comments, in order of creation, in two queries."""
    found = list(approvals.order_by("position"))
    by_approval: dict[str, list[ApprovalComment]] = {}
    for comment in ApprovalComment.objects.filter(approval__in=found).order_by("position"):
        by_approval.setdefault(comment.approval_id, []).append(comment)
    return [approval_json(approval, by_approval.get(approval.uid, [])) for approval in found]


# ---------------------------------------------------------------- the active task
def get_task_history(run: Run, *, limit: int = DEFAULT_LIMIT) -> JSON:
    """Return the newest `limit` comments of the active task, oldest first."""
    newest = Comment.objects.filter(task=run.task_id).order_by("-position")[:limit]
    return {"comments": [comment.as_json() for comment in reversed(newest)]}


def list_documents(run: Run) -> JSON:
    """Return the metadata of the active task's documents."""
    documents = Document.objects.filter(task=run.task_id).order_by("position")
    counts = dict(
        DocumentRevision.objects.filter(document__in=documents.order_by())
        .values_list("document_id")
        .annotate(Count("uid"))
    )
    names = ("id", "key", "title", "format", "latestRevisionId")
    return {
        "documents": [
            {name: facts[name] for name in names} | {"revisionCount": counts.get(document.uid, 0)}
            for document in documents
            for facts in [document.as_json()]
        ]
    }


def read_document(run: Run, *, key: str) -> JSON:
    """Return one document with all its revisions, and the latest one. Raises `DocumentMissing`."""
    document = _document(run, key)
    revisions = list(DocumentRevision.objects.filter(document=document).order_by("revision"))
    return {"document": document_json(document, revisions), "revision": revisions[-1].as_json()}


def list_document_revisions(run: Run, *, key: str, limit: int = DEFAULT_LIMIT) -> JSON:
    """Return the newest `limit` revisions of one document, oldest first. Raises `DocumentMissing`."""
    document = _document(run, key)
    newest = DocumentRevision.objects.filter(document=document).order_by("-revision")[:limit]
    revisions = [revision.as_json() for revision in reversed(newest)]
    return {"documentId": document.public_id, "key": document.key, "revisions": revisions}


def get_workspace_runtime(run: Run) -> JSON:
    """Return the services of the active task's workspace."""
    services = WorkspaceService.objects.filter(task=run.task_id).order_by("position")
    return {"services": [service.as_json() for service in services]}


def _document(run: Run, key: str) -> Document:
    document = Document.objects.filter(task=run.task_id, key=key).first()
    if document is None:
        raise DocumentMissing(f"the task has no document {key}")
    return document


# ---------------------------------------------------------------- the company
PROFILE = ("id", "companyId", "name", "role", "status")  # without grants and budget (reference A, trap 23)


def list_agents(run: Run) -> JSON:
    """Return the profiles of the company's actors."""
    actors = Actor.objects.filter(company=run.company_id).order_by("position")
    return {"actors": [_profile(actor) for actor in actors]}


def get_agent(run: Run, *, actor_id: str) -> JSON:
    """Return one actor's profile. Raises `ActorMissing`."""
    actor = Actor.objects.filter(uid=uid_of(run.company_id, actor_id)).first()
    if actor is None:
        raise ActorMissing(f"there is no actor {actor_id}")
    return {"actor": _profile(actor)}


def _profile(actor: Actor) -> JSON:
    facts = actor.as_json()
    return {name: facts[name] for name in PROFILE}


def search_tasks(
    run: Run, *, query: str = "", statuses: Sequence[str] | None = None, limit: int = DEFAULT_LIMIT
) -> JSON:
    """Return the first `limit` tasks whose identifier, title or description holds `query`, in any case."""
    tasks = Task.objects.filter(company=run.company_id).order_by("position")
    if statuses:
        tasks = tasks.filter(status__in=list(statuses))
    if not query:
        return {"tasks": [task.as_json() for task in tasks[:limit]]}
    wanted = query.casefold()
    found: list[JSON] = []
    for task in tasks.iterator():
        if wanted in f"{task.identifier} {task.title} {task.description or ''}".casefold():
            found.append(task.as_json())
            if len(found) == limit:
                break
    return {"tasks": found}


def list_approvals(run: Run) -> JSON:
    """Return all approvals of the company, with their comments."""
    return {"approvals": whole_approvals(Approval.objects.filter(company=run.company_id))}


def get_approval(run: Run, *, approval_id: str) -> JSON:
    """Return one approval with its comments. Raises `ApprovalMissing`."""
    found = whole_approvals(Approval.objects.filter(uid=uid_of(run.company_id, approval_id)))
    if not found:
        raise ApprovalMissing(f"there is no approval {approval_id}")
    return {"approval": found[0]}


def get_approval_context(run: Run, *, approval_id: str) -> JSON:
    """Return one approval and the tasks it is linked to. Raises `ApprovalMissing`."""
    approval = get_approval(run, approval_id=approval_id)["approval"]
    uids = [uid_of(run.company_id, task_id) for task_id in approval["taskIds"]]
    tasks = Task.objects.filter(uid__in=uids).order_by("position")
    return {"approval": approval, "tasks": [task.as_json() for task in tasks]}


QUERIES: dict[str, Callable[..., JSON]] = {
    read.__name__: read
    for read in (
        get_task_history,
        list_documents,
        read_document,
        list_document_revisions,
        list_agents,
        get_agent,
        search_tasks,
        list_approvals,
        get_approval,
        get_approval_context,
        get_workspace_runtime,
    )
}
