"""A state that would break later is refused before anything is written, by the path of its first fault."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from mockcore import copies, models, state_fields
from mockcore.commands import CreateTask, RecordBudgetUsage, ReportProgress, RequestHumanInput, WriteDocument
from mockcore.install import StateInvalid
from mockcore.models.base import Entity
from mockcore.plane import MockControlPlane
from mockcore.port import AdvanceClock, Refused
from mockcore.refusal import Refusal
from mockcore.text import canonical
from tests.mockcore.conftest import Desk
from tests.mockcore.reports import result, terminal
from tests.mockcore.scripted_day import IDENTITY, whole_day
from tests.mockcore.test_copies import Twin

Edit = Callable[[dict[str, Any]], Any]
MANY = settings(
    max_examples=120,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a seed has no smaller form
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


Path = tuple[Any, ...]


def put(value: Any, *path: str | int) -> Edit:
    """Return an edit that puts a value at a path."""

    def edit(state: dict[str, Any]) -> None:
        at: Any = state
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value

    return edit


def run_of(state: dict[str, Any]) -> dict[str, Any]:
    return next(run for run in state["runs"] if run["events"])


FAULTS: dict[str, tuple[Edit, str]] = {
    "an epoch beyond the calendar": (put(10**18, "clock", "epochMs"), "clock"),
    "a tick that no database holds": (put(2**62, "clock", "tick"), "clock"),
    "a tick that is no number": (put(True, "clock", "tick"), "clock"),
    "a clock with more in it": (put({"epochMs": 0, "tick": 0, "zone": "UTC"}, "clock"), "clock"),
    "a counter that is a text": (put("x", "counters", "comment"), "counters: comment"),
    "a counter that is behind": (put(0, "counters", "comment"), "counters.comment"),
    "a counter of commands that is behind": (put(1, "counters", "command"), "counters.command"),
    "a counter of revisions that is gone": (lambda s: s["counters"].pop("revision"), "counters.revision"),
    "a counter of places that is behind": (put(1, "counters", "position"), "counters.position"),
    "a revision far ahead": (put(10**12, "revision"), "audit"),
    "a revision that is negative": (put(-1, "revision"), "revision"),
    "a last audit record that is gone": (lambda s: s["audit"].pop(), "audit"),
    "a last decision that is renumbered": (put("decision-9999", "decisions", -1, "id"), "decisions["),
    "a decision of a later revision": (put(9_999, "decisions", -1, "stateRevision"), "decisions["),
    "a decision of an unknown outcome": (put("maybe", "decisions", 0, "outcome"), "decisions[0].outcome"),
    "a reason that is too long": (put("x" * 81, "decisions", 0, "reason"), "decisions[0].reason"),
    "a result without its command": (
        lambda s: s["idempotency"][0]["result"].pop("commandId"),
        "idempotency[0].result",
    ),
    "a result of a later revision": (put(9_999, "idempotency", 0, "result", "stateRevision"), "idempotency[0].result"),
    "a key that stands twice": (lambda s: s["idempotency"].append(s["idempotency"][0]), "idempotency["),
    "a key that is too long": (put("k" * 241, "idempotency", 0, "key"), "idempotency[0].key"),
    "an active run that is a list": (put([], "activeRunId"), "activeRunId"),
    "an active run that is not there": (put("run-9", "activeRunId"), "activeRunId"),
    "a lifecycle that is a list": (put([], "lifecycle"), "lifecycle"),
    "an unknown lifecycle": (put("retired", "lifecycle"), "lifecycle"),
    "a company's name that is too long": (put("n" * 301, "company", "name"), "company.name"),
    "a company's budget that is not there": (put("budget-x", "company", "budgetId"), "company.budgetId"),
    "an actor's name that is too long": (put("n" * 301, "actors", 0, "name"), "actors[0].name"),
    "claims that are no list": (put("all", "actors", 0, "capabilityGrants"), "actors[0].capabilityGrants"),
    "claims that are no texts": (put([1], "actors", 0, "capabilityGrants"), "actors[0].capabilityGrants"),
    "an id that is empty": (put("", "comments", 0, "id"), "comments[0].id"),
    "an id that is too long": (put("c" * 241, "comments", 0, "id"), "comments[0].id"),
    "a body that is no text": (put(["x"], "comments", 0, "body"), "comments[0].body"),
    "a time that is none": (put("2026-08-09T00:00:00Z", "comments", 0, "createdAt"), "comments[0].createdAt"),
    "a task that is its own parent": (put("task-0001", "tasks", 1, "parentId"), "tasks[1]"),
    "tasks that are each other's parents": (put("task-0002", "tasks", 0, "parentId"), "tasks"),
    "a finished task that a run holds": (put("run-1", "tasks", 0, "checkoutRunId"), "tasks[0]"),
    "two tasks of one name": (put("MCK-4243", "tasks", 2, "identifier"), "tasks[2].identifier"),
    "an approval of no task": (put(["task-9"], "approvals", 0, "taskIds"), "approvals[0].taskIds"),
    "an approval that was decided at no time": (put(None, "approvals", 0, "decidedAt"), "approvals[0]"),
    "an answer at no time": (put(None, "interactions", 0, "resolvedAt"), "interactions[0]"),
    "a payload that is a list": (put([], "interactions", 0, "payload"), "interactions[0].payload"),
    "a revision that is numbered wrongly": (put(3, "documents", 0, "revisions", 1, "revision"), "documents[0].rev"),
    "a document without revisions": (put([], "documents", 0, "revisions"), "documents[0].latestRevisionId"),
    "a latest revision that is not the last": (
        put("revision-0001", "documents", 0, "latestRevisionId"),
        "documents[0].latestRevisionId",
    ),
    "a revision of another document": (
        put("document-x", "documents", 0, "revisions", 0, "documentId"),
        "documents[0].revisions[0].documentId",
    ),
    "a budget that is negative": (put(-1, "budgets", 0, "limitCents"), "budgets[0].limitCents"),
    "a budget of nobody": (put("actor-x", "budgets", 1, "scopeId"), "budgets[1].scopeId"),
    "a hard stop that is a number": (put(1, "budgets", 0, "hardStop"), "budgets[0].hardStop"),
    "an attempt that no column holds": (put(2**31, "runs", 0, "attempt"), "runs[0].attempt"),
    "a run that ended at no time": (put("failed", "runs", 0, "status"), "runs[0]."),
    "an event that says something else": (lambda s: run_of(s)["events"][0].update(sourceSeq=7), "runs["),
    "an event whose body is none": (lambda s: run_of(s)["events"][0].update(body={}), "runs["),
    "a result that is none": (lambda s: run_of(s).update(result={"schema": ["x"]}), "runs["),
    "a fault that struck more often than decided": (
        lambda s: s["faults"][0].update(configuredCount=9, remaining=0),
        "faults[0].remaining",
    ),
    "a fault that has more left than it had": (put(7, "faults", 0, "remaining"), "faults[0].remaining"),
    "a task of ours that is another's": (put(["task-0001"], "outOfScopeTaskIds"), "outOfScopeTaskIds"),
}


@pytest.fixture
def state(db: None) -> dict[str, Any]:
    return dict(json.loads(copies.serialize(company_id=whole_day().company_id).body))


@pytest.mark.requirement("company.copy.refused")
def test_each_fault_is_refused_by_the_path_where_it_is(state: dict[str, Any]) -> None:
    copies.restore(canonical(state), company_id="company-well")
    before = models.Company.objects.count()
    for name, (edit, path) in FAULTS.items():
        faulty = copy.deepcopy(state)
        edit(faulty)
        with pytest.raises(Refusal) as no:
            copies.restore(canonical(faulty), company_id="company-ill")
        assert (no.value.code, no.value.message[: len(path)]) == ("fixture_state_invalid", path), name
    assert models.Company.objects.count() == before


@pytest.mark.requirement("company.copy.refused")
@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (put(4_102_444_800_000, "clock", "epochMs"), "clock"),
        (put("n" * 301, "actors", 0, "name"), "actors[0].name"),
        (put(2**31, "runs", 0, "attempt"), "runs[0].attempt"),
        (put(2**53, "budgets", 0, "limitCents"), "budgets[0].limitCents"),
    ],
)
def test_one_less_than_too_much_is_restored(state: dict[str, Any], edit: Edit, path: str) -> None:
    edit(state)
    with pytest.raises(StateInvalid, match=path.partition("[")[0]):
        copies.restore(canonical(state), company_id="company-ill")
    less = {
        "clock": put(4_102_444_800_000 - state["clock"]["tick"] * 1000, "clock", "epochMs"),
        "actors[0].name": put("n" * 300, "actors", 0, "name"),
        "runs[0].attempt": put(2**31 - 1, "runs", 0, "attempt"),
        "budgets[0].limitCents": put(2**53 - 1, "budgets", 0, "limitCents"),
    }
    less[path](state)
    copies.restore(canonical(state), company_id="company-well")


@pytest.mark.requirement("company.copy.refused")
@pytest.mark.parametrize("text", ['{"schema": 1, "schema": 2}', '{"a": NaN}', '{"a": -Infinity}'])
def test_a_text_that_two_readers_read_differently_is_no_state(db: None, text: str) -> None:
    with pytest.raises(StateInvalid, match="the state is no JSON"):
        copies.restore(text)


@pytest.mark.requirement("company.copy.refused")
@pytest.mark.parametrize("company_id", ["", "a\0b", "\ud800", 7, ["x"]])
def test_an_id_that_only_one_database_would_take_is_refused(state: dict[str, Any], company_id: Any) -> None:
    with pytest.raises(StateInvalid, match=r"^company\.id: "):
        copies.restore(canonical(state), company_id=company_id)


def test_every_column_of_every_row_has_a_judge() -> None:
    for model in (models.Company, *Entity.__subclasses__(), *models.LedgerRow.__subclasses__()):
        judges = state_fields._judges(model)
        assert len(judges) == len(model.PUBLIC)


# ---------------------------------------------------------------- any state at all
JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 10**18, 10**400, 0.5, "", "x", "x" * 301),
    *("run-1", "task-0001", "comment-0001", "done", "pending", "2026-08-09T00:00:00.000Z", "0001-01-01T00:00:00.000Z"),
    *([], {}, [1], ["x"], {"x": 1}, [[]], [None]),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of everything inside a state."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for name, found in inner for one in [(*path, name), *places(found, (*path, name))]]


class Kept:
    """A state that a report of a failure does not write out."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state


@pytest.fixture
def kept(state: dict[str, Any]) -> Kept:
    return Kept(state)


def changed(state: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return a copy of a state with one or two changes somewhere inside, in any section alike."""
    state = copy.deepcopy(state)
    for _ in range(chance.randint(1, 2)):
        section = chance.choice(sorted(state))
        found = [(section, *path) for path in places(state[section])] or [(section,)]
        path = chance.choice(found)
        note(f"{path}")
        chance.choice([_put, _put, _drop, _double, _copy])(state, path, chance.choice(found), chance.choice(JUNK))
    return state


def _put(state: Any, path: Path, other: Path, junk: Any) -> None:
    reach(state, path[:-1])[path[-1]] = copy.deepcopy(junk)


def _drop(state: Any, path: Path, other: Path, junk: Any) -> None:
    del reach(state, path[:-1])[path[-1]]


def _double(state: Any, path: Path, other: Path, junk: Any) -> None:
    held = reach(state, path[:-1])
    if isinstance(held, list):
        held.append(copy.deepcopy(held[path[-1]]))
    else:
        held[f"{path[-1]}2"] = copy.deepcopy(held[path[-1]])


def _copy(state: Any, path: Path, other: Path, junk: Any) -> None:
    reach(state, path[:-1])[path[-1]] = copy.deepcopy(reach(state, other))


def reach(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.requirement("company.copy.refused", "company.copy.restore")
@MANY
@given(seed=st.integers(0, 2**32))
def test_a_changed_state_is_refused_with_a_code_or_restored_as_it_is_and_works(kept: Kept, seed: int) -> None:
    faulty = changed(kept.state, random.Random(seed))
    with transaction.atomic():
        before = models.Company.objects.count()
        code = refused(faulty)
        assert code in {"", "fixture_state_invalid", "company_scope_violation"}
        assert models.Company.objects.count() == before + (not code)
        if not code:
            body = copies.serialize(company_id="company-changed").body.decode()
            assert body.replace("company-changed", faulty["company"]["id"]) == canonical(faulty)
            _works("company-changed")
        transaction.set_rollback(True)


def refused(state: dict[str, Any]) -> str:
    """Restore a state; return the code of the refusal, or nothing."""
    try:
        copies.restore(canonical(state), company_id="company-changed")
    except Refusal as no:
        return no.code
    return ""


def _works(company_id: str) -> None:
    """Read and write a little of everything: what is refused has a code, and nothing raises anything else."""
    for run in models.Run.objects.filter(company_id=company_id):
        desk = Twin(identity=IDENTITY, run_id=run.public_id)
        desk.copy_id = company_id
        desk.plane.context(run.public_id)
        for query in ("get_task_history", "list_documents", "list_agents", "search_tasks", "list_approvals"):
            desk.plane.query(run.public_id, query)
        for command in (
            ReportProgress(body="x"),
            CreateTask(title="x"),
            WriteDocument(key="new", title="x", body="x", base_revision_id=None),
            RequestHumanInput(interaction_kind="confirmation", title="x", prompt="x", continuation_policy="none"),
            RecordBudgetUsage(cents=1),
        ):
            desk.send(command, key=f"works-{run.public_id}-{command.kind}")
        desk.plane.complete_run(run.public_id, result())
    plane = MockControlPlane(company_id=company_id)
    plane.advance_clock(AdvanceClock(ticks=5, idempotency_key="works"))
    plane.state()


@pytest.mark.requirement("company.copy.restore")
def test_every_kept_revision_of_a_day_can_be_restored(db: None) -> None:
    desk = whole_day()
    for number in range(desk.plane.state_revision() + 1):
        done = copies.serialize(company_id=desk.company_id, revision=number)
        restored = copies.restore(done.body, company_id=f"company-of-{number}", digest=done.digest)
        body = copies.serialize(company_id=restored).body.decode()
        assert body.replace(restored, desk.company_id) == done.body.decode()


# ---------------------------------------------------------------- states that had come to an end
@pytest.mark.requirement("company.copy.restore")
def test_a_company_whose_budget_ran_out_comes_back_as_one_whose_budget_ran_out(desk: Desk) -> None:
    desk.do(RecordBudgetUsage(cents=1_000))
    twin = Twin.of(desk, copies.restore(copies.serialize(company_id=desk.company_id).body, company_id="company-twin"))
    for one in (desk, twin):
        assert one.refuse(ReportProgress(body="x"), "budget_hard_stop").message
        opened = one.open(run_id="run-2")
        assert isinstance(opened, Refused)
        assert opened.code == "actor_not_active"


@pytest.mark.requirement("company.copy.restore")
def test_a_company_whose_run_ended_comes_back_with_the_run_ended(desk: Desk) -> None:
    desk.plane.append_event("run-1", terminal(1))
    desk.plane.complete_run("run-1", result())
    twin = Twin.of(desk, copies.restore(copies.serialize(company_id=desk.company_id).body, company_id="company-twin"))
    said = [one.refuse(ReportProgress(body="x"), "run_not_writable").message for one in (desk, twin)]
    assert said[0] == said[1]
