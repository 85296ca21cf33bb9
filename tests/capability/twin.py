"""A control plane without a database: plain dictionaries behind the port, written apart from the rows.

It carries what the conformance vectors reach and nothing more; every other command and read says so loudly. Two
implementations that were written apart and agree are a better proof of the port than one that agrees with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from capability.conformance.kit import Kind, Opened
from capability.conformance.vectors import World
from mockcore import commands
from mockcore.port import Applied, Envelope, OpenRun, Outcome, Principal, Refused, RunFacts
from tests.capability.memory_port import RunMissing

JSON = dict[str, Any]
LISTS = (
    "actors tasks comments documents interactions approvals artifacts workProducts blockers workspaceServices wakes "
    "audit decisions"
)


class No(Exception):
    """A refusal on its way out: its code, and the reason that the decision keeps."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code)
        self.code, self.reason = code, reason or code


class Twin:
    """One company as dictionaries. A command works on a copy of the state, so a refusal leaves nothing behind."""

    company_id = "twin"

    def __init__(self, world: World) -> None:
        self.world = world
        self.root: JSON = {"revision": 1, **{name: [] for name in LISTS.split()}}
        self.root["actors"] = [self._actor(world)]
        self.root["tasks"] = [self._task("task", held=True)]
        if world.blocked_by:
            self.root["tasks"].append(self._task(world.blocked_by, held=False))
            self.root["blockers"] = [{"taskId": "task", "blockedByTaskId": world.blocked_by}]
        self.stored: dict[str, tuple[commands.Command, Applied]] = {}

    @staticmethod
    def _actor(world: World) -> JSON:
        return {"id": "actor", "name": "Twin", "role": world.role, "status": "active", "capabilityGrants": []}

    @staticmethod
    def _task(id: str, *, held: bool) -> JSON:
        run = "run" if held else None
        return {
            "id": id,
            "status": "in_progress" if held else "todo",
            "priority": "medium",
            "workMode": "standard",
            "assigneeActorId": "actor" if held else None,
            "checkoutRunId": run,
            "executionRunId": run,
        }

    # ------------------------------------------------------------ the port
    def facts(self, run_id: str) -> RunFacts:
        if run_id != "run":
            raise RunMissing
        return RunFacts(
            run_id=run_id,
            company_id="twin",
            status="running",
            capabilities=self.world.claims,
            actor=self.root["actors"][0],
            task=self.root["tasks"][0],
            state_revision=self.root["revision"],
        )

    def apply(self, envelope: Envelope) -> Outcome:
        command = envelope.command
        try:
            return self._applied(envelope.idempotency_key, command)
        except No as no:
            self._decide(command.kind, "denied", no.reason)
            return Refused(
                command_kind=command.kind, state_revision=self.root["revision"], code=no.code, message=no.code
            )

    def has_applied(self, run_id: str, idempotency_key: str, principal: Principal = Principal.RUN) -> bool:
        return idempotency_key in self.stored

    def state_revision(self) -> int:
        return int(self.root["revision"])

    def state(self) -> JSON:
        return deepcopy(self.root)

    def open_run(self, request: OpenRun) -> Outcome:
        raise NotImplementedError("a twin is made with its run open")

    def context(self, run_id: str) -> JSON:
        raise NotImplementedError("no vector reads the context")

    def query(self, run_id: str, query: str, /, **arguments: Any) -> JSON:
        raise NotImplementedError("no vector reads")

    # ------------------------------------------------------------ commands
    def _applied(self, key: str, command: commands.Command) -> Applied:
        if key in self.stored:
            return self._again(*self.stored[key], command)
        draft = deepcopy(self.root)
        refs = self.carriers[type(command)](self, draft, command)
        draft["revision"] += 1
        self.root = draft
        self.root["audit"].append({"action": "semantic_command.applied", "details": {"kind": command.kind}})
        self._decide(command.kind, "allowed", "semantic_command_applied")
        result = self._result(command, "applied", ("task:task", *refs))
        self.stored[key] = (command, result)
        return result

    def _again(self, known: commands.Command, result: Applied, command: commands.Command) -> Applied:
        if known != command:
            raise No("idempotency_conflict")
        self._decide(command.kind, "duplicate", "command_already_applied")
        return self._result(command, "duplicate", result.entity_refs)

    def _result(self, command: commands.Command, disposition: str, refs: tuple[str, ...]) -> Applied:
        return Applied(
            command_id="command",
            command_kind=command.kind,
            disposition=disposition,
            state_revision=self.root["revision"],
            entity_refs=refs,
            scheduled_wake_ids=(),
        )

    def _decide(self, operation: str, outcome: str, reason: str) -> None:
        self.root["decisions"].append({"operation": operation, "outcome": outcome, "reason": reason})

    def _report(self, draft: JSON, command: commands.ReportProgress) -> tuple[str, ...]:
        draft["comments"].append({"body": command.body})
        return ("comment:1",)

    def _write(self, draft: JSON, command: commands.WriteDocument) -> tuple[str, ...]:
        found = [one for one in draft["documents"] if one["key"] == command.key]
        latest = found[0]["revisions"][-1]["id"] if found else None
        if command.base_revision_id != latest:
            raise No("document_revision_conflict")
        document = found[0] if found else {"key": command.key, "revisions": []}
        document["title"] = command.title
        document["revisions"].append({"id": f"revision-{len(document['revisions'])}", "body": command.body})
        if not found:
            draft["documents"].append(document)
        return ("document:1", "revision:1")

    def _depend(self, draft: JSON, command: commands.SetDependencies) -> tuple[str, ...]:
        if self.world.foreign_task in command.blocked_by_task_ids:
            raise No("company_scope_violation")
        raise NotImplementedError("no vector depends on a task of its own company")

    def _ask(self, draft: JSON, command: commands.RequestHumanInput) -> tuple[str, ...]:
        draft["interactions"].append({"kind": command.interaction_kind, "status": "pending", "title": command.title})
        draft["tasks"][0]["status"] = "in_review"
        return ("interaction:1",)

    def _finish(self, draft: JSON, command: commands.FinishTask) -> tuple[str, ...]:
        if draft["blockers"]:
            raise No("semantic_rule_violation")
        draft["tasks"][0] |= {"status": "done", "checkoutRunId": None}
        draft["comments"].append({"body": command.summary})
        return ("comment:1",)

    carriers: dict[type[commands.Command], Callable[[Twin, JSON, Any], tuple[str, ...]]] = {
        commands.ReportProgress: _report,
        commands.WriteDocument: _write,
        commands.SetDependencies: _depend,
        commands.RequestHumanInput: _ask,
        commands.FinishTask: _finish,
    }


class TwinAdapter:
    id = "memory-twin"
    kind = Kind.MOCK

    @contextmanager
    def open(self, world: World) -> Iterator[Opened]:
        yield Opened(port=Twin(world), run_id="run", task_id="task")
