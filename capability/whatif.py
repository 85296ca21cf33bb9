"""What a recorded decision would have been for another role, claim set, mode or scenario. Reads only.

A record is put before the policy's own list of checks once more, with the facts of its revision; then again with the
change. The first check whose answer differs is the rule that changes it. What lies behind the policy (the state of the
company) is no question of authority: it answers as it did, or is said to be open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from capability import standing
from capability.authorizations import companies_with, list_authorization_records, number_of
from capability.catalog import LIVE_OPERATIONS, Operation, find_operation
from capability.catalog.descriptor import Mode
from capability.inputs import screen
from capability.policy import CHECKS, Code, Decision, Phase, Question, effective_claims, evaluate, findings
from capability.profiles import ENGINEER, EVERY_CLAIM, Profile, known_profiles
from capability.redaction import MASK
from capability.scenario import Scenario
from mockcore import past
from mockcore.port import RunFacts
from mockcore.refusal import Refusal
from mockcore.text import canonical

JSON = dict[str, Any]
BEYOND = frozenset(
    {Code.INPUT_INVALID, Code.PROTECTED_DATA_DENIED, Code.OPERATION_UNAVAILABLE, Code.CONTROL_PLANE_DENIED}
)
OPEN = "Authority allows it; what the company then answers depends on its state."
NAMED_COMPANIES = 10  # of those that share a record id; a sentence names no more
MASKED = "The input held protected data, which is refused before anything else is looked at."


class UnknownRecord(Refusal):
    """The company has no authorization record of that id."""

    code = "authorization_record_unknown"


class AmbiguousRecord(Refusal):
    """Several companies have an authorization record of that id."""

    code = "authorization_record_ambiguous"


class NothingToExplain(Refusal):
    """No rule was asked: a fact that the rules ask for is not there."""

    code = "authorization_not_asked"


class OperationNotKnown(NothingToExplain):
    """No rule was asked: the call named an operation that does not exist."""

    code = "authorization_operation_unknown"


class RunNotKnown(NothingToExplain):
    """No rule was asked: the call named a run that does not exist."""

    code = "authorization_run_unknown"


class UnknownRole(Refusal):
    """No rule knows that role."""

    code = "role_unknown"


class UnknownClaim(Refusal):
    """No operation asks for that claim."""

    code = "claim_unknown"


@dataclass(frozen=True, kw_only=True)
class Change:
    """What is different. None leaves it as it was.

    `claims` are the claims in effect: held by the run, granted by the scenario and delegated. Without them a changed
    scenario leaves the run's claims and the delegation alone.
    """

    role: str | None = None
    mode: Mode | None = None
    claims: frozenset[str] | None = None
    scenario: Scenario | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A code and its sentence. `open` when authority allows the call and only the state could still refuse it."""

    code: Code
    reason: str
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """How a recorded decision would change. `rule` names the first rule that changes it; None when the answer stays."""

    record_id: str
    operation_id: str
    phase: Phase
    recorded: Answer
    changed: Answer
    rule: str | None
    agrees: bool  # whether today's rules still answer the record as it was answered
    inferred: bool = False  # nobody registered the scenario: its rules were read back from the record

    @property
    def stays(self) -> bool:
        return self.rule is None


@dataclass(frozen=True, kw_only=True)
class Step:
    """One rule and what it says: `passed`, `objected` (it decided), `would object` (behind it), or `not asked`."""

    rule: str
    said: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A record, the facts it was decided from, and every rule of the list. `agrees` when today's rules say the same.

    `inferred` when nobody registered the scenario, so that its rules were read back from the record.
    """

    record: JSON
    facts: JSON
    steps: tuple[Step, ...]
    agrees: bool
    inferred: bool = False


# ---------------------------------------------------------------- the questions
def what_if(*, company_id: str, record_id: str, change: Change) -> WhatIf:
    """Return what the recorded decision would have been with `change`, and the first rule that changes it.

    The record's own scenario need not be registered. Raises `UnknownRecord`, `NothingToExplain`, `UnknownRole` and
    `UnknownClaim`.
    """
    record = _record(company_id, record_id)
    stood = standing.of_record(record)
    asked = _question(company_id, record, stood.profile)
    _check_names(change, held=asked.facts.actor["role"])
    other = _changed(asked, stood.profile, change)
    before, after = _rank(asked), _rank(other)
    recorded = Answer(code=Code(record["code"]), reason=record["reason"])
    return WhatIf(
        record_id=record_id,
        operation_id=record["operationId"],
        phase=asked.phase,
        recorded=recorded,
        changed=recorded if before == after else _answer(other, record),
        rule=None if before == after else CHECKS[min(before, after)].code.value,
        agrees=_agrees(asked, record),
        inferred=stood.inferred,
    )


def explain(*, company_id: str, record_id: str) -> Explanation:
    """Return the record rule by rule, from the facts of its revision. Raises like `what_if`."""
    record = _record(company_id, record_id)
    stood = standing.of_record(record)
    asked = _question(company_id, record, stood.profile)
    return Explanation(
        record=record,
        facts=_shown(asked),
        steps=tuple(_steps(asked)),
        agrees=_agrees(asked, record),
        inferred=stood.inferred,
    )


def grant_matrix(among: Iterable[Profile] | None = None) -> dict[str, dict[str, Code]]:
    """Return, for every operation and profile, what a run of an active agent that holds its task is answered."""
    columns = tuple(known_profiles.all() if among is None else among)
    return {
        operation.id: {profile.name: evaluate(_typical(operation, profile)).code for profile in columns}
        for operation in LIVE_OPERATIONS
    }


# ---------------------------------------------------------------- from a record to a question
def company_of(record_id: str) -> str:
    """Return the one company that has a record of that id.

    Raises `UnknownRecord` when none has one, and `AmbiguousRecord`, which names them, when several do.
    """
    owners = companies_with(number=_number(record_id), limit=NAMED_COMPANIES + 1)
    if not owners:
        raise UnknownRecord(f"no company has an authorization record {record_id}")
    if len(owners) > 1:
        raise AmbiguousRecord(f"{record_id} exists in several companies: {_listed(owners)}")
    return owners[0]


def _number(record_id: str) -> int:
    number = number_of(record_id)
    if not number:
        raise UnknownRecord(
            f"{record_id or 'nothing'} is no id of an authorization record, such as semantic-auth-000012"
        )
    return number


def _listed(owners: list[str]) -> str:
    named = [owner or '""' for owner in owners[:NAMED_COMPANIES]]  # the empty one has what unknown runs once left
    return ", ".join(named) + (" and more" if len(owners) > NAMED_COMPANIES else "")


def _record(company_id: str, record_id: str) -> JSON:
    number = _number(record_id)
    found = list_authorization_records(company_id=company_id, after=number - 1, limit=1)
    if found and found[0]["id"] == record_id:
        return found[0]
    owners = companies_with(number=number, limit=NAMED_COMPANIES + 1)
    elsewhere = f"; it exists in {_listed(owners)}" if owners else ""
    raise UnknownRecord(f"{company_id or 'no company'} has no authorization record {record_id}{elsewhere}")


def _question(company_id: str, record: JSON, profile: Profile) -> Question:
    operation = find_operation(record["operationId"])
    if operation is None:
        raise OperationNotKnown(f"no rule was asked: the catalog has no operation {record['operationId']}")
    if not record["actorId"]:
        raise RunNotKnown(f"no rule was asked: there was no run {record['runId']}")
    return Question(
        operation=operation,
        facts=facts_at(company_id=company_id, run_id=record["runId"], revision=record["beforeRevision"]),
        scenario=profile.scenario,
        claims=frozenset(record["effectiveClaims"]),
        phase=Phase(record["phase"]),
        given=record["input"],
        repeated=_was_repeated(record),
    )


def _was_repeated(record: JSON) -> bool:
    """Say whether the call met its own earlier command: it was answered again, or its key was another command's."""
    result = record["result"]
    answered_again = isinstance(result, dict) and result.get("disposition") == "duplicate"
    return answered_again or record["controlPlaneCode"] == "idempotency_conflict"


def _check_names(change: Change, *, held: str) -> None:
    """Refuse a role or claim that nothing knows: it would be answered, but not as the one that was meant."""
    roles = {ENGINEER, held, *(role for operation in LIVE_OPERATIONS for role in operation.roles)}
    roles |= {profile.role for profile in known_profiles.all()}
    if change.role is not None and change.role.strip().lower() not in {role.strip().lower() for role in roles}:
        raise UnknownRole(f"no rule knows the role {change.role}; known are {', '.join(sorted(roles))}")
    unknown = sorted((change.claims or frozenset()) - EVERY_CLAIM)
    if unknown:
        raise UnknownClaim(f"no operation asks for the claim {unknown[0]}; known are {', '.join(sorted(EVERY_CLAIM))}")


def _changed(asked: Question, profile: Profile, change: Change) -> Question:
    facts = asked.facts
    if change.role is not None:
        facts = replace(facts, actor={**facts.actor, "role": change.role})
    if change.mode is not None:
        facts = replace(facts, task={**facts.task, "workMode": change.mode.value})
    scenario, claims = change.scenario or asked.scenario, asked.claims
    if change.claims is not None:
        claims = change.claims
    elif change.scenario is not None:
        claims = effective_claims(facts=facts, scenario=scenario, explicit=profile.explicit_claims)
    return replace(asked, facts=facts, scenario=scenario, claims=claims)


def facts_at(*, company_id: str, run_id: str, revision: int) -> RunFacts:
    """Return the facts that authorization saw of a run at a state revision.

    Its run, actor and task as they are now, with every later change of them taken back. Raises `NothingToExplain`.
    """
    run = _entity_at(company_id, f"run:{run_id}", revision)
    actor = _entity_at(company_id, f"actor:{run['actorId']}", revision)
    task = _entity_at(company_id, f"task:{run['taskId']}", revision)
    return RunFacts(
        run_id=run_id,
        company_id=company_id,
        status=run["status"],
        capabilities=frozenset(run["capabilities"]),
        actor=actor,
        task=task,
        state_revision=revision,
    )


def _entity_at(company_id: str, ref: str, revision: int) -> JSON:
    found = past.entity_at(company_id=company_id, ref=ref, revision=revision)
    if found is None:
        raise NothingToExplain(f"{ref} was not there at revision {revision}")
    return found


def _typical(operation: Operation, profile: Profile) -> Question:
    """Put the operation to a run of this profile that is otherwise in order: all claims of the scenario are held."""
    run_id, actor_id = "run", "actor"
    facts = RunFacts(
        run_id=run_id,
        company_id="company",
        status="running",
        capabilities=profile.scenario.claims,
        actor={"id": actor_id, "role": profile.role, "status": "active", "capabilityGrants": []},
        task={
            "id": "task",
            "status": "in_progress",
            "workMode": profile.mode.value,
            "assigneeActorId": actor_id,
            "checkoutRunId": run_id,
            "executionRunId": run_id,
        },
        state_revision=1,
    )
    claims = effective_claims(facts=facts, scenario=profile.scenario, explicit=profile.explicit_claims)
    return Question(operation=operation, facts=facts, scenario=profile.scenario, claims=claims, phase=Phase.INVOCATION)


# ---------------------------------------------------------------- from a question to an answer
def _agrees(question: Question, record: JSON) -> bool:
    recorded = Code(record["code"])
    return evaluate(question).code == (Code.ALLOWED if recorded in BEYOND else recorded)


def _rank(question: Question) -> int:
    """Return the place of the first check that objects; behind the last one when none does."""
    decided = evaluate(question).code
    places = [place for place, check in enumerate(CHECKS) if check.code is decided]
    return places[0] if places else len(CHECKS)


def _answer(question: Question, record: JSON) -> Answer:
    """Return the answer to a question that the policy answers otherwise than it did."""
    decision: Decision = evaluate(question)
    if not decision.allowed or question.phase is Phase.EXPOSURE:
        return Answer(code=decision.code, reason=decision.reason)
    if MASK in canonical(record["input"]):
        return Answer(code=Code.PROTECTED_DATA_DENIED, reason=MASKED)
    flaw = screen(operation=question.operation, given=record["input"])
    if flaw is not None:
        return Answer(code=flaw.code, reason=flaw.message)
    return Answer(code=Code.ALLOWED, reason=OPEN, open=True)


def _steps(question: Question) -> Iterator[Step]:
    asked = {check.code: reason for check, reason in findings(question)}
    decided = False
    for check in CHECKS:
        if check.code not in asked:
            yield Step(rule=check.code.value, said="not asked", reason=f"belongs to {_phases(check.phases)}")
        elif asked[check.code] is None:
            yield Step(rule=check.code.value, said="passed")
        else:
            yield Step(
                rule=check.code.value, said="would object" if decided else "objected", reason=asked[check.code] or ""
            )
            decided = True


def _phases(phases: Iterable[Phase]) -> str:
    return " and ".join(sorted(phases))


def _shown(question: Question) -> JSON:
    facts = question.facts
    return {
        "stateRevision": facts.state_revision,
        "actor": {name: facts.actor[name] for name in ("id", "role", "status", "capabilityGrants")},
        "task": {
            name: facts.task[name]
            for name in ("id", "status", "workMode", "assigneeActorId", "checkoutRunId", "executionRunId")
        },
        "runClaims": sorted(facts.capabilities),
        "scenarioId": question.scenario.id,
        "effectiveClaims": sorted(question.claims),
    }
