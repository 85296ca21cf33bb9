"""A control-plane port in memory, for tests of the boundary alone: remembers what it was sent and answers as told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mockcore.port import Applied, Envelope, OpenRun, Outcome, Principal, Refused, RunFacts
from mockcore.refusal import Refusal


class RunMissing(Refusal):
    """There is no such run."""

    code = "run_missing"


class DocumentMissing(Refusal):
    """There is no such document."""

    code = "document_missing"


def facts(**changes: Any) -> RunFacts:
    """Facts of a run that holds a fresh standard task, in the shape of the mock company; `task` and `actor` merge."""
    task = {
        "id": "task-1",
        "identifier": "MCK-1",
        "title": "Clean-room chat",
        "status": "in_progress",
        "workMode": "standard",
        "assigneeActorId": "actor-1",
        "checkoutRunId": "run-1",
        "executionRunId": "run-1",
    }
    actor = {"id": "actor-1", "name": "Mock Agent", "role": "engineer", "status": "active", "capabilityGrants": []}
    values: dict[str, Any] = {
        "run_id": "run-1",
        "company_id": "company-1",
        "status": "running",
        "capabilities": frozenset(),
        "state_revision": 1,
        **changes,
    }
    values["task"] = {**task, **changes.get("task", {})}
    values["actor"] = {**actor, **changes.get("actor", {})}
    return RunFacts(**values)


@dataclass
class MemoryPort:
    """One run of one company. Commands are applied once per key; `failure` is raised or returned instead."""

    run: RunFacts = field(default_factory=facts)
    revision: int = 1
    failure: Exception | Refused | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    envelopes: list[Envelope] = field(default_factory=list)
    queries: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def company_id(self) -> str:
        return self.run.company_id

    def facts(self, run_id: str) -> RunFacts:
        if run_id != self.run.run_id:
            raise RunMissing
        return RunFacts(**{**vars(self.run), "state_revision": self.revision})

    def apply(self, envelope: Envelope) -> Outcome:
        if isinstance(self.failure, Exception):
            raise self.failure
        if self.failure is not None:
            return self.failure
        self.envelopes.append(envelope)
        self.revision += 1
        return Applied(
            command_id=f"command-{len(self.envelopes):04d}",
            command_kind=envelope.command.kind,
            disposition="applied",
            state_revision=self.revision,
            entity_refs=("task:task-1",),
            scheduled_wake_ids=(),
        )

    def has_applied(self, run_id: str, idempotency_key: str, principal: Principal = Principal.RUN) -> bool:
        return any(envelope.idempotency_key == idempotency_key for envelope in self.envelopes)

    def query(self, run_id: str, query: str, /, **arguments: Any) -> dict[str, Any]:
        self.queries.append((query, arguments))
        if isinstance(self.failure, Exception):
            raise self.failure
        return dict(self.answers.get(query, {}))

    def context(self, run_id: str) -> dict[str, Any]:
        return {"schema": "paperclip.capability.run-context.v1", "activeTask": dict(self.run.task)}

    def state_revision(self) -> int:
        return self.revision

    def state(self) -> dict[str, Any]:
        return {"revision": self.revision}

    def open_run(self, request: OpenRun) -> Outcome:
        raise NotImplementedError("the boundary never opens a run")
