"""Open, send, interrupt, reconnect, answer, retire: the only writer of chats. What a view calls, once per request.

Rows are decided here, under a lock where two requests may meet; the agent is reached only through the room's host. A
refusal changes nothing. Source: clean-room seed, "Session lifecycle"; design sections 7 and 12.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from capability.redaction import redact, redact_text
from cleanroom import cards, limits, rooms, toolcalls, turn_rows
from cleanroom.access import UnknownSession, owned_session
from cleanroom.endings import CLOSED_MESSAGES
from cleanroom.harness import HarnessUnavailableError
from cleanroom.hostloop import host_loop
from cleanroom.messages import MessageTooLarge, checked
from cleanroom.models import ChatSession, ChatTurn
from cleanroom.opening import NOT_IN_TIME, new_chat, open_room, reset
from cleanroom.payload import Opened, payload_of
from cleanroom.registry import registry
from cleanroom.rooms import Room, applied, room_of, stamp
from cleanroom.turn_rows import add_turn, newest_turn, turn_alias
from cleanroom.turns import TERMINAL, AlreadyTerminal, Turn
from evidence import record
from evidence.record import Draft
from mockcore import history, rows
from mockcore.commands import DecideApproval, PostBoardComment, ResolveHumanInput
from mockcore.port import Applied, Cause, Envelope, Principal
from mockcore.refusal import Refusal

CLOSE_S = 5.0  # how long the processes before may take to end
HAND_OVER_S = 5.0  # how long a host may take to accept a turn
STALE_S = 60.0  # how far beyond its clock a turn must be before another message may end it
ANSWER_SCHEMA = "paperclip.semantic-interaction-result.v1"


class TurnLimitReached(Refusal):
    """This chat has used all its turns; New chat starts a fresh one."""

    code = "turn_limit"


class TurnActive(Refusal):
    """A turn is running; wait for its end, or stop it."""

    code = "turn_active"


class InteractionMissing(Refusal):
    """There is no such question or approval on this issue."""

    code = "interaction_missing"


class InvalidAnswer(Refusal):
    """The answer does not have the shape that this card takes."""

    code = "invalid_request"


class InteractionAlreadyResolved(Refusal):
    """This question has been answered already."""

    code = "interaction_already_resolved"


class ApprovalAlreadyDecided(Refusal):
    """This approval has been decided already."""

    code = "approval_already_decided"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """An admitted message or answer: which turn it started, and the cursor from which to follow."""

    session_id: str
    ordinal: int
    cursor: int


# ---------------------------------------------------------------- messages and turns
def send_message(*, session_id: str, presented: str | None, text: str) -> Sent:
    """Admit one message and start its turn; nothing waits for the agent.

    Raises `UnknownSession`, `MessageEmpty`, `MessageTooLarge`, `TurnActive`, `TurnLimitReached`.
    """
    bounds = limits.cleanroom()
    with transaction.atomic():
        session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
        text = checked(text, limit_bytes=bounds.message_bytes)
        ordinal = _refuse_during_a_turn(session) + 1
        if session.turn_count >= bounds.turns:
            raise TurnLimitReached(f"This chat has used its {bounds.turns} turns. Start a New chat to go on.")
        session.turn_count += 1  # its row is locked
        rows.update(session, ["turn_count"])
        room = room_of(session)
        turn = add_turn(session, ordinal=ordinal, message_id=_new_message_id(), counts=True)
        superseded, delivered = _board_comment(room, turn, text)
        shown = redact_text(text)
        drafts = [_submitted(turn, text=shown, redacted=shown != text, hidden=False)]
        drafts += [Draft(type="interaction.response.resolved", payload={"card": card}) for card in superseded]
        if delivered:
            drafts[-1] = replace(
                drafts[-1], payload={**drafts[-1].payload, "records": delivered}, turn_id=turn_alias(ordinal)
            )
        cursor = record.append(session_id=session_id, drafts=drafts)
    _hand_over(room, turn, text, settled=[card["interactionId"] for card in superseded])
    return Sent(session_id=session_id, ordinal=turn.ordinal, cursor=cursor)


def _board_comment(room: Room, turn: ChatTurn, text: str) -> tuple[list[cards.Item], list[cards.Item]]:
    """A message while a card waits is a board comment on the issue; it supersedes the interactions that wait.

    Returns the cards that it closed, and the wakes that this delivered.
    """
    pending = frozenset(toolcalls.pending_ids(room))
    if not pending:
        return [], []
    envelope = Envelope(
        run_id=room.run_id,
        idempotency_key=f"board-comment:{turn.message_id}",
        command=PostBoardComment(body=redact_text(text)),
        cause=Cause(turn_id=turn_alias(turn.ordinal), message_id=turn.message_id),
        principal=Principal.BOARD,
    )
    stored = applied(room.port().apply(envelope))
    closed = toolcalls.settled_cards(room, pending)
    return closed, _wakes_delivered(room, stored) if closed else []


def _refuse_during_a_turn(session: ChatSession) -> int:
    """Return the ordinal of the newest turn, 0 if there is none. Raises `TurnActive` while that one is alive.

    Inside a transaction that holds the chat's row.
    """
    newest = newest_turn(session)
    if newest is not None and newest.state not in TERMINAL and not _end_if_lost(session, newest):
        raise TurnActive
    return newest.ordinal if newest else 0


def _end_if_lost(session: ChatSession, turn: ChatTurn) -> bool:
    """End a turn that nobody will end any more, as when its end could not be written; say whether that was so.

    The chat's row is locked, so no other turn is admitted meanwhile; the host loop waits for no row.
    """
    age_s = (rooms.now() - turn.submitted_at).total_seconds()
    if age_s > limits.cleanroom().turn_timeout_s + STALE_S:
        code = "turn_timeout"
    elif host_loop.call(_is_lost(session.public_id, turn.ordinal, age_s), timeout_s=HAND_OVER_S):
        code = "internal_error"
    else:
        return False
    return turn_rows.cut_turns(session, code=code, message=CLOSED_MESSAGES[code]) > 0


async def _is_lost(session_id: str, ordinal: int, age_s: float) -> bool:
    """Say whether a live turn is in no host's hands: let go by its own, or never come to one."""
    host = registry.find(session_id)
    if host is not None and host.has_begun(ordinal):
        return not host.holds(ordinal)
    return age_s > 2 * HAND_OVER_S


def _new_message_id() -> str:
    return f"message-{secrets.token_hex(8)}"


def _submitted(turn: ChatTurn, *, text: str, redacted: bool, hidden: bool) -> Draft:
    payload = {
        "ordinal": turn.ordinal,
        "messageId": turn.message_id,
        "text": text,
        "redacted": redacted,
        "hidden": hidden,
    }
    return Draft(type="turn.submitted", payload=payload, turn_id=turn_alias(turn.ordinal))


def _hand_over(room: Room, turn: ChatTurn, text: str, *, settled: list[str]) -> None:
    """Give an admitted turn to the room's host. When that cannot be done, the turn ends here: none is left hanging."""
    try:
        host_loop.call(_begin(room, turn, text, settled), timeout_s=HAND_OVER_S)
    except Exception:
        failed = {"code": "internal_error", "message": "The turn could not be started."}
        draft = Draft(type="turn.failed", payload=failed, turn_id=turn_alias(turn.ordinal))
        turn_rows.settle_turn(room.session_id, turn.ordinal, state=Turn.FAILED, draft=draft, code="internal_error")
        raise


async def _begin(room: Room, turn: ChatTurn, text: str, settled: list[str]) -> None:
    """Begin on the room's host. A room without one may have been retired a moment ago, by another tab."""
    lives = registry.find(room.session_id) is not None
    if not lives and not await host_loop.rows(turn_rows.is_live, room.session_id, turn.ordinal):
        raise UnknownSession  # its turns were cut with it
    host = registry.get(room)
    host.forget_cards(settled)
    host.begin(ordinal=turn.ordinal, message_id=turn.message_id, text=text)


def interrupt(*, session_id: str, presented: str | None) -> int:
    """Ask the active turn to stop and return the cursor. Raises `UnknownSession`, `AlreadyTerminal`."""
    session = owned_session(session_id=session_id, presented=presented, now=rooms.now())
    cursor = record.last_number(session_id=session_id)
    try:
        host_loop.call(_interrupt(room_of(session)), timeout_s=HAND_OVER_S)
    except AlreadyTerminal:
        if not _end_lost_turn(session_id, presented):
            raise
    return cursor


def _end_lost_turn(session_id: str, presented: str | None) -> bool:
    with transaction.atomic():
        session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
        newest = newest_turn(session)
        return newest is not None and newest.state not in TERMINAL and _end_if_lost(session, newest)


async def _interrupt(room: Room) -> None:
    host = registry.find(room.session_id)
    if host is None:
        raise AlreadyTerminal
    await host.interrupt()


def reconnect(*, session_id: str, presented: str | None) -> Opened:
    """Start a new runner and resume the same thread.

    Raises `UnknownSession`, `TurnActive`, `HarnessUnavailableError`.
    """
    with transaction.atomic():
        session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
        _refuse_during_a_turn(session)
    try:
        host_loop.call(_reconnect(room_of(session)), timeout_s=limits.cleanroom().open_timeout_s + 2 * CLOSE_S)
    except TimeoutError:
        raise HarnessUnavailableError(NOT_IN_TIME) from None
    return Opened(payload=payload_of(session))


async def _reconnect(room: Room) -> None:
    host = registry.get(room)
    async with asyncio.timeout(limits.cleanroom().open_timeout_s + CLOSE_S):
        await host.reconnect()
    await host.written()


# ---------------------------------------------------------------- what the board answers
def resolve_interaction(
    *, session_id: str, presented: str | None, interaction_id: str, outcome: str, result: Any
) -> Sent:
    """Store the board's answer in the mock company, then resume the same thread with it.

    Raises `UnknownSession`, `TurnActive` (nothing moves), `InteractionMissing`, or the company's own refusal.
    """
    with transaction.atomic():
        session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
        ordinal, message_id = _refuse_during_a_turn(session) + 1, _new_message_id()
        room = room_of(session)
        ref = _pending_ref(room, interaction_id)
        _check_result(ref, result)
        outcome_of = room.port().apply(_answer(room, ordinal, message_id, ref, outcome, result))
        if isinstance(outcome_of, Applied):  # a refusal commits its decision record, and nothing else
            turn = add_turn(session, ordinal=ordinal, message_id=message_id, counts=False)
            cursor = record.append(session_id=session_id, drafts=_answered(room, turn, ref, outcome_of))
    applied(outcome_of)
    text = answer_text(ref=ref, outcome=outcome, result=result, kind=_kind_of(room, ref))
    still_open = interaction_id in toolcalls.pending_ids(room)  # verdicts on some of the items leave the card open
    _hand_over(room, turn, text, settled=[] if still_open else [interaction_id])
    return Sent(session_id=session_id, ordinal=turn.ordinal, cursor=cursor)


def _check_result(ref: str, result: Any) -> None:
    """Refuse an answer of the wrong shape: an approval takes `{note}` or nothing, a question an object or nothing."""
    if result is not None and not isinstance(result, dict):
        raise InvalidAnswer("result must be an object.")
    if not ref.startswith("approval:") or result is None:
        return
    note = result.get("note", "")
    if set(result) - {"note"} or not isinstance(note, str):
        raise InvalidAnswer("The result of an approval is {note}, and note is a text.")
    if len(note.encode("utf-8", "replace")) > limits.cleanroom().message_bytes:
        raise MessageTooLarge(size_bytes=len(note.encode()), limit_bytes=limits.cleanroom().message_bytes)


def _answered(room: Room, turn: ChatTurn, ref: str, stored: Applied) -> list[Draft]:
    """Return the events of a stored answer: the card as it is now, what it made, and the hidden turn to hand it on."""
    entity = history.entities(company_id=room.company_id, refs=[ref])[ref]
    draw = cards.approval_card if ref.startswith("approval:") else cards.interaction_card
    resolved = {
        "card": draw(entity, at=stamp()),
        "issue": rooms.issue_header(room.port(), room),
        "records": _tasks_made(room, entity["id"], stored) + _wakes_delivered(room, stored),
    }
    return [
        Draft(type="interaction.response.resolved", payload=resolved, turn_id=turn_alias(turn.ordinal)),
        _submitted(turn, text="", redacted=False, hidden=True),
        Draft(type="interaction.response.delivered", payload={"interactionId": entity["id"]}),
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


def _wakes_delivered(room: Room, stored: Applied) -> list[cards.Item]:
    refs = [f"wake:{wake}" for wake in stored.delivered_wake_ids]
    wakes = history.entities(company_id=room.company_id, refs=refs).values()
    return [cards.delivery(wake, at=stamp()) for wake in wakes]


def _kind_of(room: Room, ref: str) -> str:
    if ref.startswith("approval:"):
        return "approval"
    return str(history.entities(company_id=room.company_id, refs=[ref])[ref]["kind"])


def _pending_ref(room: Room, interaction_id: str) -> str:
    """Return the reference of a card that still waits; two tabs that answer at once have one winner."""
    for kind in ("interaction", "approval"):
        ref = f"{kind}:{interaction_id}"
        found = history.entities(company_id=room.company_id, refs=[ref])
        if ref in found:
            if found[ref]["status"] != "pending":
                raise ApprovalAlreadyDecided if kind == "approval" else InteractionAlreadyResolved
            return ref
    raise InteractionMissing


def _answer(room: Room, ordinal: int, message_id: str, ref: str, outcome: str, result: Any) -> Envelope:
    """Return the board's command. What a person typed is stored redacted; the agent gets it as typed."""
    kind, _, public_id = ref.partition(":")
    command: ResolveHumanInput | DecideApproval
    if kind == "approval":
        note = result.get("note") if isinstance(result, dict) else None
        command = DecideApproval(
            approval_id=public_id, decision=outcome, note=redact_text(note) if isinstance(note, str) else ""
        )
    else:
        command = ResolveHumanInput(interaction_id=public_id, outcome=outcome, result=redact(result))
    return Envelope(
        run_id=room.run_id,
        idempotency_key=f"capability-live-interaction:{public_id}:{outcome}{_part(room, ref)}",
        command=command,
        cause=Cause(turn_id=turn_alias(ordinal), message_id=message_id),
        principal=Principal.BOARD,
    )


def _part(room: Room, ref: str) -> str:
    """Return what tells the parts of one answer apart: how many verdicts earlier parts have locked."""
    entity = history.entities(company_id=room.company_id, refs=[ref])[ref]
    result = entity.get("result")
    locked = len(result.get("verdicts", ())) if isinstance(result, dict) else 0
    return f":after-{locked}" if locked else ""


def answer_text(*, ref: str, kind: str, outcome: str, result: Any) -> str:
    """Return the message that hands an answer to the agent; the thread hides it by its schema."""
    return json.dumps(
        {
            "schema": ANSWER_SCHEMA,
            "interactionId": ref.partition(":")[2],
            "kind": kind,
            "outcome": outcome,
            "result": result,
            "instruction": "The board answered. Continue the issue with this answer.",
        },
        ensure_ascii=False,
    )


def authorize_stream(*, session_id: str, cookie_value: str | None) -> None:
    """Let a browser follow a room that it owns. Raises `UnknownSession`."""
    owned_session(session_id=session_id, presented=cookie_value, now=rooms.now())


__all__ = [
    "Opened",
    "Sent",
    "TurnActive",
    "TurnLimitReached",
    "UnknownSession",
    "authorize_stream",
    "interrupt",
    "new_chat",
    "open_room",
    "reconnect",
    "reset",
    "resolve_interaction",
    "send_message",
]
