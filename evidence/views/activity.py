"""What the agent does between messages: prose, thinking, plans, commands, file changes. Events in, ops out.

Command output and chain of thought are not in the events, so they cannot be here. Source: reference B section 2.7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evidence.prp.events import Event, EventType
from evidence.views import rows, toolcalls
from evidence.views.build import Op, head, item_op, text_op, turn_id
from evidence.views.fold import stop_id
from evidence.views.items import Item, agent_message, progress_item
from evidence.views.text import CHUNK_CHARS, LABEL_CHARS, chunks, clamp, label, long_text, number, objects

DELTA_CHARS = CHUNK_CHARS  # a longer piece is not streamed: it would come in parts, and only whole items may do so
THOUGHTS_WITHHELD = "Chain of thought is withheld."
OUTPUT_WITHHELD = "The agent sees the output; it is not stored here."
STATUS = {EventType.ITEM_STARTED: "running", EventType.ITEM_COMPLETED: "complete", EventType.ITEM_FAILED: "failed"}
BAD_STATUS = frozenset({"failed", "declined"})
PLAIN_TOOLS = {
    "mcp_tool": ("Codex tool", "mcp_tool"),
    "web_search": ("Web search", "web_search"),
    "image": ("Image", "image"),
    "compaction": ("Conversation compacted", "compaction"),
}
USAGE_FIELDS = ("inputTokens", "cachedInputTokens", "outputTokens", "totalTokens")
STOPS = {"queued": "Stop requested; Codex has not started yet", "acknowledged": "Stop requested; waiting for Codex"}


def item_ops(event: Event) -> list[Op]:
    """Return the ops of an item that started, completed or failed."""
    kind = event.payload.get("kind")
    build = BUILD.get(kind, _other) if isinstance(kind, str) else _other
    return build(event)


def delta_ops(event: Event) -> list[Op]:
    """Return the op that appends streamed prose."""
    text = event.payload.get("text")
    if event.payload.get("kind") != "agent_message":
        return []
    if event.item_id is None or not isinstance(text, str) or not 0 < len(text) <= DELTA_CHARS:
        return []
    return [text_op(event, event.item_id, text)]


def whole_text(event: Event, item: Item, body: str) -> list[Op]:
    """Return an item with its body, whatever its length: the first piece replaces, the others append."""
    first, *others = chunks(body)
    return [item_op(event, {**item, "body": first}), *(text_op(event, item["id"], piece) for piece in others)]


def _id(event: Event) -> str:
    return event.item_id or f"item-{event.number}"


def _status(event: Event) -> str:
    if event.payload.get("status") in BAD_STATUS:
        return "failed"
    return STATUS[EventType(event.event_type)]


def _category(event: Event, kind: str) -> str:
    return f"{kind}_{event.event_type.rpartition('.')[2]}"


def _agent_message(event: Event) -> list[Op]:
    text = event.payload.get("text")
    streaming = event.event_type == EventType.ITEM_STARTED
    item = agent_message(item_id=_id(event), at=event.at, body="", streaming=streaming)
    body = text if isinstance(text, str) else ""
    return [*whole_text(event, item, body), rows.provider_row(event, _category(event, "assistant"))]


def _progress(event: Event, category: str, **item: Any) -> list[Op]:
    line = progress_item(item_id=_id(event), at=event.at, status=_status(event), **item)
    return [item_op(event, line), rows.provider_row(event, _category(event, category))]


def _reasoning(event: Event) -> list[Op]:
    summary = "Thinking" if _status(event) == "running" else "Thought about the next step"
    return _progress(
        event, "reasoning", activity="thinking", title="Thinking", summary=summary, withheld=THOUGHTS_WITHHELD
    )


def _plan(event: Event) -> list[Op]:
    steps = [
        {"label": label(step.get("step")), "value": label(step.get("status"))}
        for step in objects(event.payload.get("steps"))
    ]
    doing = next((step["label"] for step in steps if step["value"] in {"in_progress", "inProgress"}), "")
    summary = doing or f"{len(steps)} step{'' if len(steps) == 1 else 's'}"
    return _progress(event, "plan", activity="planning", title="Planning", summary=summary, details=steps)


def _command(event: Event) -> list[Op]:
    facts = event.payload
    preview = long_text(facts.get("command"))
    details = [{"label": "Command", "value": preview}] if preview else []
    exit_code, duration = number(facts.get("exitCode")), number(facts.get("durationMs"))
    if exit_code is not None:
        details.append({"label": "Exit code", "value": str(exit_code)})
    if duration is not None:
        details.append({"label": "Duration", "value": f"{duration} ms"})
    return _progress(
        event,
        "command",
        activity="command",
        title="Shell command",
        summary=clamp(" ".join(preview.split()), LABEL_CHARS) or "Running a command",
        details=details,
        withheld=OUTPUT_WITHHELD,
    )


def _file_change(event: Event) -> list[Op]:
    changes = [
        {"label": label(change.get("path")), "value": label(change.get("kind"))}
        for change in objects(event.payload.get("changes"))
    ]
    count = f"{len(changes)} file{'' if len(changes) == 1 else 's'}"
    summary = changes[0]["label"] if len(changes) == 1 else count
    return _progress(
        event, "file_change", activity="file_change", title="File change", summary=summary, details=changes
    )


def _plain_tool(event: Event) -> list[Op]:
    title, category = PLAIN_TOOLS[event.payload["kind"]]
    summary = label(event.payload.get("label")) or title
    return _progress(event, category, activity="tool", title=title, summary=summary)


def _other(event: Event) -> list[Op]:
    summary = label(event.payload.get("label")) or "Codex is working"
    return _progress(event, "other", activity="tool", title="Codex", summary=summary)


def _usage(event: Event) -> list[Op]:
    counted: Mapping[str, int | None] = {name: number(event.payload.get(name)) for name in USAGE_FIELDS}
    return [head(usage={name: value for name, value in counted.items() if value is not None})]


def _interrupt(event: Event) -> list[Op]:
    """One line per turn, so that the acknowledgement replaces the request. The fold says when it is done."""
    facts = event.payload
    status = facts.get("status")
    summary = STOPS.get(status, STOPS["acknowledged"]) if isinstance(status, str) else STOPS["acknowledged"]
    line = progress_item(
        item_id=stop_id(turn_id(event)),
        at=event.at,
        activity="thinking",
        status="complete",
        title="Stop",
        summary=summary,
    )
    return [item_op(event, line), rows.runner_row(event, "Stop requested", facts)]


BUILD: dict[str, Callable[[Event], list[Op]]] = {
    "agent_message": _agent_message,
    "reasoning": _reasoning,
    "plan": _plan,
    "command": _command,
    "file_change": _file_change,
    **dict.fromkeys(PLAIN_TOOLS, _plain_tool),
    "usage": _usage,
    "interrupt_acknowledgement": _interrupt,
    "tool_exposure": rows.tool_rows,
    "semantic_tool": toolcalls.call_ops,
}
