"""Frames: what a follower is sent. Events in, JSON texts out, each below 256 KiB. Pure.

A frame carries the ops of the events after a cursor and never reaches past the end of a turn. Adjacent pieces of
streamed text are one op. An event too large for one frame comes in several; only the last of them moves the cursor, and
an event that is sent again replaces its item, so a cut between them costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.prp.events import TURN_TERMINALS, Event, EventType
from evidence.views.bounds import encode
from evidence.views.build import Op
from evidence.views.ops import turn_error
from evidence.views.text import CHUNK_CHARS
from evidence.views.thread import ops

FRAME_BYTES = 250 * 1024  # of ops; daphne refuses 1 MiB, and the design asks for less than 256 KiB
WORKING = {EventType.TURN_SUBMITTED: True, EventType.TURN_STARTED: True, **dict.fromkeys(TURN_TERMINALS, False)}


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One message of the stream. After it the follower's cursor is `seq`."""

    type: str
    seq: int
    text: str


def heartbeat(seq: int) -> Frame:
    return Frame(type="heartbeat", seq=seq, text=encode({"type": "heartbeat", "seq": seq}))


def closed(seq: int, code: str) -> Frame:
    return Frame(type="closed", seq=seq, text=encode({"type": "closed", "seq": seq, "code": code}))


def frames(events: Sequence[Event], *, after: int) -> list[Frame]:
    """Return the frames of `events`, which follow cursor `after` without a gap."""
    return list(_cut(events, after))


def _cut(events: Sequence[Event], after: int) -> Iterator[Frame]:
    draft = _Draft(after=after, seq=after)
    for event in events:
        entries = [_Entry(op) for op in ops(event)]
        if draft.seq > draft.after and draft.size + sum(entry.size for entry in entries) > FRAME_BYTES:
            yield draft.frame()
            draft = _Draft(after=draft.seq, seq=draft.seq)
        for entry in entries:
            if draft.entries and draft.size + entry.size > FRAME_BYTES:
                yield draft.frame()
                draft = _Draft(after=draft.seq, seq=draft.seq)
            draft.add(entry)
        draft.take(event)
        if event.event_type in TURN_TERMINALS:
            yield draft.frame()
            draft = _Draft(after=draft.seq, seq=draft.seq)
    if draft.seq > draft.after:
        yield draft.frame()


class _Entry:
    """One op on its way into a frame, with an upper bound of its size."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.is_text = op["op"] == "text"
        self._encoded = "" if self.is_text else encode(op)
        self.size = 12 * len(op["text"]) + 400 if self.is_text else len(self._encoded) + 1

    @property
    def encoded(self) -> str:
        return self._encoded or encode(self.op)

    def joined(self, later: _Entry) -> _Entry | None:
        """Return both as one, when both are text of the same item and not too long."""
        mine, theirs = self.op, later.op
        if not (self.is_text and later.is_text and mine["id"] == theirs["id"] and mine["turnId"] == theirs["turnId"]):
            return None
        text = mine["text"] + theirs["text"]
        return _Entry({**mine, "text": text}) if len(text) <= CHUNK_CHARS else None


@dataclass
class _Draft:
    """A frame being filled. `after` is the cursor it applies to, `seq` the last event wholly in it."""

    after: int
    seq: int
    entries: list[_Entry] = field(default_factory=list)
    size: int = 0
    working: bool | None = None
    ending: Event | None = None

    def add(self, entry: _Entry) -> None:
        joined = self.entries[-1].joined(entry) if self.entries else None
        if joined is not None:
            self.size += joined.size - self.entries[-1].size
            self.entries[-1] = joined
        else:
            self.size += entry.size
            self.entries.append(entry)

    def take(self, event: Event) -> None:
        self.seq = event.number
        self.working = WORKING.get(EventType(event.event_type), self.working)
        self.ending = event if event.event_type in TURN_TERMINALS else None

    def frame(self) -> Frame:
        head: dict[str, Any] = {"type": self._type(), "after": self.after, "seq": self.seq}
        if self.working is not None:
            head["working"] = self.working
        if self.ending is not None and head["type"] == "error":
            head["error"] = turn_error(self.ending)
        text = f'{encode(head)[:-1]},"ops":[{",".join(entry.encoded for entry in self.entries)}]}}'
        return Frame(type=head["type"], seq=self.seq, text=text)

    def _type(self) -> str:
        if self.ending is None:
            return "frame"
        return "error" if self.ending.event_type == EventType.TURN_FAILED else "settled"
