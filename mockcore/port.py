"""The control-plane port: what every caller programs against.

Above it are the semantic dispatcher and the session host. Below it is `plane.MockControlPlane`, the only thing that
writes the rows of a company. A caller must not know models, transactions or the order of checks; the plane must not
know tools, providers, HTTP or who is watching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from mockcore.commands import Command

JSON = Mapping[str, Any]


class Principal(StrEnum):
    """On whose authority a command is applied."""

    RUN = "run"  # the run's own actor and capabilities; the command boundary checks both
    BOARD = "board"  # the person at the chat: may answer, decide and comment, and nothing else
    OPERATOR = "operator"  # who runs the mock company: may move its clock, and nothing else


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why a command was sent: opaque ids of the world above, kept on the revision so that any field can be blamed."""

    turn_id: str = ""
    call_id: str = ""
    message_id: str = ""
    authorization_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """One command on its way to the plane. Keys live in one space per run and principal, whatever the command kind."""

    run_id: str
    idempotency_key: str
    command: Command
    cause: Cause = field(default_factory=Cause)
    principal: Principal = Principal.RUN
    expected_revision: int | None = None


@dataclass(frozen=True, kw_only=True)
class Applied:
    """A command took effect (`applied`), or had taken effect before (`duplicate`)."""

    command_id: str
    command_kind: str
    disposition: str
    state_revision: int
    entity_refs: tuple[str, ...]
    scheduled_wake_ids: tuple[str, ...]
    delivered_wake_ids: tuple[str, ...] = ()  # by the mutations that followed at once; no part of the contract's JSON

    def as_json(self) -> dict[str, Any]:
        return {
            "commandId": self.command_id,
            "commandKind": self.command_kind,
            "disposition": self.disposition,
            "stateRevision": self.state_revision,
            "entityRefs": list(self.entity_refs),
            "scheduledWakeIds": list(self.scheduled_wake_ids),
        }


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A command was refused by the control plane; no entity and no state revision changed.

    One exception is made on purpose: a `lost_ack` fault answers so although everything took effect, as a reply does
    that got lost on its way. It is `retryable`, and the same command under the same key is then a duplicate.
    """

    command_kind: str
    state_revision: int
    code: str
    message: str
    retryable: bool = False


Outcome = Applied | Refused


@dataclass(frozen=True, kw_only=True)
class OpenRun:
    """Ask for a run: opening it checks the task out, atomically."""

    run_id: str
    session_id: str
    actor_id: str
    task_id: str
    capabilities: tuple[str, ...]
    backend_kind: str = "runner"
    source_instance_id: str = "capability-live-runnerd"
    wake: JSON | None = None
    resume: bool = False


@dataclass(frozen=True, kw_only=True)
class AdvanceClock:
    """Move company time `ticks` seconds on, on the operator's authority."""

    ticks: int
    idempotency_key: str
    cause: Cause = field(default_factory=Cause)


@dataclass(frozen=True, kw_only=True)
class EventReceipt:
    """What became of one reported event.

    `contiguous_seq` is the number up to which the plane holds every event of the source: a runner may forget those.
    """

    disposition: str  # `committed`, or `duplicate`: reported before, with equal content
    event_id: str
    contiguous_seq: int
    state_revision: int


@dataclass(frozen=True, kw_only=True)
class ReplayEvents:
    """Ask for the events of one source after cursor `after` (the last number held; 0 is the beginning)."""

    run_id: str
    source_instance_id: str
    after: int = 0
    limit: int = 200


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What authorization needs to know of a run, read fresh from the rows.

    `task` and `actor` are the JSON of reference A section 3.3, so `task["workMode"]`, `actor["capabilityGrants"]`.
    Finishing a task releases `checkoutRunId`; `executionRunId` stays as the mark of the run that finished it, which may
    go on reading it (`finished_by_run`).
    """

    run_id: str
    company_id: str
    status: str
    capabilities: frozenset[str]
    actor: JSON
    task: JSON
    state_revision: int

    @property
    def finished_by_run(self) -> bool:
        """Say whether this very run finished its task: it no longer holds it, and may still read it."""
        return bool(self.task["status"] == "done" and self.task["executionRunId"] == self.run_id)


class ControlPlanePort(Protocol):
    """One mock company, as its callers see it. Every method reads or writes that company only.

    Unknown runs raise `mockcore.plane.RunMissing`, a `Refusal`.
    """

    company_id: str

    def open_run(self, request: OpenRun) -> Outcome:
        """Check the task out for a new run, or return to the same run. Errors: reference A section 3.6."""

    def facts(self, run_id: str) -> RunFacts:
        """Return the run's actor, task and capabilities from fresh rows, in as few queries as can be."""

    def context(self, run_id: str) -> dict[str, Any]:
        """Return the run context `paperclip.capability.run-context.v1` of reference A section 3.7."""

    def apply(self, envelope: Envelope) -> Outcome:
        """Apply one command in one transaction. A refusal changes no entity and leaves a decision record."""

    def has_applied(self, run_id: str, idempotency_key: str, principal: Principal = Principal.RUN) -> bool:
        """Say whether a command of this run and principal took effect under the key; applying it again is then safe.

        So a caller may let a repeated command through that it would refuse as a new one.
        """

    def query(self, run_id: str, query: str, /, **arguments: Any) -> dict[str, Any]:
        """Answer one named read of `queries.QUERIES` in the shape of reference A section 1.4.

        Arguments are the tool's inputs in snake case: `limit`, `key`, `actor_id`, `approval_id`, `query`, `statuses`.
        What is not there raises a `Refusal` (`document_missing`, `actor_missing`, `approval_missing`).
        """

    def state_revision(self) -> int:
        """Return the number of the newest state revision; 0 is the seed."""

    def state(self) -> dict[str, Any]:
        """Return the whole state root `paperclip.capability.mock-state.v1` (reference A section 3.2)."""


class RunnerPort(Protocol):
    """The same company, as a runner sees it that works a run and reports on it. Source: reference A 3.1, 3.16.

    Callers must not know rows; the plane must not know what an event means beyond its envelope and its terminal facts.
    """

    def append_event(self, run_id: str, event: JSON) -> EventReceipt | Refused:
        """Keep one event of a run, once. Errors: reference A section 3.16."""

    def replay_events(self, request: ReplayEvents) -> list[dict[str, Any]]:
        """Return events of a source after a cursor, in the source's order. Raises `ReplayBindingMismatch`."""

    def checkpoint_session(self, run_id: str, checkpoint: JSON) -> Outcome:
        """Keep the runner's own snapshot of its session, in place of the one before."""

    def load_session_checkpoint(self, run_id: str) -> dict[str, Any] | None:
        """Return the last snapshot, or None."""

    def complete_run(self, run_id: str, result: JSON) -> Outcome:
        """End a run with its result and put its task where the result says. Errors: reference A section 3.16."""
