"""The operator's view of the mock company: every row, read-only.

What must not be shown anywhere, such as where an artifact's bytes are, is withheld before it reaches a page (design
section 7), and secrets in rows that are older than their masking are masked. Nothing here can add, change, remove or
run anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db import models as django_models
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from mockcore import models
from mockcore.handlers import HANDLERS
from mockcore.masking import mask
from mockcore.models.base import CanonicalJSON
from mockcore.showing import ReadOnlyAdmin, filter_by

WITHHELD_NAMES = frozenset({"contentRef", "content_ref", "sessionCheckpoint", "session_checkpoint"})
WITHHELD = "[withheld]"
# A call is found by its authorization record, which names the revisions before and after. What is longer than an index
# of PostgreSQL takes is not searched for.
SEARCHED = ("uid", "public_id", "company_id", "entity_id")
LEDGER_ORDER: dict[str, tuple[str, ...]] = {"company_id": ("-company_id", "-number")}
SEARCH_ORDER: dict[type[django_models.Model], dict[str, tuple[str, ...]]] = {
    models.StateRevision: LEDGER_ORDER,
    models.AuditRecord: LEDGER_ORDER,
    models.DecisionRecord: LEDGER_ORDER,
    models.Change: {"company_id": ("-company_id", "-revision", "-entity", "-entity_id")},
    models.Keyframe: {"company_id": ("-company_id", "-revision")},
}

COLUMNS: dict[type[django_models.Model], tuple[str, ...]] = {
    models.Company: ("public_id", "name", "status", "revision", "lifecycle", "clock_tick", "retired_at"),
    models.Actor: ("public_id", "company_id", "name", "role", "status"),
    models.Task: ("public_id", "company_id", "identifier", "title", "status", "priority", "work_mode"),
    models.Comment: ("public_id", "company_id", "task_id", "author_actor_id", "created_at"),
    models.Blocker: ("public_id", "company_id", "task_id", "blocked_by_task_id"),
    models.Document: ("public_id", "company_id", "key", "title", "latest_revision_id"),
    models.DocumentRevision: ("public_id", "company_id", "document_id", "revision", "created_at"),
    models.Interaction: ("public_id", "company_id", "kind", "status", "title", "created_at", "resolved_at"),
    models.Approval: ("public_id", "company_id", "type", "status", "created_at", "decided_at"),
    models.ApprovalComment: ("public_id", "company_id", "approval_id", "author_actor_id", "created_at"),
    models.Artifact: ("public_id", "company_id", "filename", "content_type", "byte_size", "created_at"),
    models.WorkProduct: ("public_id", "company_id", "type", "title", "created_at"),
    models.WorkspaceService: ("public_id", "company_id", "name", "status", "last_transition_at"),
    models.Budget: ("public_id", "company_id", "scope", "limit_cents", "spent_cents", "hard_stop"),
    models.Wake: ("public_id", "company_id", "reason", "status", "due_at"),
    models.Run: ("public_id", "company_id", "status", "attempt", "opened_at", "finished_at"),
    models.RunEvent: ("public_id", "company_id", "run_id", "source_instance_id", "source_seq", "event_type"),
    models.Fault: ("public_id", "company_id", "operation", "command_kind", "effect", "configured_count", "code"),
    models.StateRevision: ("number", "company_id", "operation", "principal", "at", "cause_turn_id", "cause_call_id"),
    models.Change: ("revision", "company_id", "entity", "entity_id"),
    models.AuditRecord: ("public_id", "company_id", "action", "entity_type", "entity_id", "at"),
    models.DecisionRecord: ("public_id", "company_id", "operation", "outcome", "reason", "state_revision", "at"),
    models.IdempotencyRecord: ("scope", "key", "company_id"),
    models.Keyframe: ("revision", "company_id", "digest"),
}
OPERATIONS = (
    *("advance_clock", "append_event", "checkpoint_session", "complete_run"),
    *("deliver_wakes", "expire_interactions", "open_run"),
    *sorted(command.kind for command in HANDLERS),
)
WORDS: dict[tuple[type[django_models.Model], str], tuple[str, ...]] = {
    (models.StateRevision, "operation"): OPERATIONS,
    (models.DecisionRecord, "operation"): OPERATIONS,
    (models.Change, "entity"): ("company", *sorted(m.KIND for m in COLUMNS if issubclass(m, models.Entity))),
}


def withhold(value: Any) -> Any:
    """Return a JSON value with everything masked that is shown on no surface."""
    if isinstance(value, dict):
        return {name: WITHHELD if name in WITHHELD_NAMES else withhold(inner) for name, inner in value.items()}
    return [withhold(inner) for inner in value] if isinstance(value, list) else value


def pretty(value: Any) -> SafeString:
    """Return a JSON value as escaped, indented text."""
    return format_html("<pre>{}</pre>", json.dumps(mask(withhold(value)), indent=2, ensure_ascii=False))


class CompanyRowAdmin(ReadOnlyAdmin):
    """Shows rows of one model of a company, JSON as readable text and what is withheld as withheld."""

    search_help_text = "A whole id"

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        columns = {field.attname: field for field in self.model._meta.concrete_fields}
        return [shown(columns[name]) if name in columns else name for name in self.list_display]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [shown(field) for field in self.model._meta.concrete_fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return self.get_fields(request, obj)


def shown(field: Any) -> str | Callable[[Any], Any]:
    """Return how one column is shown: as it is, as masked text, as readable JSON, or not at all."""
    read = _reader(field)
    if read is None:
        return str(field.attname)

    def show(row: Any) -> Any:
        return read(getattr(row, field.attname))

    show.short_description = field.verbose_name  # type: ignore[attr-defined]
    return show


def _reader(field: Any) -> Callable[[Any], Any] | None:
    """Return what is shown of a column's value; None where that is the value itself, which can hold no secret."""
    if field.name in WITHHELD_NAMES:
        return lambda _: WITHHELD
    if field.name == "input_canonical":
        return lambda value: pretty(json.loads(value))
    if isinstance(field, CanonicalJSON):
        return pretty
    if isinstance(field, django_models.BinaryField):
        return lambda value: f"{len(value):,} bytes"
    return mask if isinstance(field, django_models.CharField | django_models.TextField) else None


def known_words(model: type[django_models.Model], column: str) -> tuple[str, ...]:
    """Return what a column can hold, as its own constraint or the command list says; empty when that is open."""
    if (model, column) in WORDS:
        return WORDS[model, column]
    for constraint in model._meta.constraints:
        condition = getattr(constraint, "condition", None)
        for test in condition.children if condition is not None else ():
            if isinstance(test, tuple) and test[0] == f"{column}__in":
                return tuple(test[1])
    return ()


def filters_of(model: type[django_models.Model], columns: tuple[str, ...]) -> list[Any]:
    """Return a filter for each column of few words; none of them has to read the table."""
    known = {column: known_words(model, column) for column in columns}
    return [filter_by(column, words) for column, words in known.items() if words]


def searched(model: type[django_models.Model]) -> tuple[str, ...]:
    """Return the ids that a row is found by. `uid` is `company/id`."""
    if model is models.Company:
        return ("public_id",)
    columns = {field.attname for field in model._meta.concrete_fields}
    key = ("key",) if model is models.IdempotencyRecord else ()
    return (*(name for name in SEARCHED if name in columns), *key)


def register(model: type[django_models.Model], columns: tuple[str, ...]) -> None:
    """Register one model with its list columns, filters and search."""
    attributes = {
        "list_display": columns,
        "list_filter": filters_of(model, columns),
        "search_fields": searched(model),
        "search_order": SEARCH_ORDER.get(model, {}),
        # Both in one direction, which the index on them can be read in.
        "ordering": ("-company_id", "-position") if issubclass(model, models.Entity) else ("-pk",),
        "list_select_related": False,
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (CompanyRowAdmin,), attributes))


for _model, _columns in COLUMNS.items():
    register(_model, _columns)
