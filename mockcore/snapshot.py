"""The whole state of a company as one value: `paperclip.capability.mock-state.v1`. Source: reference A 3.2."""

from __future__ import annotations

from typing import Any

from mockcore import models
from mockcore.faults import remaining
from mockcore.models import Company, Row
from mockcore.queries import document_json, whole_approvals

PLAIN: dict[str, type[models.Entity]] = {
    "actors": models.Actor,
    "tasks": models.Task,
    "comments": models.Comment,
    "interactions": models.Interaction,
    "artifacts": models.Artifact,
    "workProducts": models.WorkProduct,
    "blockers": models.Blocker,
    "workspaceServices": models.WorkspaceService,
    "budgets": models.Budget,
    "wakes": models.Wake,
}
LEDGER: dict[str, tuple[type[Row], str]] = {
    "audit": (models.AuditRecord, "number"),
    "decisions": (models.DecisionRecord, "number"),
    "idempotency": (models.IdempotencyRecord, "pk"),
}


def state_root(company: Company) -> dict[str, Any]:
    """Return the state root; lists are in order of creation, so equal scripts give equal bytes."""
    return {
        "schema": "paperclip.capability.mock-state.v1",
        "revision": company.revision,
        "clock": company.clock(),
        "counters": dict(company.counters),
        "lifecycle": company.lifecycle,
        "activeRunId": company.active_run_id,
        "company": company.as_json(),
        "outOfScopeTaskIds": list(company.out_of_scope_task_ids),
        **{name: _all(model, company, "position") for name, model in PLAIN.items()},
        "runs": _runs(company),
        "documents": _documents(company),
        "approvals": whole_approvals(models.Approval.objects.filter(company=company)),
        "faults": _faults(company),
        **{name: _all(model, company, order) for name, (model, order) in LEDGER.items()},
    }


def _all(model: type[Row], company: Company, order: str) -> list[dict[str, Any]]:
    found = model.objects.filter(company=company).order_by(order)  # type: ignore[attr-defined]
    return [row.as_json() for row in found]


def _runs(company: Company) -> list[dict[str, Any]]:
    """Return the runs with the events that were reported of them, in the order of their arrival."""
    by_run: dict[str, list[dict[str, Any]]] = {}
    for event in models.RunEvent.objects.filter(company=company).order_by("position"):
        by_run.setdefault(event.run_id, []).append(event.as_json())
    runs = models.Run.objects.filter(company=company).order_by("position")
    return [{**run.as_json(), "events": by_run.get(run.uid, [])} for run in runs]


def _documents(company: Company) -> list[dict[str, Any]]:
    by_document: dict[str, list[models.DocumentRevision]] = {}
    for revision in models.DocumentRevision.objects.filter(company=company).order_by("position"):
        by_document.setdefault(revision.document_id, []).append(revision)
    documents = models.Document.objects.filter(company=company).order_by("position")
    return [document_json(document, by_document.get(document.uid, [])) for document in documents]


def _faults(company: Company) -> list[dict[str, Any]]:
    faults = models.Fault.objects.filter(company=company).order_by("position")
    return [{**fault.as_json(), "remaining": remaining(fault)} for fault in faults]
