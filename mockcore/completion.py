"""Ending a run with its result: the task goes where the result says, once. Source: reference A 3.16.

The result is the runner's last word and is reconciled, not obeyed: it must agree with the terminal event that the
runner reported before, and with what the task waits for.
"""

from __future__ import annotations

from typing import Any

from mockcore import ledger, rows
from mockcore.authority import refuse_ended
from mockcore.faults import under_faults
from mockcore.handlers import dependencies, tasks, wakes
from mockcore.handlers.budgets import end_run
from mockcore.handlers.scene import Scene
from mockcore.masking import mask
from mockcore.models import Run, RunEvent
from mockcore.port import Applied
from mockcore.refusal import Refusal
from mockcore.text import canonical
from mockcore.vocabulary import (
    Decided,
    Disposition,
    FaultOperation,
    RunStatus,
    TaskStatus,
    TerminalState,
    WakeReason,
    is_word,
)
from mockcore.work import UnitOfWork

STRUCTURED = "paperclip.run_result.v1"
NATIVE = "paperclip.native_result.v1"
TERMINAL_EVENT = {STRUCTURED: "run.terminal", NATIVE: "run.completed"}
MAX_SUMMARY_CHARS = 12_000
MAX_RESULT_CHARS = 262_144  # of canonical JSON, as an event of the run
RETRY_DELAY_S = 1
AFTER = {
    Disposition.BLOCKED: TaskStatus.BLOCKED,
    Disposition.NEEDS_REVIEW: TaskStatus.IN_REVIEW,
    Disposition.YIELDED: TaskStatus.TODO,
}
NEEDS = {"blocked": "blocker", "yielded": "continuation"}  # what a result of that disposition must carry


class ResultInvalid(Refusal):
    """The result is not well formed."""

    code = "native_result_invalid"


class ResultReplayConflict(Refusal):
    """The run ended with another result."""

    code = "native_result_replay_conflict"


class TerminalEventMissing(Refusal):
    """The run's terminal event has not been reported."""

    code = "terminal_event_missing"


class TerminalReconciliationFailed(Refusal):
    """The result does not agree with what is known of the run and its task."""

    code = "terminal_reconciliation_failed"


def complete(work: UnitOfWork, act: ledger.Act, run: Run, result: dict[str, Any]) -> Applied:
    """End the run and put its task where the result says; the very same result again is a duplicate.

    Raises the classes above, `RunNotWritable`, `BudgetHardStop`.
    """
    check(result)
    result = mask(result)
    if run.result is not None:
        return _repeated(work, act, run, result)
    refuse_ended(run)
    _agrees_with_terminal_event(run, result)
    scene = Scene(work=work, run=run, task=run.task, author=run.actor)
    _dispose(scene, run, Disposition(result["disposition"]), result)
    run.result = result
    end_run(work, run, status=RunStatus(_state_of(result)))
    return under_faults(
        company=work.company,
        operation=FaultOperation.COMPLETE_RUN,
        take_effect=lambda: _write(work, act, run, result),
    )


def _repeated(work: UnitOfWork, act: ledger.Act, run: Run, result: dict[str, Any]) -> Applied:
    if canonical(mask(run.result)) != canonical(result):
        raise ResultReplayConflict
    refs = tuple(sorted((run.ref, run.task.ref)))
    reason = "terminal_result_already_committed"
    ledger.decide(work=work, act=act, outcome=Decided.DUPLICATE, reason=reason, refs=refs)
    return _applied(run, "duplicate", work.company.revision, refs, ())


def _agrees_with_terminal_event(run: Run, result: dict[str, Any]) -> None:
    wanted = TERMINAL_EVENT[result["schema"]]
    reported = rows.fetch_all(RunEvent, run_id=run.uid, event_type=wanted)
    if not reported:
        raise TerminalEventMissing(f"no {wanted} has been reported")
    if result["schema"] == NATIVE:
        return
    said = [
        (one.body["payload"]["runTerminalState"], one.body["payload"]["reportedWorkDisposition"]) for one in reported
    ]
    if set(said) != {(_state_of(result), result["disposition"])}:
        raise TerminalReconciliationFailed("the terminal event says otherwise")


def _dispose(scene: Scene, run: Run, disposition: Disposition, result: dict[str, Any]) -> None:
    """Put the task where the disposition says, and let it go. The table of transitions binds commands, not this."""
    task = scene.task
    if task.checkout_run_id != run.uid:
        _was_let_go(scene, run, disposition)
        return
    if disposition is Disposition.DONE:
        if waiting_for := dependencies.open_blockers(scene.work, task):
            raise TerminalReconciliationFailed(f"the task still waits for {', '.join(waiting_for)}")
        tasks.close(scene, status=TaskStatus.DONE)
        return
    task.status = AFTER[disposition].value
    task.checkout_run = task.execution_run = None
    if disposition is Disposition.YIELDED:
        payload = {"runId": run.public_id, "continuation": result["continuation"]}
        wakes.wake_assignee(scene, task, WakeReason.SCHEDULED_RETRY, payload, delay_s=RETRY_DELAY_S)


def _was_let_go(scene: Scene, run: Run, disposition: Disposition) -> None:
    """A run that holds its task no more may end as what it did to it: finished it, or gave it back."""
    finished = scene.task.status == TaskStatus.DONE and scene.task.execution_run_id == run.uid
    if disposition is not (Disposition.DONE if finished else Disposition.YIELDED):
        raise TerminalReconciliationFailed("the run does not hold its task")


def _write(work: UnitOfWork, act: ledger.Act, run: Run, result: dict[str, Any]) -> Applied:
    changes = work.flush()
    refs = ledger.refs_of(changes, run.task.ref)
    note = ledger.Note(
        command_id=run.public_id,
        reason="terminal_state_reconciled",
        action="run.completed",
        entity=("run", run.public_id),
        actor_id=run.actor.public_id,
        details={"disposition": result["disposition"], "runTerminalState": _state_of(result)},
    )
    number = ledger.commit(work=work, act=act, note=note, changes=changes, refs=refs, outcome=Decided.RECONCILED)
    scheduled = tuple(c.row.public_id for c in changes if c.row.KIND == "wake" and c.before is None)
    return _applied(run, "applied", number, refs, scheduled)


def _applied(run: Run, disposition: str, number: int, refs: tuple[str, ...], scheduled: tuple[str, ...]) -> Applied:
    return Applied(
        command_id=run.public_id,
        command_kind="complete_run",
        disposition=disposition,
        state_revision=number,
        entity_refs=refs,
        scheduled_wake_ids=scheduled,
    )


# ---------------------------------------------------------------- the result
def check(result: dict[str, Any]) -> None:
    """Raise `ResultInvalid` naming what is wrong."""
    for name, value, known in (
        ("schema", result.get("schema"), TERMINAL_EVENT),
        ("disposition", result.get("disposition"), Disposition),
        ("runTerminalState", _state_of(result), TerminalState),
    ):
        if not is_word(value, known):
            raise ResultInvalid(f"{name} must be one of: {', '.join(known)}")
    summary = result.get("summary")
    if not isinstance(summary, str) or not summary.strip() or len(summary) > MAX_SUMMARY_CHARS:
        raise ResultInvalid(f"summary must be a text of at most {MAX_SUMMARY_CHARS} characters")
    needed = NEEDS.get(result["disposition"])
    if needed and not isinstance(result.get(needed), dict):
        raise ResultInvalid(f"a result that is {result['disposition']} needs a {needed}")
    try:
        size = len(canonical(result))
    except (TypeError, ValueError) as error:
        raise ResultInvalid("the result holds a value that JSON cannot hold") from error
    if size > MAX_RESULT_CHARS:
        raise ResultInvalid("the result is too large")


def _state_of(result: dict[str, Any]) -> Any:
    return result.get("runTerminalState", TerminalState.SUCCEEDED.value)
