"""One task owner per live session: it alone meets the agent. Commands come in, facts go out through the outbox.

Everything here runs on the loop of `hostloop`; between two awaits nothing else changes a host. Every wait is bounded.
What the agent says is turned into log events under our own names for turns and items, so that no provider id is stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from django.db import DatabaseError

from cleanroom import agent as agents
from cleanroom import limits, rooms, toolcalls, turn_rows
from cleanroom.announcer import RESTING, Announcer
from cleanroom.attached import ActiveTurn, Attached
from cleanroom.endings import CLOSED_MESSAGES, ending
from cleanroom.harness import (
    HarnessEvent,
    HarnessOperationAlreadyTerminalError,
    HarnessSession,
    HarnessTurnActiveError,
    HarnessUnavailableError,
    SessionSnapshot,
    ToolAnswer,
    ToolCall,
)
from cleanroom.hostloop import host_loop
from cleanroom.outbox import AT_ONCE_S, Outbox
from cleanroom.preparing import Prepared, prepare
from cleanroom.rooms import Room
from cleanroom.speech import Speech
from cleanroom.turns import AlreadyTerminal, Turn, advance
from evidence.follow import hub
from evidence.record import Draft
from mockcore.refusal import Refusal

log = logging.getLogger(__name__)

ENDINGS = {"turn.completed": "complete", "turn.interrupted": "stop", "turn.failed": "fail"}
KEPT_SESSION_FACTS = ("model", "agentVersion", "sandboxed")
FIRST_WORDS_S = 1.0  # an agent that is ready has said so already; this only lets the log catch up
BEING_CLOSED = "The chat is being closed."


class Host:
    """The owner of one live session."""

    def __init__(self, *, room: Room) -> None:
        self.room = room
        self._outbox = Outbox(session_id=room.session_id, lock=partial(turn_rows.lock_chat, room.session_id))
        self._say = Announcer(room=room, outbox=self._outbox)
        self._attached: Attached | None = None
        self._agent_lock = asyncio.Lock()  # held by whoever starts, replaces or drops the agent, from end to end
        self._turn: ActiveTurn | None = None
        self._newest = 0  # ordinal of the last turn begun here
        self._unsettled: set[int] = set()  # turns whose end is not written yet
        self._tasks: set[asyncio.Task[None]] = set()  # what works here and ends with the host
        self._leaving: set[Attached] = set()  # agents that are being ended
        self._speech = Speech()
        self._calls = 0
        self._pending: set[str] = set()
        self._attempts = 0
        self._last_alias: str | None = None
        self._closing = ""  # why, once it has begun
        self._quiet_since = asyncio.get_running_loop().time()

    # ------------------------------------------------------------ commands
    async def open(self) -> None:
        """Start runner and agent; return when the agent is ready and its start is in the log.

        Raises `HarnessUnavailableError`, also when the room is closed meanwhile.
        """
        await self._command(self._open())

    async def _open(self) -> None:
        await self._ensure_agent()
        await self.written()

    def begin(self, *, ordinal: int, message_id: str, text: str, answers: tuple[str, ...] = ()) -> None:
        """Start one turn that `sessions` has admitted and recorded; its end is an event, not an answer."""
        self._turn = turn = ActiveTurn(ordinal=ordinal, message_id=message_id, answers=answers)
        self._newest, self._last_alias = ordinal, turn.alias
        self._unsettled.add(ordinal)
        self._spawn(self._run_turn(turn, text))

    def has_begun(self, ordinal: int) -> bool:
        """Say whether this turn has come here."""
        return ordinal <= self._newest

    def holds(self, ordinal: int) -> bool:
        """Say whether this turn will still be ended here."""
        return ordinal in self._unsettled

    def forget_cards(self, ids: list[str]) -> None:
        """Cards that the board's own message has settled are no longer watched."""
        self._pending.difference_update(ids)

    async def written(self) -> None:
        """Return when everything said so far is in the log, the agent's own first words among it."""
        if self._attached is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FIRST_WORDS_S):
                    await self._attached.heard.wait()
        await self._outbox.flush()

    async def interrupt(self) -> None:
        """Ask the active turn to stop, now or as soon as it has a name. Raises `AlreadyTerminal`."""
        turn = self._turn
        if turn is None or turn.is_over:
            raise AlreadyTerminal
        turn.state = advance(turn.state, "interrupt")
        if not (turn.by_user or turn.timed_out):
            turn.by_user = True
            self._spawn(self._stop(turn, reason="interrupted by the board user"))

    async def reconnect(self) -> None:
        """Replace the runner and resume the same thread.

        Raises `HarnessUnavailableError`, and `HarnessTurnActiveError` when the agent was given a message meanwhile. A
        turn that still waits for an agent runs on the new one.
        """
        await self._command(self._reconnect())

    async def _reconnect(self) -> None:
        async with self._agent_lock:
            if self._turn is not None and self._turn.asked:
                raise HarnessTurnActiveError
            await self._drop(reason="reconnect")
            await self._start()

    async def _command(self, work: Coroutine[Any, Any, None]) -> None:
        """Do a command as a task that ends with the host, and with whoever asked for it."""
        if self._closing:
            work.close()
            raise HarnessUnavailableError(BEING_CLOSED)
        task = self._spawn(work)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # read, also when nobody waits
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()  # nothing, unless whoever asked was cancelled
        if task.cancelled():
            raise HarnessUnavailableError(BEING_CLOSED)
        task.result()

    async def close(self, *, reason: str, remove: bool) -> None:
        """End the agent, settle what is open, write what waits. With `remove`, the directories go too."""
        if self._closing:
            return
        self._closing = reason
        async with AsyncExitStack() as steps:  # last in, first out; each happens, whatever becomes of the others
            if remove:
                steps.push_async_callback(host_loop.rows, rooms.remove_directories, self.room)
            steps.push_async_callback(self._outbox.close)
            steps.push_async_callback(self._let_go, reason)
            await self._end_work(reason)

    async def _end_work(self, reason: str) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        turn = self._turn
        if turn and not turn.is_over:
            code = "server_restarted" if reason == "server_shutdown" else "session_closed"
            await self._settle(turn, "fail", {"code": code, "message": CLOSED_MESSAGES[code]})
        if reason == "server_shutdown" and self._attached is not None:
            self._say.disconnected(reason, RESTING)

    async def _let_go(self, reason: str) -> None:
        async with self._agent_lock:
            await self._drop(reason=reason)
        for attached in list(self._leaving):  # let go by a command that was cancelled as it waited for the end
            await attached.close(reason=reason)

    async def rest(self) -> bool:
        """Close the processes of a room that nobody watches and that has nothing to do. True if it was closed."""
        async with self._agent_lock:
            quiet_s = asyncio.get_running_loop().time() - self._quiet_since
            busy = self._turn is not None or self._attached is None or hub.followers(self.room.session_id)
            if busy or quiet_s < limits.cleanroom().idle_s:
                return False
            await self._drop(reason="idle")
            self._say.disconnected("idle", RESTING)
        await self._outbox.flush()
        return True

    # ------------------------------------------------------------ the agent's process
    async def _ensure_agent(self) -> HarnessSession:
        if self._attached is not None:
            await self._attached.lost()
        async with self._agent_lock:
            return self._attached.agent if self._attached else await self._start()

    async def _start(self) -> HarnessSession:
        """Start an agent and attach it. The lock is held. A failure leaves no process, and says so in the log."""
        if self._closing:
            raise HarnessUnavailableError(BEING_CLOSED)
        try:
            prepared: Prepared = await host_loop.rows(prepare, self.room)
        except DatabaseError as error:
            raise HarnessUnavailableError("The chat could not be read just now. Try again.") from error
        self._calls, self._pending = prepared.calls, set(prepared.pending)
        request, snapshot = prepared.request(on_tool_call=self._on_tool_call), prepared.snapshot
        if snapshot is not None:
            self._say.resuming(attempt=self._attempts + 1)
        attached: Attached | None = None
        try:
            driver = agents.make_driver()
            opening = driver.open_session(request) if snapshot is None else driver.recover_session(request, snapshot)
            attached = Attached(await opening)
            await self._introduce(attached.agent, prepared.names, kind=driver.descriptor().kind)
            self._say.forgotten(attached.agent, snapshot, turn_id=self._last_alias)
        except BaseException as error:
            self._say.not_started(error, closing=self._closing)
            if attached is not None:
                await self._end(attached, reason="not needed", force=True)
            raise
        self._attached = attached
        attached.pump = asyncio.create_task(self._take_events(attached))
        return attached.agent

    async def _introduce(self, agent: HarnessSession, names: dict[str, list[str]], *, kind: str) -> None:
        """Say who came, and keep what is needed to return to it. Raises `HarnessUnavailableError` if that cannot be."""
        if self._closing:
            raise HarnessUnavailableError(BEING_CLOSED)
        self._attempts += 1
        self._say.connected(agent, names, kind=kind, attempt=self._attempts)
        try:
            await self._outbox.do_surely(partial(turn_rows.save_snapshot, self.room.session_id, agent.snapshot()))
        except DatabaseError as error:
            raise HarnessUnavailableError("The start of the agent could not be recorded. Try again.") from error

    async def _drop(self, *, reason: str) -> None:
        """Detach and end the agent. The lock is held."""
        attached, self._attached = self._attached, None
        if attached is not None:
            await self._end(attached, reason=reason)

    async def _end(self, attached: Attached, *, reason: str, force: bool = False) -> None:
        """End an agent that is attached no more. When this is cancelled, the host's own end waits for the agent's."""
        self._leaving.add(attached)
        try:
            await attached.close(reason=reason, force=force)
        finally:
            if attached.is_ended:
                self._leaving.discard(attached)

    # ------------------------------------------------------------ one turn
    async def _run_turn(self, turn: ActiveTurn, text: str) -> None:
        try:
            async with asyncio.timeout(limits.cleanroom().turn_timeout_s):
                agent = await self._ready_agent()
                if turn.state is Turn.STARTING:  # from here to the agent's own first step nothing else can happen
                    turn.asked = True
                    await agent.start_turn(message=text)
                    await turn.ended.wait()
            if not turn.is_over:  # stopped before there was an agent to stop
                await self._settle(turn, "stop", {})
        except TimeoutError:
            if turn.by_user or turn.is_over:
                return  # a stop that was asked for in time is under way, and bounded by itself
            turn.timed_out = True
            await self._stop(turn, reason="turn_timeout")
        except Refusal as no:
            await self._settle(turn, "fail", {"code": no.code, "message": no.message})
        except Exception:
            log.exception("a turn could not be run")
            failed = {"code": "internal_error", "message": "The turn failed inside the server."}
            await self._settle(turn, "fail", failed)

    async def _ready_agent(self) -> HarnessSession:
        """Return an agent whose room has its directory, made again if somebody removed it: commands need it to run."""
        agent = await self._ensure_agent()
        if self.room.workspace.is_dir():
            return agent
        await host_loop.rows(rooms.make_directories, self.room)
        return await self._ensure_agent()  # another may have come meanwhile

    async def _stop(self, turn: ActiveTurn, *, reason: str) -> None:
        """Interrupt, and wait a bounded while for the agent to say so; else end the turn without it."""
        if not turn.asked:  # no agent knows of it; one that is still starting is left to the next message
            await self._settle(turn, "fail" if turn.timed_out else "stop", {})
            return
        try:
            async with asyncio.timeout(limits.cleanroom().settle_s):
                if self._attached is not None:
                    with contextlib.suppress(HarnessOperationAlreadyTerminalError):
                        await self._attached.agent.interrupt(reason=reason)
                await turn.ended.wait()
                return
        except (TimeoutError, Refusal):
            pass
        except Exception:
            log.exception("an agent could not be asked to stop")
        async with self._agent_lock:
            if not turn.is_over:
                await self._stop_by_force(turn, reason)

    async def _stop_by_force(self, turn: ActiveTurn, reason: str) -> None:
        """Settle the turn without its agent, and replace that. The lock is held.

        The old agent is detached before the turn's end is announced, so the next message meets the new one.
        """
        old, self._attached = self._attached, None
        snapshot = old.agent.snapshot() if old else None
        try:
            await self._settle(turn, "fail" if turn.timed_out else "stop", {}, snapshot=snapshot)
        finally:
            if old is not None:
                await self._end(old, reason=reason, force=True)
        with contextlib.suppress(Refusal):  # `_start` has said in the log why it could not
            await self._start()

    async def _settle(
        self, turn: ActiveTurn, signal: str, payload: dict[str, Any], *, snapshot: SessionSnapshot | None = None
    ) -> None:
        """End a turn once; the first ending wins. An end that cannot be written is left to the next command."""
        try:
            turn.state = advance(turn.state, signal)
        except AlreadyTerminal:
            return
        end = ending(state=turn.state, by_user=turn.by_user, timed_out=turn.timed_out, payload=payload)
        turn.state = end.state
        draft = Draft(type=end.type, payload=end.payload, turn_id=turn.alias, source_kind="runner")
        if snapshot is None and self._attached is not None:
            snapshot = self._attached.agent.snapshot()
        self._say.measured()
        if self._turn is turn:
            self._turn = None
        self._speech.end_turn()
        self._quiet_since = asyncio.get_running_loop().time()
        settle = partial(
            turn_rows.settle_turn,
            self.room.session_id,
            turn.ordinal,
            state=turn.state,
            draft=draft,
            code=end.payload.get("code", ""),
            snapshot=snapshot,
        )
        try:
            await self._outbox.do_surely(settle)
        except Exception:
            log.exception("the end of a turn could not be written")
        finally:
            self._unsettled.discard(turn.ordinal)
            turn.ended.set()

    # ------------------------------------------------------------ what the agent says
    async def _take_events(self, attached: Attached) -> None:
        lost = {"code": "codex_unavailable", "message": "The agent went away."}
        try:
            async for event in attached.agent.events():
                if self._attached is not attached:
                    return
                await self._outbox.has_room()
                if event.type == "session.failed":
                    lost = {"code": event.payload["code"], "message": event.payload["message"]}
                await self._take(event)
                attached.heard.set()
        except Exception:
            log.exception("the events of an agent could not be read")
        await self._lose(attached, lost)

    async def _lose(self, attached: Attached, lost: dict[str, str]) -> None:
        """The agent is gone by itself: say so, end the turn that it cut, and clear away what is left of it."""
        async with self._agent_lock:
            if self._attached is not attached:
                return
            self._attached = None
            attached.pump = None  # this very task
            try:
                self._say.disconnected(lost["code"], lost["message"])
                if self._turn is not None and self._turn.asked:
                    await self._settle(self._turn, "fail", lost, snapshot=attached.agent.snapshot())
            finally:
                await self._end(attached, reason="lost", force=True)

    async def _take(self, event: HarnessEvent) -> None:
        if self._turn is not None and self._turn.is_worked_on(event):
            self._deliver(self._turn)
        if event.type == "turn.started":
            self._name_turn(event)
        elif event.type in ENDINGS:
            await self._end_turn(event)
        elif event.type.startswith("item."):
            draft = self._speech.item(event, current=self._current_alias)
            if draft is not None:
                self._outbox.put(draft)
        elif event.type in {"session.started", "session.resumed"}:
            kept = {name: event.payload[name] for name in KEPT_SESSION_FACTS if name in event.payload}
            self._say.put(event.type, kept, source_kind="runner")
        elif event.type in {"session.failed", "harness.diagnostic", "harness.exited"}:
            # A notice stands where it was said, also once its turn is over.
            alias = self._speech.turn_of(event, current=self._current_alias) or self._last_alias
            self._say.put(event.type, event.payload, turn_id=alias, source_kind="runner")

    def _name_turn(self, event: HarnessEvent) -> None:
        turn = self._turn
        if turn is None or turn.state not in {Turn.STARTING, Turn.INTERRUPT_QUEUED} or not event.turn_id:
            return
        turn.state = advance(turn.state, "name")
        turn.provider_id = event.turn_id
        self._speech.name_turn(event.turn_id, turn.alias)
        started = Draft(type="turn.started", payload={}, turn_id=turn.alias, source_kind="runner")
        name = partial(
            turn_rows.name_turn,
            self.room.session_id,
            turn.ordinal,
            event.turn_id,
            drafts=[started],
            snapshot=self._attached.agent.snapshot() if self._attached else None,
        )
        self._outbox.do_soon(name)

    def _deliver(self, turn: ActiveTurn) -> None:
        """The agent works with what the turn handed on; until that is written, it would be given the answers again."""
        cards, turn.answers = turn.answers, ()
        if not cards:
            return
        drafts = [Draft(type="interaction.response.delivered", payload={"interactionId": card}) for card in cards]
        deliver = partial(turn_rows.deliver_answers, self.room.session_id, turn.ordinal, drafts=drafts)
        self._outbox.do_soon(deliver, within_s=AT_ONCE_S)

    async def _end_turn(self, event: HarnessEvent) -> None:
        turn = self._turn
        if turn is None or not turn.provider_id or event.turn_id != turn.provider_id:
            return  # another turn's end, or of one whose start failed: `start_turn` has said so
        await self._settle(turn, ENDINGS[event.type], dict(event.payload))

    # ------------------------------------------------------------ tool calls
    async def _on_tool_call(self, call: ToolCall) -> ToolAnswer:
        """Carry out one call of the active turn. The driver has waited until all it said before was taken."""
        turn = self._turn
        if turn is None or self._closing or call.turn_id != turn.provider_id:
            return ToolAnswer(success=False, text="That turn has ended; nothing was done.")
        if turn.by_user or turn.timed_out:
            return ToolAnswer(success=False, text="The turn is being stopped; nothing was done.")
        self._deliver(turn)
        self._calls += 1
        work = partial(
            toolcalls.perform,
            room=self.room,
            call=call,
            turn=turn.alias,
            call_id=toolcalls.call_name(self._calls),
            message_id=turn.message_id,
            pending=frozenset(self._pending),
        )
        performed: toolcalls.Performed = await self._outbox.do(work)
        self._pending.update(performed.opened)
        self._pending.difference_update(performed.settled)
        return performed.answer

    # ------------------------------------------------------------ small parts
    @property
    def _current_alias(self) -> str | None:
        return self._turn.alias if self._turn else None

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
