"""Which items of a thread are open, so that a turn never ends with one left open. Pure state, no I/O.

Codex sends no `item/completed` for what was open at an interrupt, nor for a message that a stream retry cut. It does
send some after the turn: those are passed on with their old turn. Source: wire README rules 5 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from capability.redaction import redact_text
from cleanroom.codex.drafts import Draft
from cleanroom.codex.names import NO_NAMES, Names
from cleanroom.codex.translate import MAX_TEXT_CHARS

MESSAGE = "agent_message"
KEPT_BEYOND_CHARS = 1024  # of a message that is too long: enough to know a secret that its bound cuts


@dataclass
class _Open:
    draft: Draft
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    waiting: str = ""  # the end of what was streamed, where a name may have begun that is not to be told
    names: Names = NO_NAMES


class OpenItems:
    """Sees every item draft in order, and completes what it knows."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}

    def see(self, draft: Draft) -> list[Draft]:
        """Return what to emit for this draft: itself, preceded by a start that Codex left out, or nothing."""
        if draft.item_id is None:
            return [draft]
        if draft.type == "item.started":
            self._open.setdefault(draft.item_id, _Open(draft))
            return [draft]
        if draft.type == "item.delta":
            return self._see_delta(draft, draft.item_id)
        self._open.pop(draft.item_id, None)
        return [draft]

    def _see_delta(self, draft: Draft, item_id: str) -> list[Draft]:
        emit: list[Draft] = []
        known = self._open.get(item_id)
        if known is None:
            payload = {"kind": MESSAGE, "text": "", "phase": None}
            started = replace(draft, type="item.started", payload=payload, priority=1)
            known = self._open[item_id] = _Open(started)
            emit.append(started)
        known.names = draft.names
        text: str = draft.payload["text"]
        room = MAX_TEXT_CHARS - known.length
        if room > -KEPT_BEYOND_CHARS:
            known.pieces.append(text)
            known.length += len(text)
        if room > 0:
            told, known.waiting = draft.names.split(known.waiting + text[:room])
            emit += [replace(draft, payload=draft.payload | {"text": told})] if told else []
        return emit

    def close_turn(self, *, turn_id: str | None, status: str) -> list[Draft]:
        """Close every item of the turn that ended with `status` (of any turn when it is None)."""
        found = [item for item in self._open.values() if turn_id is None or item.draft.turn_id == turn_id]
        return [self._close(item, status) for item in found]

    def cut_messages(self, *, turn_id: str | None) -> list[Draft]:
        """Close the messages that a stream retry cut; the repeated answer comes as a new item."""
        found = [item for item in self._open.values() if item.draft.payload["kind"] == MESSAGE]
        return [self._close(item, "failed") for item in found if item.draft.turn_id == turn_id]

    def _close(self, item: _Open, status: str) -> Draft:
        assert item.draft.item_id is not None
        del self._open[item.draft.item_id]
        payload: dict[str, Any] = dict(item.draft.payload)
        kind = payload["kind"]
        done = status == "completed" or kind == "reasoning" or (kind == MESSAGE and status == "interrupted")
        if kind == MESSAGE:
            payload["text"] = _bounded(item.names.hide("".join(item.pieces))) or payload["text"]
        elif kind == "command":
            payload["status"] = "background" if status == "completed" else "interrupted"
        return replace(item.draft, type="item.completed" if done else "item.failed", payload=payload)


def _bounded(text: str) -> str:
    """Return the text as far as it was streamed; one that is cut is redacted first."""
    return text if len(text) <= MAX_TEXT_CHARS else redact_text(text)[:MAX_TEXT_CHARS]
