"""Opens and turns, ours and raw, in turn and in one go, so that both meet the same machine.

Both sides use the same model, the same native Codex, the same configuration and prompt, the same tools, the same login
state and an equally fresh CODEX_HOME: a copy of one template, made before the clock starts on the raw side.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from capability.binding import codex_dynamic_tools
from capability.catalog import LIVE_OPERATIONS
from cleanroom import exposure
from cleanroom.bench.raw_codex import RawCodex
from cleanroom.codex import binary as codex_binary
from cleanroom.codex import config as codex_config
from cleanroom.codex import home as codex_home
from cleanroom.rehearsal import MODEL_NAME
from cleanroom.smoke.client import ENDINGS, Browser

WARM_UPS = 2
FRAME_S = 60
MESSAGE = "Record a status: round {number} of the bench"
TASK = {"identifier": "MCK-0000", "title": "Clean-room chat", "status": "in_progress", "priority": "medium"}


@dataclass(kw_only=True)
class Times:
    """What was measured, in milliseconds, warm-ups left out."""

    ours_open: list[float] = field(default_factory=list)
    raw_open: list[float] = field(default_factory=list)
    ours_turn: list[float] = field(default_factory=list)
    raw_turn: list[float] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Lab:
    """What the raw side needs: the program, a template home, a directory of its own, the model and the tools."""

    binary: codex_binary.CodexBinary
    template: Path
    directory: Path
    model_url: str
    tools: list[dict[str, Any]]

    @asynccontextmanager
    async def codex(self, name: str) -> AsyncIterator[tuple[RawCodex, float]]:
        """Start raw Codex and a thread in a fresh home; yields it and how long that took."""
        workspace, home = self.directory / name / "workspace", self.directory / name / "home"
        workspace.mkdir(parents=True)
        config = codex_config.session_config(
            workspace=workspace,
            binary_directory=self.binary.directory,
            model_url=self.model_url,
            model_name=MODEL_NAME,
        )
        login = settings.CODEX_LOGIN_HOME
        codex_home.prepare(home=home, template=self.template, login_home=login, config=config)
        started = time.perf_counter()
        async with RawCodex(codex_bin=str(self.binary.path), home=home, workspace=workspace, answer=answer) as codex:
            await codex.open_thread(
                baseInstructions=exposure.BASE_INSTRUCTIONS,
                dynamicTools=self.tools,
                permissions=codex_config.PROFILE,
                experimentalRawEvents=True,
            )
            yield codex, milliseconds(started)
        codex_home.remove_tree(path=self.directory / name)


def answer(tool: str, arguments: Mapping[str, Any]) -> tuple[bool, str]:
    """Answer a tool call at once, with about as much as the company would say."""
    result = {"commandId": "command-0001", "disposition": "applied", "stateRevision": 2, "entityRefs": []}
    return True, json.dumps({"ok": True, "operationId": tool, "callId": "call-1", "result": result, "stateRevision": 2})


@asynccontextmanager
async def laboratory(*, directory: Path, model_url: str) -> AsyncIterator[Lab]:
    """Make the raw side ready: the template home and the tools that a clean room exposes."""
    binary = codex_binary.find(codex_bin=settings.CODEX_BIN)
    template = await codex_home.ensure_template(templates_dir=directory / "templates", binary=binary)
    withheld = set(exposure.WITHHELD_CLAIMS)
    exposed = [operation.contract() for operation in LIVE_OPERATIONS if not withheld & set(operation.required_claims)]
    tools = codex_dynamic_tools(exposed)
    yield Lab(binary=binary, template=template, directory=directory, model_url=model_url, tools=tools)


async def measure(*, address: str, lab: Lab, rounds: int) -> Times:
    """Run the rounds: opens first, then turns on one thread each, the two sides taking turns to go first."""
    times = Times()
    await measure_opens(times, address=address, lab=lab, rounds=rounds)
    await measure_turns(times, address=address, lab=lab, rounds=rounds)
    return times


async def measure_opens(times: Times, *, address: str, lab: Lab, rounds: int) -> None:
    for number in range(rounds + WARM_UPS):
        pair = {}
        for side in in_turn(number):
            pair[side] = await (open_room(address) if side == "ours" else open_raw(lab, f"open-{number}"))
        if number >= WARM_UPS:
            times.ours_open.append(pair["ours"])
            times.raw_open.append(pair["raw"])


async def open_room(address: str) -> float:
    """Open one room as a new browser would, and return how long it took until it was ready."""
    async with Browser.at(address) as browser:
        started = time.perf_counter()
        opened = await browser.get("cleanroom/session")
        took = milliseconds(started)
    if opened.status != 200 or not opened.body["view"]["identity"]["runnerAttached"]:
        raise BenchBroken(f"a room did not open: {opened.status} {opened.code}")
    return took


async def open_raw(lab: Lab, name: str) -> float:
    async with lab.codex(name) as (_, took):
        return took


async def measure_turns(times: Times, *, address: str, lab: Lab, rounds: int) -> None:
    async with Browser.at(address) as browser, lab.codex("turns") as (codex, _):
        opened = (await browser.get("cleanroom/session")).body
        async with browser.follow(session_id=opened["sessionId"], after=int(opened["cursor"])) as socket:
            frames = browser.frames(socket)
            for number in range(rounds + WARM_UPS):
                text, pair = MESSAGE.format(number=number), {}
                for side in in_turn(number):
                    ours = side == "ours"
                    turn = room_turn(browser, frames, opened["sessionId"], text) if ours else raw_turn(codex, text)
                    pair[side] = await turn
                if number >= WARM_UPS:
                    times.ours_turn.append(pair["ours"])
                    times.raw_turn.append(pair["raw"])


async def room_turn(browser: Browser, frames: AsyncIterator[Mapping[str, Any]], session_id: str, text: str) -> float:
    """Send one message and return how long it took until the socket said that its turn had settled."""
    started = time.perf_counter()
    sent = await browser.post("message", sessionId=session_id, message=text)
    if sent.status != 202:
        raise BenchBroken(f"a message was refused: {sent.status} {sent.code}")
    async with asyncio.timeout(FRAME_S):
        async for frame in frames:
            if frame["type"] in ENDINGS:
                break
        else:
            raise BenchBroken("the socket ended during a turn")
    if frame["type"] != "settled":
        raise BenchBroken(f"a turn failed: {frame.get('error')}")
    return milliseconds(started)


async def raw_turn(codex: RawCodex, text: str) -> float:
    started = time.perf_counter()
    turn = await codex.turn(text)
    took = milliseconds(started)
    if turn["status"] != "completed":
        raise BenchBroken(f"a raw turn ended {turn['status']}")
    return took


class BenchBroken(Exception):
    """Something that is measured did not work, so there is nothing to compare."""


def in_turn(number: int) -> tuple[str, str]:
    return ("ours", "raw") if number % 2 else ("raw", "ours")


def milliseconds(started: float) -> float:
    return (time.perf_counter() - started) * 1000
