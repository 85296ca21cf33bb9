"""Budgets: both the company's and the actor's are charged, and one that is used up stops the work at once."""

from __future__ import annotations

from mockcore.commands import RecordBudgetUsage
from mockcore.handlers import comments
from mockcore.handlers.scene import Scene, whole_number_in
from mockcore.models import Actor, Budget, Run
from mockcore.models.base import public_part
from mockcore.refusal import Refusal
from mockcore.vocabulary import RunStatus, Standing, TaskStatus, step
from mockcore.work import UnitOfWork

MAX_CENTS = 2**53 - 1  # the largest whole number every JSON reader keeps exactly
STOPPED = "The budget is used up. The run was stopped and its actor paused."


class BudgetUsageInvalid(Refusal):
    """A usage is a whole number of cents, not negative."""

    code = "budget_usage_invalid"


def budgets_of(work: UnitOfWork, actor: Actor) -> list[Budget]:
    """Return the company's and the actor's budget."""
    ids = (work.company.budget_id, actor.budget_id)
    found = [work.get(Budget, public_part(one) or "") for one in dict.fromkeys(ids)]
    return [budget for budget in found if budget is not None]


def record_budget_usage(scene: Scene, command: RecordBudgetUsage) -> None:
    """Charge both budgets; a usage may overshoot. The one that uses up a hard stop stops everything by itself.

    Source: reference A 3.14, design section 4.
    """
    run = scene.run
    assert run is not None  # only a run sends this
    cents = whole_number_in(command.cents, name="cents", at_most=MAX_CENTS, refusal=BudgetUsageInvalid)
    budgets = budgets_of(scene.work, run.actor)
    for budget in budgets:
        if budget.spent_cents + cents > MAX_CENTS:
            raise BudgetUsageInvalid(f"{budget.public_id} cannot hold that much")
        budget.spent_cents += cents
        scene.mentioned.add(budget.ref)
    if any(budget.is_exceeded for budget in budgets):
        _stop(scene, run)


def _stop(scene: Scene, run: Run) -> None:
    """Pause the actor, end the run, block the task and take it away. Open questions stay open for the board."""
    task = scene.task
    run.actor.status = Standing.PAUSED.value
    end_run(scene.work, run, status=RunStatus.BUDGET_STOPPED)
    if task.status == TaskStatus.IN_REVIEW:
        task.status = step(task.status, TaskStatus.IN_PROGRESS).value  # review has no way to blocked but this
    if task.status != TaskStatus.BLOCKED:
        task.status = step(task.status, TaskStatus.BLOCKED).value
    task.checkout_run = task.execution_run = None
    comments.say(Scene(work=scene.work, task=task, author=None), STOPPED)


def end_run(work: UnitOfWork, run: Run, *, status: RunStatus) -> None:
    """End a run; it is the active one no more."""
    run.status, run.finished_at = status.value, work.now
    if work.company.active_run_id == run.public_id:
        work.company.active_run_id = None
