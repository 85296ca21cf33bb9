"""Codex's notifications to canonical events (PRP v1). Pure: one notification in, drafts out; no state, no I/O.

It knows which facts of an item may be told and how large they may be. It does not know turns: starts and ends of turns,
errors, raw items and tool calls are the session's business. Unknown items become a plain label, unknown notifications
nothing. Withheld on purpose: reasoning text, command output, patches, web queries, user messages (recorded by us) and
dynamic tool calls (the host records richer ones). Source: reference B section 5.8, ARCHITECTURE "The session log".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from capability.redaction import redact_text
from cleanroom.codex import wire
from cleanroom.codex.drafts import LAST, Draft
from cleanroom.codex.names import Names, names_of

Item = dict[str, Any]

MAX_TEXT_CHARS = 32_768  # of one message: six bytes a character at worst keeps a frame below 256 KiB
MAX_DELTA_CHARS = 8_192
MAX_COMMAND_CHARS = 2_000
MAX_LABEL_CHARS = 120
MAX_ENTRIES = 64  # of a plan or a file change
SHELLS = {"sh", "bash", "zsh", "dash"}

STATUS = {"inProgress": "running", "completed": "completed", "failed": "failed", "declined": "declined"}
STEP_STATUS = {"pending": "pending", "inProgress": "in_progress", "completed": "completed"}
UNTOLD = {"userMessage", "dynamicToolCall"}


def translate(notification: wire.Notification, *, workspace: str) -> list[Draft]:
    """Return the events that one notification of our thread stands for, often none.

    No directory of the machine and no id of the provider is told: both get neutral names (`names.py`). A delta carries
    them along, because a name may be cut between two deltas.
    """
    make = _HANDLERS.get(notification.method)
    params = notification.params
    thread_id, turn_id = text_of(params.get("threadId")), text_of(params.get("turnId"))
    return make(params, names_of(workspace=workspace, thread_id=thread_id, turn_id=turn_id)) if make else []


def cut(text: str, limit: int) -> str:
    """Bound a text, saying how much is left out. What is cut is redacted first: half a secret is known by nobody."""
    if len(text) <= limit:
        return text
    safe = redact_text(text)
    return safe if len(safe) <= limit else f"{safe[:limit]}… (+{len(safe) - limit} characters)"


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


# ---------------------------------------------------------------- notifications
def _item_started(params: dict[str, Any], names: Names) -> list[Draft]:
    return _item("item.started", params, names)


def _item_completed(params: dict[str, Any], names: Names) -> list[Draft]:
    item = params.get("item")
    failed = isinstance(item, dict) and item.get("status") in ("failed", "declined")
    return _item("item.failed" if failed else "item.completed", params, names)


def _item(event: str, params: dict[str, Any], names: Names) -> list[Draft]:
    item = params.get("item")
    if not isinstance(item, dict) or item.get("type") in UNTOLD or not item.get("id"):
        return []
    payload = _facts(item, names)
    return [Draft(type=event, payload=payload, turn_id=_id(params, "turnId"), item_id=text_of(item["id"]))]


def _message_delta(params: dict[str, Any], names: Names) -> list[Draft]:
    text = text_of(params.get("delta"))
    pieces = [text[start : start + MAX_DELTA_CHARS] for start in range(0, len(text), MAX_DELTA_CHARS)]
    return [
        Draft(
            type="item.delta",
            payload={"kind": "agent_message", "text": piece},
            turn_id=_id(params, "turnId"),
            item_id=_id(params, "itemId"),
            priority=LAST,
            names=names,
        )
        for piece in pieces
    ]


def _plan(params: dict[str, Any], names: Names) -> list[Draft]:
    entries = [entry for entry in _list(params.get("plan")) if isinstance(entry, dict)]
    steps = [
        {
            "step": cut(names.hide(text_of(entry.get("step"))), MAX_LABEL_CHARS * 4),
            "status": STEP_STATUS.get(text_of(entry.get("status")), "pending"),
        }
        for entry in entries[:MAX_ENTRIES]
    ]
    turn_id = _id(params, "turnId")
    payload = {"kind": "plan", "steps": steps}
    return [Draft(type="item.completed", payload=payload, turn_id=turn_id, item_id=f"plan:{turn_id}")]


def _usage(params: dict[str, Any], names: Names) -> list[Draft]:
    """The totals of the thread; sent after every answer of the model, so the last one of a turn stands."""
    usage = params.get("tokenUsage")
    total = usage.get("total") if isinstance(usage, dict) else None
    if not isinstance(total, dict):
        return []
    counts = ("inputTokens", "cachedInputTokens", "outputTokens", "totalTokens")
    payload: dict[str, Any] = {"kind": "usage"} | {name: _number(total.get(name)) or 0 for name in counts}
    turn_id = _id(params, "turnId")
    return [Draft(type="item.completed", payload=payload, turn_id=turn_id, item_id=f"usage:{turn_id}", priority=LAST)]


_HANDLERS: dict[str, Callable[[dict[str, Any], Names], list[Draft]]] = {
    "item/started": _item_started,
    "item/completed": _item_completed,
    "item/agentMessage/delta": _message_delta,
    "turn/plan/updated": _plan,
    "thread/tokenUsage/updated": _usage,
}


# ---------------------------------------------------------------- items
def _facts(item: Item, names: Names) -> dict[str, Any]:
    describe = _FACTS.get(text_of(item.get("type")), _other)
    return describe(item, names)


def _agent_message(item: Item, names: Names) -> dict[str, Any]:
    text = cut(names.hide(text_of(item.get("text"))), MAX_TEXT_CHARS)
    return {"kind": "agent_message", "text": text, "phase": item.get("phase")}


def _reasoning(item: Item, names: Names) -> dict[str, Any]:
    return {"kind": "reasoning"}


def _command(item: Item, names: Names) -> dict[str, Any]:
    return {
        "kind": "command",
        "command": cut(names.hide(_script(text_of(item.get("command")))), MAX_COMMAND_CHARS),
        "status": STATUS.get(text_of(item.get("status")), "running"),
        "exitCode": _number(item.get("exitCode")),
        "durationMs": _number(item.get("durationMs")),
    }


def _script(command: str) -> str:
    """What the shell was told, without the shell: `/bin/bash -c 'ls'` reads `ls`."""
    try:
        argv = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(argv) == 3 and PurePosixPath(argv[0]).name in SHELLS and argv[1] in ("-c", "-lc")
    return argv[2] if is_shell else command


def _file_change(item: Item, names: Names) -> dict[str, Any]:
    changes = [change for change in _list(item.get("changes")) if isinstance(change, dict)][:MAX_ENTRIES]
    told = [{"path": _path(text_of(change.get("path")), names), "kind": _change(change)} for change in changes]
    return {"kind": "file_change", "changes": told}


def _change(change: Item) -> str:
    kind = change.get("kind")
    return text_of(kind.get("type") if isinstance(kind, dict) else kind) or "update"


def _path(path: str, names: Names) -> str:
    """A path inside the workspace, or the bare name of a file that is elsewhere."""
    pure = PurePosixPath(path)
    inside = pure.is_relative_to(names.workspace)
    return cut(str(pure.relative_to(names.workspace)) if inside else pure.name, MAX_LABEL_CHARS * 2)


def _labelled(kind: str, label: str) -> Callable[[Item, Names], dict[str, Any]]:
    return lambda item, names: {"kind": kind, "label": label}


def _mcp_tool(item: Item, names: Names) -> dict[str, Any]:
    return {"kind": "mcp_tool", "label": cut(names.hide(text_of(item.get("tool"))), MAX_LABEL_CHARS) or "tool"}


def _other(item: Item, names: Names) -> dict[str, Any]:
    label = re.sub(r"[^A-Za-z]", "", text_of(item.get("type")))
    return {"kind": "other", "label": label[:MAX_LABEL_CHARS] or "item"}


_FACTS: dict[str, Callable[[Item, Names], dict[str, Any]]] = {
    "agentMessage": _agent_message,
    "reasoning": _reasoning,
    "commandExecution": _command,
    "fileChange": _file_change,
    "mcpToolCall": _mcp_tool,
    "webSearch": _labelled("web_search", "Web search"),
    "imageView": _labelled("image", "Image viewed"),
    "imageGeneration": _labelled("image", "Image generated"),
    "contextCompaction": _labelled("compaction", "Conversation shortened"),
}


def _id(params: dict[str, Any], name: str) -> str | None:
    return text_of(params.get(name)) or None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
