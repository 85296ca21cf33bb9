"""The live catalog: the registry's live operations, in the order in which agents are offered them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from capability.catalog.descriptor import Operation, Surface
from capability.catalog.operations import OPERATIONS

DECLARED = (
    "get_task_context",
    "get_task_history",
    "list_documents",
    "read_document",
    "list_document_revisions",
    "report_progress",
    "answer_status_question",
    "write_document",
    "request_human_input",
    "register_deliverable",
    "finish_task",
    "block_task",
    "request_review",
    "list_agents",
    "get_agent",
    "search_tasks",
    "list_approvals",
    "get_approval",
    "get_approval_context",
    "get_workspace_runtime",
    "control_workspace_service",
    "set_dependencies",
    "create_task",
    "request_approval",
    "decide_approval",
    "comment_on_approval",
    "schedule_wake",
    "generic_api_request",
)


class CatalogDrift(Exception):
    """A projection misses, doubles or invents an operation. A bug: raised while the catalog is imported."""


def project(*, registry: Sequence[Operation], declared: Sequence[str], surface: Surface) -> tuple[Operation, ...]:
    """Return the registry's operations of `surface` in the declared order.

    Raises `CatalogDrift` when the declaration and the registry do not hold the same ids, each once.
    """
    known = [operation for operation in registry if surface in operation.surfaces]
    for what, ids in (("registry", [operation.id for operation in known]), ("declaration", list(declared))):
        doubled = sorted(id for id, count in Counter(ids).items() if count > 1)
        if doubled:
            raise CatalogDrift(f"the {surface} {what} doubles {', '.join(doubled)}")
    by_id = {operation.id: operation for operation in known}
    missed, invented = sorted(by_id.keys() - set(declared)), sorted(set(declared) - by_id.keys())
    if missed or invented:
        raise CatalogDrift(f"the {surface} catalog misses {missed} and invents {invented}")
    return tuple(by_id[id] for id in declared)


LIVE_OPERATIONS = project(registry=OPERATIONS, declared=DECLARED, surface=Surface.LIVE)
