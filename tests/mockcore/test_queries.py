"""The reads of a run, in the exact shapes of the contract, and how few queries the hot ones cost."""

from __future__ import annotations

from typing import Any

import pytest

from mockcore import models
from mockcore.commands import (
    CommentOnApproval,
    CreateTask,
    FinishTask,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    ResolveHumanInput,
    WriteDocument,
)
from mockcore.context import StateInvalid
from mockcore.models.base import uid_of
from mockcore.plane import MockControlPlane
from mockcore.queries import QUERIES, ActorMissing, ApprovalMissing, DocumentMissing
from tests import factories as make
from tests.mockcore.conftest import Desk


def ask(desk: Desk, name: str, **arguments: Any) -> dict[str, Any]:
    return desk.plane.query("run-1", name, **arguments)


def test_the_reads_are_those_of_the_catalog() -> None:
    assert set(QUERIES) == {
        "get_task_history", "list_documents", "read_document", "list_document_revisions", "list_agents", "get_agent",
        "search_tasks", "list_approvals", "get_approval", "get_approval_context", "get_workspace_runtime",
    }  # fmt: skip


def test_history_is_the_newest_comments_oldest_first(desk: Desk) -> None:
    for number in range(5):
        desk.do(ReportProgress(body=str(number)))
    make.CommentFactory(company=desk.company(), task=make.TaskFactory(company=desk.company()))
    comments = ask(desk, "get_task_history", limit=2)["comments"]
    assert [comment["body"] for comment in comments] == ["3", "4"]
    assert set(comments[0]) == {"id", "taskId", "authorActorId", "body", "createdAt"}


def test_documents_are_listed_without_their_text(desk: Desk) -> None:
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    desk.do(WriteDocument(key="plan", title="Plan", body="2", base_revision_id="revision-0001"))
    desk.do(WriteDocument(key="notes", title="Notes", body="", base_revision_id=None))
    plan, notes = ask(desk, "list_documents")["documents"]
    assert plan == {
        "id": "document-0001",
        "key": "plan",
        "title": "Plan",
        "format": "markdown",
        "latestRevisionId": "revision-0002",
        "revisionCount": 2,
    }
    assert (notes["key"], notes["latestRevisionId"], notes["revisionCount"]) == ("notes", "revision-0003", 1)


def test_a_document_is_read_with_all_its_revisions_and_the_latest(desk: Desk) -> None:
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    desk.do(
        WriteDocument(key="plan", title="Plan", body="2", base_revision_id="revision-0001", change_summary="better")
    )
    found = ask(desk, "read_document", key="plan")
    assert [revision["body"] for revision in found["document"]["revisions"]] == ["1", "2"]
    assert found["revision"] == found["document"]["revisions"][-1]
    assert (found["revision"]["changeSummary"], found["revision"]["documentId"]) == ("better", "document-0001")


def test_revisions_are_the_newest_ones_oldest_first(desk: Desk) -> None:
    desk.do(WriteDocument(key="plan", title="Plan", body="1", base_revision_id=None))
    for number in (2, 3):
        desk.do(WriteDocument(key="plan", title="P", body=str(number), base_revision_id=f"revision-000{number - 1}"))
    found = ask(desk, "list_document_revisions", key="plan", limit=2)
    assert (found["documentId"], found["key"]) == ("document-0001", "plan")
    assert [revision["revision"] for revision in found["revisions"]] == [2, 3]


def test_agents_are_shown_without_grants_and_budget(desk: Desk) -> None:
    profile = {
        "id": desk.identity.actor_id,
        "companyId": desk.company_id,
        "name": "Mock Agent",
        "role": "engineer",
        "status": "active",
    }
    assert ask(desk, "list_agents") == {"actors": [profile]}
    assert ask(desk, "get_agent", actor_id=desk.identity.actor_id) == {"actor": profile}


def test_tasks_are_searched_in_any_case_by_identifier_title_and_description(desk: Desk) -> None:
    desk.do(CreateTask(title="Write the REPORT"))
    desk.do(CreateTask(title="Other", description="about the report"))
    desk.do(CreateTask(title="Ünrelated"))
    found = ask(desk, "search_tasks", query="report")["tasks"]
    assert [task["id"] for task in found] == ["task-0001", "task-0002"]
    assert [task["id"] for task in ask(desk, "search_tasks", query="ÜNRELATED")["tasks"]] == ["task-0003"]
    assert next(t["id"] for t in ask(desk, "search_tasks", query=desk.identity.identifier)["tasks"]) == desk.task_id
    assert len(ask(desk, "search_tasks")["tasks"]) == 4
    assert [task["id"] for task in ask(desk, "search_tasks", limit=1)["tasks"]] == [desk.task_id]
    assert len(ask(desk, "search_tasks", query="", statuses=["todo", "done"], limit=2)["tasks"]) == 2
    assert ask(desk, "search_tasks", query="%")["tasks"] == []


def test_approvals_come_with_their_comments_and_their_tasks(desk: Desk) -> None:
    desk.do(RequestApproval(approval_type="spend", payload_json={"cents": 5}))
    desk.do(CommentOnApproval(approval_id="approval-0001", body="Why?"))
    approval = ask(desk, "get_approval", approval_id="approval-0001")["approval"]
    assert [comment["body"] for comment in approval["comments"]] == ["Why?"]
    assert set(approval["comments"][0]) == {"id", "authorActorId", "body", "createdAt"}
    assert ask(desk, "list_approvals") == {"approvals": [approval]}
    found = ask(desk, "get_approval_context", approval_id="approval-0001")
    assert (found["approval"], found["tasks"]) == (approval, [desk.task])


def test_services_are_those_of_the_active_task(desk: Desk) -> None:
    company = desk.company()
    make.WorkspaceServiceFactory(company=company, task=models.Task.objects.get(public_id=desk.task_id), public_id="web")
    make.WorkspaceServiceFactory(company=company, task=make.TaskFactory(company=company))
    (service,) = ask(desk, "get_workspace_runtime")["services"]
    assert (service["id"], service["status"], service["url"]) == ("web", "stopped", None)


@pytest.mark.parametrize(
    ("name", "arguments", "refusal"),
    [
        ("read_document", {"key": "none\0"}, DocumentMissing),
        ("list_document_revisions", {"key": "none"}, DocumentMissing),
        ("get_agent", {"actor_id": "none\ud800"}, ActorMissing),
        ("get_approval", {"approval_id": "none"}, ApprovalMissing),
        ("get_approval_context", {"approval_id": "none"}, ApprovalMissing),
    ],
)
def test_what_is_not_there_is_a_typed_refusal(desk: Desk, name: str, arguments: dict[str, str], refusal: type) -> None:
    with pytest.raises(refusal):
        ask(desk, name, **arguments)


@pytest.mark.requirement("company.tenant.scope")
def test_nothing_of_another_company_is_ever_read(desk: Desk) -> None:
    other = make.ActorFactory()
    make.ApprovalFactory(company=other.company, public_id="theirs")
    make.TaskFactory(company=other.company, title="theirs")
    assert ask(desk, "search_tasks", query="theirs")["tasks"] == []
    assert ask(desk, "list_approvals")["approvals"] == []
    assert len(ask(desk, "list_agents")["actors"]) == 1
    with pytest.raises(ApprovalMissing):
        ask(desk, "get_approval", approval_id="theirs")


# ---------------------------------------------------------------- the run context
def test_the_context_tells_a_run_what_it_may_know(desk: Desk) -> None:
    company = desk.company()
    grandparent = make.TaskFactory(company=company, public_id="g")
    parent = make.TaskFactory(company=company, public_id="p", parent=grandparent)
    desk.put(parent=parent)
    models.Budget.objects.filter(scope="actor").update(spent_cents=400)
    desk.do(RequestHumanInput(interaction_kind="questions", title="t", prompt="p", continuation_policy="none"))
    desk.board(ResolveHumanInput(interaction_id="interaction-0001", outcome="answered", result={"q1": "yes"}))
    context = desk.plane.context("run-1")
    assert context["schema"] == "paperclip.capability.run-context.v1"
    assert context["company"] == {"id": desk.company_id, "name": company.name, "issuePrefix": "MCK", "status": "active"}
    assert set(context["actor"]) == {"id", "name", "role", "status", "capabilityGrants"}
    assert context["activeTask"] == desk.task
    assert [ancestor["id"] for ancestor in context["ancestors"]] == ["p", "g"]
    assert context["wake"] == {"reason": "manual", "payload": {}}
    assert context["budget"] == {"limitCents": 1_000, "spentCents": 400, "remainingCents": 600}
    assert context["interactionResults"] == [
        {"id": "interaction-0001", "kind": "questions", "status": "answered", "result": {"q1": "yes"}}
    ]


def test_tasks_that_are_their_own_ancestors_are_no_valid_state(desk: Desk) -> None:
    parent = make.TaskFactory(company=desk.company(), public_id="p")
    desk.put(parent=parent)
    models.Task.objects.filter(public_id="p").update(parent_id=uid_of(desk.company_id, desk.task_id))
    with pytest.raises(StateInvalid):
        desk.plane.context("run-1")


# ---------------------------------------------------------------- cost
@pytest.mark.requirement("company.facts.fresh")
def test_facts_are_fresh_and_cost_one_query(desk: Desk, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        facts = desk.plane.facts("run-1")
    assert (facts.run_id, facts.company_id, facts.status, facts.state_revision) == (
        "run-1",
        desk.company_id,
        "running",
        1,
    )
    assert facts.task == desk.task
    assert facts.actor == desk.entity(f"actor:{desk.identity.actor_id}")
    desk.do(FinishTask(summary="done"))
    models.Run.objects.update(capabilities=["x"])
    fresh = desk.plane.facts("run-1")
    assert (fresh.task["status"], fresh.capabilities, fresh.state_revision) == ("done", {"x"}, 2)


@pytest.mark.requirement("company.command.cost")
def test_a_command_costs_a_fixed_number_of_statements(desk: Desk, django_assert_num_queries: Any) -> None:
    """Savepoint, five reads, seven writes, release: none of them grows with the history."""
    for _ in range(3):
        desk.do(ReportProgress(body="warm"))
    with django_assert_num_queries(14):
        desk.send(ReportProgress(body="hello"))


def test_a_plane_holds_no_rows_and_may_be_made_for_every_call(desk: Desk) -> None:
    first, second = desk.plane, MockControlPlane(company_id=desk.company_id)
    first.apply(desk.envelope(ReportProgress(body="one")))
    assert second.state_revision() == first.state_revision() == 2
