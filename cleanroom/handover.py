"""An admitted turn on its way to the room's host, and a turn that was lost on its way or after it.

Rows are committed before anything here is called, and no host is waited for inside a transaction: on SQLite that would
hold every writer of the process.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.db import transaction

from cleanroom import limits, rooms, turn_rows
from cleanroom.access import UnknownSession, owned_session
from cleanroom.endings import CLOSED_MESSAGES
from cleanroom.hostloop import host_loop
from cleanroom.models import ChatSession, ChatTurn
from cleanroom.registry import registry
from cleanroom.rooms import Room
from cleanroom.turn_rows import newest_turn, turn_alias
from cleanroom.turns import TERMINAL, Turn, TurnActive
from evidence.record import Draft
from mockcore.refusal import Refusal

T = TypeVar("T")
log = logging.getLogger(__name__)

HAND_OVER_S = 5.0  # how long a host may take to accept a turn, or to say what it knows of one
STALE_S = 60.0  # how far beyond its clock a turn must be before another message may end it
NOT_STARTED = {"code": "internal_error", "message": "The turn could not be started."}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """An admitted message or answer: which turn it started, and the cursor from which to follow."""

    session_id: str
    ordinal: int
    cursor: int


@dataclass(frozen=True, kw_only=True)
class Handing:
    """A turn as its host needs it: everything is computed before the commit, so that nothing can fail after it."""

    room: Room
    ordinal: int
    message_id: str
    text: str
    settled: tuple[str, ...] = ()  # cards that this message or answer has settled
    answers: tuple[str, ...] = ()  # cards whose answers the text hands to the agent


def new_message_id() -> str:
    return f"message-{secrets.token_hex(8)}"


def submitted(
    *, ordinal: int, message_id: str, text: str, redacted: bool, hidden: bool, recorded: bool = False
) -> Draft:
    """Return the event of an admitted turn; `recorded` says that its message is a comment on the issue as well."""
    payload = {
        "ordinal": ordinal,
        "messageId": message_id,
        "text": text,
        "redacted": redacted,
        "hidden": hidden,
        "recorded": recorded,
    }
    return Draft(type="turn.submitted", payload=payload, turn_id=turn_alias(ordinal))


# ---------------------------------------------------------------- from the rows to the host
def hand_over(turn: Handing) -> None:
    """Give an admitted turn to the room's host. When that cannot be done, the turn ends here: none is left hanging.

    Raises what refuses the turn, as `UnknownSession` for a room retired meanwhile. Anything else is in the log, as the
    turn's end: the message was admitted, and that is what its sender is told.
    """
    claim = threading.Lock()  # whoever takes it first decides: the host begins the turn, or the turn ends here
    try:
        host_loop.call(_begin(turn, claim), timeout_s=HAND_OVER_S)
    except Exception as error:
        if not claim.acquire(blocking=False):
            return  # its host has it, and will end it
        _end_unbegun(turn)
        if isinstance(error, Refusal):
            raise
        log.exception("a turn could not be handed over")


async def _begin(turn: Handing, claim: threading.Lock) -> None:
    """Begin on the room's host. A room without one may have been retired a moment ago, by another tab."""
    session_id = turn.room.session_id
    lives = registry.find(session_id) is not None
    if not lives and not await host_loop.rows(turn_rows.is_live, session_id, turn.ordinal):
        raise UnknownSession  # its turns were cut with it
    host = registry.get(turn.room)
    if claim.acquire(blocking=False):
        host.forget_cards(list(turn.settled))
        host.begin(ordinal=turn.ordinal, message_id=turn.message_id, text=turn.text, answers=turn.answers)


def _end_unbegun(turn: Handing) -> None:
    draft = Draft(type="turn.failed", payload=NOT_STARTED, turn_id=turn_alias(turn.ordinal))
    try:
        turn_rows.settle_turn(
            turn.room.session_id, turn.ordinal, state=Turn.FAILED, draft=draft, code=NOT_STARTED["code"]
        )
    except Exception:
        log.exception("a turn that was not begun could not be ended; the next command does it")


# ---------------------------------------------------------------- turns that are alive, and turns that only seem so
def refuse_during_a_turn(session: ChatSession) -> int:
    """Return the ordinal of the newest turn, 0 if there is none. Raises `TurnActive` while that one is alive.

    Inside a transaction that holds the chat's row.
    """
    newest = newest_turn(session)
    if newest is not None and newest.state not in TERMINAL:
        raise TurnActive
    return newest.ordinal if newest else 0


def unless_lost(admit: Callable[[], T], *, session_id: str, presented: str | None) -> T:
    """Admit; when a turn stands in the way that nobody will end any more, end it and admit again."""
    try:
        return admit()
    except TurnActive:
        if not end_lost_turn(session_id=session_id, presented=presented):
            raise
    return admit()


def end_lost_turn(*, session_id: str, presented: str | None) -> bool:
    """End a turn that nobody will end any more, as when its end could not be written; say whether there was one.

    The host is asked first. What is lost stays lost, so the row need only be the same one when it is locked.
    """
    session = owned_session(session_id=session_id, presented=presented, now=rooms.now())
    newest = newest_turn(session)
    code = _why_lost(session, newest) if newest is not None else ""
    if newest is None or not code:
        return False
    with transaction.atomic():
        session = owned_session(session_id=session_id, presented=presented, now=rooms.now(), lock=True)
        now_newest = newest_turn(session)
        if now_newest is None or now_newest.ordinal != newest.ordinal:
            return False
        return turn_rows.cut_turns(session, code=code, message=CLOSED_MESSAGES[code]) > 0


def _why_lost(session: ChatSession, turn: ChatTurn) -> str:
    """Return the code of a lost turn's end; nothing for a turn that has ended, lives, or cannot be asked about."""
    age_s = (rooms.now() - turn.submitted_at).total_seconds()
    if turn.state in TERMINAL:
        return ""
    if age_s > limits.cleanroom().turn_timeout_s + STALE_S:
        return "turn_timeout"
    try:
        lost = host_loop.call(_is_lost(session.public_id, turn.ordinal, age_s), timeout_s=HAND_OVER_S)
    except TimeoutError:
        return ""
    return "internal_error" if lost else ""


async def _is_lost(session_id: str, ordinal: int, age_s: float) -> bool:
    """Say whether a live turn is in no host's hands: let go by its own, or never come to one."""
    host = registry.find(session_id)
    if host is not None and host.has_begun(ordinal):
        return not host.holds(ordinal)
    return age_s > 2 * HAND_OVER_S
