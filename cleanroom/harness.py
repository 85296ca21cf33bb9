"""The driver contract: what any agent must be able to do for a session, and how it says that it cannot.

Above it is the session host, the only caller. Below it is one agent process and its wire. A caller must not know
Codex, JSON-RPC or process ids; a driver must not know tenants, browsers, rows or the catalog's rules: it is handed tool
definitions and one function that answers tool calls. Source: reference B section 5.1, contract version 1.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Protocol

from cleanroom.turns import AlreadyTerminal, TurnActive
from mockcore.refusal import Refusal

CONTRACT_VERSION = 1


# ---------------------------------------------------------------- values
@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What this driver can do. `unsupported` names every flag that is off, so nobody has to guess."""

    resume: bool = False
    typed_events: bool = True
    steering: bool = False
    interruption: bool = False
    structured_result: bool = True
    read: bool = False
    reconciliation: bool = False
    usage: bool = False
    dynamic_tools: bool = False
    runtime_request_resolution: bool = False
    goals: bool = False
    thread_lineage: bool = False

    @property
    def unsupported(self) -> tuple[str, ...]:
        return tuple(name for name, value in vars(self).items() if not value)


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    kind: str
    display_name: str
    version: str
    protocol_version: str | None
    capabilities: Capabilities


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """One tool as the agent sees it. `input_schema` is JSON Schema 2020-12, passed on unchanged."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call the agent made. `exposed` is false for a catalog name the agent was never offered."""

    turn_id: str
    call_id: str
    operation_id: str
    arguments: Any
    exposed: bool = True


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """What goes back to the agent: text it can read, and whether the call succeeded."""

    success: bool
    text: str


ToolHandler = Callable[[ToolCall], Awaitable[ToolAnswer]]


@dataclass(frozen=True, kw_only=True)
class OpenSession:
    """Everything a driver needs to open one session, or to return to one.

    `workspace` and `home` are this session's own directories; `withheld_tools` are catalog names that are not exposed,
    whose calls must still reach `on_tool_call` with `exposed=False`.
    """

    run_id: str
    normalized_session_id: str
    workspace: Path
    home: Path
    base_instructions: str
    tools: Sequence[ToolDefinition]
    withheld_tools: frozenset[str]
    on_tool_call: ToolHandler
    last_source_seq: int = 0


@dataclass(frozen=True, kw_only=True)
class HarnessEvent:
    """One canonical event (PRP v1) before it is recorded. `turn_id` and `item_id` are the provider's, verbatim.

    `payload` is bounded but not yet redacted. `source_seq` counts from `last_source_seq + 1` without a gap.
    """

    type: str
    payload: dict[str, Any]
    source_seq: int
    emitted_at: datetime
    turn_id: str | None = None
    item_id: str | None = None
    priority: int = 1


@dataclass(frozen=True, kw_only=True)
class ProcessFacts:
    """What can be said about the processes of a session. `environment_keys` are names only, sorted."""

    runner_pid: int | None
    agent_pid: int | None
    environment_keys: tuple[str, ...]
    sandboxed: bool  # False: the thread has no environments at all and can run no command
    agent_version: str
    model: str


@dataclass(frozen=True, kw_only=True)
class SessionIds:
    driver_session_id: str
    provider_session_id: str | None = None
    display_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class SessionSnapshot:
    """Enough to return to the session in another process. Plain values: it is stored as JSON."""

    driver_kind: str
    driver_session_id: str
    provider_session_id: str | None
    run_id: str
    normalized_session_id: str
    active_turn_id: str | None
    last_source_seq: int
    terminal_turns: tuple[tuple[str, str], ...] = ()  # (turn id, fingerprint)
    has_messages: bool = False  # a thread without a message is not on the provider's disk


# ---------------------------------------------------------------- errors
class HarnessError(Refusal):
    """The agent's driver refused."""

    code = "harness_error"


class HarnessUnavailableError(HarnessError):
    """The outside world failed: the runner or the agent could not be started, or went away."""

    code = "codex_unavailable"


class RunnerUnavailableError(HarnessUnavailableError):
    """runnerd could not be started, or died."""

    code = "runnerd_unavailable"


class AgentUnavailableError(HarnessUnavailableError):
    """Codex could not be started, did not answer in time, or died."""

    code = "codex_unavailable"


class WorkspaceUnavailableError(HarnessUnavailableError):
    """The directory for running rooms cannot be written. Make CAPABILITY_VAR_DIR writable; then try again."""

    code = "workspace_unavailable"


class LoginRequiredError(HarnessUnavailableError):
    """Codex has no login, and CAPABILITY_MODEL_URL names no other model."""

    code = "codex_login_required"


class HarnessCapabilityUnavailableError(HarnessError):
    """The driver or its provider cannot do this."""

    code = "capability_unavailable"

    def __init__(self, operation: str, message: str = "") -> None:
        super().__init__(message or f"the agent does not support {operation}")
        self.operation = operation


class HarnessReconciliationError(HarnessError):
    """The provider's facts do not agree with the stored ones."""

    code = "reconciliation_failed"
    recoverable: ClassVar[bool] = True


class HarnessOperationAlreadyTerminalError(HarnessError, AlreadyTerminal):
    """The turn had already ended."""

    code = AlreadyTerminal.code


class HarnessStaleTurnError(HarnessError):
    """The turn named is not the active one."""

    code = "stale_turn"


class HarnessTurnActiveError(HarnessError, TurnActive):
    """A turn is already running or starting."""

    code = TurnActive.code


class HarnessRuntimeRequestResolutionError(HarnessError):
    """The answer does not fit the kind of request."""

    code = "invalid_resolution"


class ProtocolFailure(HarnessError):
    """The provider broke its protocol; the session cannot go on in this process."""

    code = "protocol_failure"

    def __init__(self, failure: str, message: str) -> None:
        super().__init__(message)
        self.failure = failure


# ---------------------------------------------------------------- the contract
class HarnessSession(Protocol):
    """One live conversation with one agent process."""

    def ids(self) -> SessionIds: ...

    def process(self) -> ProcessFacts: ...

    def events(self) -> AsyncIterator[HarnessEvent]:
        """Yield events in order until the session ends. One consumer. The last event of a session that broke is
        `session.failed` {code, message, recoverable}, after the terminal of a turn that it cut."""

    async def start_turn(self, *, message: str) -> str:
        """Send one message and return the turn's provider id once it is known.

        Raises `HarnessTurnActiveError`, `HarnessUnavailableError`. Exactly one terminal event follows
        (`turn.completed`, `turn.interrupted` or `turn.failed`), after `item.completed`/`item.failed` for every item
        that was open.
        """

    async def interrupt(self, *, reason: str) -> None:
        """Ask the active turn to stop; queued while the turn has no id yet. Idempotent until the turn ends.

        Raises `HarnessOperationAlreadyTerminalError` when no turn is active or starting.
        """

    async def steer(self, *, turn_id: str, message: str) -> None: ...

    def snapshot(self) -> SessionSnapshot: ...

    def has_ended(self) -> bool:
        """Say whether the session broke or was closed: it takes no turn any more. Its last events may still come."""

    async def close(self, *, reason: str, force: bool = False) -> None:
        """End the agent and its runner; safe to call twice. Bounded: five seconds, then everything is killed."""


class HarnessDriver(Protocol):
    """Opens sessions of one kind of agent."""

    def descriptor(self) -> Descriptor: ...

    async def open_session(self, request: OpenSession) -> HarnessSession:
        """Start the runner and the agent, start a thread, and return when the agent is ready for a turn."""

    async def recover_session(self, request: OpenSession, snapshot: SessionSnapshot) -> HarnessSession:
        """Start a new runner and agent and resume the same thread (a new one when it never had a message)."""


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """What an operator chose for the agent; read at the edge and passed in."""

    codex_bin: str
    login_home: Path
    templates_dir: Path
    model_url: str = ""
    model_name: str = ""
    request_timeout_s: float = 20.0
    extra_environment: Mapping[str, str] = field(default_factory=dict)
