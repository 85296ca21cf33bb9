"""The words our JSON Schemas are made of, and the two shapes they live in: frozen in the catalog, plain on the way out.

Every input is a closed object. Bounds and enums are those of the live tool contract, version 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any]

TEXT_LIMIT = 20_000  # characters of an ordinary text
ID_LIMIT = 200  # characters of an id
ID_COUNT = 200  # ids in one list
PAGE_LIMIT = 200  # entries of one page
PAGE_DEFAULT = 50

INTERACTION_KINDS = ("confirmation", "checkbox", "questions", "suggest_tasks", "item_verdicts")
CONTINUATION_POLICIES = ("none", "wake_assignee", "wake_assignee_on_accept")
TASK_STATUSES = ("backlog", "todo", "in_progress", "in_review", "done", "blocked", "cancelled")
TASK_PRIORITIES = ("critical", "high", "medium", "low")
WAKE_REASONS = (
    "manual",
    "issue_commented",
    "interaction_resolved",
    "approval_resolved",
    "blockers_resolved",
    "scheduled_retry",
    "resume",
)


def text(limit: int = TEXT_LIMIT) -> Schema:
    """A text that is not empty, up to `limit` characters."""
    return {"type": "string", "minLength": 1, "maxLength": limit}


def whole(least: int, most: int) -> Schema:
    """A whole number between two inclusive bounds."""
    return {"type": "integer", "minimum": least, "maximum": most}


def one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


NULLABLE_TEXT: Schema = {"type": ["string", "null"], "maxLength": TEXT_LIMIT}
ID = text(ID_LIMIT)
IDS: Schema = {
    "type": "array",
    "items": {"type": "string", "minLength": 1},
    "maxItems": ID_COUNT,
    "uniqueItems": True,
}
OPEN_OBJECT: Schema = {"type": "object", "additionalProperties": True}
PAGE: Schema = {**whole(1, PAGE_LIMIT), "default": PAGE_DEFAULT}
IDEMPOTENCY_KEY = text(240)


def closed(required: Mapping[str, Schema] | None = None, optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object that takes exactly these properties. `properties` and `required` are always present."""
    required, optional = required or {}, optional or {}
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def mutation(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """The input of a mutation: a closed object that also requires the idempotency key."""
    return closed({"idempotencyKey": IDEMPOTENCY_KEY, **required}, optional)


NO_INPUT = closed()
READ_OUTPUT: Schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": True}
MUTATION_OUTPUT = closed(
    {
        "commandId": ID,
        "disposition": one_of("applied", "duplicate"),
        "stateRevision": {"type": "integer", "minimum": 0},
        "entityRefs": IDS,
        "scheduledWakeIds": IDS,
    }
)


def frozen(value: Any) -> Any:
    """Return JSON `value` with every object read-only and every array a tuple."""
    if isinstance(value, Mapping):
        return MappingProxyType({name: frozen(part) for name, part in value.items()})
    if isinstance(value, list | tuple):
        return tuple(frozen(part) for part in value)
    return value


def plain(value: Any) -> Any:
    """Return frozen JSON as fresh dicts and lists, which encoders and validators accept."""
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value
