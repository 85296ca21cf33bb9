"""Opening rooms: seed a blank tenant, start its agent, let the oldest yield.

A room counts only once its agent is ready, so a failed open costs nobody anything and leaves nothing. Decision:
`cleanroom/decisions/0002-hosts-rooms-and-turns.md`. Source: clean-room seed, "Session lifecycle" and "Bounds".
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import DatabaseError, transaction

from capability import authorizations
from capability.dispatcher import fixture_run_capabilities
from cleanroom import agent, exposure, limits, rooms
from cleanroom.access import COOKIE_VALUE, UnknownSession, held_capability, mint, owned_session, renew, revoke
from cleanroom.harness import HarnessUnavailableError
from cleanroom.hostloop import host_loop
from cleanroom.models import BrowserCapability, ChatSession, ChatTurn, Surface
from cleanroom.payload import Opened, payload_of
from cleanroom.registry import registry
from cleanroom.retiring import Retired, close_retired, retire_rows
from cleanroom.rooms import Room, applied, room_of
from cleanroom.succession import REMEMBERED, Successions
from evidence import record
from evidence.record import Draft
from mockcore import tenants
from mockcore.port import OpenRun
from mockcore.text import clean_text

log = logging.getLogger(__name__)
_opening = threading.Lock()
_successions = Successions()

SPARE_S = 5.0  # for the rows of an open, on top of the time the agent has
NOT_IN_TIME = "Codex did not become ready in time. Try again."


class OpeningBusy(HarnessUnavailableError):
    """Other rooms are being opened just now. Try again."""

    code = "opening_busy"


@dataclass(frozen=True, kw_only=True)
class Held:
    """The live capability of a browser and its cookie value. `followed`: it presented the one of a moment before."""

    capability: BrowserCapability
    value: str
    followed: bool


# ---------------------------------------------------------------- what a browser asks for
def open_room(*, session_id: str | None, presented: str | None) -> Opened:
    """Return the room this browser already has under `session_id`, or open a fresh one.

    An unknown or retired id is treated as absent; a living room of another browser raises `UnknownSession`. A browser
    that has not heard yet of its rotation gets the room that the rotation opened: nobody has seen that one.
    """
    if session_id and (living := _living(session_id, presented)) is not None:
        return living
    with _one_at_a_time():
        held = _newest_of(presented)
        if held is not None and held.followed and (unseen := _newest_room(held)) is not None:
            if (opened := _shown(unseen, held)) is None:
                raise OpeningBusy
            return opened
        return _open_fresh(held=held)


def _living(session_id: str, presented: str | None) -> Opened | None:
    """Return an open room of this browser. None when there is none, or no more: another tab may just retire it."""
    living = ChatSession.objects.filter(public_id=clean_text(session_id), state=ChatSession.State.OPEN)
    if (session := living.first()) is None:
        return None
    held = _newest_of(presented)
    if held is not None and held.capability.pk == session.capability_id:
        return _shown(session, held)
    if living.exists():
        raise UnknownSession
    return None


def _shown(session: ChatSession, held: Held) -> Opened | None:
    """Return an open room with its cookie, renewed; None when it was retired meanwhile.

    To renew comes last: a cookie that was rotated meanwhile must not be sent, for it would replace the new one.
    """
    try:
        opened = Opened(payload=payload_of(session), cookie=held.value)
    except UnknownSession:
        return None
    return opened if renew(held.capability, now=rooms.now(), limits=limits.cleanroom()) else None


def _newest_room(held: Held) -> ChatSession | None:
    mine = ChatSession.objects.filter(capability=held.capability, state=ChatSession.State.OPEN)
    return mine.order_by("opened_at").last()


def new_chat(*, session_id: str | None, presented: str | None) -> Opened:
    """Retire what this browser has and open a new tenant under a new capability."""
    _refuse_foreign(session_id, presented)
    return _rotate(presented, because="new_chat")


def reset(*, session_id: str, presented: str | None) -> Opened:
    """Stop work, clear the authority, remove the workspace, and open a new tenant. Raises `UnknownSession`."""
    owned_session(session_id=session_id, presented=presented, now=rooms.now())
    return _rotate(presented, because="reset")


def _rotate(presented: str | None, *, because: str) -> Opened:
    """Open first, retire after: when no agent can be started, the browser keeps the room it has.

    Two rotations of one browser at once are one after the other, and the second retires what the first has opened.
    """
    with _one_at_a_time():
        held = _newest_of(presented)
        return _open_fresh(replaced=Replaced(held=held, because=because) if held is not None else None)


def _newest_of(presented: str | None) -> Held | None:
    """Return the browser's live capability: what it presents, or what rotations a moment ago put in its place."""
    now, value = rooms.now(), presented
    for _ in range(REMEMBERED):
        if not value or not COOKIE_VALUE.fullmatch(value):
            return None
        capability = held_capability(surface=Surface.CLEANROOM, presented=value, now=now)
        if capability is not None:
            return Held(capability=capability, value=value, followed=value != presented)
        value = _successions.successor_of(value, now=now)
    return None


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Open rooms one after the other. Raises `OpeningBusy` when the turn does not come in the time an open may take."""
    if not _opening.acquire(timeout=limits.cleanroom().open_timeout_s):
        raise OpeningBusy
    try:
        yield
    finally:
        _opening.release()


def _refuse_foreign(session_id: str | None, presented: str | None) -> None:
    known = ChatSession.objects.filter(public_id=clean_text(session_id or ""), state=ChatSession.State.OPEN)
    session = known.first()
    if session is not None:
        owned_session(session_id=session.public_id, presented=presented, now=rooms.now())


# ---------------------------------------------------------------- one open, from start to end
@dataclass(frozen=True, kw_only=True)
class Replaced:
    """What a browser had, and why it gives that up."""

    held: Held
    because: str


def _open_fresh(*, held: Held | None = None, replaced: Replaced | None = None) -> Opened:
    """Open one room from start to end, under what the browser holds or under a capability of its own.

    A failure anywhere leaves nothing of it, and everything else as it was.
    """
    session, value = _mint_room(held)
    try:
        host_loop.call(_open_host(room_of(session)), timeout_s=limits.cleanroom().open_timeout_s + SPARE_S)
        payload = payload_of(session)
        retired = _enter(session, replaced)
    except (TimeoutError, CancelledError):
        discard(session)
        raise HarnessUnavailableError(NOT_IN_TIME) from None
    except BaseException:
        discard(session)
        raise
    if replaced is not None:
        _successions.remember(old=replaced.held.value, new=value, now=rooms.now())
    close_retired(retired)
    return Opened(payload=payload, cookie=value)


def _enter(session: ChatSession, replaced: Replaced | None) -> list[Retired]:
    """Make a room count, and return the rooms that go for it: all in one transaction, so it is all or nothing.

    Rooms that the browser gives up go first; then the oldest yield until one more fits.
    """
    now = rooms.now()
    with transaction.atomic():
        gone = _give_up(replaced, now) if replaced is not None else []
        if not renew(session.capability, now=now, limits=limits.cleanroom()):
            raise OpeningBusy  # another process rotated it
        living = ChatSession.objects.filter(surface=Surface.CLEANROOM, state=ChatSession.State.OPEN)
        over = max(0, living.count() - limits.cleanroom().rooms + 1)
        yielding = list(living.order_by("opened_at")[:over])
        gone += [one for oldest in yielding if (one := retire_rows(oldest, because="room_yielded", now=now))]
        ChatSession.objects.filter(pk=session.pk).update(state=ChatSession.State.OPEN)
    return gone


def _give_up(replaced: Replaced, now: datetime) -> list[Retired]:
    """End every room of one browser on its surface, and its right to open them. Inside a transaction."""
    if not revoke(replaced.held.capability, now=now):
        raise OpeningBusy  # another process rotated it
    mine = ChatSession.objects.filter(capability=replaced.held.capability, state=ChatSession.State.OPEN)
    retired = [retire_rows(session, because=replaced.because, now=now) for session in mine.order_by("opened_at")]
    return [one for one in retired if one is not None]


async def _open_host(room: Room) -> None:
    """Wait for the agent no longer than an open may take; what was begun is cleared away without anybody waiting."""
    opening = asyncio.ensure_future(registry.get(room).open())
    opening.add_done_callback(lambda task: task.cancelled() or task.exception())  # read, also when nobody waits
    try:
        done, _ = await asyncio.wait({opening}, timeout=limits.cleanroom().open_timeout_s)
    finally:
        opening.cancel()
    if not done:
        raise HarnessUnavailableError(NOT_IN_TIME)
    await opening


def _mint_room(held: Held | None) -> tuple[ChatSession, str]:
    """Seed a blank tenant, check that it is blank, and open its run: the only mutation of an open."""
    now, bounds, model = rooms.now(), limits.cleanroom(), agent.model()
    with transaction.atomic():
        if held is None:
            capability, value = mint(surface=Surface.CLEANROOM, now=now, limits=bounds)
        else:
            capability, value = held.capability, held.value
        identity = tenants.seed_clean_room()
        tenants.assert_blank(company_id=identity.company_id)
        session = ChatSession.objects.create(
            public_id=str(uuid.uuid4()),
            capability=capability,
            token=identity.token,
            sequence=identity.sequence,
            identifier=identity.identifier,
            company_id=identity.company_id,
            actor_id=identity.actor_id,
            task_id=identity.task_id,
            run_id=f"run-{uuid.uuid4()}",
            model_label=model.label,
            rehearsal=model.rehearsal,
            opened_at=now,
        )
        room = room_of(session)
        applied(room.port().open_run(_run_of(session)))
        record.open_log(session_id=room.session_id, run_id=room.run_id)
        header = {"issue": rooms.issue_header(room.port(), room)}
        record.append(session_id=room.session_id, drafts=[Draft(type="issue.status.decision.applied", payload=header)])
    return session, value


def _run_of(session: ChatSession) -> OpenRun:
    return OpenRun(
        run_id=session.run_id,
        session_id=session.public_id,
        actor_id=session.actor_id,
        task_id=session.task_id,
        capabilities=tuple(fixture_run_capabilities(exposure.CLEAN_ROOM_CLAIMS)),
    )


# ---------------------------------------------------------------- an open that failed
def discard(session: ChatSession) -> None:
    """Leave nothing of an open that failed: no room, no directory, no slot.

    What the database does not let go now is left to the next start; nobody has seen it, and it takes no slot.
    """
    room = room_of(session)
    closing = host_loop.submit(registry.close(room.session_id, reason="open_failed", remove=True))
    try:
        closing.result(limits.cleanroom().retire_wait_s)
    except TimeoutError:
        log.info("a room that could not be opened is still closing")
    except Exception:
        log.exception("the processes of a room that could not be opened could not be closed")
    rooms.remove_directories(room)
    try:
        _discard_rows(session, room)
    except DatabaseError:
        log.exception("the rows of a room that could not be opened stay until the next start")


def _discard_rows(session: ChatSession, room: Room) -> None:
    with transaction.atomic():
        ChatTurn.objects.filter(session=session).delete()
        ChatSession.objects.filter(pk=session.pk).delete()
        BrowserCapability.objects.filter(pk=session.capability_id, sessions__isnull=True).delete()
        record.discard_log(session_id=room.session_id)
        authorizations.discard(company_id=room.company_id)
        tenants.discard(company_id=room.company_id)
