"""Send, interrupt, reconnect: what a view calls, once per request. Opening is `opening`, the board's answers `answers`.

Rows are decided here, under a lock where two requests may meet; the agent is reached only through the room's host. A
refusal changes nothing. Source: clean-room seed, "Session lifecycle"; design sections 7 and 12.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError, transaction

from capability.redaction import redact_text
from cleanroom import cards, limits, rooms, toolcalls
from cleanroom.access import UnknownSession, owned_session
from cleanroom.answers import resolve_interaction
from cleanroom.handover import (
    HAND_OVER_S,
    Handing,
    Sent,
    end_lost_turn,
    hand_over,
    new_message_id,
    refuse_during_a_turn,
    submitted,
    unless_lost,
)
from cleanroom.harness import HarnessUnavailableError
from cleanroom.hostloop import host_loop
from cleanroom.messages import checked
from cleanroom.models import ChatSession, ChatTurn
from cleanroom.opening import NOT_IN_TIME, new_chat, open_room, reset
from cleanroom.payload import Opened, payload_of
from cleanroom.registry import registry
from cleanroom.rooms import ControlPlaneRefused, Room, room_of
from cleanroom.turn_rows import add_turn, turn_alias
from cleanroom.turns import AlreadyTerminal, TurnActive
from cleanroom.undelivered import kept_answers, text_after
from evidence import record
from evidence.record import Draft
from mockcore import rows
from mockcore.commands import PostBoardComment
from mockcore.port import Cause, Envelope, Principal, Refused
from mockcore.refusal import Refusal

CLOSE_S = 5.0  # how long the processes before may take to end
NOT_ASKED = "The turn could not be asked to stop just now. Try again."
UNREAD = "The agent was started anew, but the chat could not be read just now. Open it again."


class TurnLimitReached(Refusal):
    """This chat has used all its turns; New chat starts a fresh one."""

    code = "turn_limit"


# ---------------------------------------------------------------- messages
def send_message(*, session_id: str, presented: str | None, text: str, client_message_id: str = "") -> Sent:
    """Admit one message and start its turn; nothing waits for the agent.

    `client_message_id` is the sender's own name for the message: the same again is answered as before, whatever became
    of its turn, and starts nothing. Raises `UnknownSession`, `MessageEmpty`, `MessageTooLarge`, `TurnActive`,
    `TurnLimitReached`.
    """

    def admit() -> tuple[Sent, Handing | None] | Refused:
        with transaction.atomic():
            session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
            if (before := _sent_before(session, client_message_id)) is not None:
                return before, None
            return _admit(session, text, client_message_id)

    admitted = unless_lost(admit, session_id=session_id, presented=presented)
    if isinstance(admitted, Refused):
        raise ControlPlaneRefused(admitted)
    sent, turn = admitted
    if turn is not None:
        hand_over(turn)
    return sent


def _sent_before(session: ChatSession, client_message_id: str) -> Sent | None:
    """Return the answer that this very message had, None if it is new. The chat's row is locked."""
    turn = (
        rows.fetch(ChatTurn, session_id=session.pk, client_message_id=client_message_id) if client_message_id else None
    )
    return Sent(session_id=session.public_id, ordinal=turn.ordinal, cursor=turn.cursor) if turn else None


def _admit(session: ChatSession, text: str, client_message_id: str) -> tuple[Sent, Handing] | Refused:
    """Store a message, its turn and its events. The chat's row is locked, in a transaction.

    When the company refuses what is to be recorded on the issue, its decision is all that is committed.
    """
    bounds, room = limits.cleanroom(), room_of(session)
    text = checked(text, limit_bytes=bounds.message_bytes)
    ordinal, message_id = refuse_during_a_turn(session) + 1, new_message_id()
    if session.turn_count >= bounds.turns:
        raise TurnLimitReached(f"This chat has used its {bounds.turns} turns. Start a New chat to go on.")
    kept = kept_answers(session, room)
    comment, shown = _board_comment(room, ordinal, message_id, text), redact_text(text)
    if isinstance(comment, Refused):
        return comment
    session.turn_count += 1
    rows.update(session, ["turn_count"])
    said = submitted(
        ordinal=ordinal,
        message_id=message_id,
        text=shown,
        redacted=shown != text,
        hidden=False,
        recorded=comment is not None,
    )
    drafts = [said, *(comment.drafts(room, ordinal) if comment else ())]
    cursor = record.append(session_id=session.public_id, drafts=drafts)
    add_turn(
        session,
        ordinal=ordinal,
        message_id=message_id,
        counts=True,
        cursor=cursor,
        client_message_id=client_message_id,
    )
    settled = tuple(card["interactionId"] for card in comment.closed) if comment else ()
    handing = Handing(
        room=room,
        ordinal=ordinal,
        message_id=message_id,
        text=text_after(kept, text),
        settled=settled,
        answers=tuple(one.card_id for one in kept),
    )
    return Sent(session_id=session.public_id, ordinal=ordinal, cursor=cursor), handing


@dataclass(frozen=True, kw_only=True)
class BoardComment:
    """What a message recorded on the issue brought about: cards that it closed, wakes that it delivered."""

    closed: list[cards.Item]
    delivered: list[cards.Item]

    def drafts(self, room: Room, ordinal: int) -> list[Draft]:
        """Return the events that show it: each card as it is now, and the header, which it may have moved."""
        payloads: list[dict[str, Any]] = [{"card": card} for card in self.closed]
        drafts = [Draft(type="interaction.response.resolved", payload=payload) for payload in payloads]
        if self.delivered and drafts:
            payload = {**payloads[-1], "records": self.delivered}
            drafts[-1] = replace(drafts[-1], payload=payload, turn_id=turn_alias(ordinal))
        header = {"issue": rooms.issue_header(room.port(), room)}
        return [*drafts, Draft(type="issue.status.decision.applied", payload=header)]


def _board_comment(room: Room, ordinal: int, message_id: str, text: str) -> BoardComment | Refused | None:
    """A message while a card waits is a board comment on the issue; it supersedes the interactions that wait.

    Returns None when no card waited and nothing was recorded.
    """
    pending = frozenset(toolcalls.pending_ids(room))
    if not pending:
        return None
    envelope = Envelope(
        run_id=room.run_id,
        idempotency_key=f"board-comment:{message_id}",
        command=PostBoardComment(body=redact_text(text)),
        cause=Cause(turn_id=turn_alias(ordinal), message_id=message_id),
        principal=Principal.BOARD,
    )
    stored = room.port().apply(envelope)
    if isinstance(stored, Refused):
        return stored
    return BoardComment(
        closed=toolcalls.settled_cards(room, pending), delivered=toolcalls.wakes_delivered(room, stored)
    )


# ---------------------------------------------------------------- the agent's process
def interrupt(*, session_id: str, presented: str | None) -> int:
    """Ask the active turn to stop and return the cursor.

    Raises `UnknownSession`, `AlreadyTerminal`, and `HarnessUnavailableError` when it could not be asked in time.
    """
    session = owned_session(session_id=session_id, presented=presented, now=rooms.now())
    cursor = record.last_number(session_id=session_id)
    try:
        host_loop.call(_interrupt(room_of(session)), timeout_s=HAND_OVER_S)
    except AlreadyTerminal:
        if not end_lost_turn(session_id=session_id, presented=presented):
            raise
    except TimeoutError:
        raise HarnessUnavailableError(NOT_ASKED) from None
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

    def admit() -> ChatSession:
        with transaction.atomic():
            session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
            refuse_during_a_turn(session)
            return session

    session = unless_lost(admit, session_id=session_id, presented=presented)
    try:
        host_loop.call(_reconnect(room_of(session)), timeout_s=limits.cleanroom().open_timeout_s + 2 * CLOSE_S)
        return Opened(payload=payload_of(session))
    except TimeoutError:
        raise HarnessUnavailableError(NOT_IN_TIME) from None
    except DatabaseError as error:
        raise HarnessUnavailableError(UNREAD) from error


async def _reconnect(room: Room) -> None:
    host = registry.get(room)
    async with asyncio.timeout(limits.cleanroom().open_timeout_s + CLOSE_S):
        await host.reconnect()
    await host.written()


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
