"""A driver, one session of it, and the scripted Codex behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleanroom.harness import HarnessSession
from tests.cleanroom.support.agent import ScriptedAgent
from tests.cleanroom.support.session import (
    Watcher,
    approve,
    driver,
    open_request,
    run_directory,
)


@dataclass
class Scene:
    """A scripted agent with one open session."""

    agent: ScriptedAgent
    session: HarnessSession
    watcher: Watcher
    directory: Path


@asynccontextmanager
async def scene(
    *, handler: Any = approve, settings: dict[str, Any] | None = None, **agent: Any
) -> AsyncIterator[Scene]:
    async with run_directory() as directory, ScriptedAgent(directory / "bin", **agent) as scripted:
        opened = driver(directory, scripted.codex_bin, **(settings or {}))
        session = await opened.open_session(open_request(directory, on_tool_call=handler))
        try:
            yield Scene(scripted, session, Watcher(session), directory)
        finally:
            await session.close(reason="the test is over", force=True)
