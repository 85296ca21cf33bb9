from __future__ import annotations

from typing import Any

import pytest

from mockcore.commands import (
    CreateTask,
    DecideApproval,
    FinishTask,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    RequestReview,
    ResolveHumanInput,
    WriteDocument,
)
from mockcore.handlers.suggestions import accepted_suggestions
from mockcore.port import Principal
from mockcore.vocabulary import ANSWERS, UNANSWERED, InteractionKind, InteractionStatus
from tests.factories import DocumentFactory, InteractionFactory, TaskFactory
from tests.mockcore.conftest import Desk

FIRST = "interaction-0001"


def ask(**changed: Any) -> RequestHumanInput:
    values = {
        "interaction_kind": "confirmation",
        "title": "May I?",
        "prompt": "Please confirm.",
        "continuation_policy": "none",
    }
    return RequestHumanInput(**{**values, **changed})


def answer(outcome: str = "accepted", result: Any = None, interaction_id: str = FIRST) -> ResolveHumanInput:
    return ResolveHumanInput(interaction_id=interaction_id, outcome=outcome, result=result)


@pytest.mark.parametrize("kind", list(InteractionKind))
def test_a_question_of_every_kind_waits_and_puts_the_task_into_review(desk: Desk, kind: str) -> None:
    desk.do(ask(interaction_kind=kind, payload_json={"acceptLabel": "Yes"}))
    interaction = desk.entity(f"interaction:{FIRST}")
    assert (interaction["kind"], interaction["status"], interaction["result"]) == (kind, "pending", None)
    assert interaction["payload"] == {"acceptLabel": "Yes"}
    assert desk.status == "in_review"


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": " "},
        {"prompt": ""},
        {"interaction_kind": "chat"},
        {"continuation_policy": "always"},
        {"payload_json": ["no object"]},
    ],
)
def test_a_question_that_says_nothing_useful_is_refused(desk: Desk, wrong: dict[str, Any]) -> None:
    desk.refuse(ask(**wrong), "semantic_command_invalid")


def test_several_questions_may_wait_at_once(desk: Desk) -> None:
    desk.do(ask())
    desk.do(ask(title="And this?"))
    assert desk.status == "in_review"


def test_the_target_must_be_the_latest_revision_of_a_document_of_the_task(desk: Desk) -> None:
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    desk.do(WriteDocument(key="plan", title="Plan", body="2", base_revision_id="revision-0001"))
    other = TaskFactory(company=desk.company())
    foreign = DocumentFactory(company=other.company, task=other)
    desk.refuse(ask(target_revision_id="revision-0001"), "interaction_target_stale")
    desk.refuse(ask(target_revision_id="revision-0009"), "interaction_target_missing")
    desk.refuse(ask(target_revision_id=f"{foreign.public_id}-r1"), "interaction_target_missing")
    desk.do(ask(target_revision_id="revision-0002"))
    assert desk.entity(f"interaction:{FIRST}")["targetRevisionId"] == "revision-0002"


@pytest.mark.parametrize("kind", list(InteractionKind))
@pytest.mark.parametrize("outcome", [*InteractionStatus, "maybe"])
def test_each_kind_ends_only_with_its_own_outcomes(desk: Desk, kind: InteractionKind, outcome: str) -> None:
    desk.do(ask(interaction_kind=kind))
    given = {"q1": "yes"} if (kind, outcome) == ("questions", "answered") else {"reason": "because"}
    if outcome in ANSWERS[kind] | UNANSWERED:
        desk.board(answer(outcome, given))
        interaction = desk.entity(f"interaction:{FIRST}")
        assert (interaction["status"], interaction["result"]) == (outcome, given)
        assert interaction["resolvedAt"] is not None
    else:
        desk.refuse(answer(outcome), "interaction_outcome_invalid", principal=Principal.BOARD)


@pytest.mark.requirement("company.interaction.once")
def test_a_question_is_answered_once(desk: Desk) -> None:
    desk.do(ask())
    desk.board(answer())
    desk.refuse(answer("rejected"), "interaction_already_resolved", principal=Principal.BOARD)


def test_only_a_question_of_the_active_task_can_be_answered(desk: Desk) -> None:
    other = TaskFactory(company=desk.company())
    foreign = InteractionFactory(company=other.company, task=other)
    for unknown in (foreign.public_id, "interaction-0099"):
        desk.refuse(answer(interaction_id=unknown), "interaction_missing", principal=Principal.BOARD)


def test_a_run_with_the_claim_may_answer_too(desk: Desk) -> None:
    desk.do(ask())
    desk.do(answer())
    assert desk.entity(f"interaction:{FIRST}")["status"] == "accepted"


@pytest.mark.requirement("company.review.left")
def test_the_last_answer_takes_the_task_out_of_review(desk: Desk) -> None:
    desk.do(ask())
    desk.do(RequestApproval(approval_type="spend", payload_json={}))
    desk.do(ask(title="And this?"))
    desk.board(answer())
    assert desk.status == "in_review"
    desk.board(answer("rejected", {"reason": "No"}, interaction_id="interaction-0002"))
    assert desk.status == "in_review"  # the approval still waits
    desk.board(DecideApproval(approval_id="approval-0001", decision="approved", note=""))
    assert desk.status == "in_progress"


def test_a_review_asked_for_without_a_question_stays(desk: Desk) -> None:
    desk.do(RequestReview(summary="Please look"))
    desk.do(ReportProgress(body="still here"))
    assert desk.status == "in_review"


@pytest.mark.parametrize(
    ("kind", "policy", "outcome", "wakes"),
    [
        ("confirmation", "none", "accepted", 0),
        ("confirmation", "wake_assignee", "accepted", 1),
        ("confirmation", "wake_assignee", "rejected", 1),
        ("confirmation", "wake_assignee", "expired", 1),
        ("confirmation", "wake_assignee_on_accept", "accepted", 1),
        ("confirmation", "wake_assignee_on_accept", "rejected", 0),
        ("questions", "wake_assignee_on_accept", "answered", 0),
        ("questions", "wake_assignee", "answered", 1),
    ],
)
def test_an_answer_wakes_the_assignee_as_the_question_asked(
    desk: Desk, kind: str, policy: str, outcome: str, wakes: int
) -> None:
    desk.do(ask(interaction_kind=kind, continuation_policy=policy))
    applied = desk.board(answer(outcome, {"q1": "yes"} if outcome == "answered" else {"reason": "because"}))
    assert len(applied.scheduled_wake_ids) == len(applied.delivered_wake_ids) == wakes
    if wakes:
        wake = desk.entity("wake:wake-0001")
        assert (wake["reason"], wake["status"]) == ("interaction_resolved", "delivered")
        assert wake["payload"] == {"interactionId": FIRST, "outcome": outcome}
        assert wake["dueAt"] == wake["createdAt"]


SUGGESTED = {"tasks": [{"id": "t1", "title": "One", "description": "First"}, {"title": "Two"}, {"id": "x"}]}


@pytest.mark.requirement("company.interaction.suggested-tasks")
@pytest.mark.parametrize(
    ("result", "titles"),
    [
        (None, ["One", "Two"]),
        ({"acceptedTaskIds": ["t2"]}, ["Two"]),
        ({"selectedOptionIds": ["t1"]}, ["One"]),
        ({"acceptedTaskIds": []}, []),
    ],
)
def test_accepting_suggested_tasks_creates_the_accepted_ones(desk: Desk, result: Any, titles: list[str]) -> None:
    desk.do(ask(interaction_kind="suggest_tasks", payload_json=SUGGESTED))
    applied = desk.board(answer("accepted", result))
    children = [task for task in desk.plane.state()["tasks"] if task["parentId"] == desk.task_id]
    assert [child["title"] for child in children] == titles
    assert {f"task:{child['id']}" for child in children} < set(applied.entity_refs)
    assert {child["status"] for child in children} <= {"todo"}
    assert desk.status == "in_progress"


def test_rejecting_suggested_tasks_creates_none(desk: Desk) -> None:
    desk.do(ask(interaction_kind="suggest_tasks", payload_json=SUGGESTED))
    desk.board(answer("rejected"))
    assert len(desk.plane.state()["tasks"]) == 1


@pytest.mark.parametrize("payload", [None, [], {}, {"tasks": None}, {"tasks": {"title": "x"}}, {"tasks": [3, None]}])
def test_a_payload_without_readable_tasks_suggests_none(payload: Any) -> None:
    assert accepted_suggestions(payload, None) == []


def test_suggestions_may_be_plain_texts_and_carry_numbers_as_ids() -> None:
    payload = {"tasks": ["Write", {"id": 7, "label": "Send"}]}
    assert [(s.id, s.title) for s in accepted_suggestions(payload, None)] == [("t1", "Write"), ("7", "Send")]
    assert [s.title for s in accepted_suggestions(payload, {"acceptedTaskIds": ["7"]})] == ["Send"]


@pytest.mark.requirement("company.finish.closes-questions")
def test_finishing_closes_the_open_questions_and_wakes_nobody(desk: Desk) -> None:
    desk.do(ask(continuation_policy="wake_assignee"))
    applied = desk.do(FinishTask(summary="Done"))
    interaction = desk.entity(f"interaction:{FIRST}")
    assert (interaction["status"], interaction["result"]) == ("expired", {"outcome": "issue_closed"})
    assert applied.scheduled_wake_ids == ()


def test_a_child_is_not_blocked_by_the_question_of_its_parent(desk: Desk) -> None:
    desk.do(ask())
    desk.do(CreateTask(title="Meanwhile"))
    assert desk.entity("task:task-0001")["status"] == "todo"
