"""MockControlPlane: the only thing that writes the rows of a company. One command, one transaction, one revision.

It knows commands, rows and the ledger; it must not know tools, providers, HTTP or who is watching. The order of the
steps is design section 4 and reference A 3.8. A handler writes nothing before the unit of work is flushed, so a refusal
leaves nothing to undo and its decision record is simply written instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import transaction

from mockcore import (
    authority,
    checkout,
    clock,
    completion,
    context,
    due,
    ledger,
    lineage,
    queries,
    rows,
    runlog,
    snapshot,
)
from mockcore.commands import Command, RecordBudgetUsage
from mockcore.faults import FaultInjected, under_faults
from mockcore.handlers import HANDLERS
from mockcore.handlers.approvals import ApprovalAlreadyDecided as ApprovalAlreadyDecided  # for who looks before it asks
from mockcore.handlers.interactions import InteractionAlreadyResolved as InteractionAlreadyResolved
from mockcore.handlers.interactions import InteractionMissing as InteractionMissing
from mockcore.handlers.scene import CommandInvalid, Scene
from mockcore.models import Company, IdempotencyRecord, Run
from mockcore.models.base import uid_of
from mockcore.port import (
    JSON,
    AdvanceClock,
    Applied,
    Envelope,
    EventReceipt,
    OpenRun,
    Outcome,
    Principal,
    Refused,
    ReplayEvents,
    RunFacts,
)
from mockcore.refusal import Refusal
from mockcore.text import canonical, clean
from mockcore.vocabulary import Decided, FaultOperation, Lifecycle, RunStatus
from mockcore.work import UnitOfWork

MAX_KEY_CHARS = 240  # the tools' bound, and what a unique index can hold
CLOCK_SCOPE = "operator:clock"  # the idempotency keys of clock moves; those of commands belong to their run


class CompanyMissing(Refusal):
    """There is no such company."""

    code = "company_missing"


class RunMissing(Refusal):
    """There is no such run in the company."""

    code = "run_missing"


class NotRunning(Refusal):
    """The company is retired: it can be read and never changes again."""

    code = "mock_not_running"


class AlreadyRunning(Refusal):
    """The company runs already."""

    code = "mock_already_running"


class IdempotencyKeyRequired(Refusal):
    """A command needs an idempotency key of 1 to 240 characters."""

    code = "idempotency_key_required"


class IdempotencyConflict(Refusal):
    """The idempotency key was used for another command of this run."""

    code = "idempotency_conflict"


class StateRevisionConflict(Refusal):
    """The state has moved on since the expected revision was read."""

    code = "state_revision_conflict"


class MockControlPlane:
    """One mock company behind `port.ControlPlanePort`. Cheap to make; it holds no rows, so any thread may use it."""

    def __init__(self, *, company_id: str) -> None:
        self.company_id = company_id

    # ------------------------------------------------------------ commands
    def open_run(self, request: OpenRun) -> Outcome:
        """Check the task out for a new run, or return to the same run. Errors: reference A section 3.6."""
        request = _cleaned(request)
        act = ledger.Act(operation="open_run", run_id=request.run_id)
        return self._carry_out(act, lambda work: self._opened(work, act, request))

    def apply(self, envelope: Envelope) -> Outcome:
        """Apply one command in one transaction. A refusal changes no entity and leaves a decision record.

        What company time thereby brings due is settled by mutations of its own right after it (`due`). Raises
        `RunMissing`, `CompanyMissing`, and `CommandInvalid` for a value nested too deep to be read.
        """
        envelope = _cleaned(envelope)
        act = ledger.Act(
            operation=envelope.command.kind, run_id=envelope.run_id, principal=envelope.principal, cause=envelope.cause
        )
        return self._carry_out(act, lambda work: self._applied(work, act, self._run_of(work, envelope), envelope))

    def advance_clock(self, request: AdvanceClock) -> Outcome:
        """Move company time on, then expire and deliver what became due. Errors: `clock`, and those of the key."""
        request = _cleaned(request)
        act = ledger.Act(operation="advance_clock", run_id="", principal=Principal.OPERATOR, cause=request.cause)
        return self._carry_out(act, lambda work: self._advanced(work, act, request))

    def append_event(self, run_id: str, event: JSON) -> EventReceipt | Refused:
        """Keep one event of a run, once. Errors: reference A section 3.16. Raises `RunMissing`."""
        given, act = _clean(dict(event)), ledger.Act(operation="append_event", run_id=run_id)
        receipts: list[EventReceipt] = []

        def happen(work: UnitOfWork) -> Applied:
            _require_running(work.company)
            receipts.append(runlog.append(work, act, _kept(work, self._run(run_id)), given))
            return _done(act, receipts[0].state_revision)

        outcome = self._carry_out(act, happen)
        return outcome if isinstance(outcome, Refused) else receipts[0]

    def checkpoint_session(self, run_id: str, checkpoint: JSON) -> Outcome:
        """Keep the runner's own snapshot of its session, in place of the one before. Raises `RunMissing`."""
        given, act = _clean(dict(checkpoint)), ledger.Act(operation="checkpoint_session", run_id=run_id)

        def happen(work: UnitOfWork) -> Applied:
            _require_running(work.company)
            return _done(act, runlog.checkpoint(work, act, _kept(work, self._run(run_id)), given))

        return self._carry_out(act, happen)

    def complete_run(self, run_id: str, result: JSON) -> Outcome:
        """End a run with its result and put its task where the result says. Errors: reference A section 3.16.

        Raises `RunMissing`.
        """
        given, act = _clean(dict(result)), ledger.Act(operation="complete_run", run_id=run_id)

        def happen(work: UnitOfWork) -> Applied:
            _require_running(work.company)
            return completion.complete(work, act, _kept(work, self._run(run_id)), given)

        return self._carry_out(act, happen)

    def start(self) -> None:
        """Let a stopped company change again. Raises `AlreadyRunning`, and `NotRunning` for a retired one."""
        with transaction.atomic():
            company = self._lock()
            if company.retired_at is not None:
                raise NotRunning
            if company.lifecycle == Lifecycle.RUNNING:
                raise AlreadyRunning
            company.lifecycle = Lifecycle.RUNNING.value
            rows.update(company, ["lifecycle"])

    def stop(self) -> None:
        """Make the company read-only until it is started. Safe to call twice; no mutation of the state."""
        with transaction.atomic():
            company = self._lock()
            company.lifecycle = Lifecycle.STOPPED.value
            rows.update(company, ["lifecycle"])

    def _carry_out(self, act: ledger.Act, happen: Callable[[UnitOfWork], Applied]) -> Outcome:
        """Lock, let it happen, and settle what it brought due: all in one transaction, or a decision that refused."""
        with transaction.atomic():
            work = UnitOfWork(company=self._lock())
            before = work.company.revision
            try:
                outcome: Outcome = happen(work)
            except RunMissing:
                raise
            except Refusal as no:
                outcome = _refused(work, act, no)
            if work.company.revision == before:
                return outcome
            delivered = due.bring_due(company=work.company, act=act)
            return outcome if isinstance(outcome, Refused) else replace(outcome, delivered_wake_ids=delivered)

    def _opened(self, work: UnitOfWork, act: ledger.Act, request: OpenRun) -> Applied:
        _require_running(work.company)
        known = work.get(Run, request.run_id)
        if known is not None:
            return _reopened(work, act, request, known)
        run = checkout.check_out(work, request)
        return under_faults(
            company=work.company,
            operation=FaultOperation.OPEN_RUN,
            take_effect=lambda: _open(work, act, request, run),
        )

    def _applied(self, work: UnitOfWork, act: ledger.Act, run: Run, envelope: Envelope) -> Applied:
        _require_running(work.company)
        text = _require_usable(envelope.idempotency_key, envelope.command.payload())
        if stored := _stored(work.company, _scope(envelope), envelope.idempotency_key, text):
            ledger.decide(
                work=work, act=act, outcome=Decided.DUPLICATE, reason="command_already_applied", refs=stored.entity_refs
            )
            return stored
        request = authority.Request(
            work=work, run=_kept(work, run), principal=envelope.principal, command=envelope.command
        )
        authority.require_writable(request)
        if envelope.expected_revision not in (None, work.company.revision):
            raise StateRevisionConflict(f"the state is at revision {work.company.revision}")
        authority.authorize(request)
        return self._happen(act, request, envelope, text)

    def _happen(self, act: ledger.Act, request: authority.Request, envelope: Envelope, text: str) -> Applied:
        """Run the handler and write everything. A fault strikes only a command that would have been applied."""
        work, run, command = request.work, request.run, request.command
        author = run.actor if request.principal is Principal.RUN else None
        scene = Scene(work=work, run=run, task=run.task, author=author)
        HANDLERS[type(command)](scene, command)
        return under_faults(
            company=work.company,
            operation=FaultOperation.APPLY_COMMAND,
            command_kind=command.kind,
            take_effect=lambda: _write(act, scene, envelope, text),
        )

    def _advanced(self, work: UnitOfWork, act: ledger.Act, request: AdvanceClock) -> Applied:
        _require_running(work.company)
        text = _require_usable(request.idempotency_key, {"kind": act.operation, "ticks": request.ticks})
        if stored := _stored(work.company, CLOCK_SCOPE, request.idempotency_key, text):
            ledger.decide(work=work, act=act, outcome=Decided.DUPLICATE, reason="command_already_applied")
            return stored
        remember = partial(_memory, work.company, CLOCK_SCOPE, request.idempotency_key, text)
        return clock.advance(work, act, ticks=request.ticks, remember=remember)

    # ------------------------------------------------------------ reads
    def facts(self, run_id: str) -> RunFacts:
        """Return the run's actor, task and capabilities from fresh rows, in one query. Raises `RunMissing`."""
        run = self._run(run_id, "company")
        return RunFacts(
            run_id=run.public_id,
            company_id=run.company_id,
            status=run.status,
            capabilities=frozenset(run.capabilities),
            actor=run.actor.as_json(),
            task=run.task.as_json(),
            state_revision=run.company.revision,
            row=run,
        )

    def context(self, run_id: str) -> dict[str, Any]:
        """Return the run context `paperclip.capability.run-context.v1` of reference A section 3.7."""
        return context.run_context(self._run(run_id, "company"))

    def query(self, run_id: str, query: str, /, **arguments: Any) -> dict[str, Any]:
        """Answer one named read of `queries.QUERIES` in the shape of reference A section 1.4.

        Raises `RunMissing` and the not-found refusals of `queries`.
        """
        return queries.QUERIES[query](self._run(run_id), **clean(arguments))

    def replay_events(self, request: ReplayEvents) -> list[dict[str, Any]]:
        """Return events of a source after a cursor, in the source's order.

        Raises `RunMissing`, `ReplayBindingMismatch`.
        """
        request = _cleaned(request)
        return runlog.replay(self._run(request.run_id), request)

    def load_session_checkpoint(self, run_id: str) -> dict[str, Any] | None:
        """Return the runner's last snapshot of its session, or None. Raises `RunMissing`."""
        checkpoint: dict[str, Any] | None = self._run(run_id).session_checkpoint
        return checkpoint

    def state_revision(self) -> int:
        """Return the number of the newest state revision; 0 is the seed. Raises `CompanyMissing`."""
        number = Company.objects.filter(pk=self.company_id).values_list("revision", flat=True).first()
        if number is None:
            raise CompanyMissing
        return int(number)

    def state(self) -> dict[str, Any]:
        """Return the whole state root `paperclip.capability.mock-state.v1` (reference A section 3.2)."""
        company = Company.objects.filter(pk=self.company_id).first()
        if company is None:
            raise CompanyMissing
        return snapshot.state_root(company)

    # ------------------------------------------------------------ rows
    def _lock(self) -> Company:
        """Lock the company first of all: it orders all mutations of the tenant, on PostgreSQL too."""
        company = rows.fetch(Company, lock=True, public_id=self.company_id)
        if company is None:
            raise CompanyMissing
        return company

    def _run_of(self, work: UnitOfWork, envelope: Envelope) -> Run:
        """Return the envelope's run as it is. Every change of a company moves its revision, so one seen at it holds."""
        seen, now = envelope.seen, (self.company_id, envelope.run_id, work.company.revision)
        if seen and seen.row and (seen.company_id, seen.run_id, seen.state_revision) == now:
            run: Run = seen.row
            return run
        return self._run(envelope.run_id)

    def _run(self, run_id: str, *related: str) -> Run:
        uid = uid_of(self.company_id, clean(run_id))
        run = rows.fetch(Run, "actor", "task", *related, uid=uid)
        if run is None:
            raise RunMissing(f"there is no run {run_id}")
        return run


# ---------------------------------------------------------------- steps
def _cleaned(value: Any) -> Any:
    """Return one of our frozen values with strings that both databases can hold. Raises `CommandInvalid`."""
    changed = {}
    for field in dataclasses.fields(value):
        old = getattr(value, field.name)
        if isinstance(old, RunFacts):
            continue  # it came from here
        new = _cleaned(old) if dataclasses.is_dataclass(old) else _clean(old)
        if new != old:
            changed[field.name] = new
    return dataclasses.replace(value, **changed) if changed else value


def _clean(value: Any) -> Any:
    try:
        return clean(value)
    except ValueError as error:
        raise CommandInvalid(str(error)) from error


def _require_running(company: Company) -> None:
    if company.lifecycle != Lifecycle.RUNNING:
        raise NotRunning


def _require_usable(key: str, payload: dict[str, Any]) -> str:
    """Return the command's canonical JSON, which idempotency compares."""
    if not key.strip() or len(key) > MAX_KEY_CHARS:
        raise IdempotencyKeyRequired
    try:
        return canonical(payload)
    except (TypeError, ValueError) as error:
        raise CommandInvalid("the command holds a value that JSON cannot hold") from error


def _scope(envelope: Envelope) -> str:
    return f"{envelope.run_id}:semantic-command"


def _stored(company: Company, scope: str, key: str, text: str) -> Applied | None:
    """Return the result this very command had before, marked as a duplicate. Its revision is the one of then."""
    record = rows.fetch(IdempotencyRecord, company_id=company.pk, scope=scope, key=key)
    for span in lineage.inherited(company, IdempotencyRecord) if record is None else []:
        record = record or span.of(IdempotencyRecord).filter(scope=scope, key=key).first()
    if record is None:
        return None
    if record.input_canonical != text:
        raise IdempotencyConflict
    result = record.result
    return Applied(
        command_id=result["commandId"],
        command_kind=result["commandKind"],
        disposition="duplicate",
        state_revision=result["stateRevision"],
        entity_refs=tuple(result["entityRefs"]),
        scheduled_wake_ids=tuple(result["scheduledWakeIds"]),
    )


def _kept(work: UnitOfWork, run: Run) -> Run:
    """Take the run, its task and its actor into the unit of work."""
    run.task, run.actor = work.keep(run.task), work.keep(run.actor)
    return work.keep(run)


def _write(act: ledger.Act, scene: Scene, envelope: Envelope, text: str) -> Applied:
    """Write the changed rows, the ledger and the idempotency record; return the result."""
    work, command = scene.work, envelope.command
    command_id = work.next_id("command")
    changes = work.flush()
    refs = ledger.refs_of(changes, scene.task.ref, *scene.mentioned)
    note = ledger.Note(
        command_id=command_id,
        reason="semantic_command_applied",
        action=_audited(scene, command),
        entity=("task", scene.task.public_id),
        actor_id=scene.author.public_id if scene.author else None,
        details={"kind": command.kind, "idempotencyKey": envelope.idempotency_key, "entityRefs": list(refs)},
    )
    applied = Applied(
        command_id=command_id,
        command_kind=command.kind,
        disposition="applied",
        state_revision=work.company.revision + 1,
        entity_refs=refs,
        scheduled_wake_ids=tuple(c.row.public_id for c in changes if c.row.KIND == "wake" and c.before is None),
    )
    remember = _memory(work.company, _scope(envelope), envelope.idempotency_key, text, applied)
    ledger.commit(work=work, act=act, note=note, changes=changes, refs=refs, remember=remember)
    return applied


def _memory(company: Company, scope: str, key: str, text: str, applied: Applied) -> IdempotencyRecord:
    """Return the record by which the same key is answered again. The ledger stores it, in its chain."""
    return rows.make(
        IdempotencyRecord, company_id=company.pk, scope=scope, key=key, input_canonical=text, result=applied.as_json()
    )


def _audited(scene: Scene, command: Command) -> str:
    """Return the audit action of a command: a usage that stopped the run has a name of its own."""
    stopped = scene.run is not None and scene.run.status == RunStatus.BUDGET_STOPPED
    is_usage = isinstance(command, RecordBudgetUsage)
    return "budget.hard_stop" if is_usage and stopped else "semantic_command.applied"


def _open(work: UnitOfWork, act: ledger.Act, request: OpenRun, run: Run) -> Applied:
    """Write a checkout; return what it is answered with."""
    changes = work.flush()
    refs = ledger.refs_of(changes)
    note = ledger.Note(
        command_id=request.run_id,
        reason="atomic_checkout_acquired",
        action="run.opened",
        entity=("run", request.run_id),
        actor_id=request.actor_id,
        details={"taskId": request.task_id, "attempt": run.attempt},
    )
    number = ledger.commit(work=work, act=act, note=note, changes=changes, refs=refs)
    return _open_result(request, "applied", number, refs)


def _reopened(work: UnitOfWork, act: ledger.Act, request: OpenRun, known: Run) -> Applied:
    """Return to a known run. Nothing changes, not even which run was opened last."""
    if not checkout.is_same_binding(known, request):
        raise checkout.RunBindingConflict
    ledger.decide(work=work, act=act, outcome=Decided.DUPLICATE, reason="run_binding_resumed", refs=(known.ref,))
    return _open_result(request, "duplicate", work.company.revision, (known.ref, f"task:{request.task_id}"))


def _open_result(request: OpenRun, disposition: str, number: int, refs: tuple[str, ...]) -> Applied:
    return Applied(
        command_id=request.run_id,
        command_kind="open_run",
        disposition=disposition,
        state_revision=number,
        entity_refs=refs,
        scheduled_wake_ids=(),
    )


def _done(act: ledger.Act, number: int) -> Applied:
    return Applied(
        command_id="",
        command_kind=act.operation,
        disposition="applied",
        state_revision=number,
        entity_refs=(f"run:{act.run_id}",),
        scheduled_wake_ids=(),
    )


def _refused(work: UnitOfWork, act: ledger.Act, no: Refusal) -> Refused:
    """Write the decision that refused. A retired company is read-only, so there not even that is written."""
    if isinstance(no, FaultInjected):
        ledger.decide(work=work, act=act, outcome=Decided.FAULTED, reason=no.fault.code, fault_id=no.fault.public_id)
    elif not isinstance(no, NotRunning):
        ledger.decide(work=work, act=act, outcome=Decided.DENIED, reason=getattr(no, "reason", no.code))
    code = no.fault.code if isinstance(no, FaultInjected) else no.code
    return Refused(
        command_kind=act.operation,
        state_revision=work.company.revision,
        code=code,
        message=no.message,
        retryable=no.retryable,
    )
