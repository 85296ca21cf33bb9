"""What every test of the driver needs: directories outside the system's temporary one, a request, and the events."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

from cleanroom.codex.driver import CodexDriver
from cleanroom.harness import (
    AgentSettings,
    HarnessEvent,
    HarnessSession,
    OpenSession,
    ToolAnswer,
    ToolCall,
    ToolDefinition,
    ToolHandler,
)

TERMINALS = ("turn.completed", "turn.interrupted", "turn.failed")
GET_TASK = ToolDefinition(name="get_task", description="Read the task", input_schema={"type": "object"})


def is_alive(pid: int | None) -> bool:
    """Whether the process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


async def until(is_true: Callable[[], bool], timeout_s: float = 5) -> None:
    """Wait for a fact of the system that nothing announces to us."""
    async with asyncio.timeout(timeout_s):
        while not is_true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@asynccontextmanager
async def run_directory() -> AsyncIterator[Path]:
    """A directory for one test, removed afterwards. The sandbox makes the system's temporary directory private."""
    path = settings.VAR_DIR / "runs" / f"test-{uuid.uuid4().hex[:8]}"
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path)


async def approve(call: ToolCall) -> ToolAnswer:
    """A host that carries out what was exposed and denies the rest."""
    if call.exposed:
        return ToolAnswer(success=True, text='{"ok":true}')
    return ToolAnswer(success=False, text='{"ok":false,"code":"operation_withheld"}')


def open_request(directory: Path, *, on_tool_call: ToolHandler = approve, name: str = "run") -> OpenSession:
    return OpenSession(
        run_id=name,
        normalized_session_id=f"session-{name}",
        workspace=directory / name / "workspace",
        home=directory / name / "home",
        base_instructions="Work on one issue with your tools.",
        tools=[GET_TASK],
        withheld_tools=frozenset({"assign_task"}),
        on_tool_call=on_tool_call,
    )


def driver(directory: Path, codex_bin: Path | str, **changes: Any) -> CodexDriver:
    chosen: dict[str, Any] = {
        "codex_bin": str(codex_bin),
        "login_home": directory / "login",
        "templates_dir": directory / "templates",
        "model_url": "http://127.0.0.1:9/v1",
        "request_timeout_s": 5.0,
    }
    return CodexDriver(settings=AgentSettings(**(chosen | changes)))


class Watcher:
    """Consumes the events of one session, as a host would, and lets a test wait for one."""

    def __init__(self, session: HarnessSession) -> None:
        self.events: list[HarnessEvent] = []
        self._changed = asyncio.Event()
        self.task = asyncio.create_task(self._consume(session))

    async def _consume(self, session: HarnessSession) -> None:
        async for event in session.events():
            self.events.append(event)
            self._changed.set()

    def of(self, *types: str) -> list[HarnessEvent]:
        return [event for event in self.events if event.type in types]

    def payloads(self, type: str, kind: str) -> list[dict[str, Any]]:
        return [event.payload for event in self.of(type) if event.payload.get("kind") == kind]

    async def wait_until(self, is_there: Callable[[], Any], timeout_s: float = 5) -> Any:
        async with asyncio.timeout(timeout_s):
            while not (found := is_there()):
                self._changed.clear()
                await self._changed.wait()
        return found

    async def wait_for(self, *types: str, count: int = 1, timeout_s: float = 5) -> HarnessEvent:
        found: list[HarnessEvent] = await self.wait_until(
            lambda: self.of(*types) if len(self.of(*types)) >= count else [], timeout_s
        )
        return found[count - 1]

    async def turn_end(self, count: int = 1, timeout_s: float = 15) -> HarnessEvent:
        return await self.wait_for(*TERMINALS, count=count, timeout_s=timeout_s)

    async def ended(self) -> list[HarnessEvent]:
        """Wait until the session's events have ended; return them all."""
        async with asyncio.timeout(8):
            await self.task
        return self.events
