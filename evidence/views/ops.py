"""One event in, ops out: the table from event types to what changes in the thread view. Pure, and without memory.

Every value that leaves is named here or in `items`, `cards`, `rows` and `activity`; an event of another type, or a
field of another name, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evidence.prp.events import Event, EventType, SourceKind
from evidence.views import activity, rows
from evidence.views.build import Op, head, item_op, turn_id, turn_op
from evidence.views.items import interaction_item, notice, progress_item, record_items, user_message
from evidence.views.text import code, flag, label, long_text, mapping, number, optional_code

AGENT_LABELS = {"codex_app_server": "Real Codex"}  # anything else is a stand-in, and says so
RESTING = frozenset({"idle", "server_shutdown"})  # processes closed on purpose: the next message wakes them
ISSUE_FIELDS = (
    "identifier",
    "title",
    "status",
    "priority",
    "assignee",
    "runState",
    "scenarioId",
    "fixtureProfile",
)


def event_ops(event: Event) -> list[Op]:
    """Return the ops of one event, each named field by field."""
    build = BUILD.get(event.event_type)
    return build(event) if build else []


# ---------------------------------------------------------------- the session and its runner
def _runner_connected(event: Event) -> list[Op]:
    facts = event.payload
    identity = {"runnerAttached": True, "modelLabel": label(facts.get("modelLabel") or facts.get("model"))}
    if "driverKind" in facts:
        identity["agentLabel"] = AGENT_LABELS.get(str(facts["driverKind"]), "Scripted agent")
    if isinstance(facts.get("rehearsal"), bool):
        identity["rehearsal"] = facts["rehearsal"]
    connection = {"state": "connected", "attempt": number(facts.get("attempt")) or 0, "code": None, "message": None}
    return [head(identity=identity, connection=connection), rows.runner_row(event, "Real runnerd connected", facts)]


def _runner_disconnected(event: Event) -> list[Op]:
    facts = event.payload
    resting = facts.get("code") in RESTING
    connection = {
        "state": "connected" if resting else "closed",
        "code": optional_code(facts.get("code")),
        "message": None if resting else long_text(facts.get("message")) or None,
    }
    return [
        head(identity={"runnerAttached": False}, connection=connection),
        rows.runner_row(event, "Runner disconnected", facts),
    ]


def _runner_diagnostic(event: Event) -> list[Op]:
    if event.payload.get("code") == "network_guard":
        return [rows.network_guard_row(event)]
    return [rows.runner_row(event, "Runner diagnostic", event.payload)]


def _session_resuming(event: Event) -> list[Op]:
    attempt = number(event.payload.get("attempt")) or 0
    connection = {"state": "reconnecting", "attempt": attempt, "code": None, "message": None}
    return [head(connection=connection), rows.runner_row(event, "Session resuming", event.payload)]


def _session_said(text: str) -> Callable[[Event], list[Op]]:
    return lambda event: [rows.runner_row(event, text, event.payload)]


def _session_closed(event: Event) -> list[Op]:
    closed = {"closed": True, "code": code(event.payload.get("code")) or "closed"}
    return [
        head(session=closed, identity={"runnerAttached": False}),
        rows.runner_row(event, "Session closed", event.payload),
    ]


def _harness_diagnostic(event: Event) -> list[Op]:
    """Ours is a notice that stays; the driver's is a status line, one per turn, that the next one replaces."""
    facts = event.payload
    row = rows.runner_row(event, "Agent diagnostic", facts)
    if event.envelope["sourceKind"] == SourceKind.CONTROL_PLANE:
        item = notice(
            item_id=event.item_id or f"notice-{event.number}",
            at=event.at,
            glyph="!",
            text=facts.get("message"),
            notice_code=facts.get("code"),
        )
        return [item_op(event, item), row]
    line = progress_item(
        item_id=f"diagnostic-{turn_id(event)}",
        at=event.at,
        activity="thinking",
        status="complete",
        title="Codex reports",
        summary=label(facts.get("message")) or "Codex reported a problem",
        withheld=None,
    )
    return [item_op(event, line), row]


# ---------------------------------------------------------------- turns
def _turn_submitted(event: Event) -> list[Op]:
    facts = event.payload
    ops = [
        turn_op(event, ordinal=number(facts.get("ordinal")) or 0, state="submitted", at=event.at),
    ]
    if not flag(facts.get("hidden")):
        text = facts.get("text")
        body = text if isinstance(text, str) else ""
        item_id = code(facts.get("messageId")) or f"message-{event.number}"
        item = user_message(
            item_id=item_id, at=event.at, body="", redacted=facts.get("redacted"), recorded=facts.get("recorded")
        )
        ops += activity.whole_text(event, item, body)
    return ops


def _turn_started(event: Event) -> list[Op]:
    return [turn_op(event, state="running"), rows.provider_row(event, "turn_started")]


def _turn_ended(state: str) -> Callable[[Event], list[Op]]:
    def build(event: Event) -> list[Op]:
        facts = event.payload
        change: dict[str, Any] = {"state": state, "endedAt": event.at, "durationMs": number(facts.get("durationMs"))}
        if state == "interrupted":
            change["stoppedByUser"] = flag(facts.get("byUser"))
        if state == "failed":
            change["error"] = turn_error(event)
        return [turn_op(event, **change), rows.provider_row(event, f"turn_{state}")]

    return build


def turn_error(event: Event) -> dict[str, str]:
    """Return why a turn failed, as a code and a sentence."""
    facts = event.payload
    message = long_text(facts.get("message")) or "The turn failed."
    return {"code": code(facts.get("code")) or "provider_error", "message": message}


# ---------------------------------------------------------------- cards and the issue
def _card(event: Event) -> list[Op]:
    """The card stays where it was asked; what its answer made stands in the turn of the event."""
    raw = mapping(event.payload.get("card"))
    ops = [item_op(event, interaction_item(raw, at=event.at, fallback_id=f"card-{event.number}"))] if raw else []
    records = record_items(event.payload.get("records"), at=event.at, made_by=f"answer-{event.number}")
    return [*ops, *(item_op(event, item) for item in records), *_issue(event)]


def _issue(event: Event) -> list[Op]:
    raw = mapping(event.payload.get("issue"))
    moved = {name: label(raw[name]) for name in ISSUE_FIELDS if isinstance(raw.get(name), str)}
    return [head(issue=moved)] if moved else []


BUILD: dict[str, Callable[[Event], list[Op]]] = {
    EventType.RUNNER_CONNECTED: _runner_connected,
    EventType.RUNNER_RECONNECTED: _runner_connected,
    EventType.RUNNER_DISCONNECTED: _runner_disconnected,
    EventType.RUNNER_DIAGNOSTIC: _runner_diagnostic,
    EventType.SESSION_STARTED: _session_said("Session started"),
    EventType.SESSION_RESUMING: _session_resuming,
    EventType.SESSION_RESUMED: _session_said("Session resumed"),
    EventType.SESSION_FAILED: _session_said("Session failed"),
    EventType.SESSION_CLOSED: _session_closed,
    EventType.HARNESS_DIAGNOSTIC: _harness_diagnostic,
    EventType.HARNESS_EXITED: _session_said("Agent exited"),
    EventType.TURN_SUBMITTED: _turn_submitted,
    EventType.TURN_STARTED: _turn_started,
    EventType.TURN_COMPLETED: _turn_ended("completed"),
    EventType.TURN_INTERRUPTED: _turn_ended("interrupted"),
    EventType.TURN_CANCELLED: _turn_ended("interrupted"),
    EventType.TURN_FAILED: _turn_ended("failed"),
    EventType.ITEM_STARTED: activity.item_ops,
    EventType.ITEM_DELTA: activity.delta_ops,
    EventType.ITEM_COMPLETED: activity.item_ops,
    EventType.ITEM_FAILED: activity.item_ops,
    EventType.INTERACTION_REQUEST_MATERIALIZED: _card,
    EventType.INTERACTION_RESPONSE_RESOLVED: _card,
    EventType.ISSUE_STATUS_DECISION_APPLIED: _issue,
}
