"""Opening and retiring rooms: seed a blank tenant, start its agent, let the oldest yield; and the end of all that.

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
from datetime import datetime, timedelta

from django.db import transaction

from capability import authorizations
from capability.dispatcher import fixture_run_capabilities
from cleanroom import agent, exposure, limits, rooms, turn_rows
from cleanroom.access import digest_of, held_capability, mint, owned_session, renew
from cleanroom.endings import CLOSED_MESSAGES
from cleanroom.harness import HarnessUnavailableError
from cleanroom.hostloop import host_loop
from cleanroom.models import BrowserCapability, ChatSession, ChatTurn, Surface
from cleanroom.payload import Opened, payload_of
from cleanroom.registry import registry
from cleanroom.rooms import Room, applied, room_of
from evidence import record
from evidence.record import Draft
from mockcore import tenants
from mockcore.port import OpenRun

log = logging.getLogger(__name__)
_opening = threading.Lock()
_successors: dict[str, tuple[str | None, datetime]] = {}  # digest of a rotated cookie: what took its place, until when

SUCCESSION = timedelta(seconds=10)  # how long two tabs of one browser may be apart and still mean the same room
SPARE_S = 5.0  # for the rows of an open, on top of the time the agent has
NOT_IN_TIME = "Codex did not become ready in time. Try again."


class OpeningBusy(HarnessUnavailableError):
    """Other rooms are being opened just now. Try again."""


def open_room(*, session_id: str | None, presented: str | None) -> Opened:
    """Return the room this browser already has under `session_id`, or open a fresh one.

    An unknown or retired id is treated as absent; a living room of another browser raises `UnknownSession`.
    """
    now, bounds = rooms.now(), limits.cleanroom()
    session = ChatSession.objects.filter(public_id=session_id or "", state=ChatSession.State.OPEN).first()
    if session is not None:
        session = owned_session(session_id=session.public_id, presented=presented, now=now)
        renew(session.capability, now=now, limits=bounds)
        return Opened(payload=payload_of(session), cookie=presented)
    held = held_capability(surface=Surface.CLEANROOM, presented=presented, now=now)
    with _one_at_a_time():
        if held is None:
            return _open_fresh(capability=None, value=None)
        renew(held, now=now, limits=bounds)
        return _open_fresh(capability=held, value=presented)


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
        opened = _open_fresh(capability=None, value=None, replaced=held)
        if held is not None:
            _retire_capability(held, because=because)
            _remember_successor(held, opened.cookie)
        return opened


def _newest_of(presented: str | None) -> BrowserCapability | None:
    """Return the browser's live capability: what it presents, or what a rotation a moment ago put in its place."""
    now = rooms.now()
    for _ in range(len(_successors) + 1):
        held = held_capability(surface=Surface.CLEANROOM, presented=presented, now=now)
        if held is not None or presented is None:
            return held
        presented, until = _successors.get(digest_of(presented), (None, now))
        if until < now:
            return None
    return None


def _remember_successor(held: BrowserCapability, value: str | None) -> None:
    now = rooms.now()
    for digest in [digest for digest, (_, until) in _successors.items() if until < now]:
        del _successors[digest]
    _successors[held.digest] = (value, now + SUCCESSION)


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
    session = ChatSession.objects.filter(public_id=session_id or "", state=ChatSession.State.OPEN).first()
    if session is not None:
        owned_session(session_id=session.public_id, presented=presented, now=rooms.now())


def _open_fresh(
    *, capability: BrowserCapability | None, value: str | None, replaced: BrowserCapability | None = None
) -> Opened:
    """Open one room from start to end. A failure anywhere leaves nothing of it."""
    session, value = _mint_room(capability, value)
    try:
        host_loop.call(_open_host(room_of(session)), timeout_s=limits.cleanroom().open_timeout_s + SPARE_S)
        payload = payload_of(session)
        _make_way(replaced)
        ChatSession.objects.filter(pk=session.pk).update(state=ChatSession.State.OPEN)
    except (TimeoutError, CancelledError):
        discard(session)
        raise HarnessUnavailableError(NOT_IN_TIME) from None
    except BaseException:
        discard(session)
        raise
    return Opened(payload=payload, cookie=value)


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


def _mint_room(capability: BrowserCapability | None, value: str | None) -> tuple[ChatSession, str]:
    """Seed a blank tenant, check that it is blank, and open its run: the only mutation of an open."""
    now, bounds, model = rooms.now(), limits.cleanroom(), agent.model()
    with transaction.atomic():
        if capability is None or value is None:
            capability, value = mint(surface=Surface.CLEANROOM, now=now, limits=bounds)
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


def _make_way(replaced: BrowserCapability | None) -> None:
    """Let the oldest rooms yield until one more fits. A room that this open replaces is about to go anyway."""
    living = ChatSession.objects.filter(surface=Surface.CLEANROOM, state=ChatSession.State.OPEN).order_by("opened_at")
    staying = [one for one in living if replaced is None or one.capability_id != replaced.pk]
    for oldest in staying[: max(0, len(staying) - limits.cleanroom().rooms + 1)]:
        _retire(oldest, because="room_yielded")


def _retire_capability(capability: BrowserCapability, *, because: str) -> None:
    """End every room of one browser on its surface, and its right to open them."""
    BrowserCapability.objects.filter(pk=capability.pk).update(revoked_at=rooms.now())
    for session in ChatSession.objects.filter(capability=capability, state=ChatSession.State.OPEN):
        _retire(session, because=because)


def _retire(session: ChatSession, *, because: str) -> None:
    """Rows first, so that nothing more is admitted; then the processes, waited for a bounded while.

    Locks are taken in the order in which every writer takes them: chat, company, log.
    """
    with transaction.atomic():
        live = ChatSession.objects.filter(pk=session.pk, state=ChatSession.State.OPEN)
        if not live.update(state=ChatSession.State.RETIRED, retired_at=rooms.now(), retired_because=because):
            return
        tenants.retire(company_id=session.company_id)
        turn_rows.cut_turns(session, code="session_closed", message=CLOSED_MESSAGES["session_closed"])
        closed = Draft(type="session.closed", payload={"reason": because, "code": because})
        record.append(session_id=session.public_id, drafts=[closed])
    closing = host_loop.submit(_close_host(room_of(session), because))
    try:
        closing.result(limits.cleanroom().retire_wait_s)
    except TimeoutError:
        log.info("a retired room is still closing")
    except Exception:
        log.exception("the processes of a retired room could not be closed")


async def _close_host(room: Room, because: str) -> None:
    try:
        if not await registry.close(room.session_id, reason=because, remove=True):
            await host_loop.rows(rooms.remove_directories, room)
    finally:
        await host_loop.rows(record.close_log, session_id=room.session_id)


def discard(session: ChatSession) -> None:
    """Leave nothing of an open that failed: no room, no directory, no slot."""
    room = room_of(session)
    closing = host_loop.submit(registry.close(room.session_id, reason="open_failed", remove=True))
    try:
        closing.result(limits.cleanroom().retire_wait_s)
    except TimeoutError:
        log.info("a room that could not be opened is still closing")
    except Exception:
        log.exception("the processes of a room that could not be opened could not be closed")
    rooms.remove_directories(room)
    with transaction.atomic():
        ChatTurn.objects.filter(session=session).delete()
        ChatSession.objects.filter(pk=session.pk).delete()
        BrowserCapability.objects.filter(pk=session.capability_id, sessions__isnull=True).delete()
        record.discard_log(session_id=room.session_id)
        authorizations.discard(company_id=room.company_id)
        tenants.discard(company_id=room.company_id)
