"""Tool calls of the model on their way to the host, and its answers on their way back.

Two kinds. An exposed tool is a request of Codex, answered once. A name that was withheld from the model is answered by
Codex itself (`unsupported call`); such a call is seen among the raw items, goes to the host all the same, and its typed
denial is steered into the turn. Codex makes its next request to the model meanwhile, so the denial reaches the model
with that request or the one after. If the whole turn ends first, the denial is put into the thread for the next turn.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any

from cleanroom.codex import wire
from cleanroom.codex.connection import CallRefused, Connection
from cleanroom.codex.events import EventQueue
from cleanroom.harness import HarnessUnavailableError, ToolAnswer, ToolCall, ToolHandler

logger = logging.getLogger(__name__)

FOREIGN = ToolAnswer(success=False, text="This call does not belong to the active turn; nothing was done.")
BROKEN = ToolAnswer(success=False, text="The call failed inside the host; read before you try again.")


class ToolCalls:
    """Hands calls of one thread to one handler. Knows neither the catalog nor the dispatcher."""

    def __init__(
        self,
        *,
        connection: Connection,
        events: EventQueue,
        handler: ToolHandler,
        exposed: Iterable[str],
        withheld: frozenset[str],
        timeout_s: float,
    ) -> None:
        self._connection = connection
        self._events = events
        self._handler = handler
        self._exposed = frozenset(exposed)
        self._withheld = withheld
        self._timeout_s = timeout_s
        self._seen: set[str] = set()  # call ids of withheld calls: the raw item and the record may both show one

    async def answer(self, request: wire.Request, *, is_current: bool) -> None:
        """Serve `item/tool/call`. A late or foreign call, or one without an id, is answered and not carried out."""
        call = self._call_of(request) if is_current else None
        answer = await self._handle(call) if call else FOREIGN
        items = [{"type": "inputText", "text": answer.text}]
        await self._connection.send(
            wire.result(id=request.id, value={"contentItems": items, "success": answer.success})
        )

    def _call_of(self, request: wire.Request) -> ToolCall | None:
        params = request.params
        call_id, name, turn_id = params.get("callId"), params.get("tool"), params.get("turnId")
        if not (isinstance(call_id, str) and call_id and isinstance(name, str) and isinstance(turn_id, str)):
            return None
        arguments, exposed = params.get("arguments"), name in self._exposed
        return ToolCall(turn_id=turn_id, call_id=call_id, operation_id=name, arguments=arguments, exposed=exposed)

    def is_new_withheld(self, item: dict[str, Any]) -> bool:
        """Whether this raw item is a call to a withheld name that was not handled yet; remembers that it is now."""
        name, call_id = item.get("name"), item.get("call_id")
        if item.get("type") != "function_call" or name not in self._withheld or not isinstance(call_id, str):
            return False
        is_new = call_id not in self._seen
        self._seen.add(call_id)
        return is_new

    async def deny(self, item: dict[str, Any], *, thread_id: str, turn_id: str) -> None:
        """Let the host record a withheld call, and hand its denial to the model."""
        call = ToolCall(
            turn_id=turn_id,
            call_id=item["call_id"],
            operation_id=item["name"],
            arguments=_arguments(item.get("arguments")),
            exposed=False,
        )
        answer = await self._handle(call)
        text = f"Answer of the control plane to your call of {call.operation_id} ({call.call_id}):\n{answer.text}"
        try:
            await self._hand_over(text, thread_id=thread_id, turn_id=turn_id)
        except (CallRefused, HarnessUnavailableError):
            logger.warning("a denial could not be handed to the agent; it is recorded all the same")

    async def _hand_over(self, text: str, *, thread_id: str, turn_id: str) -> None:
        steer = {"threadId": thread_id, "expectedTurnId": turn_id, "input": [{"type": "text", "text": text}]}
        try:
            await self._connection.call(method="turn/steer", params=steer, timeout_s=self._timeout_s)
        except CallRefused:
            content = [{"type": "input_text", "text": text}]
            items = [{"type": "message", "role": "user", "content": content}]
            await self._connection.call(
                method="thread/inject_items",
                params={"threadId": thread_id, "items": items},
                timeout_s=self._timeout_s,
            )

    async def _handle(self, call: ToolCall) -> ToolAnswer:
        await self._events.settled()
        try:
            return await self._handler(call)
        except Exception:
            logger.exception("the handler of tool call %s failed", call.operation_id)
            return BROKEN


def _arguments(text: Any) -> Any:
    """The arguments as the model wrote them: parsed when they are JSON, else the text itself."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text
