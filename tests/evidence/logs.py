"""What the tests of this house share: events without a database, a plausible turn, and views as bytes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evidence.prp.events import Event, EventType, SourceKind, canonical, clean, envelope
from evidence.record import Draft
from evidence.views.fold import apply_ops, copy_view, empty_view
from evidence.views.frames import Frame

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_serial = itertools.count(1)


def new_session_id() -> str:
    return f"session-{next(_serial)}"


def events_of(drafts: Iterable[Draft], *, session_id: str = "session-1") -> list[Event]:
    """Return drafts as the record would store them, numbered from 1."""
    return [_event(draft, number, session_id) for number, draft in enumerate(drafts, start=1)]


def _event(draft: Draft, number: int, session_id: str) -> Event:
    body = envelope(
        event_type=EventType(draft.type),
        source_kind=SourceKind(draft.source_kind),
        source_instance_id="source-1",
        source_seq=number,
        run_id="run-1",
        session_id=session_id,
        emitted_at=START + timedelta(seconds=number),
        payload=clean(draft.payload),
        turn_id=draft.turn_id,
        item_id=draft.item_id,
    )
    return Event(
        session_id=session_id,
        number=number,
        event_type=draft.type,
        turn_id=draft.turn_id,
        item_id=draft.item_id,
        body=canonical(body),
    )


def runner(event_type: str, turn_id: str | None = None, item_id: str | None = None, /, **payload: Any) -> Draft:
    return Draft(event_type, payload, turn_id=turn_id, item_id=item_id, source_kind="runner")


def ours(event_type: str, turn_id: str | None = None, item_id: str | None = None, /, **payload: Any) -> Draft:
    return Draft(event_type, payload, turn_id=turn_id, item_id=item_id)


def submitted(turn: int, text: str = "Hello", **facts: Any) -> Draft:
    payload = {"ordinal": turn, "messageId": f"message-{turn}", "text": text, "redacted": False, "hidden": False}
    return ours("turn.submitted", f"turn-{turn}", **{**payload, **facts})


def prose(turn: int, item: str, pieces: Sequence[str]) -> list[Draft]:
    """Return a streamed agent message, from its start to its whole text."""
    turn_id = f"turn-{turn}"
    return [
        runner("item.started", turn_id, item, kind="agent_message"),
        *(runner("item.delta", turn_id, item, kind="agent_message", text=piece) for piece in pieces),
        runner("item.completed", turn_id, item, kind="agent_message", text="".join(pieces)),
    ]


def tool_call(turn: int, call: int, **outcome: Any) -> list[Draft]:
    """Return one allowed call that left a durable comment."""
    turn_id, call_id = f"turn-{turn}", f"call-{call}"
    facts = {
        "kind": "semantic_tool",
        "callId": call_id,
        "operationId": "report_progress",
        "title": "Report progress",
        "fields": ["body"],
    }
    done = {
        "ok": True,
        "summary": f"state {call} → {call + 1}",
        "beforeRevision": call,
        "stateRevision": call + 1,
        "authorizationId": f"semantic-auth-{call:06}",
        "result": {
            "commandId": f"command-{call:04}",
            "commandKind": "report_progress",
            "disposition": "applied",
            "stateRevision": call + 1,
            "entityRefs": [f"comment:comment-{call:04}"],
        },
        "records": [
            {
                "id": f"{call_id}:comment",
                "kind": "durable_comment",
                "author": "Mock Agent",
                "body": "Started.",
                "operationId": "report_progress",
                "evidenceRef": {"section": "calls", "recordId": call_id},
            }
        ],
    }
    return [
        ours("item.started", turn_id, call_id, **facts),
        ours("item.completed", turn_id, call_id, **{**facts, **done, **outcome}),
    ]


def whole_turn(turn: int) -> list[Draft]:
    """Return everything of one ordinary turn."""
    turn_id = f"turn-{turn}"
    return [
        submitted(turn),
        runner("turn.started", turn_id),
        runner("item.started", turn_id, f"item-{turn}-1", kind="reasoning"),
        runner("item.completed", turn_id, f"item-{turn}-1", kind="reasoning"),
        *tool_call(turn, turn),
        *prose(turn, f"item-{turn}-2", ["Hello ", "wide ", "world"]),
        runner("item.completed", turn_id, kind="usage", totalTokens=turn * 10),
        runner("turn.completed", turn_id, durationMs=1200),
    ]


def blank(session_id: str = "session-1") -> dict[str, Any]:
    return empty_view(session_id=session_id, identity={}, issue={})


def fold_frames(view: dict[str, Any], frames: Iterable[Frame]) -> dict[str, Any]:
    """Return what a browser that holds `view` sees after `frames`."""
    view = copy_view(view)
    for frame in frames:
        apply_ops(view, json.loads(frame.text).get("ops", []))
    return view


def as_bytes(view: dict[str, Any]) -> bytes:
    return canonical(view).encode()


def items_of(view: dict[str, Any], turn_id: str = "turn-1") -> list[dict[str, Any]]:
    return next(turn["items"] for turn in view["turns"] if turn["id"] == turn_id)
