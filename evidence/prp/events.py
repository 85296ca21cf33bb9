"""The event envelope `paperclip.prp.event.v1` and its 65 type names. Source: reference B section 6.1."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from mockcore.text import canonical as canonical

SCHEMA = "paperclip.prp.event.v1"
SCHEMA_VERSION = 1
ID_CHARS = 160  # bound of every id of an envelope
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class EventType(StrEnum):
    """Every name an event may have. An unknown name is refused when it is appended."""

    RUNNER_CONNECTED = "runner.connected"
    RUNNER_RECONNECTED = "runner.reconnected"
    RUNNER_DISCONNECTED = "runner.disconnected"
    RUNNER_DRAINING = "runner.draining"
    RUNNER_DIAGNOSTIC = "runner.diagnostic"
    RUNTIME_PHASE_CHANGED = "runtime.phase.changed"
    SANDBOX_METRIC = "sandbox.metric"
    WORKSPACE_READY = "workspace.ready"
    HARNESS_STARTING = "harness.starting"
    HARNESS_READY = "harness.ready"
    HARNESS_EXITED = "harness.exited"
    HARNESS_DIAGNOSTIC = "harness.diagnostic"
    SESSION_STARTING = "session.starting"
    SESSION_STARTED = "session.started"
    SESSION_RESUMING = "session.resuming"
    SESSION_RESUMED = "session.resumed"
    SESSION_RECONCILED = "session.reconciled"
    SESSION_CLOSED = "session.closed"
    SESSION_FAILED = "session.failed"
    TURN_SUBMITTED = "turn.submitted"
    TURN_ACCEPTED = "turn.accepted"
    TURN_STARTED = "turn.started"
    TURN_COMPLETED = "turn.completed"
    TURN_FAILED = "turn.failed"
    TURN_INTERRUPTED = "turn.interrupted"
    TURN_CANCELLED = "turn.cancelled"
    ITEM_STARTED = "item.started"
    ITEM_DELTA = "item.delta"
    ITEM_COMPLETED = "item.completed"
    ITEM_FAILED = "item.failed"
    MCP_APP_DISCOVERED = "mcp_app.discovered"
    MCP_APP_RESOURCE_RESOLVED = "mcp_app.resource.resolved"
    MCP_APP_INITIALIZING = "mcp_app.initializing"
    MCP_APP_READY = "mcp_app.ready"
    MCP_APP_TOOL_INPUT = "mcp_app.tool_input"
    MCP_APP_TOOL_RESULT = "mcp_app.tool_result"
    MCP_APP_ACTION_REQUESTED = "mcp_app.action.requested"
    MCP_APP_ACTION_RESOLVED = "mcp_app.action.resolved"
    MCP_APP_HOST_CONTEXT_CHANGED = "mcp_app.host_context.changed"
    MCP_APP_FAILED = "mcp_app.failed"
    MCP_APP_TEARDOWN = "mcp_app.teardown"
    RUNTIME_REQUEST_CREATED = "runtime_request.created"
    RUNTIME_REQUEST_RESOLVED = "runtime_request.resolved"
    RUNTIME_REQUEST_EXPIRED = "runtime_request.expired"
    RUNTIME_REQUEST_CANCELLED = "runtime_request.cancelled"
    INTERACTION_REQUEST_PROPOSED = "interaction.request.proposed"
    INTERACTION_REQUEST_MATERIALIZED = "interaction.request.materialized"
    INTERACTION_REQUEST_REJECTED = "interaction.request.rejected"
    INTERACTION_RESPONSE_PROGRESSED = "interaction.response.progressed"
    INTERACTION_RESPONSE_RESOLVED = "interaction.response.resolved"
    INTERACTION_RESPONSE_DELIVERED = "interaction.response.delivered"
    RUN_RESULT_PROPOSED = "run.result.proposed"
    RUN_RESULT_ACCEPTED = "run.result.accepted"
    RUN_RESULT_REJECTED = "run.result.rejected"
    ATTENTION_REQUEST_PROPOSED = "attention.request.proposed"
    ATTENTION_REQUEST_ROUTED = "attention.request.routed"
    ATTENTION_REQUEST_RESOLVED = "attention.request.resolved"
    ATTENTION_REQUEST_EXPIRED = "attention.request.expired"
    ATTENTION_REQUEST_SUPERSEDED = "attention.request.superseded"
    WORK_ASSESSMENT_RECORDED = "work.assessment.recorded"
    ISSUE_STATUS_DECISION_RECORDED = "issue.status.decision.recorded"
    ISSUE_STATUS_DECISION_APPLIED = "issue.status.decision.applied"
    ISSUE_STATUS_DECISION_REJECTED = "issue.status.decision.rejected"
    ISSUE_STATUS_DECISION_SUPERSEDED = "issue.status.decision.superseded"
    RUN_TERMINAL = "run.terminal"


class SourceKind(StrEnum):
    RUNNER = "runner"
    CONTROL_PLANE = "control_plane"


TURN_TERMINALS = frozenset(
    {EventType.TURN_COMPLETED, EventType.TURN_INTERRUPTED, EventType.TURN_CANCELLED, EventType.TURN_FAILED}
)


@dataclass(frozen=True, kw_only=True)
class Event:
    """One stored event. `body` is the canonical JSON text of the whole envelope, and the truth."""

    session_id: str
    number: int
    event_type: str
    turn_id: str | None
    item_id: str | None
    body: str

    @cached_property
    def envelope(self) -> dict[str, Any]:
        """Return the envelope, decoded once; never change it."""
        decoded: dict[str, Any] = json.loads(self.body)
        return decoded

    @property
    def payload(self) -> dict[str, Any]:
        return self.envelope["payload"]  # type: ignore[no-any-return]

    @property
    def at(self) -> str:
        """When it was emitted, as the envelope spells it: UTC with milliseconds."""
        return str(self.envelope["emittedAt"])


def clean(value: Any) -> Any:
    """Return `value` with lone surrogates replaced: they fit in no UTF-8 answer. NUL stays, escaped by `canonical`."""
    if isinstance(value, str):
        return LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {str(clean(key)): clean(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [clean(entry) for entry in value]
    return value


def timestamp(moment: datetime) -> str:
    """Return an aware datetime as UTC with milliseconds: `2026-01-02T03:04:05.678Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def envelope(
    *,
    event_type: EventType,
    source_kind: SourceKind,
    source_instance_id: str,
    source_seq: int,
    run_id: str,
    session_id: str,
    emitted_at: datetime,
    payload: Mapping[str, Any],
    priority: int = 1,
    turn_id: str | None = None,
    item_id: str | None = None,
) -> dict[str, Any]:
    """Return one envelope. Raises `ValueError` when an id or a number is out of the bounds of the schema."""
    if source_seq < 1 or priority not in (0, 1, 2):
        raise ValueError("sourceSeq starts at 1 and priority is 0, 1 or 2")
    optional = {"turnId": turn_id, "itemId": item_id, "normalizedSessionId": session_id}
    ids = {
        "sourceInstanceId": source_instance_id,
        "runId": run_id,
        **{k: v for k, v in optional.items() if v is not None},
    }
    event_id = f"{source_instance_id}:{run_id}:{source_seq}"
    for name, given in {**ids, "sourceEventId": event_id}.items():
        if not 1 <= len(given) <= ID_CHARS:
            raise ValueError(f"{name} must have 1 to {ID_CHARS} characters")
    return {
        "schema": SCHEMA,
        "sourceEventId": event_id,
        "sourceSeq": source_seq,
        "sourceKind": source_kind.value,
        "eventType": event_type.value,
        "schemaVersion": SCHEMA_VERSION,
        "priority": priority,
        "emittedAt": timestamp(emitted_at),
        "payload": payload,
        **ids,
    }
