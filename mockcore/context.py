"""The run context `paperclip.capability.run-context.v1`: what a run may know of its task. Source: reference A 3.7."""

from __future__ import annotations

from typing import Any

from mockcore.models import Budget, Interaction, Run, Task
from mockcore.refusal import Refusal


class StateInvalid(Refusal):
    """The company's rows contradict each other."""

    code = "fixture_state_invalid"


def run_context(run: Run) -> dict[str, Any]:
    """Return the context of a run whose actor, task and company are loaded."""
    company, actor = run.company.as_json(), run.actor.as_json()
    return {
        "schema": "paperclip.capability.run-context.v1",
        "company": {name: company[name] for name in ("id", "name", "issuePrefix", "status")},
        "actor": {name: actor[name] for name in ("id", "name", "role", "status", "capabilityGrants")},
        "activeTask": run.task.as_json(),
        "ancestors": [ancestor.as_json() for ancestor in _ancestors(run.task)],
        "wake": dict(run.wake),
        "capabilities": list(run.capabilities),
        "budget": _budget(run.company.budget, run.actor.budget),
        "interactionResults": _interaction_results(run.task),
    }


def _ancestors(task: Task) -> list[Task]:
    """Return the parents of a task, nearest first. Raises `StateInvalid` when they form a ring."""
    found: list[Task] = []
    seen = {task.uid}
    while task.parent_id is not None:
        if task.parent_id in seen:
            raise StateInvalid("a task is its own ancestor")
        task = Task.objects.get(uid=task.parent_id)
        seen.add(task.uid)
        found.append(task)
    return found


def _budget(*budgets: Budget) -> dict[str, int]:
    limit = min(budget.limit_cents for budget in budgets)
    left = min(max(0, budget.limit_cents - budget.spent_cents) for budget in budgets)
    return {"limitCents": limit, "spentCents": limit - left, "remainingCents": left}


def _interaction_results(task: Task) -> list[dict[str, Any]]:
    answered = Interaction.objects.filter(task=task, result__isnull=False).order_by("position")
    return [{"id": i.public_id, "kind": i.kind, "status": i.status, "result": i.result} for i in answered]
