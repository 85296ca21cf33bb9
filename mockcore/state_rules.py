"""Do the rows of a state root agree with each other? References, unique values, dense numbers, counters. Pure.

It is given a root whose single values are right (`state_fields`). Constraints and keys are read from the models, so
what a database would refuse late, or only one of the two would, is refused here by its path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from django.db import models as columns
from django.db.models import CheckConstraint, F, Q, UniqueConstraint

from mockcore import completion, models, runlog
from mockcore.models.base import Entity, json_columns
from mockcore.refusal import Refusal
from mockcore.snapshot import LEDGER
from mockcore.state_fields import JSON, Row, refuse, rows_of
from mockcore.vocabulary import BudgetScope, Decided

FREE_COUNTERS = frozenset({"task"})  # a child's id skips those that are taken


def check(root: JSON) -> None:
    """Raise `StateInvalid` for the first row that contradicts another one, by the order of `RULES`."""
    for rule in RULES:
        rule(root)


# ---------------------------------------------------------------- ids and references
def _ids_are_unique(root: JSON) -> None:
    seen: set[tuple[str, str]] = set()
    for path, model, facts in _entities(root):
        if (model.KIND, facts["id"]) in seen:
            raise refuse(f"{path}.id", f"{model.KIND}:{facts['id']} is there twice")
        seen.add((model.KIND, facts["id"]))


def _references_lead_somewhere(root: JSON) -> None:
    there = _ids(root)
    for path, model, facts in _entities(root):
        for name, kind in _references(model):
            _require(f"{path}.{name}", facts[name], there[kind], kind)
    _require("company.budgetId", root["company"]["budgetId"], there["budget"], "budget")
    _require("activeRunId", root["activeRunId"], there["run"], "run")
    for place, approval in enumerate(root["approvals"]):
        for task_id in approval["taskIds"]:
            _require(f"approvals[{place}].taskIds", task_id, there["task"], "task")
    if both := sorted(there["task"].intersection(root["outOfScopeTaskIds"])):
        raise refuse("outOfScopeTaskIds", f"{both[0]} is a task of this company")


def _require(path: str, public_id: str | None, there: set[str], kind: str) -> None:
    if public_id is not None and public_id not in there:
        raise refuse(path, f"there is no {kind} {public_id}")


def _budgets_have_owners(root: JSON) -> None:
    owners = {BudgetScope.COMPANY: {root["company"]["id"]}, BudgetScope.ACTOR: _ids(root)["actor"]}
    for place, budget in enumerate(root["budgets"]):
        _require(f"budgets[{place}].scopeId", budget["scopeId"], owners[BudgetScope(budget["scope"])], budget["scope"])


def _inner_rows_name_their_outer_one(root: JSON) -> None:
    for name, inside, owner in (("documents", "revisions", "documentId"), ("runs", "events", "runId")):
        for place, outer in enumerate(root[name]):
            for n, inner in enumerate(outer[inside]):
                if inner[owner] != outer["id"]:
                    raise refuse(f"{name}[{place}].{inside}[{n}].{owner}", f"must be {outer['id']}")


def _nothing_goes_in_a_ring(root: JSON) -> None:
    parents = {task["id"]: [task["parentId"]] for task in root["tasks"] if task["parentId"] is not None}
    waits: dict[str, list[str]] = {}
    for blocker in root["blockers"]:
        waits.setdefault(blocker["taskId"], []).append(blocker["blockedByTaskId"])
    for path, edges in (("tasks", parents), ("blockers", waits)):
        if found := _ring(edges):
            raise refuse(path, f"{found} comes before itself")


def _ring(edges: dict[str, list[str]]) -> str | None:
    """Return a node that leads back to itself, or None: what is left when all that lead nowhere are taken away."""
    left, into = dict(edges), Counter(node for ends in edges.values() for node in ends)
    free = [node for node in left if not into[node]]
    while free:
        for node in left.pop(free.pop(), ()):
            into[node] -= 1
            if not into[node] and node in left:
                free.append(node)
    return next(iter(left), None)


# ---------------------------------------------------------------- what the databases hold too
def _constraints_hold(root: JSON) -> None:
    company: Row = ("company", models.Company, root["company"])
    for path, model, facts in (company, *_all(root)):
        row = _row(model, facts)
        for constraint, names in _conditions(model):
            if names <= row.keys() and not _holds(constraint.condition, row):
                first = next(_leaves(constraint.condition))[0].partition("__")[0]
                raise refuse(f"{path}.{_name(model, first)}", f"does not keep to {constraint.name}")


def _values_are_unique(root: JSON) -> None:
    seen: set[Any] = set()
    for path, model, facts in _all(root):
        for names in _unique(model):
            key = (model, names, *(facts[name] for name in names))
            if key in seen:
                raise refuse(f"{path}.{names[-1]}", "is there twice")
            seen.add(key)


def _holds(condition: Any, row: JSON) -> bool:
    """Say whether a condition of a constraint holds, as a database would judge it."""
    if isinstance(condition, Q):
        parts = [_holds(part, row) for part in condition.children]
        return (all(parts) if condition.connector == Q.AND else any(parts)) != condition.negated
    (name, _, lookup), wanted = condition[0].partition("__"), condition[1]
    wanted = row[wanted.name] if isinstance(wanted, F) else wanted
    return bool(LOOKUPS[lookup](row[name], wanted))


LOOKUPS: dict[str, Callable[[Any, Any], bool]] = {
    "": lambda value, wanted: value == wanted,
    "in": lambda value, wanted: value in wanted,
    "gte": lambda value, wanted: value >= wanted,
    "contains": lambda value, wanted: wanted in value,
}


def _leaves(condition: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(condition, Q):
        for part in condition.children:
            yield from _leaves(part)
    else:
        yield condition


@cache
def _conditions(model: type[models.Row]) -> tuple[tuple[CheckConstraint, frozenset[str]], ...]:
    found = []
    for constraint in model._meta.constraints:
        if isinstance(constraint, CheckConstraint) and not constraint.name.endswith("_uid_is_its_own"):
            leaves = list(_leaves(constraint.condition))
            named = {leaf[0].partition("__")[0] for leaf in leaves}
            found.append((constraint, frozenset(named | {leaf[1].name for leaf in leaves if isinstance(leaf[1], F)})))
    return tuple(found)


@cache
def _unique(model: type[models.Row]) -> tuple[tuple[str, ...], ...]:
    """Return the names that no two rows may have equal. Company and places are given by the restore itself."""
    found = (
        tuple(_name(model, field) for field in constraint.fields if field != "company")
        for constraint in model._meta.constraints
        if isinstance(constraint, UniqueConstraint) and not {"position", "number"} & set(constraint.fields)
    )
    return tuple(found)


@cache
def _name(model: type[models.Row], field_name: str) -> str:
    """Return how a field is called in the JSON of a row."""
    attname = next((f.attname for f in model._meta.concrete_fields if f.name == field_name), field_name)
    return next((name for name, column, _ in json_columns(model) if column == attname), field_name)


def _row(model: type[models.Row], facts: JSON) -> JSON:
    """Return the facts by the names of their fields; a reference is the public id that it leads to."""
    by_attname = {field.attname: field.name for field in model._meta.concrete_fields}
    row = {by_attname[column]: facts[name] for name, column, _ in json_columns(model) if column in by_attname}
    return {**row, "uid": facts.get("id")}


# ---------------------------------------------------------------- what a run and a document hold
def _revisions_are_dense(root: JSON) -> None:
    for place, document in enumerate(root["documents"]):
        revisions = document["revisions"]
        for number, one in enumerate(revisions, 1):
            if one["revision"] != number:
                raise refuse(f"documents[{place}].revisions[{number - 1}].revision", f"must be {number}")
        if not revisions or revisions[-1]["id"] != document["latestRevisionId"]:
            raise refuse(f"documents[{place}].latestRevisionId", "must be the last of its revisions")


def _reports_are_well_formed(root: JSON) -> None:
    for place, run in enumerate(root["runs"]):
        for n, event in enumerate(run["events"]):
            path, body = f"runs[{place}].events[{n}]", event["body"]
            _told(f"{path}.body", partial(runlog.check, body, run["id"], run["sourceInstanceId"]))
            for name in ("sourceInstanceId", "sourceEventId", "sourceSeq", "eventType"):
                if event[name] != body[name]:
                    raise refuse(f"{path}.{name}", "is not what the event says")
        if run["result"] is not None:
            _told(f"runs[{place}].result", partial(completion.check, run["result"]))


def _told(path: str, look: Callable[[], None]) -> None:
    try:
        look()
    except Refusal as no:
        raise refuse(path, no.message) from no


# ---------------------------------------------------------------- ledger and counters
def _ledger_is_dense(root: JSON) -> None:
    for name in ("audit", "decisions"):
        model = LEDGER[name][0]
        for number, facts in enumerate(root[name], 1):
            if facts["id"] != (wanted := model(number=number).as_json()["id"]):
                raise refuse(f"{name}[{number - 1}].id", f"must be {wanted}")
    if len(root["audit"]) != root["revision"]:
        raise refuse("audit", f"must have one record for each of {root['revision']} revisions")


def _ledger_is_of_its_revisions(root: JSON) -> None:
    last = 0
    for place, decision in enumerate(root["decisions"]):
        if not last <= decision["stateRevision"] <= root["revision"]:
            raise refuse(f"decisions[{place}].stateRevision", f"must be from {last} to {root['revision']}")
        last = decision["stateRevision"]
    for place, record in enumerate(root["idempotency"]):
        if not 1 <= record["result"]["stateRevision"] <= root["revision"]:
            raise refuse(f"idempotency[{place}].result.stateRevision", f"must be from 1 to {root['revision']}")


def _faults_have_struck(root: JSON) -> None:
    struck = Counter(one["reason"] for one in root["decisions"] if one["outcome"] == Decided.FAULTED)
    for place, rule in enumerate(root["faults"]):
        struck[rule["code"]] -= rule["configuredCount"] - rule["remaining"]
        if struck[rule["code"]] < 0:
            raise refuse(f"faults[{place}].remaining", "is less than the decisions say")


def _counters_are_not_behind(root: JSON) -> None:
    counted, most = root["counters"], Counter(model.KIND for _, model, _ in _entities(root))
    if counted.get("position", 0) < max(most.values(), default=0):
        raise refuse("counters.position", "is behind the entities")
    numbered = [(path, model.KIND, facts["id"]) for path, model, facts in _entities(root)]
    numbered += [(f"idempotency[{n}].result", "command", one["result"]["commandId"]) for n, one in _keys(root)]
    for path, kind, public_id in numbered:
        number = public_id.removeprefix(f"{kind}-")
        is_counted = number.isascii() and number.isdecimal() and public_id == f"{kind}-{int(number[:18]):04d}"
        if kind not in FREE_COUNTERS and is_counted and int(number) > counted.get(kind, 0):
            raise refuse(f"counters.{kind}", f"is behind {path}, which is {public_id}")


RULES: tuple[Callable[[JSON], None], ...] = (
    _ids_are_unique,
    _constraints_hold,
    _references_lead_somewhere,
    _budgets_have_owners,
    _inner_rows_name_their_outer_one,
    _values_are_unique,
    _nothing_goes_in_a_ring,
    _revisions_are_dense,
    _reports_are_well_formed,
    _ledger_is_dense,
    _ledger_is_of_its_revisions,
    _faults_have_struck,
    _counters_are_not_behind,
)


# ---------------------------------------------------------------- small
def _entities(root: JSON) -> Iterator[tuple[str, type[Entity], JSON]]:
    yield from rows_of(root)  # type: ignore[misc]  # lists hold entities


def _all(root: JSON) -> Iterator[Row]:
    yield from rows_of(root)
    for name, (model, _) in LEDGER.items():
        yield from ((f"{name}[{place}]", model, facts) for place, facts in enumerate(root[name]))


def _keys(root: JSON) -> Iterator[tuple[int, JSON]]:
    yield from enumerate(root["idempotency"])


def _ids(root: JSON) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {model.KIND: set() for model in Entity.__subclasses__()}
    for _, model, facts in _entities(root):
        found[model.KIND].add(facts["id"])
    return found


@cache
def _references(model: type[Entity]) -> tuple[tuple[str, str], ...]:
    """Return the JSON name of each reference that is shown, and the kind that it leads to."""
    keys: list[Any] = [field for field in model._meta.concrete_fields if isinstance(field, columns.ForeignKey)]
    shown = {column for _, column, _ in json_columns(model)}
    inner = [field for field in keys if field.related_model is not models.Company and field.attname in shown]
    return tuple((_name(model, field.name), field.related_model.KIND) for field in inner)
