"""What Codex may ask besides tool calls, and the answer it gets at once: never more than nothing. Pure.

A clean room grants no approvals, so nobody is waiting for a person; a request left open would hold the turn for ever.
Source: wire README section 6.
"""

from __future__ import annotations

from typing import Any

from cleanroom.codex import wire

DECLINE = {"decision": "decline"}
OLD_DENY = {"decision": "denied"}  # the two methods of the first protocol have words of their own
EMPTY_GRANT: dict[str, Any] = {"permissions": {}, "scope": "turn"}
NO_ANSWERS: dict[str, Any] = {"answers": {}}
NO_CONTENT = {"action": "decline", "content": None, "_meta": None}

REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "item/commandExecution/requestApproval": ("approval of a command", DECLINE),
    "item/fileChange/requestApproval": ("approval of a file change", DECLINE),
    "execCommandApproval": ("approval of a command", OLD_DENY),
    "applyPatchApproval": ("approval of a file change", OLD_DENY),
    "item/permissions/requestApproval": ("further permissions", EMPTY_GRANT),
    "item/tool/requestUserInput": ("an answer from a person", NO_ANSWERS),
    "tool/requestUserInput": ("an answer from a person", NO_ANSWERS),
    "mcpServer/elicitation/request": ("an answer for a tool server", NO_CONTENT),
}
METHOD_NOT_FOUND = -32601


def refuse(request: wire.Request) -> tuple[bytes, str]:
    """Return the line that refuses this request, and a sentence about it that may be shown."""
    known = REFUSALS.get(request.method)
    if known is None:
        line = wire.error(id=request.id, code=METHOD_NOT_FOUND, message="not supported by this client")
        return line, "The agent asked for something that this room does not support; it was refused."
    asked_for, answer = known
    return wire.result(id=request.id, value=answer), f"The agent asked for {asked_for}; this room refuses that."
