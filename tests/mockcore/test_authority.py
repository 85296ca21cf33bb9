"""The check at the command boundary: who may apply what, and which refusal wins."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mockcore import models
from mockcore.authority import BOARD_MAY, CLAIMS
from mockcore.commands import (
    AnswerStatusQuestion,
    BlockTask,
    Command,
    CommentOnApproval,
    ControlWorkspaceService,
    CreateTask,
    DecideApproval,
    FinishTask,
    PostBoardComment,
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
from mockcore.handlers import HANDLERS
from mockcore.plane import CompanyMissing, MockControlPlane, RunMissing
from mockcore.port import Principal
from tests.factories import ActorFactory, TaskFactory
from tests.mockcore.conftest import CLAIMS as ALL_CLAIMS
from tests.mockcore.conftest import Desk

COMMANDS: tuple[Command, ...] = (
    ReportProgress(body="b"),
    AnswerStatusQuestion(body="b"),
    WriteDocument(key="k", title="t", body="b", base_revision_id=None),
    RequestHumanInput(interaction_kind="questions", title="t", prompt="p", continuation_policy="none"),
    ResolveHumanInput(interaction_id="i", outcome="answered"),
    RegisterDeliverable(filename="f", content_type="c", byte_size=1, sha256="s", content_ref="r", title="t"),
    SetDependencies(blocked_by_task_ids=()),
    CreateTask(title="t"),
    RequestApproval(approval_type="a", payload_json={}),
    DecideApproval(approval_id="a", decision="approved", note="n"),
    CommentOnApproval(approval_id="a", body="b"),
    FinishTask(summary="s"),
    BlockTask(reason="r"),
    RequestReview(summary="s"),
    ScheduleWake(reason="manual", delay_ticks=1),
    PostBoardComment(body="b"),
    ControlWorkspaceService(service_id="s", action="start"),
    RecordBudgetUsage(cents=1),
    ReleaseTask(reason="r"),
)
by_kind = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.kind)


def test_every_command_has_a_handler_and_is_tried_here() -> None:
    assert set(HANDLERS) == set(Command.__subclasses__()) == {type(command) for command in COMMANDS}


@by_kind
@pytest.mark.requirement("company.authority.claims")
def test_a_run_without_a_claim_may_do_only_what_needs_none(blank: Desk, command: Command) -> None:
    blank.open(capabilities=("unrelated:claim",))
    if command.kind == "post_board_comment":
        blank.refuse(command, "operation_not_authorized")
        assert blank.last_decision()["reason"] == "principal_not_authorized"
    elif command.kind in CLAIMS:
        refused = blank.refuse(command, "operation_not_authorized")
        assert blank.last_decision()["reason"] == "required_claim_missing"
        assert CLAIMS[command.kind] in refused.message
    else:
        blank.do(command)


@by_kind
@pytest.mark.requirement("company.board.three-commands")
def test_the_board_may_answer_decide_and_comment_and_nothing_else(desk: Desk, command: Command) -> None:
    outcome = desk.send(command, principal=Principal.BOARD)
    code = getattr(outcome, "code", None)
    assert (code != "operation_not_authorized") == (command.kind in BOARD_MAY)
    assert {"resolve_human_input", "decide_approval", "post_board_comment"} == BOARD_MAY


@by_kind
@pytest.mark.requirement("company.authority.scope")
def test_a_command_that_names_another_task_is_refused(desk: Desk, command: Command) -> None:
    TaskFactory(company=desk.company(), public_id="other")
    principal = Principal.BOARD if command.kind in BOARD_MAY else Principal.RUN
    for named, code in (("other", "task_scope_violation"), ("nowhere", "task_missing")):
        desk.refuse(dataclasses.replace(command, task_id=named), code, principal=principal)


def test_a_command_may_name_the_active_task(desk: Desk) -> None:
    desk.do(ReportProgress(body="b", task_id=desk.task_id))


@pytest.mark.requirement("company.authority.ownership")
@pytest.mark.parametrize("lost", ["assignee_actor", "checkout_run", "execution_run"])
def test_a_run_that_lost_its_task_writes_nothing(desk: Desk, lost: str) -> None:
    desk.put(**{lost: None})
    desk.refuse(ReportProgress(body="b"), "task_ownership_violation")
    assert desk.last_decision()["reason"] == "run_does_not_own_task"


def test_the_board_needs_neither_claims_nor_the_checkout(blank: Desk) -> None:
    blank.open(capabilities=())
    blank.put(checkout_run=None, assignee_actor=None)
    blank.board(PostBoardComment(body="Hello"))


@pytest.mark.parametrize(
    ("status", "code"),
    [("budget_stopped", "budget_hard_stop"), ("succeeded", "run_not_writable"), ("failed", "run_not_writable")],
)
def test_a_run_that_has_ended_writes_nothing_but_the_board_still_may(desk: Desk, status: str, code: str) -> None:
    company = desk.company()
    models.Run.objects.filter(company=company).update(status=status, finished_at=company.now())
    desk.refuse(ReportProgress(body="b"), code)
    desk.board(PostBoardComment(body="Pity"))


def test_the_first_check_to_fail_names_the_refusal(blank: Desk) -> None:
    """Claims, then the task named, then ownership, then the role, then the approval: as in reference A 2.9."""
    blank.open(capabilities=())
    TaskFactory(company=blank.company(), public_id="other")
    blank.put(assignee_actor=None)
    command = DecideApproval(approval_id="nowhere", decision="approved", note="n", task_id="other")

    def reason(**changed: Any) -> str:
        blank.send(dataclasses.replace(command, **changed))
        return str(blank.last_decision()["reason"])

    assert reason() == "required_claim_missing"
    models.Run.objects.update(capabilities=sorted(ALL_CLAIMS))
    assert reason() == "active_task_scope_required"
    assert reason(task_id=None) == "run_does_not_own_task"
    models.Task.objects.filter(public_id=blank.task_id).update(
        assignee_actor=models.Actor.objects.get(public_id=blank.identity.actor_id)
    )
    assert reason(task_id=None) == "actor_role_not_authorized"
    models.Actor.objects.update(role="board")
    assert reason(task_id=None) == "approval_missing"


def test_an_unknown_run_and_an_unknown_company_are_typed_refusals(desk: Desk) -> None:
    with pytest.raises(RunMissing) as refused:
        desk.send(ReportProgress(body="b"), run_id="run-9")
    assert refused.value.code == "run_missing"
    for ask in (desk.plane.facts, desk.plane.context, lambda run: desk.plane.query(run, "list_documents")):
        with pytest.raises(RunMissing):
            ask("run-9\0")
    nowhere = MockControlPlane(company_id="nowhere")
    with pytest.raises(RunMissing):
        nowhere.facts("run-1")
    for read in (nowhere.state_revision, nowhere.state):
        with pytest.raises(CompanyMissing):
            read()


def test_a_run_of_one_company_is_unknown_to_another(desk: Desk) -> None:
    other = ActorFactory()
    with pytest.raises(RunMissing):
        MockControlPlane(company_id=other.company.public_id).apply(desk.envelope(ReportProgress(body="b")))
