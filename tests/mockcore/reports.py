"""Events and results as a runner reports them."""

from __future__ import annotations

from typing import Any

SOURCE = "capability-live-runnerd"


def event(number: int, **changed: Any) -> dict[str, Any]:
    """Return the event of that number: PRP form, of the desk's run and its own runner."""
    return {
        "schema": "paperclip.prp.event.v1",
        "schemaVersion": 1,
        "sourceEventId": f"event-{number}",
        "sourceSeq": number,
        "sourceInstanceId": SOURCE,
        "sourceKind": "runner",
        "runId": "run-1",
        "eventType": "item.completed",
        "priority": 1,
        "emittedAt": "2026-08-09T00:00:00.000Z",
        "payload": {"kind": "agent_message", "text": f"piece {number}"},
        **changed,
    }


def native(number: int, **changed: Any) -> dict[str, Any]:
    return event(number, **{"schema": "paperclip.native.event.v1", **changed})


def terminal(number: int, disposition: str = "done", state: str = "succeeded", **changed: Any) -> dict[str, Any]:
    payload = {
        "turnTerminalState": "completed",
        "runTerminalState": state,
        "reportedWorkDisposition": disposition,
    }
    return event(number, **{"eventType": "run.terminal", "payload": payload, **changed})


def result(disposition: str = "done", **changed: Any) -> dict[str, Any]:
    needed: dict[str, Any] = {
        "blocked": {"blocker": {"reasonCode": "access"}},
        "yielded": {"continuation": {"kind": "retry"}},
    }
    base = {"schema": "paperclip.run_result.v1", "disposition": disposition, "summary": "That is it."}
    return {**base, **needed.get(disposition, {}), **changed}
