"""What an agent says of turns and items, under our own names and redacted, so that no provider id is stored. No I/O."""

from __future__ import annotations

from capability.redaction import StreamRedactor, redact_text
from cleanroom.harness import HarnessEvent
from evidence.record import Draft


class Speech:
    """The names of one session, and the text of its messages while it streams."""

    def __init__(self) -> None:
        self._turns: dict[str, str] = {}  # provider turn id -> ours; kept for items that come after the end
        self._items: dict[str, str] = {}
        self._streams: dict[str, StreamRedactor] = {}

    def name_turn(self, provider_id: str, alias: str) -> None:
        self._turns[provider_id] = alias

    def end_turn(self) -> None:
        """Forget what was being streamed."""
        self._streams.clear()

    def turn_of(self, event: HarnessEvent, *, current: str | None) -> str | None:
        """Return our name of the event's turn; `current` is the turn in hand, which an event without one belongs to."""
        return self._turns.get(event.turn_id) if event.turn_id else current

    def item(self, event: HarnessEvent, *, current: str | None) -> Draft | None:
        """Return an item's event as it is recorded; None when a piece of text has nothing yet that may be shown."""
        turn = self.turn_of(event, current=current)
        item = self._item_of(event, turn)
        payload = dict(event.payload)
        if event.type == "item.delta":
            stream = self._streams.setdefault(item or "", StreamRedactor())
            payload["text"] = stream.feed(payload["text"])
            if not payload["text"]:
                return None
        elif payload.get("kind") == "agent_message" and event.type != "item.started":
            self._streams.pop(item or "", None)
            payload["text"] = redact_text(payload.get("text", ""))
        return Draft(type=event.type, payload=payload, turn_id=turn, item_id=item, source_kind="runner")

    def _item_of(self, event: HarnessEvent, turn: str | None) -> str | None:
        if event.item_id is None:
            return None
        if event.item_id not in self._items:
            owner = (turn or "turn-0").removeprefix("turn-")
            self._items[event.item_id] = f"item-{owner}-{len(self._items) + 1}"
        return self._items[event.item_id]
