"""MockControlPlane: the only thing that writes the rows of a company. One command, one transaction, one revision.

It knows commands, rows and the ledger; it must not know tools, providers, HTTP or who is watching. The order of the
steps is design section 4 and reference A 3.8. A handler writes nothing before the unit of work is flushed, so a refusal
leaves nothing to undo and its decision record is simply written instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from django.db import transaction

from mockcore import (
    arrival,
    authority,
    checkout,
    clock,
    completion,
    context,
    due,
    idempotency,
    ledger,
    lifecycle,
    outcomes,
    rows,
    runlog,
    snapshot,
    world,
)
from mockcore.faults import under_faults
from mockcore.handlers import HANDLERS
from mockcore.handlers.approvals import ApprovalAlreadyDecided as ApprovalAlreadyDecided  # for who looks before it asks
from mockcore.handlers.interactions import InteractionAlreadyResolved as InteractionAlreadyResolved
from mockcore.handlers.interactions import InteractionMissing as InteractionMissing
from mockcore.handlers.scene import Scene
from mockcore.masking import mask
from mockcore.models import Company, Run
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
from mockcore.vocabulary import Decided, FaultOperation
from mockcore.work import UnitOfWork

T = TypeVar("T")


class CompanyMissing(Refusal):
    """There is no such company."""

    code = "company_missing"


class RunMissing(Refusal):
    """There is no such run in the company."""

    code = "run_missing"


class StateRevisionConflict(Refusal):
    """The state has moved on since the expected revision was read."""

    code = "state_revision_conflict"


class MockControlPlane:
    """One mock company behind `port.ControlPlanePort`. Cheap to make; it holds no rows, so any thread may use it."""

    def __init__(self, *, company_id: str) -> None:
        self.company_id = company_id

    # ------------------------------------------------------------ commands
    def open_run(self, request: OpenRun) -> Outcome:
        """Check the task out for a new run, or return to the same run. Errors: reference A section 3.6.

        Raises `CommandInvalid` for a field of the wrong type or size, as every other method that takes a request.
        """
        request = arrival.cleaned(request, OpenRun)
        act = ledger.Act(operation="open_run", run_id=request.run_id)
        return self._carry_out(act, lambda work: self._opened(work, act, request))

    def apply(self, envelope: Envelope) -> Outcome:
        """Apply one command in one transaction. A refusal changes no entity and leaves a decision record.

        All but one: after a `lost_ack` fault the command has taken effect, and only the answer says otherwise.

        What company time thereby brings due is settled by mutations of its own right after it (`due`). Raises
        `RunMissing`, `CompanyMissing`, and `CommandInvalid` for an envelope that cannot be read; a command that cannot
        is refused like any other.
        """
        envelope = arrival.cleaned(envelope, Envelope)
        act = ledger.Act(
            operation=envelope.command.kind, run_id=envelope.run_id, principal=envelope.principal, cause=envelope.cause
        )
        return self._carry_out(act, lambda work: self._applied(work, act, self._run(envelope.run_id), envelope))

    def advance_clock(self, request: AdvanceClock) -> Outcome:
        """Move company time on, then expire and deliver what became due. Errors: `clock`, and those of the key."""
        request = arrival.cleaned(request, AdvanceClock)
        act = ledger.Act(operation="advance_clock", run_id="", principal=Principal.OPERATOR, cause=request.cause)
        return self._carry_out(act, lambda work: self._advanced(work, act, request))

    def append_event(self, run_id: str, event: JSON) -> EventReceipt | Refused:
        """Keep one event of a run, once. Errors: reference A section 3.16. Raises `RunMissing`."""
        act = ledger.Act(operation="append_event", run_id=arrival.id_of_run(run_id))
        receipts: list[EventReceipt] = []

        def happen(work: UnitOfWork) -> Applied:
            lifecycle.require_running(work.company)
            run, given = _kept(work, self._run(run_id)), arrival.reported(event, runlog.EventInvalid)
            receipts.append(runlog.append(work, act, run, given))
            return outcomes.done(act, receipts[0].state_revision)

        outcome = self._carry_out(act, happen)
        return outcome if isinstance(outcome, Refused) else receipts[0]

    def checkpoint_session(self, run_id: str, checkpoint: JSON) -> Outcome:
        """Keep the runner's own snapshot of its session, in place of the one before. Raises `RunMissing`."""
        act = ledger.Act(operation="checkpoint_session", run_id=arrival.id_of_run(run_id))

        def happen(work: UnitOfWork) -> Applied:
            lifecycle.require_running(work.company)
            run, given = _kept(work, self._run(run_id)), arrival.reported(checkpoint, runlog.CheckpointInvalid)
            return outcomes.done(act, runlog.checkpoint(work, act, run, given))

        return self._carry_out(act, happen)

    def complete_run(self, run_id: str, result: JSON) -> Outcome:
        """End a run with its result and put its task where the result says. Errors: reference A section 3.16.

        Raises `RunMissing`.
        """
        act = ledger.Act(operation="complete_run", run_id=arrival.id_of_run(run_id))

        def happen(work: UnitOfWork) -> Applied:
            lifecycle.require_running(work.company)
            run, given = _kept(work, self._run(run_id)), arrival.reported(result, completion.ResultInvalid)
            return completion.complete(work, act, run, given)

        return self._carry_out(act, happen)

    def start(self) -> None:
        """Let a stopped company change again. Raises `AlreadyRunning`, and `Retired` for a retired one."""
        with transaction.atomic():
            lifecycle.start(self._lock())

    def stop(self) -> None:
        """Make the company read-only until it is started. Safe to call twice; no mutation of the state."""
        with transaction.atomic():
            lifecycle.stop(self._lock())

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
                outcome = outcomes.refused(work, act, no)
            if work.company.revision == before:
                return outcome
            delivered = due.bring_due(company=work.company, act=act)
            return outcome if isinstance(outcome, Refused) else replace(outcome, delivered_wake_ids=delivered)

    def _opened(self, work: UnitOfWork, act: ledger.Act, request: OpenRun) -> Applied:
        lifecycle.require_running(work.company)
        known = work.get(Run, request.run_id)
        if known is not None:
            return outcomes.reopened(work, act, request, known)
        run = checkout.check_out(work, request)
        return under_faults(
            company=work.company,
            operation=FaultOperation.OPEN_RUN,
            take_effect=lambda: outcomes.write_opening(work, act, request, run),
        )

    def _applied(self, work: UnitOfWork, act: ledger.Act, run: Run, envelope: Envelope) -> Applied:
        lifecycle.require_running(work.company)
        arrival.require_command(envelope.command)
        text = idempotency.require_usable(envelope.idempotency_key, envelope.command.payload())
        whose = (envelope.run_id, envelope.principal, envelope.idempotency_key)
        if stored := idempotency.stored_command(work.company, *whose, text):
            ledger.decide(
                work=work, act=act, outcome=Decided.DUPLICATE, reason="command_already_applied", refs=stored.entity_refs
            )
            return stored
        request = authority.Request(
            work=work, run=_kept(work, run), principal=envelope.principal, command=envelope.command
        )
        authority.require_writable(request)
        _require_expected(work, envelope.expected_revision)
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
            take_effect=lambda: outcomes.write_command(act, scene, envelope, text),
        )

    def _advanced(self, work: UnitOfWork, act: ledger.Act, request: AdvanceClock) -> Applied:
        lifecycle.require_running(work.company)
        text = idempotency.require_usable(request.idempotency_key, {"kind": act.operation, "ticks": request.ticks})
        if stored := idempotency.stored(work.company, idempotency.CLOCK_SCOPE, request.idempotency_key, text):
            ledger.decide(work=work, act=act, outcome=Decided.DUPLICATE, reason="command_already_applied")
            return stored
        remember = partial(idempotency.memory, work.company, idempotency.CLOCK_SCOPE, request.idempotency_key, text)
        return clock.advance(work, act, ticks=request.ticks, remember=remember)

    # ------------------------------------------------------------ reads
    def has_applied(self, run_id: str, idempotency_key: str, principal: Principal = Principal.RUN) -> bool:
        """Say whether a command of this run and principal took effect under the key. Raises `CompanyMissing`."""
        company = Company.objects.filter(pk=self.company_id).first()
        if company is None:
            raise CompanyMissing
        return idempotency.is_known(company, arrival.id_of_run(run_id), principal, mask(arrival.plain(idempotency_key)))

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
        )

    def context(self, run_id: str) -> dict[str, Any]:
        """Return the run context `paperclip.capability.run-context.v1` of reference A section 3.7."""
        return self._undisturbed(lambda _: context.run_context(self._run(run_id, "company")))

    def query(self, run_id: str, query: str, /, **arguments: Any) -> dict[str, Any]:
        """Answer one named read of `queries.QUERIES` in the shape of reference A section 1.4.

        Raises `RunMissing`, `CommandInvalid` for a query that is not there or cannot take that, and the not-found
        refusals of `queries`.
        """
        read = arrival.query_of(query, arguments)
        return self._undisturbed(lambda _: read(self._run(run_id)))

    def replay_events(self, request: ReplayEvents) -> list[dict[str, Any]]:
        """Return events of a source after a cursor, in the source's order.

        Raises `RunMissing`, `ReplayBindingMismatch`.
        """
        request = arrival.cleaned(request, ReplayEvents)
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
        return self._undisturbed(snapshot.state_root)

    # ------------------------------------------------------------ rows
    def _undisturbed(self, reading: Callable[[Company], T]) -> T:
        """Return what is read of one revision, however many statements that takes."""
        try:
            return world.undisturbed(self.company_id, reading)
        except Company.DoesNotExist:
            raise CompanyMissing from None

    def _lock(self) -> Company:
        """Lock the company first of all: it orders all mutations of the tenant, on PostgreSQL too."""
        company = rows.fetch(Company, lock=True, public_id=self.company_id)
        if company is None:
            raise CompanyMissing
        return company

    def _run(self, run_id: str, *related: str) -> Run:
        run_id = arrival.id_of_run(run_id)
        run = rows.fetch(Run, "actor", "task", *related, uid=uid_of(self.company_id, run_id))
        if run is None:
            raise RunMissing(f"there is no run {run_id}")
        return run


def _require_expected(work: UnitOfWork, revision: Any) -> None:
    """Refuse a revision that is not the present one; 1.0 and True are none at all."""
    if revision is not None and (type(revision) is not int or revision != work.company.revision):
        raise StateRevisionConflict(f"the state is at revision {work.company.revision}")


def _kept(work: UnitOfWork, run: Run) -> Run:
    """Take the run, its task and its actor into the unit of work."""
    run.task, run.actor = work.keep(run.task), work.keep(run.actor)
    return work.keep(run)
