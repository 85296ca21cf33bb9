"""One mock company with an open run, as the boundary meets it: facts on demand, a dispatcher, and short ways to ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from capability.authorizations import list_authorization_records
from capability.dispatcher import Call, Dispatched, Dispatcher, Scenario
from capability.profiles import Profile, Profiles
from mockcore import models
from mockcore.plane import MockControlPlane
from mockcore.port import Applied, OpenRun
from mockcore.tenants import CleanRoomIdentity, seed_clean_room

RUN = "run-1"


@dataclass
class Company:
    """A seeded clean room. `role`, `mode` and `grants` are set before its run opens, with `run_claims`."""

    role: str = "engineer"
    mode: str = "standard"
    grants: tuple[str, ...] = ()
    run_claims: tuple[str, ...] = ()
    scenario: Scenario = field(default_factory=lambda: Scenario(id="table"))
    explicit: frozenset[str] | None = None
    identity: CleanRoomIdentity = field(default_factory=CleanRoomIdentity.mint)
    calls: int = 0

    def __post_init__(self) -> None:
        seed_clean_room(identity=self.identity)
        self.actor(role=self.role, capability_grants=list(self.grants))
        self.task(work_mode=self.mode)
        request = OpenRun(
            run_id=RUN,
            session_id="session-1",
            actor_id=self.identity.actor_id,
            task_id=self.identity.task_id,
            capabilities=self.run_claims,
        )
        assert isinstance(self.plane.open_run(request), Applied)

    # ------------------------------------------------------------ facts
    @property
    def id(self) -> str:
        return self.identity.company_id

    @property
    def plane(self) -> MockControlPlane:
        return MockControlPlane(company_id=self.id)

    def actor(self, **columns: Any) -> None:
        models.Actor.objects.filter(company_id=self.id).update(**columns)

    def task(self, **columns: Any) -> None:
        models.Task.objects.filter(company_id=self.id, public_id=self.identity.task_id).update(**columns)

    def run(self, **columns: Any) -> None:
        models.Run.objects.filter(company_id=self.id).update(**columns)

    def entities(self) -> dict[str, Any]:
        """The whole state without the decisions, which every request leaves."""
        return {name: part for name, part in self.plane.state().items() if name != "decisions"}

    # ------------------------------------------------------------ asking
    @property
    def dispatcher(self) -> Dispatcher:
        return Dispatcher(port=self.plane, scenario=self.scenario, explicit_claims=self.explicit)

    def listed(self, run_id: str = RUN) -> list[str]:
        return [tool.name for tool in self.dispatcher.list_tools(run_id=run_id)]

    def call(self, operation: str, given: Any, *, run_id: str = RUN) -> Dispatched:
        self.calls += 1
        call = Call(run_id=run_id, call_id=f"call-{self.calls}", operation_id=operation, input=given)
        return self.dispatcher.dispatch(call)


def code_of(answered: Dispatched) -> str:
    """`allowed`, or the code of the denial."""
    return "allowed" if answered.ok else str(answered.envelope["denial"]["code"])


def control_plane_code(answered: Dispatched) -> str | None:
    code = answered.envelope["denial"].get("controlPlaneCode")
    return None if code is None else str(code)


def company_of(known: Profiles, *, scenario: Scenario, explicit: frozenset[str] | None = None, **facts: Any) -> Company:
    """Return a company whose scenario is a registered profile."""
    known.register(Profile(name=scenario.id, scenario=scenario, explicit_claims=explicit))
    return Company(scenario=scenario, explicit=explicit, **facts)


def last_record(company: Company) -> str:
    """Return the id of the newest authorization record."""
    return str(list_authorization_records(company_id=company.id)[-1]["id"])
