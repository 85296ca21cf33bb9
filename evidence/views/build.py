"""The five ops as functions. What an op does to a view is in `fold`."""

from __future__ import annotations

from typing import Any

from evidence.prp.events import Event

Op = dict[str, Any]
NO_TURN = "turn-0"  # where facts outside any turn stand


def turn_id(event: Event) -> str:
    return event.turn_id or NO_TURN


def head(**changes: dict[str, Any]) -> Op:
    return {"op": "head", "set": changes}


def turn_op(event: Event, **change: Any) -> Op:
    return {"op": "turn", "turn": {"id": turn_id(event), **change}}


def item_op(event: Event, item: dict[str, Any]) -> Op:
    return {"op": "item", "turnId": turn_id(event), "item": item}


def text_op(event: Event, item_id: str, text: str) -> Op:
    return {"op": "text", "turnId": turn_id(event), "id": item_id, "text": text}


def row_op(section: str, row: dict[str, Any]) -> Op:
    return {"op": "row", "section": section, "row": row}
