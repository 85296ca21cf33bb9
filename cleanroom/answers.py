"""What the board answers on a card: stored in the mock company first, then handed to the agent as a hidden turn.

Everything the turn needs is computed before the commit. Source: clean-room seed, "Session lifecycle"; reference B 1.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.db import transaction

from capability.http.wire import InvalidRequest
from capability.redaction import redact, redact_text
from cleanroom import cards, limits, rooms, toolcalls
from cleanroom.access import owned_session
from cleanroom.handover import (
    Handing,
    Sent,
    hand_over,
    new_message_id,
    refuse_during_a_turn,
    submitted,
    unless_lost,
)
from cleanroom.messages import MessageTooLarge
from cleanroom.models import ChatSession
from cleanroom.rooms import Room, applied, room_of, stamp
from cleanroom.turn_rows import add_turn, turn_alias
from cleanroom.undelivered import Answer, answer_text, kept_answers, text_after
from evidence import record
from evidence.record import Draft
from mockcore import history
from mockcore.commands import DecideApproval, ResolveHumanInput
from mockcore.plane import ApprovalAlreadyDecided, InteractionAlreadyResolved, InteractionMissing
from mockcore.port import Applied, Cause, Envelope, Outcome, Principal


class InvalidAnswer(InvalidRequest):
    """The answer does not have the shape that this card takes."""


def resolve_interaction(
    *, session_id: str, presented: str | None, interaction_id: str, outcome: str, result: Any
) -> Sent:
    """Store the board's answer in the mock company, then resume the same thread with it.

    Raises `UnknownSession`, `TurnActive` (nothing moves), `InteractionMissing`, or the company's own refusal.
    """

    def store() -> tuple[Outcome, Handing, int]:
        with transaction.atomic():
            session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
            return _store(session, interaction_id, outcome, result)

    stored, turn, cursor = unless_lost(store, session_id=session_id, presented=presented)
    applied(stored)
    hand_over(turn)
    return Sent(session_id=session_id, ordinal=turn.ordinal, cursor=cursor)


def _store(session: ChatSession, interaction_id: str, outcome: str, result: Any) -> tuple[Outcome, Handing, int]:
    """Apply an answer and admit its turn. A refusal commits its decision record, and nothing else."""
    ordinal, message_id, room = refuse_during_a_turn(session) + 1, new_message_id(), room_of(session)
    ref, kind = _answerable(session, interaction_id, outcome)
    _check_result(ref, result)
    answer = Answer(ref=ref, kind=kind, outcome=outcome, result=result)
    kept = kept_answers(session, room)
    turn = Handing(
        room=room,
        ordinal=ordinal,
        message_id=message_id,
        text=text_after(kept, answer_text(answer)),
        settled=(interaction_id,),
        answers=tuple(dict.fromkeys([*(one.card_id for one in kept), interaction_id])),
    )
    stored, cursor = room.port().apply(_envelope(turn, answer)), 0
    if isinstance(stored, Applied):
        still_open = interaction_id in toolcalls.pending_ids(room)  # verdicts on some of the items leave the card open
        turn = replace(turn, settled=() if still_open else (interaction_id,))
        cursor = record.append(session_id=session.public_id, drafts=_answered(turn, ref, stored))
        add_turn(session, ordinal=ordinal, message_id=message_id, counts=False, cursor=cursor, answer_ref=ref)
    return stored, turn, cursor


def _check_result(ref: str, result: Any) -> None:
    """Refuse an answer of the wrong shape: an approval takes `{note}` or nothing, a question an object or nothing.

    What an object may hold is the company's to say. A text in it is no longer than a message may be, as everything that
    a person types here; lines of the summary repeat those texts, so they are not counted again.
    """
    if result is not None and not isinstance(result, dict):
        raise InvalidAnswer("result must be an object.")
    given = result or {}
    if ref.startswith("approval:") and (set(given) - {"note"} or not isinstance(given.get("note", ""), str)):
        raise InvalidAnswer("The result of an approval is {note}, and note is a text.")
    for text in _texts({name: value for name, value in given.items() if name != "summary"}):
        _check_size(text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _check_size(text: str) -> None:
    size, limit = len(text.encode("utf-8", "replace")), limits.cleanroom().message_bytes
    if size > limit:
        raise MessageTooLarge(size_bytes=size, limit_bytes=limit)


def _answered(turn: Handing, ref: str, stored: Applied) -> list[Draft]:
    """Return the events of a stored answer: the card as it is now, what it made, and the hidden turn to hand it on.

    That the agent got it is said when the turn has a name, not here.
    """
    room = turn.room
    entity = history.entities(company_id=room.company_id, refs=[ref])[ref]
    draw = cards.approval_card if ref.startswith("approval:") else cards.interaction_card
    resolved = {
        "card": draw(entity, at=stamp()),
        "issue": rooms.issue_header(room.port(), room),
        "records": _tasks_made(room, entity["id"], stored) + toolcalls.wakes_delivered(room, stored),
    }
    return [
        Draft(type="interaction.response.resolved", payload=resolved, turn_id=turn_alias(turn.ordinal)),
        submitted(ordinal=turn.ordinal, message_id=turn.message_id, text="", redacted=False, hidden=True),
    ]


def _tasks_made(room: Room, interaction_id: str, stored: Applied) -> list[cards.Item]:
    """Return the item of the tasks that accepting a suggestion has created; none for every other answer."""
    refs = [ref for ref in stored.entity_refs if ref.startswith("task:") and ref != f"task:{room.task_id}"]
    made = history.entities(company_id=room.company_id, refs=refs).values()
    children = [
        {"identifier": task["identifier"], "title": task["title"]} for task in made if task["parentId"] == room.task_id
    ]
    if not children:
        return []
    item_id = f"answer:{interaction_id}:dependency"
    return [{"id": item_id, "kind": "dependency", "at": stamp(), "createdTasks": children, "blockerEdges": []}]


def _answerable(session: ChatSession, interaction_id: str, outcome: str) -> tuple[str, str]:
    """Return reference and kind of a card that takes an answer; two tabs that answer at once have one winner.

    It waits, or this very answer took effect and its sender was told that it failed: then it is sent again.
    """
    room = room_of(session)
    for entity in ("interaction", "approval"):
        ref = f"{entity}:{interaction_id}"
        found = history.entities(company_id=room.company_id, refs=[ref])
        if ref in found:
            if found[ref]["status"] != "pending" and not _is_unacknowledged(session, ref, outcome):
                raise ApprovalAlreadyDecided if entity == "approval" else InteractionAlreadyResolved
            return ref, str(found[ref]["kind"]) if entity == "interaction" else "approval"
    raise InteractionMissing


def _is_unacknowledged(session: ChatSession, ref: str, outcome: str) -> bool:
    """Say whether the card was ended by this outcome without a turn to hand it on: the acknowledgement was lost."""
    if session.turns.filter(answer_ref=ref).exists():
        return False
    room = room_of(session)
    return room.port().has_applied(room.run_id, _key(room, ref, outcome), Principal.BOARD)


def _envelope(turn: Handing, answer: Answer) -> Envelope:
    """Return the board's command. What a person typed is stored redacted; the agent gets it as typed."""
    public_id = answer.card_id
    return Envelope(
        run_id=turn.room.run_id,
        idempotency_key=_key(turn.room, answer.ref, answer.outcome),
        command=_command(public_id, answer),
        cause=Cause(turn_id=turn_alias(turn.ordinal), message_id=turn.message_id),
        principal=Principal.BOARD,
    )


def _key(room: Room, ref: str, outcome: str) -> str:
    return f"capability-live-interaction:{ref.partition(':')[2]}:{outcome}{_part(room, ref)}"


def _part(room: Room, ref: str) -> str:
    """Return what tells the parts of one answer apart: how many verdicts earlier parts have locked."""
    entity = history.entities(company_id=room.company_id, refs=[ref])[ref]
    result = entity.get("result")
    locked = len(result.get("verdicts", ())) if isinstance(result, dict) else 0
    return f":after-{locked}" if locked else ""


def _command(public_id: str, answer: Answer) -> ResolveHumanInput | DecideApproval:
    if answer.kind != "approval":
        return ResolveHumanInput(interaction_id=public_id, outcome=answer.outcome, result=redact(answer.result))
    note = answer.result.get("note", "") if answer.result else ""
    return DecideApproval(approval_id=public_id, decision=answer.outcome, note=redact_text(note))
