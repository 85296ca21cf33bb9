"""One live thread of Codex in one process: the session half of the harness contract.

It sends what the contract asks for at the moment the protocol allows it, routes what Codex says, and ends the session
when Codex or runnerd goes away. Messages are handled one at a time by the connection's reader; whatever has to wait
runs in a task of its own, because Codex must never wait for us. Source: wire README section 2.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar

from capability.redaction import redact_text
from cleanroom.codex import failures, requests, wire
from cleanroom.codex.calls import ToolCalls
from cleanroom.codex.connection import CallRefused, Connection
from cleanroom.codex.drafts import Draft, diagnostic
from cleanroom.codex.events import EventQueue
from cleanroom.codex.rollout import RolloutReader
from cleanroom.codex.sweep import sweep
from cleanroom.codex.translate import translate
from cleanroom.codex.turn import ActiveTurn, Turns
from cleanroom.harness import (
    AgentUnavailableError,
    HarnessError,
    HarnessEvent,
    HarnessOperationAlreadyTerminalError,
    HarnessStaleTurnError,
    HarnessTurnActiveError,
    HarnessUnavailableError,
    OpenSession,
    ProcessFacts,
    SessionIds,
    SessionSnapshot,
)
from cleanroom.turns import Turn, advance

logger = logging.getLogger(__name__)
SAID_CHARS = 2_000  # of what a dying agent wrote to its error output; for the server's log alone

KIND = "codex_app_server"
INTERRUPT_TIMEOUT_S = 5.0
FINAL_ERROR_GRACE_S = 2.0  # between an error that ends a turn and the turn's end
DENIAL_GRACE_S = 2.0  # a turn's end waits this long for a denial that is being recorded
CLOSE_TIMEOUT_S = 4.0
FORCED_CLOSE_TIMEOUT_S = 1.0


class CodexSession:
    """Made by `CodexDriver` once the thread is ready."""

    def __init__(
        self,
        *,
        connection: Connection,
        request: OpenSession,
        facts: ProcessFacts,
        thread: dict[str, Any],
        resumed: bool,
        last_source_seq: int,
        terminals: dict[str, str],
        timeout_s: float,
    ) -> None:
        self._connection = connection
        self._request = request
        self._facts = facts
        self._thread_id: str = thread["id"]
        self._provider_session_id: str | None = thread.get("sessionId")
        self._timeout_s = timeout_s
        self._has_messages = resumed
        self._events = EventQueue(last_source_seq=last_source_seq)
        self._turns = Turns(events=self._events, terminals=terminals)
        self._calls = ToolCalls(
            connection=connection,
            events=self._events,
            handler=request.on_tool_call,
            exposed=[tool.name for tool in request.tools],
            withheld=request.withheld_tools,
            timeout_s=timeout_s,
        )
        self._rollout = RolloutReader(path=Path(thread.get("path") or "/"), home=request.home) if resumed else None
        self._broken: HarnessUnavailableError | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing: asyncio.Task[None] | None = None
        opened = {"model": facts.model, "agentVersion": facts.agent_version, "sandboxed": facts.sandboxed}
        self._events.push(Draft(type="session.resumed" if resumed else "session.started", payload=opened))
        connection.receiver = self._receive
        self._spawn(self._watch_end())

    # ------------------------------------------------------------ what is known
    def ids(self) -> SessionIds:
        return SessionIds(
            driver_session_id=self._thread_id,
            provider_session_id=self._provider_session_id,
            display_id=self._thread_id[:8],
        )

    def process(self) -> ProcessFacts:
        return self._facts

    def events(self) -> AsyncIterator[HarnessEvent]:
        return self._events.consume()

    def snapshot(self) -> SessionSnapshot:
        active = self._turns.active
        return SessionSnapshot(
            driver_kind=KIND,
            driver_session_id=self._thread_id,
            provider_session_id=self._provider_session_id,
            run_id=self._request.run_id,
            normalized_session_id=self._request.normalized_session_id,
            active_turn_id=active.id if active else None,
            last_source_seq=self._events.last_source_seq,
            terminal_turns=tuple(self._turns.terminals.items()),
            has_messages=self._has_messages,
        )

    def has_ended(self) -> bool:
        return self._broken is not None

    # ------------------------------------------------------------ what may be asked
    async def start_turn(self, *, message: str) -> str:
        """Send one message; return the turn's id once `turn/started` came.

        When Codex refuses the turn or does not start it, `HarnessUnavailableError` is raised and no event of a turn is
        emitted. A missing answer also ends the session: nobody knows then what the process is doing.
        """
        if self._broken is not None:
            raise self._broken
        if self._turns.active is not None:
            raise HarnessTurnActiveError
        if not message:
            raise HarnessError("A turn needs a message.")  # Codex would start one that never ends
        turn = self._turns.begin()
        try:
            answer = await self._call("turn/start", self._turn_params(message))
            turn.answered_id = answer["turn"]["id"]
            async with asyncio.timeout(self._timeout_s):
                return await asyncio.shield(turn.named)
        except CallRefused as refused:
            self._turns.forget(turn)
            raise AgentUnavailableError("Codex refused to start the turn.") from refused
        except (TimeoutError, KeyError, TypeError, HarnessUnavailableError) as error:
            self._turns.forget(turn)
            cause = error if isinstance(error, HarnessUnavailableError) else _not_started()
            self._fail(cause)
            raise cause from error

    def _turn_params(self, message: str) -> dict[str, Any]:
        params: dict[str, Any] = {"threadId": self._thread_id, "input": _input(message), "summary": "auto"}
        if not self._facts.sandboxed:
            params["environments"] = []  # a resume has no field for it
        return params

    async def interrupt(self, *, reason: str) -> None:
        """Stop the active turn, or queue that until it has an id. A second call while stopping changes nothing.

        Raises `HarnessOperationAlreadyTerminalError` when no turn is active, or when it ended first, and
        `AgentUnavailableError` when Codex does not answer in five seconds.
        """
        turn = self._turns.active
        if turn is None:
            raise HarnessOperationAlreadyTerminalError
        before, turn.state = turn.state, advance(turn.state, "interrupt")
        if before in (Turn.INTERRUPT_QUEUED, Turn.INTERRUPTING):
            return  # a second interrupt of an interrupted turn would be answered only when some later turn ends
        if before is Turn.STARTING:
            await self._acknowledge(turn, "queued", reason)
            self._spawn(self._interrupt_once_named(turn, reason))
        else:
            await self._send_interrupt(turn, reason)

    async def _interrupt_once_named(self, turn: ActiveTurn, reason: str) -> None:
        await asyncio.wait({turn.named, self._spawn(turn.ended.wait())}, return_when=asyncio.FIRST_COMPLETED)
        if turn.id is None or turn.ended.is_set():
            return
        try:
            await self._send_interrupt(turn, reason)
        except (HarnessOperationAlreadyTerminalError, HarnessUnavailableError) as error:
            logger.warning("a queued interrupt had no effect: %s", error)

    async def _send_interrupt(self, turn: ActiveTurn, reason: str) -> None:
        """Send the one interrupt of this turn and wait until it is answered or the turn has ended."""
        params = {"threadId": self._thread_id, "turnId": turn.id}
        timeout_s = min(self._timeout_s, INTERRUPT_TIMEOUT_S)
        call = self._spawn(self._connection.call(method="turn/interrupt", params=params, timeout_s=timeout_s))
        call.add_done_callback(_read)
        ended = self._spawn(turn.ended.wait())
        await asyncio.wait({call, ended}, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if call.done():  # else the turn ended first: the answer may never come, and nobody needs it
            error = call.exception()
            if isinstance(error, CallRefused):
                raise HarnessOperationAlreadyTerminalError from error
            if error is not None:
                raise error
            await self._acknowledge(turn, "acknowledged", reason)
        self._spawn(self._clean_terminals())

    async def _acknowledge(self, turn: ActiveTurn, status: str, reason: str) -> None:
        payload = {"kind": "interrupt_acknowledgement", "status": status, "reason": reason}
        item_id = f"interrupt:{turn.id or 'queued'}"
        await self._events.put(Draft(type="item.completed", payload=payload, turn_id=turn.id, item_id=item_id))

    async def _clean_terminals(self) -> None:
        """An interrupt does not stop commands; this does."""
        try:
            await self._call("thread/backgroundTerminals/clean", {"threadId": self._thread_id})
        except (CallRefused, HarnessUnavailableError):
            logger.warning("background commands of an interrupted turn could not be cleaned")

    async def steer(self, *, turn_id: str, message: str) -> None:
        """Add a message to the running turn; the model sees it with its next request.

        Raises `HarnessStaleTurnError` when another turn is active, `HarnessOperationAlreadyTerminalError` when none is.
        """
        if self._turns.active is None:
            raise HarnessOperationAlreadyTerminalError
        if self._turns.named(turn_id) is None:
            raise HarnessStaleTurnError
        params = {"threadId": self._thread_id, "expectedTurnId": turn_id, "input": _input(message)}
        try:
            await self._call("turn/steer", params)
        except CallRefused as refused:
            raise HarnessOperationAlreadyTerminalError from refused

    async def close(self, *, reason: str, force: bool = False) -> None:
        """End Codex, then runnerd, then whatever they left. A turn that was active ends interrupted."""
        if self._closing is None:
            logger.info("closing a session of Codex: %s", reason)
            self._broken = AgentUnavailableError("The session is closed.")
            self._turns.stop()
            self._events.end()
            timeout_s = FORCED_CLOSE_TIMEOUT_S if force else CLOSE_TIMEOUT_S
            self._closing = asyncio.create_task(self._shut_down(timeout_s=timeout_s))
        await asyncio.shield(self._closing)

    # ------------------------------------------------------------ what Codex says
    async def _receive(self, message: wire.Request | wire.Notification) -> None:
        ours = message.params.get("threadId", self._thread_id) == self._thread_id
        if isinstance(message, wire.Request):
            await self._on_request(message, ours=ours)
        elif ours and message.method in self._HANDLERS:
            await self._HANDLERS[message.method](self, message.params)
        elif ours:
            for draft in translate(message, workspace=str(self._request.workspace)):
                for seen in self._turns.items.see(draft):
                    await self._events.put(seen)

    async def _on_request(self, request: wire.Request, *, ours: bool) -> None:
        turn_id = request.params.get("turnId")
        if request.method == "item/tool/call":
            if ours:
                await self._turns.bind(turn_id)
            is_current = ours and self._turns.named(turn_id) is not None
            self._spawn(self._calls.answer(request, is_current=is_current))
            return
        line, sentence = requests.refuse(request)
        self._spawn(self._connection.send(line))
        if ours:
            turn = self._turns.named(turn_id)
            notice = diagnostic(code="unsupported_request", message=sentence, turn_id=turn.id if turn else None)
            await self._events.put(notice)

    async def _on_turn_started(self, params: dict[str, Any]) -> None:
        await self._turns.started(params["turn"]["id"])
        self._has_messages = True

    async def _on_turn_completed(self, params: dict[str, Any]) -> None:
        await self._turns.bind(params["turn"]["id"])
        turn = self._turns.is_ending(params["turn"])
        if turn is not None and turn.denials:
            self._spawn(self._complete_later(turn, params["turn"]))
        elif turn is not None:
            self._turns.complete(turn, params["turn"])

    async def _complete_later(self, turn: ActiveTurn, reported: dict[str, Any]) -> None:
        """A withheld call of this turn is being recorded: its denial belongs before the turn's end."""
        try:
            async with asyncio.timeout(DENIAL_GRACE_S):
                while turn.denials:
                    await asyncio.wait(set(turn.denials))
        except TimeoutError:
            logger.warning("a turn ended before the denial of its withheld call was recorded")
        if self._turns.active is turn:
            self._turns.complete(turn, reported)

    async def _on_error(self, params: dict[str, Any]) -> None:
        failure = failures.classify(params.get("error"))
        turn = self._turns.named(params.get("turnId"))
        if turn is None:
            return
        if params.get("willRetry") is not True:
            self._spawn(self._expect_end(turn, failure))
            return
        turn.last_failure = failure
        for draft in self._turns.items.cut_messages(turn_id=turn.id):
            await self._events.put(draft)
        await self._events.put(diagnostic(code=failure.code, message=failure.message, retrying=True, turn_id=turn.id))

    async def _expect_end(self, turn: ActiveTurn, failure: failures.Failure) -> None:
        """After a final error the turn must end. If it does not, the process cannot be trusted with another one."""
        try:
            await asyncio.wait_for(turn.ended.wait(), FINAL_ERROR_GRACE_S)
        except TimeoutError:
            self._fail(AgentUnavailableError(failure.message), failure=failure)

    # ------------------------------------------------------------ calls of withheld names
    async def _on_raw_item(self, params: dict[str, Any]) -> None:
        turn = self._turns.named(params.get("turnId"))
        if turn is not None and isinstance(params.get("item"), dict):
            self._deny(turn, params["item"])

    async def _on_usage(self, params: dict[str, Any]) -> None:
        """The model has answered. In a resumed thread, which has no raw items, its calls stand in Codex's record."""
        turn = self._turns.named(params.get("turnId"))
        if self._rollout is not None and turn is not None:
            self._track(turn, self._read_rollout(turn, self._rollout))
        for draft in translate(
            wire.Notification(method="thread/tokenUsage/updated", params=params), workspace=str(self._request.workspace)
        ):
            await self._events.put(draft)

    async def _read_rollout(self, turn: ActiveTurn, rollout: RolloutReader) -> None:
        for item in await rollout.next_calls():
            self._deny(turn, item)

    def _deny(self, turn: ActiveTurn, item: dict[str, Any]) -> None:
        if turn.id is not None and self._calls.is_new_withheld(item):
            self._track(turn, self._calls.deny(item, thread_id=self._thread_id, turn_id=turn.id))

    def _track(self, turn: ActiveTurn, work: Coroutine[Any, Any, None]) -> None:
        task = self._spawn(work)
        turn.denials.add(task)
        task.add_done_callback(turn.denials.discard)

    _HANDLERS: ClassVar[dict[str, Callable[[Any, dict[str, Any]], Awaitable[None]]]] = {
        "turn/started": _on_turn_started,
        "turn/completed": _on_turn_completed,
        "thread/tokenUsage/updated": _on_usage,
        "error": _on_error,
        "rawResponseItem/completed": _on_raw_item,
    }

    # ------------------------------------------------------------ the end
    async def _watch_end(self) -> None:
        await asyncio.wait({self._connection.ended})
        self._fail(self._connection.failure or self._connection.cause)

    def _fail(self, cause: HarnessError, *, failure: failures.Failure | None = None) -> None:
        """End the session because it broke: the turn's terminal, then `session.failed`, and no event after it.

        Both carry one code and sentence, but a turn never fails of `protocol_failure`: for it, Codex went away.
        """
        if self._broken is not None:
            return
        self._broken = cause if isinstance(cause, HarnessUnavailableError) else AgentUnavailableError(cause.message)
        of_turn = failure or failures.Failure(code=self._broken.code, message=cause.message)
        self._turns.fail(of_turn, self._broken)
        code = failure.code if failure else cause.code
        if said := self._connection.runner.stderr_tail[-SAID_CHARS:].strip():
            logger.warning("an agent went away (%s); it said last: %s", code, redact_text(said))
        payload = {"code": code, "message": cause.message, "recoverable": True}
        self._events.push(Draft(type="session.failed", payload=payload))
        self._events.end()
        self._closing = asyncio.create_task(self._shut_down(timeout_s=CLOSE_TIMEOUT_S))

    async def _shut_down(self, *, timeout_s: float) -> None:
        await self._connection.close(timeout_s=timeout_s)
        if self._connection.runner.exit is None:  # runnerd died, or had to be killed
            await asyncio.to_thread(sweep, thread_id=self._thread_id, home=self._request.home)
        for task in set(self._tasks):
            task.cancel()

    # ------------------------------------------------------------ parts
    async def _call(self, method: str, params: dict[str, Any]) -> Any:
        return await self._connection.call(method=method, params=params, timeout_s=self._timeout_s)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _read(call: asyncio.Task[Any]) -> None:
    """Take note of how a call ended, also when nobody waits for it any more."""
    if not call.cancelled():
        call.exception()


def _input(message: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": message, "text_elements": []}]


def _not_started() -> AgentUnavailableError:
    return AgentUnavailableError("Codex did not start the turn.")
