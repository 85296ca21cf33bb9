"""Every code of the mock company, and the smallest thing that causes it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mockcore
from mockcore import models, tenants
from mockcore.commands import (
    BlockTask,
    CommentOnApproval,
    ControlWorkspaceService,
    CreateTask,
    DecideApproval,
    FinishTask,
    RecordBudgetUsage,
    RegisterDeliverable,
    ReleaseTask,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    RequestReview,
    ResolveHumanInput,
    ScheduleWake,
    SetDependencies,
    WriteDocument,
)
from mockcore.models.base import uid_of
from mockcore.plane import MockControlPlane
from mockcore.port import AdvanceClock, Principal, Refused, ReplayEvents
from mockcore.refusal import Refusal
from tests.factories import ActorFactory, ApprovalFactory, BlockerFactory, FaultFactory, TaskFactory
from tests.mockcore.conftest import Desk
from tests.mockcore.reports import event, native, result, terminal

Last = Callable[[], Any]  # the one step that is refused
HELLO = ReportProgress(body="hello")
ASK = RequestHumanInput(interaction_kind="confirmation", title="t", prompt="p", continuation_policy="none")
PLAN = WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None)
BOARD = Principal.BOARD

SHEET = frozenset(  # reference A 3.19; of its October codes those whose operations exist here
    {
        "fixture_state_invalid",
        "mock_already_running",
        "mock_not_running",
        "actor_missing",
        "task_missing",
        "run_missing",
        "actor_not_active",
        "budget_hard_stop",
        "checkout_conflict",
        "terminal_task_requires_resume",
        "task_transition_illegal",
        "run_binding_conflict",
        "company_scope_violation",
        "run_not_writable",
        "idempotency_key_required",
        "idempotency_conflict",
        "state_revision_conflict",
        "operation_not_authorized",
        "task_scope_violation",
        "task_ownership_violation",
        "self_approval_forbidden",
        "semantic_command_invalid",
        "document_revision_conflict",
        "interaction_target_missing",
        "interaction_target_stale",
        "interaction_missing",
        "interaction_already_resolved",
        "interaction_outcome_invalid",
        "artifact_invalid",
        "dependency_cycle",
        "approval_missing",
        "approval_already_decided",
        "workspace_service_missing",
        "budget_usage_invalid",
        "release_lock_mismatch",
        "wake_delay_invalid",
        "wake_assignee_missing",
        "native_event_invalid",
        "native_event_replay_conflict",
        "native_event_sequence_gap",
        "replay_binding_mismatch",
        "native_result_invalid",
        "native_result_replay_conflict",
        "terminal_event_missing",
        "terminal_reconciliation_failed",
        "approval_scope_violation",
        "semantic_rule_violation",
    }
)
TENANT_CODES = frozenset({"seed_not_blank", "tenant_in_use"})  # of tenants, proved in test_tenants.py
HISTORY_CODES = frozenset(  # of copies and histories, proved in test_copies.py, test_blame.py and test_past_states.py
    {"company_exists", "entity_missing", "field_missing", "fixture_digest_mismatch", "revision_missing"}
)
ADMIN_CODES = frozenset({"list_refused"})  # of the admin's lists, proved in test_admin_questions.py
BASE = frozenset({"refused", "document_missing"})  # the class itself; of reads, proved in test_queries.py

ROWS: dict[str, Callable[[Desk], Last]] = {}


def row(code: str) -> Callable[[Callable[[Desk], Last]], Callable[[Desk], Last]]:
    """Name the code that a function's last step is refused with. The function gets a desk with an open run."""

    def keep(function: Callable[[Desk], Last]) -> Callable[[Desk], Last]:
        assert code not in ROWS, code
        ROWS[code] = function
        return function

    return keep


def sends(code: str, command: Any, *before: Any, **changed: Any) -> None:
    """Add a row whose last step sends one command after others; `changed` are fields of its envelope."""

    def function(desk: Desk) -> Last:
        for one in before:
            desk.do(one)
        return lambda: desk.send(command, **changed)

    row(code)(function)


def own_task(desk: Desk) -> models.Task:
    return models.Task.objects.get(public_id=desk.task_id)


def answer(outcome: str = "accepted", interaction_id: str = "interaction-0001") -> ResolveHumanInput:
    return ResolveHumanInput(interaction_id=interaction_id, outcome=outcome)


DELIVERABLE: Any = {"filename": "f", "content_type": "c", "byte_size": -1, "sha256": "s", "content_ref": "r"}
FORGED = DecideApproval(approval_id="approval-0001", decision="approved", note="n")

# ---------------------------------------------------------------- one command, refused
sends("idempotency_key_required", HELLO, idempotency_key=" ")
sends("state_revision_conflict", HELLO, expected_revision=99)
sends("semantic_command_invalid", ReportProgress(body=" "))
sends("task_missing", SetDependencies(blocked_by_task_ids=("nowhere",)))
sends("actor_missing", CreateTask(title="t", assignee_actor_id="nobody"))
sends("document_revision_conflict", PLAN, PLAN)
sends("interaction_target_missing", RequestHumanInput(**{**vars(ASK), "target_revision_id": "nowhere"}))
sends("interaction_missing", answer(), principal=BOARD)
sends("interaction_already_resolved", answer(), ASK, answer(), principal=BOARD)
sends("interaction_outcome_invalid", answer("answered"), ASK, principal=BOARD)
sends("interaction_answer_invalid", answer("rejected"), ASK, principal=BOARD)
sends("artifact_invalid", RegisterDeliverable(title="t", **DELIVERABLE))
sends("approval_missing", CommentOnApproval(approval_id="nowhere", body="b"))
sends("workspace_service_missing", ControlWorkspaceService(service_id="nowhere", action="start"))
sends("budget_usage_invalid", RecordBudgetUsage(cents=-1))
sends("wake_delay_invalid", ScheduleWake(reason="manual", delay_ticks=-1))
sends("task_transition_illegal", BlockTask(reason="r"), RequestReview(summary="s"))
sends("budget_hard_stop", HELLO, RecordBudgetUsage(cents=1_000))
sends("release_lock_mismatch", ReleaseTask(reason="r"), ReleaseTask(reason="r"))
sends("task_ownership_violation", HELLO, ReleaseTask(reason="r"))


@row("idempotency_conflict")
def _(desk: Desk) -> Last:
    desk.do(HELLO, key="k")
    return lambda: desk.send(ReportProgress(body="other"), key="k")


@row("interaction_target_stale")
def _(desk: Desk) -> Last:
    desk.do(PLAN)
    desk.do(WriteDocument(key="plan", title="Plan", body="2", base_revision_id="revision-0001"))
    return lambda: desk.send(RequestHumanInput(**{**vars(ASK), "target_revision_id": "revision-0001"}))


@row("dependency_cycle")
def _(desk: Desk) -> Last:
    desk.do(CreateTask(title="t", blocked_by_task_ids=(desk.task_id,)))
    return lambda: desk.send(SetDependencies(blocked_by_task_ids=("task-0001",)))


@row("semantic_rule_violation")
def _(desk: Desk) -> Last:
    BlockerFactory(company=desk.company(), task=own_task(desk), blocked_by_task=TaskFactory(company=desk.company()))
    return lambda: desk.send(FinishTask(summary="s"))


@row("wake_assignee_missing")
def _(desk: Desk) -> Last:
    desk.put(assignee_actor=None)
    return lambda: desk.send(ScheduleWake(reason="manual", delay_ticks=1))


@row("task_scope_violation")
def _(desk: Desk) -> Last:
    other = TaskFactory(company=desk.company())
    return lambda: desk.send(ReportProgress(body="b", task_id=other.public_id))


@row("company_scope_violation")
def _(desk: Desk) -> Last:
    models.Company.objects.filter(pk=desk.company_id).update(out_of_scope_task_ids=["theirs"])
    return lambda: desk.send(SetDependencies(blocked_by_task_ids=("theirs",)))


# ---------------------------------------------------------------- approvals and claims
@row("operation_not_authorized")
def _(desk: Desk) -> Last:
    models.Run.objects.update(capabilities=[])
    return lambda: desk.send(CreateTask(title="t"))


@row("approval_already_decided")
def _(desk: Desk) -> Last:
    desk.do(RequestApproval(approval_type="t", payload_json={}))
    desk.board(FORGED)
    return lambda: desk.send(FORGED, principal=BOARD)


@row("approval_scope_violation")
def _(desk: Desk) -> Last:
    ApprovalFactory(company=desk.company(), public_id="theirs", task_ids=[])
    return lambda: desk.send(CommentOnApproval(approval_id="theirs", body="b"))


@row("self_approval_forbidden")
def _(desk: Desk) -> Last:
    models.Actor.objects.update(role="approver")
    desk.do(RequestApproval(approval_type="t", payload_json={}))
    return lambda: desk.send(FORGED)


# ---------------------------------------------------------------- opening a run
@row("run_binding_conflict")
def _(desk: Desk) -> Last:
    return lambda: desk.open(session_id="forged")


@row("checkout_conflict")
def _(desk: Desk) -> Last:
    return lambda: desk.open(run_id="run-2")


@row("actor_not_active")
def _(desk: Desk) -> Last:
    models.Actor.objects.update(status="paused")
    return lambda: desk.open(run_id="run-2")


@row("terminal_task_requires_resume")
def _(desk: Desk) -> Last:
    desk.do(FinishTask(summary="s"))
    return lambda: desk.open(run_id="run-2")


# ---------------------------------------------------------------- the company as a whole
@row("company_missing")
def _(desk: Desk) -> Last:
    return MockControlPlane(company_id="nowhere").state_revision


@row("run_missing")
def _(desk: Desk) -> Last:
    return lambda: desk.plane.facts("nowhere")


@row("fixture_state_invalid")
def _(desk: Desk) -> Last:
    parent = TaskFactory(company=desk.company(), public_id="p")
    desk.put(parent=parent)
    models.Task.objects.filter(public_id="p").update(parent_id=uid_of(desk.company_id, desk.task_id))
    return lambda: desk.plane.context("run-1")


@row("mock_already_running")
def _(desk: Desk) -> Last:
    return desk.plane.start


@row("mock_not_running")
def _(desk: Desk) -> Last:
    desk.plane.stop()
    return lambda: desk.send(HELLO)


@row("clock_advance_invalid")
def _(desk: Desk) -> Last:
    return lambda: desk.plane.advance_clock(AdvanceClock(ticks=0, idempotency_key="k"))


# ---------------------------------------------------------------- what a runner reports
def reports(code: str, given: dict[str, Any], *before: dict[str, Any]) -> None:
    def function(desk: Desk) -> Last:
        for one in before:
            desk.plane.append_event("run-1", one)
        return lambda: desk.plane.append_event("run-1", given)

    row(code)(function)


def ends(code: str, given: dict[str, Any], *before: dict[str, Any], ended: Any = None) -> None:
    def function(desk: Desk) -> Last:
        for one in before:
            desk.plane.append_event("run-1", one)
        if ended:
            desk.plane.complete_run("run-1", ended)
        return lambda: desk.plane.complete_run("run-1", given)

    row(code)(function)


reports("native_event_invalid", event(0))
reports("native_event_replay_conflict", event(1, payload={}), event(1))
reports("native_event_sequence_gap", native(2))
ends("native_result_invalid", {})
ends("native_result_replay_conflict", result(summary="Other."), terminal(1), ended=result())
ends("terminal_event_missing", result())
ends("terminal_reconciliation_failed", result("needs_review"), terminal(1))


@row("run_not_writable")
def _(desk: Desk) -> Last:
    desk.plane.append_event("run-1", terminal(1))
    desk.plane.complete_run("run-1", result())
    return lambda: desk.send(HELLO)


@row("replay_binding_mismatch")
def _(desk: Desk) -> Last:
    return lambda: desk.plane.replay_events(ReplayEvents(run_id="run-1", source_instance_id="forged"))


@row("session_checkpoint_invalid")
def _(desk: Desk) -> Last:
    return lambda: desk.plane.checkpoint_session("run-1", {"n": float("nan")})


# ---------------------------------------------------------------- the proof
@pytest.mark.requirement("company.codes.reachable")
@pytest.mark.parametrize("code", sorted(ROWS))
def test_each_code_is_the_answer_to_something_and_moves_nothing(desk: Desk, code: str) -> None:
    last = ROWS[code](desk)
    state = desk.facts_of_state() if code != "fixture_state_invalid" else ""
    said = answer_of(last)
    assert (said.code, said.retryable, bool(said.message)) == (code, False, True)
    assert not state or desk.facts_of_state() == state


def answer_of(last: Last) -> Refusal | Refused:
    """Return how a step was refused: by a value, or by an exception where the port has no outcome to give."""
    try:
        outcome = last()
    except Refusal as no:
        return no
    assert isinstance(outcome, Refused), outcome
    return outcome


@pytest.mark.requirement("company.codes.reachable")
def test_every_code_of_the_sheet_and_every_code_of_ours_has_a_row() -> None:
    assert sorted(SHEET - set(ROWS)) == []
    assert sorted(codes_of_the_house() - set(ROWS) - TENANT_CODES - HISTORY_CODES - ADMIN_CODES - BASE) == []
    assert sorted(set(ROWS) - codes_of_the_house()) == []


@pytest.mark.requirement("company.faults")
def test_any_code_of_a_fault_rule_is_reachable_and_only_those_are_retryable(desk: Desk) -> None:
    FaultFactory(company=desk.company(), code="anything_at_all")
    assert desk.refuse(HELLO, "anything_at_all").retryable


def test_a_company_of_another_is_no_company_of_ours_and_says_nothing_of_it(desk: Desk) -> None:
    """What belongs to another company reads like what is not there, word for word."""
    foreign = TaskFactory(title="Their secret plan")
    stranger = ActorFactory(company=foreign.company, name="Cleo")
    for code, with_theirs, with_nothing in (
        (
            "task_missing",
            SetDependencies(blocked_by_task_ids=(foreign.public_id,)),
            SetDependencies(blocked_by_task_ids=("nowhere",)),
        ),
        (
            "actor_missing",
            CreateTask(title="t", assignee_actor_id=stranger.public_id),
            CreateTask(title="t", assignee_actor_id="nowhere"),
        ),
    ):
        theirs, nothing = desk.refuse(with_theirs, code).message, desk.refuse(with_nothing, code).message
        own_id = foreign.public_id if code == "task_missing" else stranger.public_id
        assert theirs.replace(own_id, "nowhere") == nothing


@pytest.mark.requirement("company.lifecycle")
def test_a_stopped_company_is_read_only_until_it_is_started_and_loses_nothing(desk: Desk) -> None:
    desk.do(HELLO)
    before = desk.plane.state()
    desk.plane.stop()
    desk.plane.stop()
    assert desk.plane.state() == {**before, "lifecycle": "stopped"}
    assert isinstance(desk.open(run_id="run-2"), Refused)
    desk.plane.start()
    assert desk.plane.state() == before
    desk.do(HELLO)


@pytest.mark.requirement("company.retired.read-only")
def test_a_retired_company_is_never_started_again(desk: Desk) -> None:
    tenants.retire(company_id=desk.company_id)
    with pytest.raises(Refusal) as no:
        desk.plane.start()
    assert no.value.code == "mock_not_running"


def codes_of_the_house() -> set[str]:
    """Return the codes of every refusal that a module of mockcore defines."""
    for module in pkgutil.walk_packages(mockcore.__path__, "mockcore."):
        if ".migrations" not in module.name and ".sqlite" not in module.name:
            importlib.import_module(module.name)
    return {one.code for one in below(Refusal) if one.__module__.startswith("mockcore.") and one.code != "refused"}


def below(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    for one in kind.__subclasses__():
        yield one
        yield from below(one)
