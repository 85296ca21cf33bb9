"""What an agent in memory may be told to do in a turn."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.cleanroom.support.memory_driver import MemoryAgent, Script

STATUS = {"idempotencyKey": "status-1", "body": "All is well."}
QUESTION = {
    "idempotencyKey": "question-1",
    "interactionKind": "confirmation",
    "title": "Go on?",
    "prompt": "May I go on?",
    "continuationPolicy": "none",
}
APPROVAL = {"idempotencyKey": "approval-1", "approvalType": "spend", "payload": {"amount": "12 EUR"}}


async def endless(agent: MemoryAgent, message: str) -> None:
    """Work until somebody stops it."""
    await asyncio.Event().wait()


def calls(operation_id: str, arguments: Any, *, exposed: bool = True, turn_id: str = "") -> Script:
    """Return a script that makes one tool call and completes."""

    async def script(agent: MemoryAgent, message: str) -> None:
        await agent.call(operation_id, arguments, exposed=exposed, turn_id=turn_id)

    return script
