"""Codex driven by hand over its pipes: the raw part that the clean room is measured against, and a probe for tests.

It does the least that a turn needs and nothing else: no runner, no journal, no limits. It is no driver.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

LINE_LIMIT = 64 * 1024 * 1024
PATIENCE_S = 30.0

ToolAnswerer = Callable[[str, Mapping[str, Any]], tuple[bool, str]]


class RawCodexError(Exception):
    """Codex answered a request with an error, or went away."""


class RawCodex:
    """One `codex app-server` process. `answer(tool, arguments)` gives the outcome and text of a dynamic tool call."""

    def __init__(self, *, codex_bin: str, home: Path, workspace: Path, answer: ToolAnswerer) -> None:
        self.codex_bin, self.home, self.workspace, self.answer = codex_bin, home, workspace, answer
        self.thread_id = ""
        self.notes: list[dict[str, Any]] = []  # every notification, in order
        self._process: asyncio.subprocess.Process | None = None
        self._next_id = 0

    async def __aenter__(self) -> Self:
        environment = {"CODEX_HOME": str(self.home), "HOME": str(self.workspace), "PATH": "/usr/bin:/bin"}
        self._process = await asyncio.create_subprocess_exec(
            self.codex_bin,
            "app-server",
            cwd=self.workspace,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LINE_LIMIT,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._started()
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()

    async def open_thread(self, **params: Any) -> dict[str, Any]:
        """Shake hands and start a thread; returns Codex's answer."""
        client = {"name": "capability-bench", "title": "Bench", "version": "1.0"}
        await self.request("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        await self._send({"method": "initialized"})
        started = await self.request("thread/start", {"cwd": str(self.workspace), "approvalPolicy": "never", **params})
        self.thread_id = started["thread"]["id"]
        return started

    async def turn(self, text: str) -> dict[str, Any]:
        """Run one turn to its end, answering tool calls; returns the turn as Codex reports it."""
        await self.request("turn/start", {"threadId": self.thread_id, "input": [{"type": "text", "text": text}]})
        async with asyncio.timeout(PATIENCE_S):
            while not (ended := self._take("turn/completed")):
                await self._read_one()
        turn: dict[str, Any] = ended["params"]["turn"]
        return turn

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._next_id += 1
        number = self._next_id
        await self._send({"id": number, "method": method, "params": params})
        async with asyncio.timeout(PATIENCE_S):
            while True:
                message = await self._read_one()
                if message.get("id") == number and "method" not in message:
                    if "error" in message:
                        raise RawCodexError(f"{method}: {message['error']}")
                    result: dict[str, Any] = message["result"]
                    return result

    def items(self, kind: str) -> list[dict[str, Any]]:
        """Return the completed items of a kind, in order."""
        done = [note["params"]["item"] for note in self.notes if note["method"] == "item/completed"]
        return [item for item in done if item["type"] == kind]

    def _take(self, method: str) -> dict[str, Any] | None:
        found = next((note for note in self.notes if note["method"] == method), None)
        if found is not None:
            self.notes.remove(found)
        return found

    async def _read_one(self) -> dict[str, Any]:
        stdout = self._started().stdout
        line = await stdout.readline() if stdout is not None else b""
        if not line:
            raise RawCodexError("codex closed its output")
        message: dict[str, Any] = json.loads(line)
        if "method" in message and "id" in message:
            await self._serve(message)
        elif "method" in message:
            self.notes.append(message)
        return message

    async def _serve(self, message: Mapping[str, Any]) -> None:
        if message["method"] != "item/tool/call":
            await self._send({"id": message["id"], "error": {"code": -32601, "message": "not offered"}})
            return
        success, text = self.answer(message["params"]["tool"], message["params"]["arguments"])
        content = [{"type": "inputText", "text": text}]
        await self._send({"id": message["id"], "result": {"contentItems": content, "success": success}})

    async def _send(self, message: Mapping[str, Any]) -> None:
        stdin = self._started().stdin
        if stdin is None:
            raise RawCodexError("codex has no input")
        stdin.write(json.dumps(message).encode() + b"\n")
        await stdin.drain()

    def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RawCodexError("codex was not started")
        return self._process
