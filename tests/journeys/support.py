"""A real server in a process of its own, and a browser's worth of HTTP and WebSocket to drive it with."""

from __future__ import annotations

import asyncio
import atexit
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp

from tests.journeys import databases

PROJECT = Path(__file__).resolve().parents[2]
JOURNEYS = PROJECT / "var" / "journeys"
PREFIX = "/api/capability/ui/"
START_S = 40
PATIENCE_S = 30


class Server:
    """`manage.py dev` with its own database and directories; killed and removed at the end."""

    def __init__(self, *, rehearsal: bool = True, environment: dict[str, str] | None = None) -> None:
        name = uuid.uuid4().hex[:8]
        self.var, self.database = JOURNEYS / name, f"journey_{name}"
        self.rehearsal = rehearsal
        self.environment = environment or {}
        self.process: subprocess.Popen[str] | None = None
        self.address, self.port = "", "0"  # any at first; then the same again, as cookies are named by it
        self.log = self.var / "server.log"

    def start(self) -> Server:
        if not self.var.exists():
            shutil.copytree(template(), self.var)
            databases.make(self.database, template=databases.TEMPLATE)
        command = [sys.executable, "manage.py", "dev", "--port", self.port, "--exit-with-parent"]
        command += ["--rehearsal", "--pace", os.environ.get("JOURNEY_PACE", "8")] if self.rehearsal else []
        own = {"CAPABILITY_VAR_DIR": str(self.var), "DATABASE_URL": databases.address(self.database)}
        environment = os.environ | own | self.environment
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                command,
                cwd=PROJECT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.address = self._address()
        self.port = self.address.rpartition(":")[2]
        return self

    def _address(self) -> str:
        assert self.process
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("Chat"):
                return line.split()[1].split("/#")[0]
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    @property
    def pid(self) -> int:
        assert self.process
        return self.process.pid

    def stop(self) -> int:
        """End the server as a person would and return its exit code."""
        assert self.process
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
            return -9

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait(5)
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout) if self.process else ():
            if pipe:
                pipe.close()

    def remove(self) -> None:
        if self.process and self.process.poll() is None:
            self.stop()
        self._close_pipes()
        shutil.rmtree(self.var, ignore_errors=True)
        databases.remove(self.database)

    def all_rows(self) -> str:
        """Return every text of every row as one string."""
        return databases.all_rows(self.database, self.var)


@cache
def template() -> Path:
    """Return a directory with a migrated database, made once for a test run and copied for each server."""
    made = JOURNEYS / f"template-{os.getpid()}"
    own = {"CAPABILITY_VAR_DIR": str(made), "DATABASE_URL": databases.address(databases.template())}
    environment = os.environ | own
    command = [sys.executable, "manage.py", "migrate", "-v0"]
    subprocess.run(command, cwd=PROJECT, env=environment, check=True, timeout=120)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def descendants(pid: int) -> dict[int, str]:
    """Return every living process below `pid` with its command line."""
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for listing in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                children = [int(one) for one in listing.read_text().split()]
            except OSError:
                continue
            for child in children:
                found[child] = command_line(child)
                waiting.append(child)
    return found


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


@dataclass
class Answer:
    status: int
    body: Any
    headers: Any

    @property
    def code(self) -> str:
        return str(self.body.get("error", "")) if isinstance(self.body, dict) else ""


@dataclass
class Browser:
    """One cookie jar on one server, sending what a page sends."""

    address: str
    http: aiohttp.ClientSession
    session_id: str = ""
    payload: dict[str, Any] = field(default_factory=dict)

    async def call(self, method: str, route: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Answer:
        sent = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
        if method == "POST":
            sent |= {"Origin": self.address, "Content-Type": "application/json"}
        sent_bytes = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        data = io.BytesIO(sent_bytes) if sent_bytes is not None else None
        url = self.address + PREFIX + route
        async with self.http.request(method, url, data=data, headers=sent | (headers or {})) as answer:
            text = await answer.text()
            parsed = json.loads(text) if text and "json" in answer.headers.get("Content-Type", "") else text
            return Answer(answer.status, parsed, answer.headers)

    async def open(self, session_id: str | None = None) -> dict[str, Any]:
        answer = await self.call("GET", "cleanroom/session" + (f"?sessionId={session_id}" if session_id else ""))
        assert answer.status == 200, answer.body
        self._take(answer.body)
        return self.payload

    async def new_chat(self) -> dict[str, Any]:
        answer = await self.call("POST", "cleanroom/session", {"sessionId": self.session_id})
        assert answer.status == 201, answer.body
        self._take(answer.body)
        return self.payload

    def _take(self, payload: dict[str, Any]) -> None:
        self.payload, self.session_id = payload, payload["sessionId"]

    async def send(self, text: str) -> Answer:
        return await self.call("POST", "message", {"sessionId": self.session_id, "message": text})

    @asynccontextmanager
    async def socket(self, *, after: int = 0, session_id: str | None = None) -> AsyncIterator[Any]:
        url = f"{self.address}{PREFIX}stream?sessionId={session_id or self.session_id}&after={after}"
        async with self.http.ws_connect(url.replace("http", "ws", 1), headers={"Origin": self.address}) as socket:
            yield socket

    async def socket_refused(self, session_id: str) -> bool:
        """Say whether the socket of a room tells nothing but that there is no such room."""
        async with self.socket(session_id=session_id) as socket:
            said = [json.loads(message.data) async for message in socket]
            return said == [{"type": "closed", "seq": 0, "code": "unknown_session"}] and socket.close_code == 4404

    async def frames_until(self, after: int, kinds: tuple[str, ...] = ("settled", "error")) -> list[dict[str, Any]]:
        """Return the frames after a cursor up to the first of the given kinds."""
        frames = []
        async with asyncio.timeout(PATIENCE_S), self.socket(after=after) as socket:
            async for message in socket:
                frame = json.loads(message.data)
                if frame["type"] != "heartbeat":
                    frames.append(frame)
                if frame["type"] in kinds:
                    return frames
        raise AssertionError(f"the stream ended early: {frames[-1:]}")

    async def turn(self, text: str) -> tuple[Answer, list[dict[str, Any]]]:
        """Send one message and return its answer with the frames until its end."""
        answer = await self.send(text)
        assert answer.status == 202, answer.body
        return answer, await self.frames_until(answer.body["cursor"])

    async def until(self, after: int, seen: Any) -> list[dict[str, Any]]:
        """Follow from a cursor until `seen(op)` is true for some op, and return the frames so far."""
        frames = []
        async with asyncio.timeout(PATIENCE_S), self.socket(after=after) as socket:
            async for message in socket:
                frame = json.loads(message.data)
                frames.append(frame)
                if any(seen(op) for op in frame.get("ops", [])):
                    return frames
        raise AssertionError("the stream ended early")


@asynccontextmanager
async def browser(server: Server) -> AsyncIterator[Browser]:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=aiohttp.ClientTimeout(total=PATIENCE_S)) as http:
        yield Browser(server.address, http)


def items(payload: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the items of one kind in a payload's view."""
    return [item for turn in payload["view"]["turns"] for item in turn["items"] if item["kind"] == kind]
