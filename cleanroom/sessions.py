"""Open, send, interrupt, reconnect, answer, retire: the only writer of chats. What a view calls, once per request.

Rows are decided here, under a lock where two requests may meet; the agent is reached only through the room's host. A
refusal changes nothing. Source: clean-room seed, "Session lifecycle"; design sections 7 and 12.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import F

from capability import authorizations
from capability.dispatcher import fixture_run_capabilities
from capability.redaction import redact_text
from cleanroom import agent, cards, exposure, limits, rooms, toolcalls
from cleanroom.access import UnknownSession, held_capability, mint, owned_session, renew
from cleanroom.harness import HarnessUnavailableError
from cleanroom.host import registry
from cleanroom.hostloop import host_loop
from cleanroom.messages import checked
from cleanroom.models import BrowserCapability, ChatSession, ChatTurn, Surface
from cleanroom.rooms import Room, room_of, stamp, turn_alias
from cleanroom.turns import TERMINAL, AlreadyTerminal, Turn
from evidence import record
from evidence.record import Draft
from evidence.views import thread
from mockcore import history, tenants
from mockcore.commands import DecideApproval, PostBoardComment, ResolveHumanInput
from mockcore.port import Applied, Cause, Envelope, OpenRun, Outcome, Principal, Refused
from mockcore.refusal import Refusal

log = logging.getLogger(__name__)
T = TypeVar("T")

ANSWER_SCHEMA = "paperclip.semantic-interaction-result.v1"
_opening = threading.Lock()


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


class LiveModeRequired(Refusal):
    """The clean room shows nothing but a live session of the real agent."""

    code = "live_mode_required"


class ControlPlaneRefused(Refusal):
    """The mock company refused; its own code says why."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.code = refused.code  # type: ignore[misc] # the company's code, passed on


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A room to show: its payload, and the cookie value to set when the browser's capability is new or renewed."""

    payload: dict[str, Any]
    cookie: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sent:
    """An admitted message or answer: which turn it started, and the cursor from which to follow."""

    session_id: str
    ordinal: int
    cursor: int


# ---------------------------------------------------------------- open and retire
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
    """Open first, retire after: when no agent can be started, the browser keeps the room it has."""
    opened = _open_fresh(capability=None, value=None, replaced=presented)
    held = held_capability(surface=Surface.CLEANROOM, presented=presented, now=rooms.now())
    if held is not None:
        _retire_capability(held, because=because)
    return opened


def _refuse_foreign(session_id: str | None, presented: str | None) -> None:
    session = ChatSession.objects.filter(public_id=session_id or "", state=ChatSession.State.OPEN).first()
    if session is not None:
        owned_session(session_id=session.public_id, presented=presented, now=rooms.now())


def _open_fresh(*, capability: BrowserCapability | None, value: str | None, replaced: str | None = None) -> Opened:
    session, value = _mint_room(capability, value)
    room = room_of(session)
    try:
        _on_host(_open_host(room), timeout_s=limits.cleanroom().open_timeout_s + 1)
    except BaseException:
        _discard(session)
        raise
    with _opening:
        _make_way(replaced)
        ChatSession.objects.filter(pk=session.pk).update(state=ChatSession.State.OPEN)
    session.state = ChatSession.State.OPEN
    return Opened(payload=payload_of(session), cookie=value)


async def _open_host(room: Room) -> None:
    import asyncio

    host = registry.get(room)
    try:
        async with asyncio.timeout(limits.cleanroom().open_timeout_s):
            await host.open()
    except TimeoutError:
        raise HarnessUnavailableError("Codex did not become ready in time.") from None
    await host.written()


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
        _applied(room.port().open_run(_run_of(session)))
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


def _make_way(replaced: str | None) -> None:
    """Let the oldest rooms yield until one more fits. A room that this open replaces is about to go anyway."""
    going = held_capability(surface=Surface.CLEANROOM, presented=replaced, now=rooms.now())
    living = ChatSession.objects.filter(surface=Surface.CLEANROOM, state=ChatSession.State.OPEN).order_by("opened_at")
    staying = [one for one in living if going is None or one.capability_id != going.pk]
    for oldest in staying[: max(0, len(staying) - limits.cleanroom().rooms + 1)]:
        _retire(oldest, because="room_yielded")


def _retire_capability(capability: BrowserCapability, *, because: str) -> None:
    """End every room of one browser on its surface, and its right to open them."""
    BrowserCapability.objects.filter(pk=capability.pk).update(revoked_at=rooms.now())
    for session in ChatSession.objects.filter(capability=capability, state=ChatSession.State.OPEN):
        _retire(session, because=because)


def _retire(session: ChatSession, *, because: str) -> None:
    """Rows first, so that nothing more is admitted; then the processes, waited for a bounded while."""
    with transaction.atomic():
        live = ChatSession.objects.filter(pk=session.pk, state=ChatSession.State.OPEN)
        if not live.update(state=ChatSession.State.RETIRED, retired_at=rooms.now(), retired_because=because):
            return
        closed = Draft(type="session.closed", payload={"reason": because, "code": because})
        record.append(session_id=session.public_id, drafts=[closed])
        tenants.retire(company_id=session.company_id)
    try:
        closing = host_loop.submit(_close_host(room_of(session), because))
        closing.result(limits.cleanroom().retire_wait_s)
    except TimeoutError:
        log.info("a retired room is still closing")


async def _close_host(room: Room, because: str) -> None:
    host = registry.find(room.session_id)
    if host is None:
        await host_loop.rows(rooms.remove_directories, room)
    else:
        await registry.close(room.session_id, reason=because, remove=True)
    await host_loop.rows(record.close_log, session_id=room.session_id)


def _discard(session: ChatSession) -> None:
    """Leave nothing of an open that failed: no room, no directory, no slot."""
    room = room_of(session)
    try:
        _on_host(registry.close(room.session_id, reason="open_failed", remove=True), timeout_s=8)
    except Exception:
        log.exception("a room that could not be opened is still closing")
    rooms.remove_directories(room)
    with transaction.atomic():
        ChatTurn.objects.filter(session=session).delete()
        ChatSession.objects.filter(pk=session.pk).delete()
        BrowserCapability.objects.filter(pk=session.capability_id, sessions__isnull=True).delete()
        record.discard_log(session_id=room.session_id)
        authorizations.discard(company_id=room.company_id)
        tenants.discard(company_id=room.company_id)


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
        turn = _admit_turn(session, counts=True)
        superseded = _board_comment(room, turn, text)
        shown = redact_text(text)
        drafts = [_submitted(turn, text=shown, redacted=shown != text, hidden=False)]
        drafts += [Draft(type="interaction.response.resolved", payload={"card": card}) for card in superseded]
        cursor = record.append(session_id=session_id, drafts=drafts)
    _on_host(_begin(room, turn, text, settled=[card["interactionId"] for card in superseded]), timeout_s=5)
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
    _applied(room.port().apply(envelope))
    return toolcalls.settled_cards(room, pending)


def _refuse_during_a_turn(session: ChatSession) -> None:
    if session.turns.exclude(state__in=TERMINAL).exists():
        raise TurnActive


def _admit_turn(session: ChatSession, *, counts: bool) -> ChatTurn:
    newest = session.turns.order_by("-ordinal").values_list("ordinal", flat=True).first() or 0
    return ChatTurn.objects.create(
        session=session,
        ordinal=newest + 1,
        state=Turn.STARTING,
        message_id=f"message-{secrets.token_hex(8)}",
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


async def _begin(
    room: Room, turn: ChatTurn, text: str, *, answered: str | None = None, settled: list[str] | None = None
) -> None:
    host = registry.get(room)
    host.forget_cards(settled or [])
    host.begin(ordinal=turn.ordinal, message_id=turn.message_id, text=text, answered=answered)


def interrupt(*, session_id: str, presented: str | None) -> int:
    """Ask the active turn to stop and return the cursor. Raises `UnknownSession`, `AlreadyTerminal`."""
    session = owned_session(session_id=session_id, presented=presented, now=rooms.now())
    cursor = record.last_number(session_id=session_id)
    _on_host(_interrupt(room_of(session)), timeout_s=5)
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
    _on_host(_reconnect(room_of(session)), timeout_s=limits.cleanroom().open_timeout_s + 6)
    return Opened(payload=payload_of(session))


async def _reconnect(room: Room) -> None:
    import asyncio

    host = registry.get(room)
    try:
        async with asyncio.timeout(limits.cleanroom().open_timeout_s + 5):
            await host.reconnect()
    except TimeoutError:
        raise HarnessUnavailableError("Codex did not become ready in time.") from None
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
        turn = _admit_turn(session, counts=False)
        _applied(room.port().apply(_answer(room, turn, ref, interaction_id, outcome, result)))
        entity = history.entities(company_id=room.company_id, refs=[ref])[ref]
        is_approval = ref.startswith("approval:")
        card = (cards.approval_card if is_approval else cards.interaction_card)(entity, at=stamp())
        resolved = {"card": card, "issue": rooms.issue_header(room.port(), room)}
        drafts = [
            Draft(type="interaction.response.resolved", payload=resolved),
            _submitted(turn, text="", redacted=False, hidden=True),
            Draft(type="interaction.response.delivered", payload={"interactionId": interaction_id}),
        ]
        cursor = record.append(session_id=session_id, drafts=drafts)
    kind = "approval" if is_approval else entity["kind"]
    text = answer_text(interaction_id=interaction_id, kind=kind, outcome=outcome, result=result)
    _on_host(_begin(room, turn, text, answered=interaction_id), timeout_s=5)
    return Sent(session_id=session_id, ordinal=turn.ordinal, cursor=cursor)


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


def _answer(room: Room, turn: ChatTurn, ref: str, interaction_id: str, outcome: str, result: Any) -> Envelope:
    command: ResolveHumanInput | DecideApproval
    if ref.startswith("approval:"):
        note = result.get("note") if isinstance(result, dict) else None
        command = DecideApproval(
            approval_id=interaction_id, decision=outcome, note=note if isinstance(note, str) else ""
        )
    else:
        command = ResolveHumanInput(interaction_id=interaction_id, outcome=outcome, result=result)
    return Envelope(
        run_id=room.run_id,
        idempotency_key=f"capability-live-interaction:{interaction_id}:{outcome}",
        command=command,
        cause=Cause(turn_id=turn_alias(turn.ordinal), message_id=turn.message_id),
        principal=Principal.BOARD,
    )


def answer_text(*, interaction_id: str, kind: str, outcome: str, result: Any) -> str:
    """Return the message that hands an answer to the agent; the thread hides it by its schema."""
    return json.dumps(
        {
            "schema": ANSWER_SCHEMA,
            "interactionId": interaction_id,
            "kind": kind,
            "outcome": outcome,
            "result": result,
            "instruction": "The board answered. Continue the issue with this answer.",
        },
        ensure_ascii=False,
    )


# ---------------------------------------------------------------- what may leave
def payload_of(session: ChatSession) -> dict[str, Any]:
    """Return the clean-room payload of reference B section 1.4 with the cursor of its view."""
    room, bounds = room_of(session), limits.cleanroom()
    view, cursor = thread.snapshot(session_id=room.session_id)
    assert_live(view)
    return {
        "sessionId": room.session_id,
        "surface": session.surface,
        "identity": {
            "token": session.token,
            "sequence": session.sequence,
            "companyId": session.company_id,
            "actorId": session.actor_id,
            "taskId": session.task_id,
            "identifier": session.identifier,
        },
        "limits": {"maxTurns": bounds.turns, "maxMessageBytes": bounds.message_bytes},
        "turns": ChatSession.objects.values_list("turn_count", flat=True).get(pk=session.pk),
        "cursor": cursor,
        "view": view,
    }


def assert_live(view: dict[str, Any]) -> None:
    """Refuse to show anything that is not a live session of the real agent. Source: seed, "Live only"."""
    if view.get("mode") != "live" or view["identity"].get("agentLabel") != "Real Codex":
        raise LiveModeRequired


def authorize_stream(*, session_id: str, cookie_value: str | None) -> None:
    """Let a browser follow a room that it owns. Raises `UnknownSession`."""
    owned_session(session_id=session_id, presented=cookie_value, now=rooms.now())


# ---------------------------------------------------------------- start and stop of the server
def settle_cut_rooms() -> int:
    """At start: end the turns that an earlier server left running, and drop opens that never finished."""
    cut = 0
    for turn in ChatTurn.objects.exclude(state__in=TERMINAL).select_related("session"):
        payload = {"code": "server_restarted", "message": "The server was restarted while this turn ran."}
        draft = Draft(type="turn.failed", payload=payload, turn_id=turn_alias(turn.ordinal))
        cut += rooms.settle_turn(
            turn.session.public_id, turn.ordinal, state=Turn.FAILED, draft=draft, code="server_restarted"
        )
    for session in ChatSession.objects.filter(state=ChatSession.State.OPENING):
        _discard(session)
    return cut


def close_all() -> None:
    """Stop every host of this process; the rooms stay open in the rows and are resumed by the next command."""
    try:
        host_loop.call(registry.close_all(), timeout_s=10)
    finally:
        host_loop.close()


def _applied(outcome: Outcome) -> Applied:
    if isinstance(outcome, Refused):
        raise ControlPlaneRefused(outcome)
    return outcome


def _on_host(coro: Coroutine[Any, Any, T], *, timeout_s: float) -> T:
    return host_loop.call(coro, timeout_s=timeout_s)


__all__ = [
    "Opened",
    "Sent",
    "TurnActive",
    "TurnLimitReached",
    "UnknownSession",
    "authorize_stream",
    "close_all",
    "interrupt",
    "new_chat",
    "open_room",
    "reconnect",
    "reset",
    "resolve_interaction",
    "send_message",
    "settle_cut_rooms",
]
