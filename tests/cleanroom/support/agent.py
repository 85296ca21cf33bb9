"""A scripted agent: a true child process that speaks the true wire, and says what the test tells it to say.

What a test does not script is answered as Codex 0.132.0 does: handshake, login, thread, turn and interrupt. `hold`
takes one method out of that. Ids are short: thread `t1`, turns `u1`, `u2`, …
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cleanroom.codex.config import PROFILE

Message = dict[str, Any]
THREAD = "t1"


class ScriptedAgent:
    """`async with ScriptedAgent(directory) as agent`: then `agent.codex_bin` is what the driver starts."""

    def __init__(self, directory: Path, *, sandbox_exit: int = 0, stubborn: bool = False) -> None:
        self.codex_bin = directory / "codex"
        self.messages: list[Message] = []
        self.pids: list[int] = []
        self.rules: dict[str, Callable[[Message], Any]] = {
            "initialize": lambda _: {"userAgent": "test/0.132.0 (test)", "codexHome": "/h"},
            "account/read": lambda _: {"account": {"type": "apiKey"}, "requiresOpenaiAuth": True},
            "thread/start": self._thread,
            "thread/resume": self._thread,
            "turn/start": self._start_turn,
            "turn/interrupt": lambda _: {},
            "turn/steer": lambda message: {"turnId": message["params"]["expectedTurnId"]},
            "thread/inject_items": lambda _: {},
            "thread/backgroundTerminals/clean": lambda _: {},
        }
        self._sandbox_exit, self._stubborn = sandbox_exit, stubborn
        self._turns = 0
        self._changed = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None

    # ------------------------------------------------------------ what the test does
    def hold(self, method: str) -> None:
        """Leave requests of this method unanswered."""
        self.rules.pop(method, None)

    def hold_turn_name(self) -> None:
        """Answer `turn/start`, but do not say `turn/started`."""
        self.rules["turn/start"] = lambda _: {"turn": {"id": self._next_turn(), "status": "inProgress"}}

    def notify(self, method: str, **params: Any) -> None:
        self.write_message({"method": method, "params": {"threadId": THREAD} | params})

    def start_turn(self, turn_id: str) -> None:
        self.notify("turn/started", turn={"id": turn_id, "status": "inProgress"})

    def end_turn(self, turn_id: str, status: str = "completed", error: Any = None) -> None:
        turn = {"id": turn_id, "status": status, "error": error, "durationMs": 7}
        self.notify("turn/completed", turn=turn)

    def item(self, event: str, turn_id: str, item: dict[str, Any]) -> None:
        self.notify(f"item/{event}", turnId=turn_id, item=item)

    def ask(self, id: Any, method: str, **params: Any) -> None:
        self.write_message({"id": id, "method": method, "params": {"threadId": THREAD} | params})

    def answer(self, message: Message, result: Any) -> None:
        self.write_message({"id": message["id"], "result": result})

    def refuse(self, message: Message, code: int, text: str) -> None:
        self.write_message({"id": message["id"], "error": {"code": code, "message": text}})

    def write_message(self, message: Message) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        assert self._writer is not None
        self._writer.write(data)

    # ------------------------------------------------------------ what the test sees
    def received(self, method: str) -> list[Message]:
        """The requests and notifications of that method so far."""
        return [message for message in self.messages if message.get("method") == method]

    def answers(self, id: Any) -> list[Message]:
        """The driver's answers to a request of ours."""
        return [m for m in self.messages if "method" not in m and m.get("id") == id and type(m["id"]) is type(id)]

    async def wait_for(self, method: str, count: int = 1) -> Message:
        return (await self._wait(lambda: self.received(method), count))[count - 1]

    async def wait_for_answer(self, id: Any) -> Message:
        return (await self._wait(lambda: self.answers(id), 1))[0]

    async def _wait(self, find: Callable[[], list[Message]], count: int) -> list[Message]:
        async with asyncio.timeout(5):
            while len(found := find()) < count:
                self._changed.clear()
                await self._changed.wait()
        return found

    # ------------------------------------------------------------ the machinery
    async def __aenter__(self) -> ScriptedAgent:
        self._socket_dir = tempfile.TemporaryDirectory()  # short: the address of a socket has 108 bytes
        address = f"{self._socket_dir.name}/s"
        self._server = await asyncio.start_unix_server(self._serve, address, limit=64 * 1024 * 1024)
        self.codex_bin.parent.mkdir(parents=True, exist_ok=True)
        self.codex_bin.write_text(
            f"#!{sys.executable} -S\n"
            f"import sys\n"
            f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            f"from bridge import main\n"
            f"main(address={address!r}, sandbox_exit={self._sandbox_exit}, stubborn={self._stubborn})\n"
        )
        self.codex_bin.chmod(0o700)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        if self._writer is not None:
            self._writer.close()
        await self._server.wait_closed()
        self._socket_dir.cleanup()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        try:
            self.pids.append(int(await reader.readline()))
            while line := await reader.readline():
                message = json.loads(line)
                self.messages.append(message)
                rule = self.rules.get(message.get("method", ""))
                if rule is not None and "id" in message:
                    self._reply(writer, message, rule(message))
                self._changed.set()
        except (ConnectionResetError, asyncio.CancelledError):
            pass  # the process was killed, or the test is over
        finally:
            writer.close()

    def _reply(self, writer: asyncio.StreamWriter, message: Message, result: Any) -> None:
        after = result.pop("after", None) if isinstance(result, dict) else None
        writer.write(json.dumps({"id": message["id"], "result": result}).encode() + b"\n")
        if after is not None:
            after()

    def _thread(self, message: Message) -> Any:
        thread = {"id": message["params"].get("threadId", THREAD), "sessionId": "session-1", "path": None}
        return {
            "thread": thread,
            "model": "test-model",
            "approvalPolicy": "never",
            "activePermissionProfile": {"id": PROFILE},
        }

    def _start_turn(self, message: Message) -> Any:
        turn_id = self._next_turn()
        return {"turn": {"id": turn_id, "status": "inProgress"}, "after": lambda: self.start_turn(turn_id)}

    def _next_turn(self) -> str:
        self._turns += 1
        return f"u{self._turns}"
