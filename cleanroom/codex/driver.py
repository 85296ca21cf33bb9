"""Opens Codex sessions: prepares the home, starts runnerd and Codex, checks login and sandbox, gets the thread ready.

Whatever goes wrong or is cancelled half-way leaves no process behind. Directories are the caller's: it names them, and
removes them with `home.remove_tree`.
"""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from capability.redaction import redact_text
from cleanroom.codex import binary as codex_binary
from cleanroom.codex import bwrap, sandbox
from cleanroom.codex import config as codex_config
from cleanroom.codex import home as codex_home
from cleanroom.codex.binary import CodexBinary
from cleanroom.codex.connection import CallRefused, Connection, initialize
from cleanroom.codex.names import names_of
from cleanroom.codex.runner import Runner
from cleanroom.codex.session import KIND, CodexSession
from cleanroom.codex.sweep import sweep
from cleanroom.harness import (
    AgentSettings,
    AgentUnavailableError,
    Capabilities,
    Descriptor,
    HarnessCapabilityUnavailableError,
    HarnessReconciliationError,
    HarnessSession,
    LoginRequiredError,
    OpenSession,
    ProcessFacts,
    SessionSnapshot,
    ToolAnswer,
    ToolCall,
    WorkspaceUnavailableError,
)
from cleanroom.runnerd.environment import allowed

METHOD_NOT_FOUND = -32601
NO_RECORD = ("no rollout found", "failed to read thread")  # what Codex says of a thread that it cannot go on with
logger = logging.getLogger(__name__)
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, kw_only=True)
class _Ready:
    """A Codex that has shaken hands."""

    connection: Connection
    version: str
    sandboxed: bool
    environment_keys: tuple[str, ...]


class CodexDriver:
    """One per operator's choice of agent; safe to share among sessions of one loop."""

    def __init__(self, *, settings: AgentSettings) -> None:
        self._settings = settings

    def descriptor(self) -> Descriptor:
        return Descriptor(
            kind=KIND,
            display_name="Codex app-server",
            version="codex-v2",
            protocol_version="v2",
            capabilities=Capabilities(resume=True, steering=True, interruption=True, usage=True, dynamic_tools=True),
        )

    async def open_session(self, request: OpenSession) -> HarnessSession:
        """Start a fresh thread.

        Raises `RunnerUnavailableError`, `AgentUnavailableError` or `LoginRequiredError`; no process is left then.
        """
        ready = await self._start(request)
        try:
            return await self._start_thread(ready, request, last_source_seq=request.last_source_seq, terminals={})
        except BaseException:
            await asyncio.shield(ready.connection.close())
            raise

    async def recover_session(self, request: OpenSession, snapshot: SessionSnapshot) -> HarnessSession:
        """Return to the thread in a new process, with policy and profile sent again.

        What an earlier process left is killed first: two processes on one thread would not see each other. A thread
        that never had a message, or whose record is gone, is replaced by a new one. Raises as `open_session`, and
        `HarnessReconciliationError` when Codex comes back with another thread.
        """
        await asyncio.to_thread(sweep, thread_id=snapshot.driver_session_id, home=request.home)
        ready = await self._start(request)
        last = max(request.last_source_seq, snapshot.last_source_seq)
        terminals = dict(snapshot.terminal_turns)
        try:
            if snapshot.has_messages:
                session = await self._resume_thread(ready, request, snapshot, last_source_seq=last)
                if session is not None:
                    return session
            return await self._start_thread(ready, request, last_source_seq=last, terminals=terminals)
        except BaseException:
            await asyncio.shield(ready.connection.close())
            raise

    # ------------------------------------------------------------ the process
    async def _start(self, request: OpenSession) -> _Ready:
        binary = codex_binary.find(codex_bin=self._settings.codex_bin)
        template = await codex_home.ensure_template(templates_dir=self._settings.templates_dir, binary=binary)
        await asyncio.to_thread(self._prepare, request, binary, template)
        environment = self._environment(request.home)
        probe = asyncio.create_task(
            sandbox.is_allowed(binary=binary, workspace=request.workspace, home=request.home, environment=environment)
        )
        try:
            return await self._launch(request, binary, environment, probe)
        finally:
            probe.cancel()
            await asyncio.wait({probe})

    async def _launch(
        self, request: OpenSession, binary: CodexBinary, environment: dict[str, str], probe: asyncio.Task[bool]
    ) -> _Ready:
        runner = await Runner.start(
            argv=[str(binary.path), "app-server"], directory=request.home, environment=environment
        )
        connection = Connection(runner=runner)
        try:
            version = await initialize(connection=connection, timeout_s=self._settings.request_timeout_s)
            if not self._settings.model_url:
                await self._check_login(connection)
            sandboxed = await probe
        except BaseException:
            await asyncio.shield(connection.close())
            raise
        keys = tuple(sorted(environment))
        return _Ready(connection=connection, version=version, sandboxed=sandboxed, environment_keys=keys)

    def _prepare(self, request: OpenSession, binary: CodexBinary, template: Path) -> None:
        """Make the session's directories ready. Raises `WorkspaceUnavailableError`."""
        try:
            self._write_home(request, binary, template)
        except OSError as error:
            raise WorkspaceUnavailableError from error

    def _write_home(self, request: OpenSession, binary: CodexBinary, template: Path) -> None:
        request.workspace.mkdir(parents=True, exist_ok=True)
        request.workspace.chmod(codex_home.PRIVATE_DIR)
        config = codex_config.session_config(
            workspace=request.workspace,
            binary_directory=binary.directory,
            model_url=self._settings.model_url,
            model_name=self._settings.model_name,
            command_path=bwrap.command_path(request.home),
        )
        login_home = None if self._settings.model_url else self._settings.login_home
        codex_home.prepare(home=request.home, template=template, login_home=login_home, config=config)
        helper = bwrap.files(home=request.home, workspace=request.workspace, binary=binary)
        codex_home.put_sandbox(home=request.home, files=helper)

    def _environment(self, home: Path) -> dict[str, str]:
        """A model on this machine needs no way out: proxies are dropped, and would only be asked in its place."""
        inherited = allowed({**os.environ, **self._settings.extra_environment})
        if urlsplit(self._settings.model_url).hostname in LOOPBACK:
            inherited = {key: value for key, value in inherited.items() if "PROXY" not in key}
        return codex_home.environment(home=home, inherited=inherited)

    async def _check_login(self, connection: Connection) -> None:
        try:
            answer = await self._ask(connection, "account/read", {"refreshToken": False})
        except CallRefused as refused:
            raise AgentUnavailableError("Codex could not say whether it is logged in.") from refused
        if answer.get("requiresOpenaiAuth") and answer.get("account") is None:
            raise LoginRequiredError

    # ------------------------------------------------------------ the thread
    async def _start_thread(
        self, ready: _Ready, request: OpenSession, *, last_source_seq: int, terminals: dict[str, str]
    ) -> HarnessSession:
        tools = [
            {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
            for tool in request.tools
        ]
        params = self._thread_params(ready, request) | {
            "baseInstructions": request.base_instructions,
            "dynamicTools": tools,
            "experimentalRawEvents": True,
            "persistExtendedHistory": False,
        }
        if not ready.sandboxed:
            params["environments"] = []
        try:
            answer = await self._ask(ready.connection, "thread/start", params)
        except CallRefused as refused:
            raise AgentUnavailableError("Codex refused to start a thread.") from refused
        return self._session(ready, request, answer, last_source_seq, terminals, resumed=False)

    async def _resume_thread(
        self, ready: _Ready, request: OpenSession, snapshot: SessionSnapshot, *, last_source_seq: int
    ) -> HarnessSession | None:
        """Resume, or None when Codex has no record of the thread."""
        thread_id = snapshot.driver_session_id
        params = self._thread_params(ready, request) | {"threadId": thread_id, "excludeTurns": True}
        try:
            answer = await self._ask(ready.connection, "thread/resume", params)
        except CallRefused as refused:
            if refused.code == METHOD_NOT_FOUND:
                raise HarnessCapabilityUnavailableError("thread/resume") from refused
            if any(sign in refused.text for sign in NO_RECORD):
                logger.warning("Codex has no usable record of a thread: %s", redact_text(refused.text))
                return None
            raise AgentUnavailableError("Codex refused to resume the thread.") from refused
        if answer.get("thread", {}).get("id") != thread_id:
            raise HarnessReconciliationError("Codex returned another thread than the one that was left.")
        terminals = dict(snapshot.terminal_turns)
        return self._session(ready, request, answer, last_source_seq, terminals, resumed=True)

    def _thread_params(self, ready: _Ready, request: OpenSession) -> dict[str, Any]:
        """Policy and profile are not stored with a thread, so every start and every resume sends them.

        Never `sandbox`: it would silently replace the profile.
        """
        workspace = str(request.workspace)
        params: dict[str, Any] = {
            "cwd": workspace,
            "runtimeWorkspaceRoots": [workspace],
            "approvalPolicy": "never",
            "permissions": codex_config.PROFILE,
        }
        if not ready.sandboxed:
            params["config"] = {"features.shell_tool": False}
        return params

    def _session(
        self,
        ready: _Ready,
        request: OpenSession,
        answer: dict[str, Any],
        last_source_seq: int,
        terminals: dict[str, str],
        *,
        resumed: bool,
    ) -> HarnessSession:
        profile = answer.get("activePermissionProfile") or {}
        if profile.get("id") != codex_config.PROFILE or answer.get("approvalPolicy") != "never":
            raise AgentUnavailableError("Codex did not accept the sandbox of this room.")
        facts = ProcessFacts(
            runner_pid=ready.connection.runner.pid,
            agent_pid=ready.connection.runner.agent_pid,
            environment_keys=ready.environment_keys,
            sandboxed=ready.sandboxed,
            agent_version=ready.version,
            model=str(answer.get("model") or self._settings.model_name),
        )
        return CodexSession(
            connection=ready.connection,
            request=_with_neutral_calls(request, thread_id=answer["thread"]["id"]),
            facts=facts,
            thread=answer["thread"],
            resumed=resumed,
            last_source_seq=last_source_seq,
            terminals=terminals,
            timeout_s=self._settings.request_timeout_s,
        )

    async def _ask(self, connection: Connection, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = await connection.call(method=method, params=params, timeout_s=self._settings.request_timeout_s)
        if not isinstance(answer, dict):
            raise AgentUnavailableError("Codex gave an answer that is none.")
        return answer


def _with_neutral_calls(request: OpenSession, *, thread_id: str) -> OpenSession:
    """Let the host see the arguments of a call as the log sees the agent's words: without ids and directories."""

    async def handle(call: ToolCall) -> ToolAnswer:
        names = names_of(workspace=str(request.workspace), thread_id=thread_id, turn_id=call.turn_id)
        return await request.on_tool_call(replace(call, arguments=names.hide_in(call.arguments)))

    return replace(request, on_tool_call=handle)
