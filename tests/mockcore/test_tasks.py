"""The fate of the active task: the whole table of states, finishing, blocking, review, children, dependencies."""

from __future__ import annotations

from typing import Any

import pytest

from mockcore import models
from mockcore.commands import (
    BlockTask,
    Command,
    CreateTask,
    FinishTask,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    RequestReview,
    SetDependencies,
)
from mockcore.models.base import uid_of
from mockcore.port import Principal
from mockcore.vocabulary import NEXT, TERMINAL, TaskStatus, TransitionIllegal, step
from tests.factories import BlockerFactory, TaskFactory
from tests.mockcore.conftest import Desk


# ---------------------------------------------------------------- the table
@pytest.mark.requirement("company.task.transitions")
@pytest.mark.parametrize("before", list(TaskStatus))
@pytest.mark.parametrize("after", list(TaskStatus))
def test_a_task_moves_only_where_the_table_lets_it(before: TaskStatus, after: TaskStatus) -> None:
    if after in NEXT[before]:
        assert step(before, after) is after
    else:
        with pytest.raises(TransitionIllegal):
            step(before, after)


def test_a_blocked_task_says_how_to_go_on() -> None:
    with pytest.raises(TransitionIllegal, match=r"^A task that is blocked cannot become done\. Unblock it first: "):
        step(TaskStatus.BLOCKED, TaskStatus.DONE)
    with pytest.raises(TransitionIllegal, match=r"^A task that is done cannot become todo\.$"):
        step(TaskStatus.DONE, TaskStatus.TODO)


def test_every_state_is_in_the_table_and_the_ends_lead_nowhere() -> None:
    assert set(NEXT) == set(TaskStatus)
    assert {status for status, after in NEXT.items() if not after} == TERMINAL


ASK = RequestHumanInput(interaction_kind="questions", title="t", prompt="p", continuation_policy="none")
TO_REVIEW = {"in_progress": "in_review", "in_review": "in_review"}
MOVES: list[tuple[Command, dict[str, str]]] = [
    (FinishTask(summary="s"), {"in_progress": "done", "in_review": "done"}),
    (BlockTask(reason="r"), {"in_progress": "blocked", "todo": "blocked"}),
    (RequestReview(summary="s"), {"in_progress": "in_review"}),
    (ASK, TO_REVIEW),
    (RequestApproval(approval_type="a", payload_json={}), TO_REVIEW),
    (
        SetDependencies(blocked_by_task_ids=("other",)),
        {"in_progress": "blocked", "todo": "blocked", "blocked": "blocked"},
    ),
]


@pytest.mark.requirement("company.task.transitions")
@pytest.mark.parametrize("status", [s for s in TaskStatus if s not in TERMINAL])
@pytest.mark.parametrize(("command", "moves"), MOVES, ids=[command.kind for command, _ in MOVES])
def test_each_command_moves_the_task_as_the_table_says(
    desk: Desk, command: Command, moves: dict[str, str], status: str
) -> None:
    TaskFactory(company=desk.company(), public_id="other")
    desk.put(status=status)
    after = moves.get(status)
    if after is None:
        desk.refuse(command, "task_transition_illegal")
    else:
        desk.do(command)
        assert desk.status == after


# ---------------------------------------------------------------- finishing
@pytest.mark.requirement("company.finish.releases")
def test_finishing_releases_the_checkout_and_leaves_the_mark_of_the_run(desk: Desk) -> None:
    desk.do(FinishTask(summary="All done"))
    task = desk.task
    assert (task["status"], task["checkoutRunId"], task["executionRunId"]) == ("done", None, "run-1")
    assert task["completedAt"] is not None
    assert desk.entity("comment:comment-0001")["body"] == "All done"


@pytest.mark.requirement("company.finish.still-reads")
def test_the_run_that_finished_goes_on_reading_and_writes_no_more(desk: Desk) -> None:
    assert not desk.plane.facts("run-1").finished_by_run
    desk.do(FinishTask(summary="All done"))
    assert desk.plane.facts("run-1").finished_by_run
    assert [c["body"] for c in desk.plane.query("run-1", "get_task_history")["comments"]] == ["All done"]
    assert desk.plane.context("run-1")["activeTask"]["status"] == "done"
    desk.refuse(ReportProgress(body="One more thing"), "task_ownership_violation")


@pytest.mark.parametrize("command", [FinishTask(summary=" "), BlockTask(reason=""), RequestReview(summary="\n")])
def test_a_disposition_must_say_something(desk: Desk, command: Command) -> None:
    desk.refuse(command, "semantic_command_invalid")


def blocked_by(desk: Desk, *statuses: str) -> list[models.Task]:
    """Let the active task wait for one new task per status, without moving it."""
    company = desk.company()
    others = [TaskFactory(company=company, status=status) for status in statuses]
    active = models.Task.objects.get(public_id=desk.task_id)
    for other in others:
        BlockerFactory(company=company, task=active, blocked_by_task=other)
    return others


@pytest.mark.requirement("company.finish.open-blocker")
@pytest.mark.parametrize("status", [s for s in TaskStatus if s != "done"])
def test_a_task_with_an_open_blocker_cannot_be_finished(desk: Desk, status: str) -> None:
    (other,) = blocked_by(desk, status)
    refused = desk.refuse(FinishTask(summary="Done"), "semantic_rule_violation")
    assert other.identifier in refused.message


def test_a_blocker_that_is_done_does_not_hinder_finishing(desk: Desk) -> None:
    blocked_by(desk, "done")
    desk.do(FinishTask(summary="Done"))


def dependent_on(desk: Desk, **facts: Any) -> models.Task:
    company = desk.company()
    task = TaskFactory(company=company, **{"status": "blocked", **facts})
    active = models.Task.objects.get(public_id=desk.task_id)
    BlockerFactory(company=company, task=task, blocked_by_task=active)
    return task


@pytest.mark.requirement("company.finish.wakes-dependents")
def test_finishing_frees_the_tasks_that_waited_for_this_one_alone(desk: Desk) -> None:
    assignee = uid_of(desk.company_id, desk.identity.actor_id)
    alone = dependent_on(desk, assignee_actor_id=assignee)
    busy = dependent_on(desk)
    third = TaskFactory(company=busy.company, status="in_progress")
    BlockerFactory(company=busy.company, task=busy, blocked_by_task=third)
    applied = desk.do(FinishTask(summary="Done"))
    assert desk.entity(f"task:{alone.public_id}")["status"] == "todo"
    assert desk.entity(f"task:{busy.public_id}")["status"] == "blocked"
    assert [edge["taskId"] for edge in desk.plane.state()["blockers"]] == [busy.public_id, busy.public_id]
    wake = desk.entity(f"wake:{applied.scheduled_wake_ids[0]}")
    assert (wake["taskId"], wake["reason"]) == (alone.public_id, "blockers_resolved")
    assert wake["payload"] == {"completedTaskId": desk.task_id}


def test_finishing_frees_a_task_whose_other_blockers_are_done(desk: Desk) -> None:
    waiting = dependent_on(desk)
    BlockerFactory(
        company=waiting.company, task=waiting, blocked_by_task=TaskFactory(company=waiting.company, status="done")
    )
    desk.do(FinishTask(summary="Done"))
    assert desk.entity(f"task:{waiting.public_id}")["status"] == "todo"
    assert desk.plane.state()["blockers"] == []


# ---------------------------------------------------------------- blocking
@pytest.mark.requirement("company.block.omitted")
def test_blocking_without_a_list_leaves_the_blockers_alone(desk: Desk) -> None:
    (other,) = blocked_by(desk, "todo")
    before = desk.plane.state()["blockers"]
    desk.do(BlockTask(reason="Waiting"))
    assert desk.plane.state()["blockers"] == before
    assert desk.entity("comment:comment-0001")["body"] == "Waiting"
    assert other.public_id == before[0]["blockedByTaskId"]


def test_blocking_with_a_list_replaces_the_blockers(desk: Desk) -> None:
    blocked_by(desk, "todo")
    TaskFactory(company=desk.company(), public_id="b")
    desk.do(BlockTask(reason="Waiting", blocked_by_task_ids=("b",)))
    assert [edge["blockedByTaskId"] for edge in desk.plane.state()["blockers"]] == ["b"]


def test_blocking_with_an_empty_list_clears_them(desk: Desk) -> None:
    blocked_by(desk, "todo")
    desk.do(BlockTask(reason="Waiting", blocked_by_task_ids=()))
    assert (desk.plane.state()["blockers"], desk.status) == ([], "blocked")


# ---------------------------------------------------------------- dependencies
def test_dependencies_are_a_set_and_edges_that_stay_keep_their_id(desk: Desk) -> None:
    for public_id in ("a", "b", "c"):
        TaskFactory(company=desk.company(), public_id=public_id)
    desk.do(SetDependencies(blocked_by_task_ids=("b", "a", "b")))
    first = desk.plane.state()["blockers"]
    assert [edge["blockedByTaskId"] for edge in first] == ["a", "b"]
    applied = desk.do(SetDependencies(blocked_by_task_ids=("b", "c")))
    second = desk.plane.state()["blockers"]
    assert [edge["blockedByTaskId"] for edge in second] == ["b", "c"]
    assert second[0] == first[1]
    assert {"task:b", "task:c"} < set(applied.entity_refs)


@pytest.mark.requirement("company.dependencies.cleared")
def test_clearing_dependencies_lets_a_held_task_go_on(desk: Desk) -> None:
    TaskFactory(company=desk.company(), public_id="a")
    desk.do(SetDependencies(blocked_by_task_ids=("a",)))
    desk.do(SetDependencies(blocked_by_task_ids=()))
    assert (desk.status, desk.plane.state()["blockers"]) == ("in_progress", [])


@pytest.mark.requirement("company.dependencies.cleared")
def test_a_blocked_task_that_nobody_holds_goes_back_to_the_queue(desk: Desk) -> None:
    waiting = dependent_on(desk)
    desk.do(FinishTask(summary="Done"))
    assert desk.entity(f"task:{waiting.public_id}")["status"] == "todo"


def test_dependencies_that_are_all_done_block_nothing(desk: Desk) -> None:
    TaskFactory(company=desk.company(), public_id="a", status="done")
    desk.do(SetDependencies(blocked_by_task_ids=("a",)))
    assert desk.status == "in_progress"


def test_clearing_dependencies_in_review_leaves_the_review(desk: Desk) -> None:
    desk.do(RequestReview(summary="Look"))
    desk.do(SetDependencies(blocked_by_task_ids=()))
    assert desk.status == "in_review"


def test_a_task_cannot_wait_for_itself(desk: Desk) -> None:
    desk.refuse(SetDependencies(blocked_by_task_ids=(desk.task_id,)), "dependency_cycle")


def test_a_task_cannot_wait_for_itself_through_others(desk: Desk) -> None:
    near = dependent_on(desk)
    far = TaskFactory(company=near.company)
    BlockerFactory(company=far.company, task=far, blocked_by_task=near)
    desk.refuse(SetDependencies(blocked_by_task_ids=(far.public_id,)), "dependency_cycle")


def test_a_diamond_of_dependencies_is_no_cycle(desk: Desk) -> None:
    company = desk.company()
    left, right, end = (TaskFactory(company=company) for _ in range(3))
    for side in (left, right):
        BlockerFactory(company=company, task=side, blocked_by_task=end)
    desk.do(SetDependencies(blocked_by_task_ids=(left.public_id, right.public_id)))


def test_an_unknown_blocker_and_one_of_another_company_are_refused(desk: Desk) -> None:
    foreign = TaskFactory()
    desk.refuse(SetDependencies(blocked_by_task_ids=("nowhere",)), "task_missing")
    desk.refuse(SetDependencies(blocked_by_task_ids=(foreign.public_id,)), "task_missing")
    models.Company.objects.filter(pk=desk.company_id).update(out_of_scope_task_ids=["theirs"])
    refused = desk.refuse(SetDependencies(blocked_by_task_ids=("theirs",)), "company_scope_violation")
    assert "theirs" in refused.message


# ---------------------------------------------------------------- children
def test_a_child_hangs_under_the_active_task(desk: Desk) -> None:
    applied = desk.do(
        CreateTask(title="Part one", description="Do it", priority="high", assignee_actor_id=desk.identity.actor_id)
    )
    child = desk.entity("task:task-0001")
    assert (child["parentId"], child["title"], child["description"]) == (desk.task_id, "Part one", "Do it")
    assert (child["status"], child["priority"], child["workMode"]) == ("todo", "high", "standard")
    assert (child["assigneeActorId"], child["checkoutRunId"]) == (desk.identity.actor_id, None)
    assert applied.scheduled_wake_ids == ()


def test_a_child_is_unassigned_and_of_medium_priority_by_default(desk: Desk) -> None:
    desk.do(CreateTask(title="Part one"))
    child = desk.entity("task:task-0001")
    assert (child["assigneeActorId"], child["priority"], child["description"]) == (None, "medium", None)


def test_a_child_with_an_open_blocker_starts_blocked(desk: Desk) -> None:
    desk.do(CreateTask(title="First"))
    desk.do(CreateTask(title="Second", blocked_by_task_ids=("task-0001", desk.task_id)))
    assert desk.entity("task:task-0002")["status"] == "blocked"
    edges = [(edge["taskId"], edge["blockedByTaskId"]) for edge in desk.plane.state()["blockers"]]
    assert edges == [("task-0002", "task-0001"), ("task-0002", desk.task_id)]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"title": " "}, "semantic_command_invalid"),
        ({"priority": "urgent"}, "semantic_command_invalid"),
        ({"assignee_actor_id": "nobody"}, "actor_missing"),
        ({"blocked_by_task_ids": ("nowhere",)}, "task_missing"),
    ],
)
@pytest.mark.requirement("company.command.atomic")
def test_a_child_that_cannot_be_leaves_nothing_behind(desk: Desk, wrong: dict[str, Any], code: str) -> None:
    desk.refuse(CreateTask(**{"title": "Part one", **wrong}), code)


@pytest.mark.requirement("company.identifiers.unique")
def test_the_identifiers_of_children_never_collide(desk: Desk) -> None:
    number = desk.identity.sequence
    TaskFactory(company=desk.company(), identifier=f"MCK-{number + 1}", public_id="task-0001")
    desk.do(CreateTask(title="One"))
    desk.do(CreateTask(title="Two"))
    children = [t for t in desk.plane.state()["tasks"] if t["parentId"] == desk.task_id]
    assert [c["identifier"] for c in children] == [f"MCK-{number + 2}", f"MCK-{number + 3}"]
    assert [c["id"] for c in children] == ["task-0002", "task-0003"]


def test_the_board_creates_no_tasks(desk: Desk) -> None:
    desk.refuse(CreateTask(title="One"), "operation_not_authorized", principal=Principal.BOARD)
