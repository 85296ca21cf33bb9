"""Cards: what a person is asked, by naming the fields of each kind that may leave. Source: reference B section 1.10."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evidence.views.text import ENTRIES, clamp, code, entries, flag, label, long_text, number, objects, spoken

STATE_LABELS = {
    "pending": "Waiting for you",
    "accepted": "Accepted",
    "answered": "Answered",
    "rejected": "Changes requested",
    "approved": "Approved",
    "cancelled": "Cancelled",
    "stale_target": "Stale — target moved",
    "superseded_by_comment": "Superseded by a later comment",
    "withdrawn": "Withdrawn",
    "issue_closed": "Issue closed",
    "expired": "Expired",
}
CONTROLS = ("text", "radio", "select")
RADIO_OPTIONS = 3  # more than that are a select
VERDICTS = ("approve", "reject", "defer")


def state_of(value: Any) -> str:
    """Return a known state; anything else reads `expired`, the fallback of the reference."""
    return value if value in STATE_LABELS else "expired"


def state_label(state: str, kind: str) -> str:
    if kind == "approval" and state == "rejected":
        return "Rejected"
    return STATE_LABELS[state]


def card_payload(kind: str, raw: Mapping[str, Any], *, prompt: str) -> dict[str, Any]:
    """Return the payload of one kind of card, with the defaults of that kind."""
    return PAYLOADS[kind](raw, prompt) if kind in PAYLOADS else {}


def _questions(raw: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    given = objects(raw.get("questions")) or [{"prompt": prompt}]
    questions = [_question(entry, place) for place, entry in enumerate(given, start=1)]
    return {"questions": questions, "submitLabel": label(raw.get("submitLabel")) or "Submit answers"}


def _question(raw: Mapping[str, Any], place: int) -> dict[str, Any]:
    options = _options(raw.get("options"))
    control = "text" if not options else "radio" if len(options) <= RADIO_OPTIONS else "select"
    return {
        "id": code(raw.get("id")) or f"q{place}",
        "prompt": clamp(raw.get("prompt"), 2_000) or "Your answer",
        "control": raw["control"] if raw.get("control") in CONTROLS and options else control,
        "options": options,
        "required": raw.get("required") is not False,
    }


def _options(value: Any) -> list[dict[str, Any]]:
    """Options are objects with a label, or plain labels."""
    given = [entry if isinstance(entry, Mapping) else {"label": entry} for entry in entries(value)]
    return [_option(entry, place) for place, entry in enumerate(objects(given), start=1)]


def _option(raw: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {
        "id": code(raw.get("id")) or f"o{place}",
        "label": label(raw.get("label")) or label(raw.get("title")) or f"Option {place}",
        "defaultSelected": flag(raw.get("defaultSelected")),
    }


def _confirmation(raw: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    return {
        "targetSummary": long_text(raw.get("targetSummary")) or prompt,
        "acceptLabel": label(raw.get("acceptLabel")) or "Accept",
        "rejectLabel": label(raw.get("rejectLabel")) or "Reject",
        "requireRejectReason": raw.get("requireRejectReason") is not False,
    }


def _checkbox(raw: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    options = _options(raw.get("options"))
    most = number(raw.get("maxSelected"))
    return {
        "options": options,
        "minSelected": number(raw.get("minSelected")) or 0,
        "maxSelected": len(options) if most is None else most,
        "acceptLabel": label(raw.get("acceptLabel")) or "Accept",
        "rejectLabel": label(raw.get("rejectLabel")) or "Reject",
    }


def _suggest_tasks(raw: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    tasks = [
        {
            "id": code(entry.get("id")) or f"t{place}",
            "title": label(entry.get("title")) or f"Task {place}",
            "description": clamp(entry.get("description"), 2_000),
        }
        for place, entry in enumerate(objects(raw.get("tasks")), start=1)
    ]
    return {"tasks": tasks, "acceptLabel": label(raw.get("acceptLabel")) or "Create selected tasks"}


def _item_verdicts(raw: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    items = [
        {
            "id": code(entry.get("id")) or f"i{place}",
            "title": label(entry.get("title")) or f"Item {place}",
            "requireReason": flag(entry.get("requireReason")),
            "lockedVerdict": entry["lockedVerdict"] if entry.get("lockedVerdict") in VERDICTS else None,
        }
        for place, entry in enumerate(objects(raw.get("items")), start=1)
    ]
    return {"items": items, "submitLabel": label(raw.get("submitLabel")) or "Submit verdicts"}


def _approval(raw: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The payload of an approval is the agent's own object: its entries are shown as they are, never interpreted."""
    rows = [{"label": label(name), "value": clamp(spoken(value), 2_000)} for name, value in list(raw.items())[:ENTRIES]]
    return {"details": rows}


PAYLOADS: dict[str, Callable[[Mapping[str, Any], str], dict[str, Any]]] = {
    "questions": _questions,
    "confirmation": _confirmation,
    "checkbox": _checkbox,
    "suggest_tasks": _suggest_tasks,
    "item_verdicts": _item_verdicts,
    "approval": _approval,
}
