"""Open, send, interrupt, reconnect, answer, retire: the only writer of chats. What a view calls, once per request.

Rows are decided here, under a lock where two requests may meet; the agent is reached only through the room's host. A
refusal changes nothing. Source: clean-room seed, "Session lifecycle"; design sections 7 and 12.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from capability.redaction import redact, redact_text
from cleanroom import cards, limits, rooms, toolcalls
from cleanroom.access import UnknownSession, owned_session
from cleanroom.endings import CLOSED_MESSAGES
from cleanroom.harness import HarnessUnavailableError
from cleanroom.hostloop import host_loop
from cleanroom.messages import checked
from cleanroom.models import ChatSession, ChatTurn
from cleanroom.opening import new_chat, open_room, reset
from cleanroom.payload import Opened, payload_of
from cleanroom.registry import registry
from cleanroom.rooms import Room, applied, room_of, stamp, turn_alias
from cleanroom.turns import TERMINAL, AlreadyTerminal, Turn
from evidence import record
from evidence.record import Draft
from mockcore import history
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
        _refuse_during_a_turn(session)
        if session.turn_count >= bounds.turns:
            raise TurnLimitReached(f"This chat has used its {bounds.turns} turns. Start a New chat to go on.")
        ChatSession.objects.filter(pk=session.pk).update(turn_count=F("turn_count") + 1)
        room = room_of(session)
        ordinal, message_id = _next_turn(session)
        turn = _admit_turn(session, ordinal=ordinal, message_id=message_id, counts=True)
        superseded = _board_comment(room, turn, text)
        shown = redact_text(text)
        drafts = [_submitted(turn, text=shown, redacted=shown != text, hidden=False)]
        drafts += [Draft(type="interaction.response.resolved", payload={"card": card}) for card in superseded]
        cursor = record.append(session_id=session_id, drafts=drafts)
    _hand_over(room, turn, text, settled=[card["interactionId"] for card in superseded])
    return Sent(session_id=session_id, ordinal=turn.ordinal, cursor=cursor)


def _board_comment(room: Room, turn: ChatTurn, text: str) -> list[cards.Item]:
    """A message while a card waits is a board comment on the issue; it supersedes the interactions that wait."""
    pending = frozenset(toolcalls.pending_ids(room))
    if not pending:
        return []
    envelope = Envelope(
        run_id=room.run_id,
        idempotency_key=f"board-comment:{turn.message_id}",
        command=PostBoardComment(body=redact_text(text)),
        cause=Cause(turn_id=turn_alias(turn.ordinal), message_id=turn.message_id),
        principal=Principal.BOARD,
    )
    applied(room.port().apply(envelope))
    return toolcalls.settled_cards(room, pending)


def _refuse_during_a_turn(session: ChatSession) -> None:
    """Refuse while a turn is alive. One far beyond its clock is nobody's any more, and ends here instead."""
    live = session.turns.exclude(state__in=TERMINAL).first()
    if live is None:
        return
    age_s = (rooms.now() - live.submitted_at).total_seconds()
    if age_s < limits.cleanroom().turn_timeout_s + STALE_S:
        raise TurnActive
    rooms.cut_turns(session, code="turn_timeout", message=CLOSED_MESSAGES["turn_timeout"])


def _next_turn(session: ChatSession) -> tuple[int, str]:
    newest = session.turns.order_by("-ordinal").values_list("ordinal", flat=True).first() or 0
    return newest + 1, f"message-{secrets.token_hex(8)}"


def _admit_turn(session: ChatSession, *, ordinal: int, message_id: str, counts: bool) -> ChatTurn:
    return ChatTurn.objects.create(
        session=session,
        ordinal=ordinal,
        state=Turn.STARTING,
        message_id=message_id,
        counts=counts,
        submitted_at=rooms.now(),
    )


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
        rooms.settle_turn(room.session_id, turn.ordinal, state=Turn.FAILED, draft=draft, code="internal_error")
        raise


async def _begin(room: Room, turn: ChatTurn, text: str, settled: list[str]) -> None:
    if not await host_loop.rows(rooms.is_open, room.session_id):
        raise UnknownSession  # retired a moment ago, by another tab; its turns were cut with it
    host = registry.get(room)
    host.forget_cards(settled)
    host.begin(ordinal=turn.ordinal, message_id=turn.message_id, text=text)


def interrupt(*, session_id: str, presented: str | None) -> int:
    """Ask the active turn to stop and return the cursor. Raises `UnknownSession`, `AlreadyTerminal`."""
    session = owned_session(session_id=session_id, presented=presented, now=rooms.now())
    cursor = record.last_number(session_id=session_id)
    host_loop.call(_interrupt(room_of(session)), timeout_s=5)
    return cursor


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
    host_loop.call(_reconnect(room_of(session)), timeout_s=limits.cleanroom().open_timeout_s + 2 * CLOSE_S)
    return Opened(payload=payload_of(session))


async def _reconnect(room: Room) -> None:
    host = registry.get(room)
    try:
        async with asyncio.timeout(limits.cleanroom().open_timeout_s + CLOSE_S):
            await host.reconnect()
    except TimeoutError:
        raise HarnessUnavailableError("Codex did not become ready in time. Try again.") from None
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
        _refuse_during_a_turn(session)
        room = room_of(session)
        ref = _pending_ref(room, interaction_id)
        ordinal, message_id = _next_turn(session)
        outcome_of = room.port().apply(_answer(room, ordinal, message_id, ref, outcome, result))
        if isinstance(outcome_of, Applied):  # a refusal commits its decision record, and nothing else
            turn = _admit_turn(session, ordinal=ordinal, message_id=message_id, counts=False)
            cursor = record.append(session_id=session_id, drafts=_answered(room, turn, ref))
    applied(outcome_of)
    text = answer_text(ref=ref, outcome=outcome, result=result, kind=_kind_of(room, ref))
    _hand_over(room, turn, text, settled=[interaction_id])
    return Sent(session_id=session_id, ordinal=turn.ordinal, cursor=cursor)


def _answered(room: Room, turn: ChatTurn, ref: str) -> list[Draft]:
    """Return the events of a stored answer: the card as it is now, and the hidden turn that hands it on."""
    entity = history.entities(company_id=room.company_id, refs=[ref])[ref]
    draw = cards.approval_card if ref.startswith("approval:") else cards.interaction_card
    resolved = {"card": draw(entity, at=stamp()), "issue": rooms.issue_header(room.port(), room)}
    return [
        Draft(type="interaction.response.resolved", payload=resolved),
        _submitted(turn, text="", redacted=False, hidden=True),
        Draft(type="interaction.response.delivered", payload={"interactionId": entity["id"]}),
    ]


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
        idempotency_key=f"capability-live-interaction:{public_id}:{outcome}",
        command=command,
        cause=Cause(turn_id=turn_alias(ordinal), message_id=message_id),
        principal=Principal.BOARD,
    )


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
