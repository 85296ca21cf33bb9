"""What became of a request to the plane: written to the ledger, and told to the caller."""

from __future__ import annotations

from mockcore import checkout, idempotency, ledger
from mockcore.commands import Command, RecordBudgetUsage
from mockcore.faults import FaultInjected
from mockcore.handlers.scene import Scene
from mockcore.lifecycle import NotRunning
from mockcore.models import Run
from mockcore.port import Applied, Envelope, OpenRun, Refused
from mockcore.refusal import Refusal
from mockcore.vocabulary import Decided, RunStatus
from mockcore.work import UnitOfWork


def write_command(act: ledger.Act, scene: Scene, envelope: Envelope, text: str) -> Applied:
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
    scope = idempotency.scope_of(envelope.run_id, envelope.principal)
    remember = idempotency.memory(work.company, scope, envelope.idempotency_key, text, applied)
    ledger.commit(work=work, act=act, note=note, changes=changes, refs=refs, remember=remember)
    return applied


def _audited(scene: Scene, command: Command) -> str:
    """Return the audit action of a command: a usage that stopped the run has a name of its own."""
    stopped = scene.run is not None and scene.run.status == RunStatus.BUDGET_STOPPED
    is_usage = isinstance(command, RecordBudgetUsage)
    return "budget.hard_stop" if is_usage and stopped else "semantic_command.applied"


def write_opening(work: UnitOfWork, act: ledger.Act, request: OpenRun, run: Run) -> Applied:
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


def reopened(work: UnitOfWork, act: ledger.Act, request: OpenRun, known: Run) -> Applied:
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


def done(act: ledger.Act, number: int) -> Applied:
    """Return the answer to a request that has no command of its own."""
    return Applied(
        command_id="",
        command_kind=act.operation,
        disposition="applied",
        state_revision=number,
        entity_refs=(f"run:{act.run_id}",),
        scheduled_wake_ids=(),
    )


def refused(work: UnitOfWork, act: ledger.Act, no: Refusal) -> Refused:
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
