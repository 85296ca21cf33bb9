"""What a runner reports of its run: events, kept once each, and checkpoints. Source: reference A 3.16, B 6.1.

It knows an event's envelope and nothing of its meaning, except that `run.terminal` must say how the run ended.
A *PRP* event may come late or leave a gap; a *native* one must be the next of its source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef

from mockcore import ledger, rows
from mockcore.authority import refuse_ended
from mockcore.faults import under_faults
from mockcore.handlers.scene import CommandInvalid
from mockcore.masking import mask
from mockcore.models import Run, RunEvent
from mockcore.port import EventReceipt, ReplayEvents
from mockcore.refusal import Refusal
from mockcore.text import canonical
from mockcore.vocabulary import Decided, Disposition, FaultOperation, TerminalState, is_word
from mockcore.work import UnitOfWork

PRP = "paperclip.prp.event.v1"
NATIVE = "paperclip.native.event.v1"
MAX_ID_CHARS = 160
MAX_EVENT_CHARS = 262_144  # of canonical JSON: a frame of the stream carries no more
MAX_CHECKPOINT_CHARS = 1_048_576
MAX_REPLAY = 1000
EVENT_TYPE = re.compile(r"[a-z_]+(\.[a-z_]+)+")
TURN_ENDS = frozenset({"completed", "failed", "interrupted", "cancelled"})


class EventInvalid(Refusal):
    """The event is no event of this run, or its envelope is not well formed."""

    code = "native_event_invalid"


class EventReplayConflict(Refusal):
    """An event of that id or number was reported before, with other content."""

    code = "native_event_replay_conflict"


class EventSequenceGap(Refusal):
    """A native event must be the next of its source."""

    code = "native_event_sequence_gap"


class ReplayBindingMismatch(Refusal):
    """The run has no such source of events."""

    code = "replay_binding_mismatch"


class CheckpointInvalid(Refusal):
    """A checkpoint is a JSON object of at most one megabyte."""

    code = "session_checkpoint_invalid"


# ---------------------------------------------------------------- events
def append(work: UnitOfWork, act: ledger.Act, run: Run, event: dict[str, Any]) -> EventReceipt:
    """Keep an event unless it is kept already; a repeated one changes nothing, whatever became of the run since."""
    check(event, run.public_id, run.source_instance_id)
    event = mask(event)
    if known := _known(run, event):
        return _repeated(work, act, run, known, event)
    refuse_ended(run)
    if event["schema"] == NATIVE and event["sourceSeq"] != contiguous_seq(run, event["sourceInstanceId"]) + 1:
        raise EventSequenceGap(f"event {event['sourceSeq']} is not the next of {event['sourceInstanceId']}")
    return under_faults(
        company=work.company,
        operation=FaultOperation.APPEND_EVENT,
        take_effect=lambda: _keep(work, act, run, event),
    )


def _keep(work: UnitOfWork, act: ledger.Act, run: Run, event: dict[str, Any]) -> EventReceipt:
    added = work.add(
        RunEvent(
            public_id=work.next_id("event"),
            run=run,
            source_instance_id=event["sourceInstanceId"],
            source_event_id=event["sourceEventId"],
            source_seq=event["sourceSeq"],
            event_type=event["eventType"],
            body=event,
        )
    )
    details = {"eventType": added.event_type, "sourceEventId": added.source_event_id, "sourceSeq": added.source_seq}
    note = ledger.Note(
        command_id=added.public_id,
        reason="event_committed",
        action="run.event_appended",
        entity=("event", added.public_id),
        actor_id=run.actor.public_id,
        details=details,
    )
    changes = work.flush()
    number = ledger.commit(work=work, act=act, note=note, changes=changes, refs=ledger.refs_of(changes, run.ref))
    return _receipt(run, added, "committed", number)


def _known(run: Run, event: dict[str, Any]) -> list[RunEvent]:
    """Return the events that have this one's id, or its place in its source."""
    by_id = rows.fetch_all(RunEvent, run_id=run.uid, source_event_id=event["sourceEventId"])
    place = {"source_instance_id": event["sourceInstanceId"], "source_seq": event["sourceSeq"]}
    return by_id + rows.fetch_all(RunEvent, run_id=run.uid, **place)


def _repeated(
    work: UnitOfWork, act: ledger.Act, run: Run, known: list[RunEvent], event: dict[str, Any]
) -> EventReceipt:
    if any(canonical(mask(one.body)) != canonical(event) for one in known):
        raise EventReplayConflict
    refs = sorted({known[0].ref, run.ref})
    ledger.decide(work=work, act=act, outcome=Decided.DUPLICATE, reason="event_already_committed", refs=refs)
    return _receipt(run, known[0], "duplicate", work.company.revision)


def _receipt(run: Run, event: RunEvent, disposition: str, revision: int) -> EventReceipt:
    return EventReceipt(
        disposition=disposition,
        event_id=event.public_id,
        contiguous_seq=contiguous_seq(run, event.source_instance_id),
        state_revision=revision,
    )


def contiguous_seq(run: Run, source_instance_id: str) -> int:
    """Return the number up to which every event of a source is held; 0 for none. Reads the index only."""
    of_source = RunEvent.objects.filter(run=run.uid, source_instance_id=source_instance_id)
    seen = of_source.aggregate(first=Min("source_seq"), last=Max("source_seq"), count=Count("source_seq"))
    if not seen["count"] or seen["count"] == seen["last"]:
        return int(seen["count"])
    if seen["first"] != 1:
        return 0
    next_one = of_source.filter(source_seq=OuterRef("source_seq") + 1)
    return int(of_source.exclude(Exists(next_one)).aggregate(first=Min("source_seq"))["first"])


def replay(run: Run, request: ReplayEvents) -> list[dict[str, Any]]:
    """Return at most `limit` events of one source of the run after the cursor, in the source's order.

    Raises `ReplayBindingMismatch` for a source that is neither the run's own nor has ever reported, and
    `CommandInvalid` for a cursor or limit that is no whole number.
    """
    if not (_is_whole(request.after) and _is_whole(request.limit)):
        raise CommandInvalid("a cursor and a limit are whole numbers")
    of_source = RunEvent.objects.filter(run=run.uid, source_instance_id=request.source_instance_id)
    if request.source_instance_id != run.source_instance_id and not of_source.exists():
        raise ReplayBindingMismatch
    found = of_source.filter(source_seq__gt=max(0, request.after)).order_by("source_seq")
    return [event.body for event in found[: min(max(1, request.limit), MAX_REPLAY)]]


# ---------------------------------------------------------------- checkpoints
def checkpoint(work: UnitOfWork, act: ledger.Act, run: Run, snapshot: dict[str, Any]) -> int:
    """Keep a snapshot in place of the one before; returns the revision. Raises `CheckpointInvalid`.

    A runner that needs a secret to resume finds `[REDACTED]`: it gets it where it got it the first time.
    """
    refuse_ended(run)
    try:
        if len(canonical(snapshot)) > MAX_CHECKPOINT_CHARS:
            raise CheckpointInvalid
    except (TypeError, ValueError) as error:
        raise CheckpointInvalid from error
    run.session_checkpoint = mask(snapshot)
    note = ledger.Note(
        command_id=run.public_id,
        reason="session_checkpointed",
        action="run.session_checkpointed",
        entity=("run", run.public_id),
        actor_id=run.actor.public_id,
        details={},
    )
    changes = work.flush()
    return ledger.commit(work=work, act=act, note=note, changes=changes, refs=ledger.refs_of(changes, run.ref))


# ---------------------------------------------------------------- the envelope
def check(event: dict[str, Any], run_id: str, source_instance_id: str) -> None:
    """Raise `EventInvalid` naming the first field that is wrong in an event of the run that is bound to that runner."""
    for name, is_right in FIELDS.items():
        if not is_right(event.get(name)):
            raise EventInvalid(f"{name} is missing or not well formed")
    if event["runId"] != run_id:
        raise EventInvalid("the event is of another run")
    if event["sourceKind"] == "runner" and event["sourceInstanceId"] != source_instance_id:
        raise EventInvalid("the run is bound to another runner")
    if event["eventType"] == "run.terminal" and not _says_how_it_ended(event["payload"]):
        raise EventInvalid("the payload of run.terminal is not well formed")
    try:
        size = len(canonical(event))
    except (TypeError, ValueError) as error:
        raise EventInvalid("the event holds a value that JSON cannot hold") from error
    if size > MAX_EVENT_CHARS:
        raise EventInvalid("the event is too large")


def _says_how_it_ended(payload: dict[str, Any]) -> bool:
    return (
        is_word(payload.get("turnTerminalState"), TURN_ENDS)
        and is_word(payload.get("runTerminalState"), TerminalState)
        and is_word(payload.get("reportedWorkDisposition"), Disposition)
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= MAX_ID_CHARS


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


FIELDS: dict[str, Callable[[Any], bool]] = {
    "schema": lambda value: is_word(value, (PRP, NATIVE)),
    "schemaVersion": lambda value: _is_whole(value) and value == 1,
    "sourceEventId": _is_id,
    "sourceInstanceId": _is_id,
    "sourceSeq": lambda value: _is_whole(value) and 1 <= value < 2**53,
    "sourceKind": lambda value: is_word(value, ("runner", "control_plane")),
    "runId": _is_id,
    "eventType": lambda value: isinstance(value, str) and len(value) <= 120 and bool(EVENT_TYPE.fullmatch(value)),
    "priority": lambda value: _is_whole(value) and value in (0, 1, 2),
    "emittedAt": _is_moment,
    "payload": lambda value: isinstance(value, dict),
}
