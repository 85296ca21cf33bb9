from __future__ import annotations

from typing import Any

import pytest

from mockcore import models
from mockcore.commands import CommentOnApproval, DecideApproval, RequestApproval
from mockcore.models.base import uid_of
from mockcore.port import Principal
from tests.factories import ApprovalFactory, TaskFactory
from tests.mockcore.conftest import Desk

FIRST = "approval-0001"
REQUEST = RequestApproval(approval_type="spend", payload_json={"cents": 5})


def decide(decision: str = "approved", note: str = "Fine", approval_id: str = FIRST) -> DecideApproval:
    return DecideApproval(approval_id=approval_id, decision=decision, note=note)


def as_role(desk: Desk, role: str) -> None:
    models.Actor.objects.filter(public_id=desk.identity.actor_id).update(role=role)


def test_a_request_waits_and_puts_the_task_into_review(desk: Desk) -> None:
    applied = desk.do(REQUEST)
    assert applied.entity_refs == (f"approval:{FIRST}", f"task:{desk.task_id}")
    approval = desk.entity(f"approval:{FIRST}")
    assert (approval["status"], approval["type"], approval["payload"]) == ("pending", "spend", {"cents": 5})
    assert (approval["taskIds"], approval["requestedByActorId"]) == ([desk.task_id], desk.identity.actor_id)
    assert (approval["comments"], approval["decidedAt"], desk.status) == ([], None, "in_review")


@pytest.mark.parametrize("wrong", [{"approval_type": " "}, {"payload_json": "text"}])
def test_a_request_that_says_nothing_useful_is_refused(desk: Desk, wrong: dict[str, Any]) -> None:
    asked = {"approval_type": "spend", "payload_json": {}, **wrong}
    desk.refuse(RequestApproval(**asked), "semantic_command_invalid")


@pytest.mark.requirement("company.board.decides")
@pytest.mark.parametrize("decision", ["approved", "rejected", "cancelled"])
def test_the_board_decides_with_or_without_a_note(desk: Desk, decision: str) -> None:
    desk.do(REQUEST)
    applied = desk.board(decide(decision, note=""))
    approval = desk.entity(f"approval:{FIRST}")
    assert (approval["status"], approval["decisionNote"]) == (decision, "")
    assert desk.status == "in_progress"
    assert applied.scheduled_wake_ids == ("wake-0001",)
    wake = desk.entity("wake:wake-0001")
    assert (wake["reason"], wake["payload"]) == ("approval_resolved", {"approvalId": FIRST, "decision": decision})


def test_an_approval_is_decided_once(desk: Desk) -> None:
    desk.do(REQUEST)
    desk.board(decide())
    desk.refuse(decide("rejected"), "approval_already_decided", principal=Principal.BOARD)


@pytest.mark.parametrize("decision", ["pending", "maybe", ""])
def test_an_approval_has_no_other_decisions(desk: Desk, decision: str) -> None:
    desk.do(REQUEST)
    desk.refuse(decide(decision), "semantic_command_invalid", principal=Principal.BOARD)


def test_every_linked_task_has_its_assignee_woken(desk: Desk) -> None:
    company = desk.company()
    assignee = uid_of(company.public_id, desk.identity.actor_id)
    other = TaskFactory(company=company, assignee_actor_id=assignee)
    unassigned = TaskFactory(company=company)
    ApprovalFactory(company=company, public_id="a", task_ids=[desk.task_id, other.public_id, unassigned.public_id])
    applied = desk.board(decide(approval_id="a"))
    assert [desk.entity(f"wake:{wake}")["taskId"] for wake in applied.scheduled_wake_ids] == [
        desk.task_id,
        other.public_id,
    ]


@pytest.mark.requirement("company.approval.scope")
@pytest.mark.parametrize("principal", [Principal.RUN, Principal.BOARD])
def test_only_an_approval_linked_to_the_active_task_can_be_decided(desk: Desk, principal: Principal) -> None:
    as_role(desk, "board")
    other = TaskFactory(company=desk.company())
    ApprovalFactory(company=other.company, public_id="foreign", task_ids=[other.public_id])
    desk.refuse(decide(approval_id="foreign"), "approval_scope_violation", principal=principal)
    desk.refuse(decide(approval_id="nowhere"), "approval_missing", principal=principal)


@pytest.mark.parametrize("role", ["board", " Approver ", "SECURITY"])
def test_an_actor_with_an_approving_role_decides_what_another_asked_for(desk: Desk, role: str) -> None:
    as_role(desk, role)
    ApprovalFactory(company=desk.company(), public_id="a", task_ids=[desk.task_id])
    desk.do(decide(approval_id="a"))
    assert desk.entity("approval:a")["status"] == "approved"


def test_an_actor_must_give_a_note(desk: Desk) -> None:
    as_role(desk, "board")
    ApprovalFactory(company=desk.company(), public_id="a", task_ids=[desk.task_id])
    desk.refuse(decide(approval_id="a", note=" "), "semantic_command_invalid")


def test_an_engineer_decides_nothing(desk: Desk) -> None:
    ApprovalFactory(company=desk.company(), public_id="a", task_ids=[desk.task_id])
    desk.refuse(decide(approval_id="a"), "operation_not_authorized")
    assert desk.last_decision()["reason"] == "actor_role_not_authorized"


def test_nobody_decides_what_he_asked_for(desk: Desk) -> None:
    as_role(desk, "approver")
    desk.do(REQUEST)
    desk.refuse(decide(), "self_approval_forbidden")


def test_comments_are_appended_also_after_the_decision(desk: Desk) -> None:
    desk.do(REQUEST)
    applied = desk.do(CommentOnApproval(approval_id=FIRST, body="Why so much?"))
    assert {f"approval:{FIRST}", "approval-comment:approval-comment-0001"} < set(applied.entity_refs)
    desk.board(decide())
    desk.do(CommentOnApproval(approval_id=FIRST, body="Thanks"))
    assert [c["body"] for c in desk.entity(f"approval:{FIRST}")["comments"]] == ["Why so much?", "Thanks"]


@pytest.mark.requirement("company.approval.scope")
def test_only_an_approval_of_the_active_task_can_be_commented(desk: Desk) -> None:
    ApprovalFactory(company=desk.company(), public_id="foreign", task_ids=["elsewhere"])
    desk.refuse(CommentOnApproval(approval_id="foreign", body="x"), "approval_scope_violation")
    desk.refuse(CommentOnApproval(approval_id="nowhere", body="x"), "approval_missing")
    desk.do(REQUEST)
    desk.refuse(CommentOnApproval(approval_id=FIRST, body=" "), "semantic_command_invalid")
