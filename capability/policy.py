"""The one evaluation of authority: an ordered list of small named checks over plain facts. No rows, no clock, no I/O.

The same list decides what is exposed and, again from fresh facts, every read or command just before it is made. The
first check that says no names the denial. Order: seed "semantic catalog and authorization" and design section 5;
see `decisions/0001-one-ordered-policy.md` for finished tasks and `decisions/0002-ownership-in-both-phases.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from capability.catalog import Operation
from capability.catalog.descriptor import Mode, Placement
from capability.catalog.escape_hatch import ESCAPE_HATCH
from capability.scenario import Scenario
from mockcore.port import RunFacts

TERMINAL_STATUSES = frozenset({"done", "cancelled"})
BUDGET_STOPPED = "budget_stopped"  # of a run

# What the command boundary of the mock asks of a run, whatever the catalog exposes (reference, second check).
COMMAND_CLAIMS = frozenset(
    {
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
    }
)


class Code(StrEnum):
    """Every outcome of a decision or a call. Public: never reused, never renamed."""

    ALLOWED = "allowed"
    TOOL_NOT_EXPOSED = "tool_not_exposed"
    ACTOR_INACTIVE = "actor_inactive"
    TASK_OWNERSHIP_DENIED = "task_ownership_denied"
    TASK_MODE_DENIED = "task_mode_denied"
    SCENARIO_DENIED = "scenario_denied"
    GENERIC_API_DISABLED = "generic_api_disabled"
    ACTOR_ROLE_DENIED = "actor_role_denied"
    REQUIRED_CLAIM_MISSING = "required_claim_missing"
    TASK_STATE_DENIED = "task_state_denied"
    INTERACTION_KIND_DENIED = "interaction_kind_denied"
    INPUT_INVALID = "input_invalid"
    PROTECTED_DATA_DENIED = "protected_data_denied"
    OPERATION_UNAVAILABLE = "operation_unavailable"
    CONTROL_PLANE_DENIED = "control_plane_denied"


class Phase(StrEnum):
    EXPOSURE = "exposure"
    INVOCATION = "invocation"


@dataclass(frozen=True, kw_only=True)
class Question:
    """May this run use this operation? `given` is the raw input of a call, None while listing.

    `repeated` when this run's own command of that key took effect before, so that the call can only be answered again.
    """

    operation: Operation
    facts: RunFacts
    scenario: Scenario
    claims: frozenset[str]
    phase: Phase
    given: Any = None
    repeated: bool = False


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The answer: `allowed`, or the code of the first check that said no and a sentence that the model can act on."""

    code: Code
    reason: str

    @property
    def allowed(self) -> bool:
        return self.code is Code.ALLOWED


@dataclass(frozen=True, kw_only=True)
class Check:
    """One rule. `objects` returns why the answer is no, or None. `phases` says when it is asked.

    A rule about what the run's own commands change is put otherwise to a repeated one: `again` says how.
    """

    code: Code
    objects: Callable[[Question], str | None]
    phases: frozenset[Phase] = frozenset(Phase)
    again: Callable[[Question], str | None] | None = None


# ---------------------------------------------------------------- claims
def effective_claims(*, facts: RunFacts, scenario: Scenario, explicit: frozenset[str] | None) -> frozenset[str]:
    """Return run ∩ (actor grants ∪ scenario claims) ∩ explicit. No explicit claims means: those of the run."""
    granted = scenario.claims.union(facts.actor.get("capabilityGrants") or ())
    held = facts.capabilities & granted
    return held if explicit is None else held & explicit


def fixture_run_capabilities(claims: Iterable[str]) -> tuple[str, ...]:
    """Return the capabilities to open a mock run with: these claims and all that the command boundary asks for, sorted.

    It widens the run, never the tools: what the model sees stays bounded by scenario and explicit claims.
    """
    return tuple(sorted(COMMAND_CLAIMS.union(claims)))


# ---------------------------------------------------------------- the checks, in order
def _actor_active(question: Question) -> str | None:
    return None if question.facts.actor["status"] == "active" else "The agent of this run is not active."


def _actor_not_stopped_otherwise(question: Question) -> str | None:
    """A budget that is used up pauses the actor together with the run, which may still learn what it did."""
    return None if question.facts.status == BUDGET_STOPPED else _actor_active(question)


def _nothing(question: Question) -> None:
    """Object to nothing: the command did that itself, or did its part before."""


def _task_ownership(question: Question) -> str | None:
    return None if run_owns_task(question.facts) else "This run does not hold the task any more."


def _task_mode(question: Question) -> str | None:
    mode = question.facts.task["workMode"]
    if mode in question.operation.modes:
        return None
    modes = ", ".join(mode.value for mode in Mode if mode in question.operation.modes)
    return f"{question.operation.id} is for tasks in mode {modes}; this task is in mode {mode}."


def _scenario(question: Question) -> str | None:
    operation, scenario = question.operation, question.scenario
    denied = operation.id in scenario.deny_operations
    if not denied and scenario.allow_operations is not None and operation.placement is Placement.OPTIONAL:
        denied = operation.id not in scenario.allow_operations
    return f"The scenario of this session does not allow {operation.id}." if denied else None


def _enabled(question: Question) -> str | None:
    operation = question.operation
    if not operation.disabled_by_default:
        return None
    if operation.id == ESCAPE_HATCH and question.scenario.enable_generic_api_request:
        return None
    return f"{operation.id} is disabled unless a scenario enables it."


def _role(question: Question) -> str | None:
    roles = question.operation.roles
    if not roles or str(question.facts.actor["role"]).strip().lower() in roles:
        return None
    return f"{question.operation.id} is for the roles {', '.join(sorted(roles))}."


def _claims(question: Question) -> str | None:
    missing = [claim for claim in question.operation.required_claims if claim not in question.claims]
    return f"This run does not hold the claim {', '.join(missing)}." if missing else None


def _task_state(question: Question) -> str | None:
    if question.operation.is_read or not is_terminal(question.facts):
        return None
    return f"The task is {question.facts.task['status']}: it can be read but no longer changed."


def _interaction_kind(question: Question) -> str | None:
    allowed, given = question.scenario.allowed_interaction_kinds, question.given
    if allowed is None or question.operation.id != "request_human_input" or not isinstance(given, dict):
        return None
    kind = given.get("interactionKind")
    if not isinstance(kind, str) or kind in allowed:
        return None
    return f"This session does not allow that kind of interaction; it allows {', '.join(sorted(allowed)) or 'none'}."


ON_CALL = frozenset({Phase.INVOCATION})

CHECKS = (
    Check(code=Code.ACTOR_INACTIVE, objects=_actor_active, again=_actor_not_stopped_otherwise),
    Check(code=Code.TASK_OWNERSHIP_DENIED, objects=_task_ownership, again=_nothing),
    Check(code=Code.TASK_MODE_DENIED, objects=_task_mode),
    Check(code=Code.SCENARIO_DENIED, objects=_scenario),
    Check(code=Code.GENERIC_API_DISABLED, objects=_enabled),
    Check(code=Code.ACTOR_ROLE_DENIED, objects=_role),
    Check(code=Code.REQUIRED_CLAIM_MISSING, objects=_claims),
    Check(code=Code.TASK_STATE_DENIED, objects=_task_state, phases=ON_CALL, again=_nothing),
    Check(code=Code.INTERACTION_KIND_DENIED, objects=_interaction_kind, phases=ON_CALL),
)

ALLOWED = Decision(code=Code.ALLOWED, reason="Every check passed.")


def findings(question: Question) -> Iterator[tuple[Check, str | None]]:
    """Ask the checks of the question's phase in order; yield each with why it objects, or None."""
    for check in CHECKS:
        if question.phase in check.phases:
            objects = check.again if question.repeated and check.again else check.objects
            yield check, objects(question)


def evaluate(question: Question) -> Decision:
    """Return what the first check that objects says, else `ALLOWED`. Pure, well under 50 µs."""
    for check, reason in findings(question):
        if reason is not None:
            return Decision(code=check.code, reason=reason)
    return ALLOWED


def is_of_state(code: Code) -> bool:
    """Whether a denial may be the doing of the very command that is asked for again."""
    return any(check.again is not None for check in CHECKS if check.code is code)


# ---------------------------------------------------------------- facts about a run
def is_terminal(facts: RunFacts) -> bool:
    return facts.task["status"] in TERMINAL_STATUSES


def run_owns_task(facts: RunFacts) -> bool:
    """Whether the run may work its task: assigned to its actor, checked out and executed by it.

    Finishing releases the checkout and leaves the mark of the run that finished. So that run still owns its finished
    task: it goes on reading, and its writes reach the check of the task's state, which names the true reason.
    """
    task = facts.task
    holders = (task["checkoutRunId"], task["executionRunId"])
    held = holders == (facts.run_id, facts.run_id) or facts.finished_by_run
    return held and task["assigneeActorId"] == facts.actor["id"]
