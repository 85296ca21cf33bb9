"""A driver whose agents live in memory: they do what a test scripted, and wait at gates where a test holds them.

Agents run on the host loop; a test drives them from any thread. Events pass through the same queue as a real agent's.
A turn without a script says one word and completes.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from cleanroom.codex.drafts import Draft, turn_terminal
from cleanroom.codex.events import EventQueue
from cleanroom.harness import (
    AgentUnavailableError,
    Capabilities,
    Descriptor,
    HarnessCapabilityUnavailableError,
    HarnessEvent,
    HarnessOperationAlreadyTerminalError,
    HarnessSession,
    HarnessTurnActiveError,
    OpenSession,
    ProcessFacts,
    SessionIds,
    SessionSnapshot,
    ToolAnswer,
    ToolCall,
)
from mockcore.refusal import Refusal

Script = Callable[["MemoryAgent", str], Awaitable[None]]


class Gate:
    """A place that agents pass, unless the test holds it; then they wait. Any thread may hold and release."""

    def __init__(self) -> None:
        self.reached = threading.Event()  # somebody waits here
        self._held = False
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def hold(self) -> None:
        self._held = True

    def release(self) -> None:
        with self._lock:
            self._held = False
            waiting, self._waiting = self._waiting, []
        for loop, bell in waiting:
            with suppress(RuntimeError):  # that loop has ended
                loop.call_soon_threadsafe(bell.set)

    async def passing(self) -> None:
        bell = asyncio.Event()
        with self._lock:
            if not self._held:
                return
            self._waiting.append((asyncio.get_running_loop(), bell))
        self.reached.set()
        await bell.wait()


@dataclass
class Gates:
    """Where agents can be held: before they are ready, before a turn has a name, before its end, before they close, and
    before one that died has said so."""

    start: Gate = field(default_factory=Gate)
    name: Gate = field(default_factory=Gate)
    terminal: Gate = field(default_factory=Gate)
    close: Gate = field(default_factory=Gate)
    farewell: Gate = field(default_factory=Gate)

    def release_all(self) -> None:
        for gate in vars(self).values():
            gate.release()


class MemoryDriver:
    """Opens agents in memory and counts them. `deaf` agents never answer an interrupt."""

    def __init__(self, *, kind: str = "codex_app_server", deaf: bool = False) -> None:
        self.kind = kind
        self.deaf = deaf
        self.gates = Gates()
        self.scripts: deque[Script] = deque()
        self.agents: list[MemoryAgent] = []
        self.recovered: list[SessionSnapshot] = []
        self.refusal: Refusal | None = None  # what every start answers, if anything
        self.starting = self.most_starting = 0  # starts under way, now and at most
        self.changed = threading.Condition()  # something was done: by an agent, or in a log

    # ------------------------------------------------------------ what a test looks at
    def wait_until(self, is_true: Callable[[], Any], timeout_s: float = 5) -> None:
        """Return once something is true.

        Asked again after whatever an agent does, after every append to a log, and now and then for what nobody tells.
        """
        deadline = time.monotonic() + timeout_s
        with self.changed:
            while not is_true():
                assert time.monotonic() < deadline, "it did not come true in time"
                self.changed.wait(0.05)

    def notify(self) -> None:
        with self.changed:
            self.changed.notify_all()

    @property
    def living(self) -> list[MemoryAgent]:
        return [agent for agent in self.agents if not agent.is_closed]

    @property
    def messages(self) -> list[str]:
        """Return what agents were told, in order."""
        return [message for agent in self.agents for message in agent.messages]

    # ------------------------------------------------------------ the contract
    def descriptor(self) -> Descriptor:
        return Descriptor(
            kind=self.kind,
            display_name="Agent in memory",
            version="1",
            protocol_version=None,
            capabilities=Capabilities(resume=True, interruption=True, dynamic_tools=True),
        )

    async def open_session(self, request: OpenSession) -> HarnessSession:
        return await self._begin(request, thread_id=uuid.uuid4().hex, resumed=False)

    async def recover_session(self, request: OpenSession, snapshot: SessionSnapshot) -> HarnessSession:
        self.recovered.append(snapshot)
        return await self._begin(request, thread_id=snapshot.driver_session_id, resumed=snapshot.has_messages)

    async def _begin(self, request: OpenSession, *, thread_id: str, resumed: bool) -> HarnessSession:
        if self.refusal is not None:
            raise self.refusal
        agent = MemoryAgent(driver=self, request=request, thread_id=thread_id, resumed=resumed)
        self.agents.append(agent)
        self.starting += 1
        self.most_starting = max(self.most_starting, self.starting)
        try:
            await self.gates.start.passing()
        except BaseException:
            agent.closed_times += 1  # as a driver must, it leaves nothing of a start that was given up
            self.notify()
            raise
        finally:
            self.starting -= 1
        self.notify()
        return agent


class MemoryAgent:
    """One agent. What a script may do: `say`, `call`, and return to complete the turn."""

    def __init__(self, *, driver: MemoryDriver, request: OpenSession, thread_id: str, resumed: bool) -> None:
        self.driver = driver
        self.request = request
        self.messages: list[str] = []
        self.answers: list[ToolAnswer] = []
        self.interrupts = 0
        self.closed_times = 0
        self.turn_id: str | None = None
        self._thread_id = thread_id
        self._has_messages = resumed
        self._loop = asyncio.get_running_loop()
        self._stop_asked = False
        self._ended = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None
        self._queue = EventQueue(last_source_seq=request.last_source_seq)
        self._queue.push(Draft(type="session.resumed" if resumed else "session.started", payload={"model": "memory"}))

    @property
    def is_closed(self) -> bool:
        return self.closed_times > 0

    # ------------------------------------------------------------ for scripts
    async def say(self, text: str) -> None:
        item = f"message-{uuid.uuid4().hex[:6]}"
        for kind in ("item.started", "item.completed"):
            payload = {"kind": "agent_message", "text": text}
            await self._queue.put(Draft(type=kind, payload=payload, turn_id=self.turn_id, item_id=item))

    async def tell(self, draft: Draft) -> None:
        """Emit any event."""
        await self._queue.put(draft)

    async def call(
        self, operation_id: str, arguments: Any = None, *, turn_id: str = "", exposed: bool = True
    ) -> ToolAnswer:
        """Call one tool, as of the active turn unless another is named."""
        call = ToolCall(
            turn_id=turn_id or self.turn_id or "",
            call_id=uuid.uuid4().hex,
            operation_id=operation_id,
            arguments=arguments or {},
            exposed=exposed,
        )
        await self._queue.settled()
        try:
            answer = await self.request.on_tool_call(call)
        except Exception:  # as the real driver answers for a host that broke
            answer = ToolAnswer(success=False, text="broken")
        self.answers.append(answer)
        return answer

    def die(self) -> None:
        """Go away by itself, in the middle of whatever it does."""
        self._loop.call_soon_threadsafe(self._die)

    def _die(self) -> None:
        self._ended.set()
        self._last = asyncio.create_task(self._say_farewell())

    async def _say_farewell(self) -> None:
        await self.driver.gates.farewell.passing()
        if self.turn_id is not None:
            payload = {"code": "codex_unavailable", "message": "It died."}
            self._queue.push(Draft(type="turn.failed", payload=payload, turn_id=self.turn_id))
        failed = {"code": "codex_unavailable", "message": "It died.", "recoverable": True}
        self._queue.push(Draft(type="session.failed", payload=failed))
        self._finish()

    # ------------------------------------------------------------ the contract
    def ids(self) -> SessionIds:
        return SessionIds(driver_session_id=self._thread_id)

    def process(self) -> ProcessFacts:
        return ProcessFacts(
            runner_pid=None,
            agent_pid=None,
            environment_keys=("HOME", "PATH"),
            sandboxed=True,
            agent_version="memory",
            model="memory",
        )

    def events(self) -> AsyncIterator[HarnessEvent]:
        return self._queue.consume()

    async def start_turn(self, *, message: str) -> str:
        if self._ended.is_set():
            raise AgentUnavailableError("It has ended.")
        if self._playing is not None and not self._playing.done():
            raise HarnessTurnActiveError
        self.messages.append(message)
        self._stop_asked = False
        self.driver.notify()
        turn_id = f"provider-{uuid.uuid4().hex[:8]}"
        named = asyncio.Event()
        self._playing = asyncio.create_task(self._play(turn_id, message, named))
        ended = asyncio.create_task(self._ended.wait())
        naming = asyncio.create_task(named.wait())
        try:
            await asyncio.wait({ended, naming}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            naming.cancel()
        if not named.is_set():
            raise AgentUnavailableError("It ended before the turn began.")
        return turn_id

    async def _play(self, turn_id: str, message: str, named: asyncio.Event) -> None:
        await self.driver.gates.name.passing()
        self.turn_id, self._has_messages = turn_id, True
        self._queue.push(Draft(type="turn.started", turn_id=turn_id))
        named.set()
        status = "completed"
        try:
            if self._stop_asked:
                raise asyncio.CancelledError
            script = self.driver.scripts.popleft() if self.driver.scripts else _one_word
            await script(self, message)
            await self.driver.gates.terminal.passing()
        except asyncio.CancelledError:
            if self._ended.is_set():
                return
            status = "interrupted"
        self.turn_id = None
        self._queue.push(turn_terminal(turn_id=turn_id, status=status, duration_ms=1, by_user=False))

    async def interrupt(self, *, reason: str) -> None:
        if self._playing is None or self._playing.done():
            raise HarnessOperationAlreadyTerminalError
        self.interrupts += 1
        self.driver.notify()
        if self.driver.deaf:
            await self._ended.wait()
        elif self.turn_id is None:
            self._stop_asked = True  # queued until the turn has a name
        else:
            self._playing.cancel()

    async def steer(self, *, turn_id: str, message: str) -> None:
        raise HarnessCapabilityUnavailableError("steer")

    def has_ended(self) -> bool:
        return self._ended.is_set()

    def snapshot(self) -> SessionSnapshot:
        return SessionSnapshot(
            driver_kind=self.driver.kind,
            driver_session_id=self._thread_id,
            provider_session_id=None,
            run_id=self.request.run_id,
            normalized_session_id=self.request.normalized_session_id,
            active_turn_id=self.turn_id,
            last_source_seq=self._queue.last_source_seq,
            has_messages=self._has_messages,
        )

    async def close(self, *, reason: str, force: bool = False) -> None:
        self.closed_times += 1
        self._finish()
        await self.driver.gates.close.passing()

    def _finish(self) -> None:
        self._ended.set()
        self.driver.notify()
        self._queue.end()
        if self._playing is not None:
            self._playing.cancel()


async def _one_word(agent: MemoryAgent, message: str) -> None:
    await agent.say("Done.")
