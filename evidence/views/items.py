"""Thread items, by naming the fields of each kind that may leave. Raw facts in, safe items out; knows no event.

The table below is the documentation; `ARCHITECTURE.md` repeats it for readers of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evidence.views import cards
from evidence.views.text import (
    ENTRIES,
    clamp,
    code,
    entries,
    flag,
    label,
    labels,
    long_text,
    mapping,
    number,
    objects,
    optional_code,
    optional_long,
)

Item = dict[str, Any]
SECTIONS = frozenset({"tools", "calls", "authorization", "controlPlane", "runner"})
PROGRESS = frozenset({"thinking", "planning", "command", "file_change", "tool"})


def evidence_ref(value: Any) -> dict[str, str] | None:
    """Return a reference to one evidence row, or None."""
    raw = mapping(value)
    if raw.get("section") not in SECTIONS or not code(raw.get("recordId")):
        return None
    return {"section": raw["section"], "recordId": code(raw["recordId"])}


def _created_tasks(value: Any) -> list[dict[str, str]]:
    return [{"identifier": label(task.get("identifier")), "title": label(task.get("title"))} for task in objects(value)]


def detail_rows(value: Any) -> list[dict[str, str]]:
    """Return label and value pairs."""
    return [{"label": label(row.get("label")), "value": long_text(row.get("value"))} for row in objects(value)]


FIELDS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "durable_comment": {"author": label, "body": long_text, "operationId": code},
    "document": {
        "documentKey": label,
        "title": label,
        "author": label,
        "revisionFrom": number,
        "revisionTo": number,
        "excerpt": long_text,
    },
    "deliverable": {"filename": label, "deliverableKind": label, "byteSize": number, "registeredBy": label},
    "dependency": {"createdTasks": _created_tasks, "blockerEdges": labels},
    "disposition": {"operationId": code, "status": code, "body": long_text},
    "record": {"label": label, "body": long_text},
    "system_notice": {"glyph": label, "text": long_text, "code": optional_code},
}


def record_item(raw: Mapping[str, Any], *, at: str, fallback_id: str) -> Item | None:
    """Return one record that a tool call made as a safe item; None for a kind that is not drawn."""
    kind = raw.get("kind")
    if kind == "interaction":
        return interaction_item(raw, at=at, fallback_id=fallback_id)
    if kind not in FIELDS:
        return None
    fields = {name: read(raw.get(name)) for name, read in FIELDS[kind].items()}
    return {
        **_base(kind, raw, at=at, fallback_id=fallback_id),
        **fields,
        "evidenceRef": evidence_ref(raw.get("evidenceRef")),
    }


def record_items(value: Any, *, at: str, made_by: str) -> list[Item]:
    """Return the records of a call or of an answer. One without an id is named after what made it, and its place."""
    made = [record_item(raw, at=at, fallback_id=f"{made_by}:{place}") for place, raw in enumerate(objects(value), 1)]
    return [item for item in made if item is not None]


def interaction_item(raw: Mapping[str, Any], *, at: str, fallback_id: str) -> Item:
    """Return a card: something a person is asked, and what became of it."""
    kind, state = code(raw.get("interactionKind")), cards.state_of(raw.get("state"))
    prompt = long_text(raw.get("prompt"))
    interaction_id = code(raw.get("interactionId")) or fallback_id
    return {
        **_base("interaction", raw, at=at, fallback_id=interaction_id),
        "interactionId": interaction_id,
        "interactionKind": kind,
        "title": label(raw.get("title")),
        "prompt": prompt,
        "payload": cards.card_payload(kind, mapping(raw.get("payload")), prompt=prompt),
        "state": state,
        "stateLabel": cards.state_label(state, kind),
        "resolvedSummary": [clamp(line, 2_000) for line in entries(raw.get("resolvedSummary"))][:ENTRIES],
        "reason": optional_long(raw.get("reason")),
        "evidenceRef": evidence_ref(raw.get("evidenceRef")),
    }


def progress_item(
    *,
    item_id: str,
    at: str,
    activity: str,
    status: str,
    title: str,
    summary: str,
    details: list[dict[str, str]] | None = None,
    withheld: str | None = None,
) -> Item:
    """Return one line of what the agent does. `withheld` says what was kept back, in words, or is None."""
    return {
        "id": item_id,
        "kind": "progress_activity",
        "at": at,
        "activity": activity if activity in PROGRESS else "tool",
        "status": status,
        "label": label(title),
        "summary": label(summary),
        "details": detail_rows(details or []),
        "withheld": withheld,
    }


def user_message(*, item_id: str, at: str, body: str, redacted: Any, recorded: Any = False) -> Item:
    """Return what a person wrote. `recorded`: it stands on the issue too, as a comment of the board."""
    return {
        "id": item_id,
        "kind": "user_message",
        "at": at,
        "author": "Board user",
        "body": body,
        "redacted": flag(redacted),
        "recorded": flag(recorded),
    }


def agent_message(*, item_id: str, at: str, body: str, streaming: bool) -> Item:
    return {
        "id": item_id,
        "kind": "agent_message",
        "at": at,
        "author": "Codex",
        "body": body,
        "streaming": streaming,
    }


def notice(*, item_id: str, at: str, glyph: str, text: Any, notice_code: Any) -> Item:
    return {
        "id": item_id,
        "kind": "system_notice",
        "at": at,
        "glyph": glyph,
        "text": long_text(text),
        "code": optional_code(notice_code),
    }


def _base(kind: str, raw: Mapping[str, Any], *, at: str, fallback_id: str) -> Item:
    return {"id": code(raw.get("id")) or fallback_id, "kind": kind, "at": at}
