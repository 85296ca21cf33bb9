"""Door: list the tools a run may use, and carry out one call. The only way from an agent to the control-plane port.

Each call is looked up, authorized, screened, validated, carried out, redacted and recorded in one transaction. It
knows no provider and no browser: whoever holds the conversation hands in a `Call` and passes the envelope on.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction

from capability import authorizations
from capability.authorizations import Invocation, Subject, list_authorization_records
from capability.catalog import LIVE_OPERATIONS, Operation, ToolContract, find_operation
from capability.catalog.descriptor import Query, Read, Write
from capability.inputs import NotPlainJson, clean, screen
from capability.policy import (
    Code,
    Decision,
    Phase,
    Question,
    effective_claims,
    evaluate,
    fixture_run_capabilities,
    is_of_state,
)
from capability.redaction import redact
from capability.scenario import Scenario
from mockcore.port import Applied, Cause, ControlPlanePort, Envelope, Refused, RunFacts
from mockcore.refusal import Refusal
from mockcore.text import clean_text

__all__ = ["Call", "Dispatched", "Dispatcher", "Scenario", "fixture_run_capabilities", "list_authorization_records"]

DENIAL_SCHEMA = "paperclip.semantic-denial.v1"
ID_LIMIT = 240  # characters of an id as we store and repeat it; the port has none that is longer

UNKNOWN_TOOL = "There is no such tool here. Use one of the tools you were given."
UNKNOWN_RUN = "This run is not known to the control plane."
BROKEN = "The operation could not be carried out. Nothing was changed."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One tool call. `turn_id` and `message_id` are the caller's own ids, kept so that a change can be traced back."""

    run_id: str
    call_id: str
    operation_id: str
    input: Any
    turn_id: str = ""
    message_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Dispatched:
    """What became of a call. `envelope` is redacted JSON for the agent: a result or a typed denial."""

    envelope: dict[str, Any]
    authorization_id: str
    before_revision: int
    after_revision: int
    actor_name: str = ""  # of the actor that the run works for; empty for an unknown run
    applied: Applied | None = None

    @property
    def ok(self) -> bool:
        return bool(self.envelope["ok"])


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """A result, or the code and message of a denial, before it is put into its envelope. Redacted."""

    code: Code = Code.ALLOWED
    message: str = "Every check passed."
    result: dict[str, Any] | None = None
    applied: Applied | None = None
    control_plane_code: str = ""
    retryable: bool = False
    revision: int = 0  # what the port said after a command; a duplicate says the old one


@dataclass(frozen=True, kw_only=True)
class _Case:
    """What is known about one call while it is dealt with. `given` is clean; `flaw` says why there is none."""

    call: Call
    subject: Subject
    facts: RunFacts | None
    place: authorizations.Reserved
    given: Any = None
    flaw: str = ""


@dataclass(frozen=True, kw_only=True)
class Dispatcher:
    """The semantic boundary of one session: a port, the scenario, and the claims delegated to it (None: the run's)."""

    port: ControlPlanePort
    scenario: Scenario = field(default_factory=Scenario)
    explicit_claims: frozenset[str] | None = None

    def list_tools(self, *, run_id: str) -> list[ToolContract]:
        """Return the contracts this run may use now, in catalog order, and record one exposure decision per entry.

        A run that does not exist is offered nothing.
        """
        with transaction.atomic(savepoint=False):
            place = authorizations.reserve_numbers(company_id=self.port.company_id, count=len(LIVE_OPERATIONS))
            facts = self._facts(run_id)  # only now, as for a call
            subject = self._subject(_id(run_id), facts)
            decisions = [
                (operation, self._decide(operation, facts, subject, Phase.EXPOSURE)) for operation in LIVE_OPERATIONS
            ]
            authorizations.record_exposure(place=place, subject=subject, decisions=decisions)
        return [operation.contract() for operation, decision in decisions if decision.allowed]

    def dispatch(self, call: Call) -> Dispatched:
        """Carry out one call and record it; every anticipated outcome is an envelope, none an exception.

        A failure inside the read or command is answered `operation_unavailable`, logged, and leaves nothing behind.
        Safe inside a caller's transaction: record, command and the caller's own rows then commit together.
        """
        run_id, call = call.run_id, _tidy(call)
        with transaction.atomic(savepoint=False):
            case = self._open(call, run_id)
            answer = self._answer(case)
            after = max(case.subject.revision, answer.revision)
            authorizations.record_invocation(subject=case.subject, invocation=_invocation(case, answer, after))
        return Dispatched(
            envelope=_envelope(call, answer, after),
            authorization_id=authorizations.authorization_id(number=case.place.first),
            before_revision=case.subject.revision,
            after_revision=after,
            actor_name=case.facts.actor["name"] if case.facts else "",
            applied=answer.applied,
        )

    # ------------------------------------------------------------ what is known
    def _facts(self, run_id: str) -> RunFacts | None:
        try:
            return self.port.facts(run_id)
        except Refusal:
            return None

    def _subject(self, run_id: str, facts: RunFacts | None) -> Subject:
        if facts is None:
            revision = self.port.state_revision()
            return Subject(
                run_id=run_id,
                scenario_id=self.scenario.id,
                claims=frozenset(),
                revision=revision,
                company_id=self.port.company_id,
            )
        return Subject(
            run_id=run_id,
            scenario_id=self.scenario.id,
            claims=effective_claims(facts=facts, scenario=self.scenario, explicit=self.explicit_claims),
            revision=facts.state_revision,
            company_id=self.port.company_id,
            actor_id=facts.actor["id"],
            task_id=facts.task["id"],
        )

    def _open(self, call: Call, run_id: str) -> _Case:
        """Ask about the run under the very name that was given: one that was cut could be another run's."""
        place = authorizations.reserve_numbers(company_id=self.port.company_id)
        facts = self._facts(run_id)  # only now: the number may have waited for a call in front, which changed rows
        subject = self._subject(call.run_id, facts)
        case = _Case(call=call, subject=subject, facts=facts, place=place)
        try:
            return replace(case, given=clean(call.input))
        except NotPlainJson as flaw:
            return replace(case, flaw=flaw.message)

    # ------------------------------------------------------------ the answer
    def _decide(self, operation: Operation, facts: RunFacts | None, subject: Subject, phase: Phase) -> Decision:
        if facts is None:
            return Decision(code=Code.OPERATION_UNAVAILABLE, reason=UNKNOWN_RUN)
        return evaluate(self._question(operation, facts, subject, phase))

    def _question(self, operation: Operation, facts: RunFacts, subject: Subject, phase: Phase) -> Question:
        return Question(operation=operation, facts=facts, scenario=self.scenario, claims=subject.claims, phase=phase)

    def _decide_call(self, operation: Operation, case: _Case) -> Decision:
        """Decide about a call. What its own command changed does not stand against the same command again.

        A key is looked up only for a run that nothing else stands against, so nobody else learns whether it is known.
        """
        if case.facts is None:
            return Decision(code=Code.OPERATION_UNAVAILABLE, reason=UNKNOWN_RUN)
        asked = self._question(operation, case.facts, case.subject, Phase.INVOCATION)
        asked = replace(asked, given=case.given)
        decision = evaluate(asked)
        if not is_of_state(decision.code) or not isinstance(operation.handler, Write):
            return decision
        again = evaluate(replace(asked, repeated=True))
        return again if again.allowed and self._has_applied(case) else decision

    def _has_applied(self, case: _Case) -> bool:
        """Say whether the run's own command of this key took effect: its answer may have been lost."""
        key = case.given.get("idempotencyKey") if isinstance(case.given, dict) else None
        return isinstance(key, str) and self.port.has_applied(case.call.run_id, key)

    def _answer(self, case: _Case) -> _Answer:
        """Look up, authorize, screen, validate, and only then carry out."""
        operation = find_operation(case.call.operation_id)
        if operation is None:
            return _Answer(code=Code.TOOL_NOT_EXPOSED, message=UNKNOWN_TOOL)
        decision = self._decide_call(operation, case)
        if not decision.allowed:
            return _Answer(code=decision.code, message=redact(decision.reason))
        flaw = screen(operation=operation, given=case.given, unreadable=case.flaw)
        if flaw is not None:
            return _Answer(code=flaw.code, message=flaw.message)
        return self._carry_out(operation, case)

    def _carry_out(self, operation: Operation, case: _Case) -> _Answer:
        """Make the read or command in a savepoint: a failure leaves nothing, and the record can still be kept."""
        try:
            with transaction.atomic():
                return self._handle(operation, case)
        except Refusal as refusal:
            return _Answer(code=Code.OPERATION_UNAVAILABLE, message=redact(refusal.message))
        except Exception:
            logger.exception("operation %s failed in call %s", operation.id, case.call.call_id)
            return _Answer(code=Code.OPERATION_UNAVAILABLE, message=BROKEN)

    def _handle(self, operation: Operation, case: _Case) -> _Answer:
        match operation.handler:
            case Query(name=name, arguments=arguments):
                return _Answer(result=redact(self.port.query(case.call.run_id, name, **arguments(case.given))))
            case Read(answer=read):
                return _Answer(result=redact(read(self.port, case.call.run_id, case.given)))
            case Write() as write:
                return self._apply(write, case)

    def _apply(self, write: Write, case: _Case) -> _Answer:
        call = case.call
        cause = Cause(
            turn_id=call.turn_id,
            call_id=call.call_id,
            message_id=call.message_id,
            authorization_id=authorizations.authorization_id(number=case.place.first),
        )
        outcome = self.port.apply(
            Envelope(
                run_id=call.run_id,
                idempotency_key=case.given["idempotencyKey"],
                command=write.command(case.given),
                cause=cause,
            )
        )
        if isinstance(outcome, Refused):
            return _Answer(
                code=Code.CONTROL_PLANE_DENIED,
                message=redact(outcome.message),
                control_plane_code=outcome.code,
                retryable=outcome.retryable,
                revision=outcome.state_revision,
            )
        return _Answer(result=redact(outcome.as_json()), applied=outcome, revision=outcome.state_revision)


def _envelope(call: Call, answer: _Answer, revision: int) -> dict[str, Any]:
    """Return the answer in the shape agents get. Source: reference "Envelopes"."""
    ok = answer.code is Code.ALLOWED
    head = {"ok": ok, "operationId": call.operation_id, "callId": call.call_id}
    if ok:
        return {**head, "result": answer.result, "stateRevision": revision}
    denial: dict[str, Any] = {"schema": DENIAL_SCHEMA, "code": answer.code.value}
    if answer.control_plane_code:
        denial["controlPlaneCode"] = answer.control_plane_code
    denial |= {"message": answer.message, "retryable": answer.retryable}
    return {**head, "denial": denial, "stateRevision": revision}


def _invocation(case: _Case, answer: _Answer, after: int) -> Invocation:
    call = case.call
    return Invocation(
        place=case.place,
        operation_id=call.operation_id,
        call_id=call.call_id,
        turn_id=call.turn_id,
        message_id=call.message_id,
        code=answer.code,
        control_plane_code=answer.control_plane_code,
        reason=answer.message,
        input=redact(case.given),
        result=answer.result,
        after_revision=after,
    )


def _tidy(call: Call) -> Call:
    """Bound the ids of a call. The name of a tool that we do not know is the agent's own text: redacted as well."""
    names = {name: getattr(call, name) for name in ("run_id", "call_id", "operation_id", "turn_id", "message_id")}
    if find_operation(call.operation_id) is None:
        names["operation_id"] = redact(call.operation_id)
    return replace(call, **{name: _id(text) for name, text in names.items()})


def _id(text: object) -> str:
    return clean_text(text)[:ID_LIMIT] if isinstance(text, str) else ""
