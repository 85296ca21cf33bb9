"""The thread view as a value, and the one way it changes: ops. Its twin in the browser passes the same vectors
(`tests/vectors/frames.json`). Knows no event, no clock and no database.

Items and rows are never edited in place, only replaced, so a copy of the containers is a copy of the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evidence.views.composer import composer

SCHEMA = "paperclip.capability.issue-thread-view.v1"
SECTIONS = ("tools", "calls", "authorization", "controlPlane", "runner")
STOPPED, TOO_LATE = "Stopped", "Codex had already finished"
ENDED_TURN = frozenset({"completed", "interrupted", "failed"})
TOOL_CALL = frozenset({"tool_activity", "denial"})
MESSAGES = frozenset({"user_message", "agent_message"})  # the only items that text is appended to

IDENTITY: dict[str, Any] = {
    "agentLabel": "No agent",
    "runnerLabel": "Real runnerd",
    "runnerAttached": False,
    "controlPlaneLabel": "Mock Paperclip",
    "controlPlaneTooltip": "Every record lives in a mock company. No real Paperclip is contacted.",
    "modelLabel": "",
    "rehearsal": False,
    "replaySource": None,
}
ISSUE: dict[str, Any] = {
    "identifier": "MCK-1",
    "title": "Mock task",
    "status": "in_progress",
    "priority": "medium",
    "assignee": "",
    "runState": "",
    "scenarioId": "",
    "fixtureProfile": "clean-room",
}
USAGE = {"inputTokens": 0, "cachedInputTokens": 0, "outputTokens": 0, "totalTokens": 0}

Op = dict[str, Any]
View = dict[str, Any]


def empty_view(*, session_id: str, identity: Mapping[str, Any], issue: Mapping[str, Any]) -> View:
    """Return the view of a log without events. Of `identity` and `issue` only the named fields are taken."""
    view: View = {
        "schema": SCHEMA,
        "sessionId": session_id,
        "mode": "live",
        "identity": {name: identity.get(name, default) for name, default in IDENTITY.items()},
        "issue": {name: issue.get(name, default) for name, default in ISSUE.items()},
        "turns": [],
        "composer": {},
        "evidence": {section: [] for section in SECTIONS},
        "connection": {"state": "connected", "attempt": 0, "code": None, "message": None},
        "session": {"closed": False, "code": None},
        "usage": dict(USAGE),
        "replay": None,
    }
    view["composer"] = composer(view)
    return view


def stop_id(turn_id: str) -> str:
    """Return the id of the line that says what became of a person's Stop in a turn."""
    return f"stop-{turn_id}"


def empty_turn(turn_id: str, at: str | None) -> dict[str, Any]:
    """Return a turn that an op named before anything introduced it: it is over, until an op says otherwise."""
    number = turn_id.rpartition("-")[2]
    return {
        "id": turn_id,
        "ordinal": int(number) if number.isdecimal() else 0,
        "mode": "live",
        "state": "completed",
        "at": at,
        "endedAt": None,
        "durationMs": None,
        "stoppedByUser": False,
        "toolCallCount": 0,
        "error": None,
        "items": [],
    }


def apply_ops(view: View, ops: Iterable[Op]) -> View:
    """Apply ops to `view` in place, in order, derive the composer anew, and return `view`."""
    return Fold(view).apply(ops)


def copy_view(view: View) -> View:
    """Return a copy that later ops on either one do not reach."""
    turns = [{**turn, "items": list(turn["items"])} for turn in view["turns"]]
    evidence = {section: list(rows) for section, rows in view["evidence"].items()}
    return {**view, "turns": turns, "evidence": evidence}


class Fold:
    """A view with places of its turns, items and rows, so that an op costs the same in a long thread."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._turns: dict[str, dict[str, Any]] = {turn["id"]: turn for turn in view["turns"]}
        self._items = {turn["id"]: _places(turn["items"]) for turn in view["turns"]}
        self._rows = {section: _places(rows) for section, rows in view["evidence"].items()}

    def apply(self, ops: Iterable[Op]) -> View:
        """Apply ops in order. An unknown op is a bug and raises."""
        for op in ops:
            APPLY[op["op"]](self, op)
        self.view["composer"] = composer(self.view)
        return self.view

    def _head(self, op: Op) -> None:
        for key, change in op["set"].items():
            self.view[key] = {**self.view[key], **change}

    def _turn(self, op: Op) -> None:
        change = op["turn"]
        turn = self._turn_named(change["id"], change.get("at"))
        turn.update(change)
        if turn["state"] in ENDED_TURN:
            turn["items"][:] = [_stopped(turn, _settled(item)) for item in turn["items"]]

    def _item(self, op: Op) -> None:
        item = op["item"]
        turn = self._turn_named(self._home_of(op["turnId"], item), item["at"])
        item = _stopped(turn, item)
        places, items = self._items[turn["id"]], turn["items"]
        place = places.get(item["id"])
        if place is None:
            places[item["id"]] = len(items)
            items.append(item)
            turn["toolCallCount"] += item["kind"] in TOOL_CALL
        else:
            items[place] = {**item, "at": items[place]["at"]}

    def _text(self, op: Op) -> None:
        place = self._items.get(op["turnId"], {}).get(op["id"])
        if place is None:
            return  # its item never started: the completed item brings the whole text
        items = self._turns[op["turnId"]]["items"]
        item = items[place]
        if item["kind"] in MESSAGES:
            items[place] = {**item, "body": item["body"] + op["text"]}

    def _row(self, op: Op) -> None:
        section, row = op["section"], op["row"]
        places, rows = self._rows[section], self.view["evidence"][section]
        place = places.setdefault(row["id"], len(rows))
        rows[place : place + 1] = [row]

    def _turn_named(self, turn_id: str, at: str | None) -> dict[str, Any]:
        if turn_id not in self._turns:
            turn = self._turns[turn_id] = empty_turn(turn_id, at)
            self._items[turn_id] = {}
            self.view["turns"].append(turn)
        return self._turns[turn_id]

    def _home_of(self, turn_id: str, item: Mapping[str, Any]) -> str:
        """A card stays in the turn that asked, although a later turn or none brings its answer."""
        if item["kind"] == "interaction":
            return next((turn for turn, places in self._items.items() if item["id"] in places), turn_id)
        return turn_id


APPLY = {"head": Fold._head, "turn": Fold._turn, "item": Fold._item, "text": Fold._text, "row": Fold._row}


def _places(entries: list[dict[str, Any]]) -> dict[str, int]:
    return {entry["id"]: place for place, entry in enumerate(entries)}


def _stopped(turn: Mapping[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """A Stop waits for nothing in a turn that has ended; its acknowledgement may come before the end or after it."""
    if item["id"] != stop_id(turn["id"]) or turn["state"] not in ENDED_TURN:
        return item
    return {**item, "summary": TOO_LATE if turn["state"] == "completed" else STOPPED}


def _settled(item: dict[str, Any]) -> dict[str, Any]:
    """Nothing streams or runs in a turn that has ended, whatever cut it."""
    if item.get("streaming"):
        return {**item, "streaming": False}
    return {**item, "status": "failed"} if item.get("status") == "running" else item
