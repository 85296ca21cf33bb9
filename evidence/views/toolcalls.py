"""A semantic tool call in the thread and in the drawer: its strip, its proof, and the records it made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.prp.events import Event, EventType
from evidence.views import rows
from evidence.views.build import Op, item_op
from evidence.views.items import Item, record_items
from evidence.views.text import code, label, labels, long_text, mapping, number, optional_code

FIELD_NAMES = 32  # names of one call's arguments; source: reference B section 2.5
RESULT_FIELDS = ("commandId", "commandKind", "disposition")


def call_ops(event: Event) -> list[Op]:
    """Return the ops of a call that was made, allowed or denied. A denial takes the place of the strip."""
    call_id = code(event.payload.get("callId")) or event.item_id or f"call-{event.number}"
    if event.event_type == EventType.ITEM_STARTED:
        return [item_op(event, _strip(event, call_id, "running")), rows.call_row(event, call_id, outcome="running")]
    denial = mapping(event.payload.get("denial"))
    if denial or event.payload.get("ok") is False:
        return _denied(event, call_id, denial)
    if event.event_type == EventType.ITEM_FAILED:
        return [item_op(event, _strip(event, call_id, "failed")), rows.call_row(event, call_id, outcome="failed")]
    return _allowed(event, call_id)


def _allowed(event: Event, call_id: str) -> list[Op]:
    facts = event.payload
    result = mapping(facts.get("result"))
    ops = [item_op(event, _strip(event, call_id, "ok")), rows.call_row(event, call_id, outcome="ok")]
    if facts.get("authorizationId"):
        ops.append(rows.authorization_row(event, call_id, allowed=True, denial={}))
    if result.get("commandId"):
        ops.append(rows.command_row(event, call_id, result))
    records = record_items(facts.get("records"), at=event.at, made_by=call_id)
    return ops + [item_op(event, item) for item in records]


def _denied(event: Event, call_id: str, denial: Mapping[str, Any]) -> list[Op]:
    facts = event.payload
    authorization = code(facts.get("authorizationId"))
    section, record_id = ("authorization", authorization) if authorization else ("calls", call_id)
    item = {
        "id": call_id,
        "kind": "denial",
        "at": event.at,
        "operationId": code(facts.get("operationId")),
        "title": label(facts.get("title")),
        "code": code(denial.get("code")),
        "controlPlaneCode": optional_code(denial.get("controlPlaneCode")),
        "reason": long_text(denial.get("message")),
        "evidenceRef": {"section": section, "recordId": record_id},
    }
    ops = [item_op(event, item), rows.call_row(event, call_id, outcome="denied")]
    if authorization:
        ops.append(rows.authorization_row(event, call_id, allowed=False, denial=denial))
    return ops


def _strip(event: Event, call_id: str, status: str) -> Item:
    facts = event.payload
    return {
        "id": call_id,
        "kind": "tool_activity",
        "at": event.at,
        "status": status,
        "operationId": code(facts.get("operationId")),
        "title": label(facts.get("title")),
        "summary": label(facts.get("summary")),
        "fields": labels(facts.get("fields"), limit=FIELD_NAMES),
        "result": None if status == "running" else _result(facts),
        "evidenceRef": {"section": "calls", "recordId": call_id},
    }


def _result(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call came to: revisions, and the command when there was one. Never the data that was read."""
    command = mapping(facts.get("result"))
    return {
        "ok": facts.get("ok") is not False,
        "stateRevision": number(facts.get("stateRevision")),
        "command": {
            **{name: code(command.get(name)) for name in RESULT_FIELDS},
            "stateRevision": number(command.get("stateRevision")),
            "entityRefs": labels(command.get("entityRefs")),
        }
        if command
        else None,
    }
