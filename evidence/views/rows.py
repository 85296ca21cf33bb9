"""Rows of the evidence drawer, by naming their fields. Source: reference B sections 2.12 and 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.prp.events import Event
from evidence.views.build import Op, row_op, turn_id
from evidence.views.text import code, flag, label, labels, long_text, number

NO_REQUEST = "no_real_paperclip_request"
SOME_REQUEST = "real_paperclip_request"
RUNNER_DETAILS = {
    "model": "Model",
    "modelLabel": "Model label",
    "agentVersion": "Agent version",
    "sandboxed": "Sandboxed",
    "attempt": "Attempt",
    "code": "Code",
    "reason": "Reason",
    "message": "Message",
    "retryable": "Retryable",
    "recoverable": "Recoverable",
    "retrying": "Retrying",
}


def runner_row(event: Event, text: str, facts: Mapping[str, Any]) -> Op:
    """Return one line about the runner or the session, with the details that may be shown."""
    shown = [(words, facts[name]) for name, words in RUNNER_DETAILS.items() if facts.get(name) is not None]
    details = [{"label": words, "value": _word(value)} for words, value in shown]
    return _runner(event, category=event.event_type, text=text, details=details)


def provider_row(event: Event, category: str) -> Op:
    """Return one line that says which kind of provider event came, and nothing of its contents."""
    return _runner(event, category=category, text=f"provider event · {category}", details=[])


def _runner(event: Event, *, category: str, text: str, details: list[dict[str, str]]) -> Op:
    row = {
        "id": f"event-{event.number}",
        "turnId": turn_id(event),
        "at": event.at,
        "category": category,
        "text": text,
        "details": details,
    }
    return row_op("runner", row)


def network_guard_text(*, requests: int | str, environment_keys: list[str]) -> str:
    """Return the sentence of the network guard. Source: the clean-room seed, "Real-API block"."""
    keys = ", ".join(environment_keys) or "none"
    return f"Real Paperclip API requests: {requests}. Child PAPERCLIP_* environment keys: {keys}."


def network_guard_row(event: Event) -> Op:
    """Return the record that no real Paperclip was asked: its outcome follows from the facts, not from a claim."""
    facts = event.payload
    requests, keys = number(facts.get("requests")), labels(facts.get("environmentKeys"))
    if facts.get("measured") is False:
        outcome, reason = "not_measured", network_guard_text(requests="not measured", environment_keys=keys)
    elif requests is None:
        outcome, reason = code(facts.get("outcome")), long_text(facts.get("reason"))
    else:
        outcome = SOME_REQUEST if requests or keys else NO_REQUEST
        reason = network_guard_text(requests=requests, environment_keys=keys)
    row = {
        "id": f"network-guard-{event.session_id}",
        "turnId": "turn-0",
        "at": event.at,
        "category": "session",
        "outcome": outcome,
        "reason": reason,
        "stateRevision": number(facts.get("stateRevision")),
        "threadAnchorId": None,
    }
    return row_op("controlPlane", row)


def tool_rows(event: Event) -> list[Op]:
    """Return one row per catalog operation: offered to the agent, or withheld from it. The last exposure wins."""
    facts = event.payload
    offered = [(name, True) for name in labels(facts.get("operationIds"))]
    withheld = [(name, False) for name in labels(facts.get("withheldOperationIds"))]
    return [
        row_op("tools", {"id": name, "turnId": turn_id(event), "at": event.at, "operationId": name, "exposed": exposed})
        for name, exposed in offered + withheld
    ]


def call_row(event: Event, call_id: str, *, outcome: str) -> Op:
    """Return the row of one tool call: what was asked, by field names only, and what came of it."""
    facts = event.payload
    row = {
        "id": call_id,
        "turnId": turn_id(event),
        "at": event.at,
        "operationId": code(facts.get("operationId")),
        "title": label(facts.get("title")),
        "fields": labels(facts.get("fields"), limit=32),
        "dispositionSummary": label(facts.get("dispositionSummary")) or None,
        "outcome": outcome,
        "summary": long_text(facts.get("summary")),
        "beforeRevision": number(facts.get("beforeRevision")),
        "stateRevision": number(facts.get("stateRevision")),
        "threadAnchorId": call_id,
    }
    return row_op("calls", row)


def authorization_row(event: Event, call_id: str, *, allowed: bool, denial: Mapping[str, Any]) -> Op:
    """Return the row of one decision about a call."""
    facts = event.payload
    row = {
        "id": code(facts.get("authorizationId")),
        "turnId": turn_id(event),
        "at": event.at,
        "callId": call_id,
        "operationId": code(facts.get("operationId")),
        "phase": "invocation",
        "allowed": allowed,
        "code": "allowed" if allowed else code(denial.get("code")),
        "reason": "" if allowed else long_text(denial.get("message")),
        "threadAnchorId": call_id,
    }
    return row_op("authorization", row)


def command_row(event: Event, call_id: str, result: Mapping[str, Any]) -> Op:
    """Return the row of one command that the control plane took."""
    kind, disposition = code(result.get("commandKind")), code(result.get("disposition"))
    row = {
        "id": code(result.get("commandId")),
        "turnId": turn_id(event),
        "at": event.at,
        "category": _category(kind, disposition),
        "outcome": disposition,
        "reason": kind,
        "stateRevision": number(result.get("stateRevision")),
        "entityRefs": labels(result.get("entityRefs")),
        "threadAnchorId": call_id,
    }
    return row_op("controlPlane", row)


def _category(kind: str, disposition: str) -> str:
    if disposition == "duplicate":
        return "idempotency"
    return {"open_run": "checkout", "schedule_wake": "wake"}.get(kind, "session")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if flag(value) else "no"
    return str(value) if isinstance(value, int) else long_text(value)
