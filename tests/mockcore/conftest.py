"""A desk: one clean room with an open run, and short ways to act on it and to look at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from mockcore import history, models, tenants
from mockcore.commands import Command
from mockcore.plane import MockControlPlane
from mockcore.port import AdvanceClock, Applied, Cause, Envelope, OpenRun, Outcome, Principal, Refused
from mockcore.text import canonical

CLAIMS = (
    "control_plane:budget",
    "control_plane:interactions",
    "control_plane:release",
    "control_plane:wakes",
    "delegation:tasks:create",
    "dependencies:write",
    "governance:approvals:comment",
    "governance:approvals:decide",
    "governance:approvals:request",
    "workspace:control",
)


@dataclass
class Desk:
    identity: tenants.CleanRoomIdentity
    run_id: str = "run-1"
    keys: int = field(default=0)

    @property
    def plane(self) -> MockControlPlane:
        return MockControlPlane(company_id=self.identity.company_id)

    @property
    def company_id(self) -> str:
        return self.identity.company_id

    @property
    def task_id(self) -> str:
        return self.identity.task_id

    def open(self, run_id: str = "run-1", **changed: Any) -> Outcome:
        asked: dict[str, Any] = {
            "run_id": run_id,
            "session_id": "session-1",
            "actor_id": self.identity.actor_id,
            "task_id": self.identity.task_id,
            "capabilities": CLAIMS,
            **changed,
        }
        return self.plane.open_run(OpenRun(**asked))

    def envelope(self, command: Command, *, key: str | None = None, **changed: Any) -> Envelope:
        self.keys += 1
        return Envelope(
            **{
                "run_id": self.run_id,
                "idempotency_key": key or f"key-{self.keys}",
                "command": command,
                "cause": Cause(turn_id="turn-1", call_id=f"call-{self.keys}"),
                **changed,
            }
        )

    def send(self, command: Command, **changed: Any) -> Outcome:
        return self.plane.apply(self.envelope(command, **changed))

    def do(self, command: Command, **changed: Any) -> Applied:
        """Send a command that takes effect, and check that the state moved by exactly one revision.

        What time brought due follows with revisions of its own, and with nothing else.
        """
        before = self.plane.state_revision()
        outcome = self.send(command, **changed)
        assert isinstance(outcome, Applied), outcome
        assert (outcome.disposition, outcome.state_revision) == ("applied", before + 1)
        first, *followed = self.operations(after=before)
        assert first == command.kind
        assert set(followed) <= {"deliver_wakes", "expire_interactions"}
        assert self.plane.state_revision() == before + 1 + len(followed)
        return outcome

    def operations(self, *, after: int = 0) -> list[str]:
        """Return what each revision after that one was."""
        return [revision.operation for revision in history.list_revisions(company_id=self.company_id, after=after)]

    def pass_time(self, ticks: int) -> Applied:
        """Move the company's clock on."""
        self.keys += 1
        outcome = self.plane.advance_clock(AdvanceClock(ticks=ticks, idempotency_key=f"clock-{self.keys}"))
        assert isinstance(outcome, Applied), outcome
        return outcome

    def board(self, command: Command, **changed: Any) -> Applied:
        return self.do(command, principal=Principal.BOARD, **changed)

    def refuse(self, command: Command, code: str, **changed: Any) -> Refused:
        """Send a command that is refused, and check that nothing but a decision came of it."""
        before = self.facts_of_state()
        decisions = len(self.plane.state()["decisions"])
        outcome = self.send(command, **changed)
        assert isinstance(outcome, Refused), outcome
        assert outcome.code == code
        assert self.facts_of_state() == before
        assert len(self.plane.state()["decisions"]) == decisions + 1
        return outcome

    def facts_of_state(self) -> str:
        """Return all that a refusal must not move, as canonical text. What is left of a fault is derived."""
        state = self.plane.state()
        del state["decisions"]
        state["faults"] = [{**fault, "remaining": None} for fault in state["faults"]]
        return canonical(state)

    def entity(self, ref: str) -> dict[str, Any]:
        return history.entities(company_id=self.company_id, refs=[ref])[ref]

    @property
    def task(self) -> dict[str, Any]:
        return self.entity(f"task:{self.task_id}")

    @property
    def status(self) -> str:
        return str(self.task["status"])

    def last_decision(self) -> dict[str, Any]:
        return dict(self.plane.state()["decisions"][-1])

    def company(self) -> models.Company:
        return models.Company.objects.get(pk=self.company_id)

    def put(self, **columns: Any) -> None:
        """Set columns of the active task directly, to start a test from any state."""
        models.Task.objects.filter(company_id=self.company_id, public_id=self.task_id).update(**columns)


def seated(identity: tenants.CleanRoomIdentity | None = None) -> Desk:
    desk = Desk(identity=tenants.seed_clean_room(identity=identity))
    assert isinstance(desk.open(), Applied)
    return desk


@pytest.fixture
def desk(db: None) -> Desk:
    """A clean room whose run has checked its issue out."""
    return seated()


@pytest.fixture
def blank(db: None) -> Desk:
    """A clean room that was just seeded."""
    return Desk(identity=tenants.seed_clean_room())
