"""The whole boundary on the real mock company: tools, commands, revisions and records fit together."""

from __future__ import annotations

import pytest

from capability.catalog import LIVE_OPERATIONS
from capability.dispatcher import Call, Dispatcher, Scenario, list_authorization_records
from capability.policy import COMMAND_CLAIMS, fixture_run_capabilities
from mockcore import history
from mockcore.authority import CLAIMS
from mockcore.commands import ReleaseTask
from mockcore.models import Company, Task
from mockcore.plane import MockControlPlane
from mockcore.port import Applied, Envelope, OpenRun
from mockcore.tenants import seed_clean_room
from mockcore.text import clean_text
from tests.capability.test_clean_room_exposure import TEN_CLAIMS, WITHHELD
from tests.factories import WorkspaceServiceFactory

pytestmark = pytest.mark.django_db


class Room:
    """A seeded clean room with its run open."""

    def __init__(self):
        self.identity = seed_clean_room()
        self.company_id = self.identity.company_id
        self.plane = MockControlPlane(company_id=self.company_id)
        assert isinstance(self.open("run-room"), Applied)
        scenario = Scenario(id="capability-clean-room", claims=TEN_CLAIMS)
        self.dispatcher = Dispatcher(port=self.plane, scenario=scenario, explicit_claims=TEN_CLAIMS)
        self.calls = 0

    def open(self, run_id):
        return self.plane.open_run(
            OpenRun(
                run_id=run_id,
                session_id="session-room",
                actor_id=self.identity.actor_id,
                task_id=self.identity.task_id,
                capabilities=fixture_run_capabilities(TEN_CLAIMS),
            )
        )

    def call(self, operation_id, run_id="run-room", **given):
        self.calls += 1
        return self.dispatcher.dispatch(
            Call(
                run_id=run_id,
                call_id=f"call-{self.calls}",
                operation_id=operation_id,
                input=given,
                turn_id="turn-1",
                message_id="message-1",
            )
        )

    def ask(self, operation_id, **given):
        answered = self.call(operation_id, **given)
        assert answered.ok, answered.envelope
        return answered.envelope["result"]


@pytest.fixture
def room():
    return Room()


def denied(dispatched):
    denial = dispatched.envelope["denial"]
    return denial["code"], denial.get("controlPlaneCode")


@pytest.mark.requirement("cleanroom.exposure")
def test_a_clean_room_is_offered_twenty_five_tools(room):
    offered = [tool.name for tool in room.dispatcher.list_tools(run_id="run-room")]
    assert offered == [operation.id for operation in LIVE_OPERATIONS if operation.id not in WITHHELD]
    for operation_id, (code, given) in WITHHELD.items():
        assert denied(room.call(operation_id, **given)) == (code, None)
    assert room.plane.state_revision() == 1


@pytest.mark.requirement("dispatch.cause")
def test_a_change_names_the_call_turn_message_and_authorization_record_behind_it(room):
    done = room.call("report_progress", idempotencyKey="note-1", body="Read the issue.")
    assert (done.before_revision, done.after_revision) == (1, 2)
    [revision] = history.list_revisions(company_id=room.company_id, after=1)
    assert revision.cause.call_id == "call-1"
    assert revision.cause.turn_id == "turn-1"
    assert revision.cause.message_id == "message-1"
    assert revision.cause.authorization_id == done.authorization_id
    [record] = list_authorization_records(company_id=room.company_id)
    assert (record["id"], record["afterRevision"]) == (done.authorization_id, 2)
    assert room.ask("get_task_history")["comments"][0]["body"] == "Read the issue."


def test_a_repeated_call_is_a_duplicate_and_another_call_under_its_key_a_conflict(room):
    first = room.ask("report_progress", idempotencyKey="note-1", body="One.")
    again = room.call("report_progress", idempotencyKey="note-1", body="One.")
    assert again.envelope["result"] == {**first, "disposition": "duplicate"}
    assert (again.before_revision, again.after_revision) == (2, 2)
    for operation in ("report_progress", "answer_status_question"):
        other = room.call(operation, idempotencyKey="note-1", body="Two." if operation == "report_progress" else "One.")
        assert denied(other) == ("control_plane_denied", "idempotency_conflict")
    assert len(room.ask("get_task_history")["comments"]) == 1


@pytest.mark.requirement("dispatch.every-read")
def test_every_read_of_the_clean_room_is_answered_by_the_company(room):
    room.ask("write_document", idempotencyKey="d", key="plan", title="Plan", body="# Plan", baseRevisionId=None)
    room.ask("request_approval", idempotencyKey="a", approvalType="spend", payload={"cents": 100})
    approval = room.ask("list_approvals")["approvals"][0]["id"]
    keys = {
        "get_task_context": ({}, {"company", "actor", "activeTask", "ancestors", "wake", "capabilities", "budget"}),
        "get_task_history": ({"limit": 5}, {"comments"}),
        "list_documents": ({}, {"documents"}),
        "read_document": ({"key": "plan"}, {"document", "revision"}),
        "list_document_revisions": ({"key": "plan", "limit": 1}, {"documentId", "key", "revisions"}),
        "list_agents": ({}, {"actors"}),
        "get_agent": ({"actorId": room.identity.actor_id}, {"actor"}),
        "search_tasks": ({"query": "clean", "statuses": ["in_review"], "limit": 5}, {"tasks"}),
        "list_approvals": ({}, {"approvals"}),
        "get_approval": ({"approvalId": approval}, {"approval"}),
        "get_approval_context": ({"approvalId": approval}, {"approval", "tasks"}),
        "get_workspace_runtime": ({}, {"services"}),
    }
    assert set(keys) == {operation.id for operation in LIVE_OPERATIONS if operation.is_read}
    before = room.plane.state_revision()
    for operation_id, (given, expected) in keys.items():
        assert expected <= set(room.ask(operation_id, **given)), operation_id
    assert room.ask("search_tasks", query="CLEAN")["tasks"][0]["id"] == room.identity.task_id
    assert room.plane.state_revision() == before


@pytest.mark.requirement("dispatch.every-write")
def test_every_write_of_the_clean_room_reaches_the_company(room):
    child = room.ask("create_task", idempotencyKey="1", title="Child", priority="low")
    child_id = next(ref for ref in child["entityRefs"] if ref != f"task:{room.identity.task_id}").partition(":")[2]
    room.ask("set_dependencies", idempotencyKey="2", blockedByTaskIds=[child_id])
    room.ask("set_dependencies", idempotencyKey="3", blockedByTaskIds=[])
    room.ask("schedule_wake", idempotencyKey="4", reason="scheduled_retry", delayTicks=30, payload={"why": "later"})
    room.ask("write_document", idempotencyKey="5", key="plan", title="Plan", body="One", baseRevisionId=None)
    base = room.ask("read_document", key="plan")["revision"]["id"]
    room.ask("write_document", idempotencyKey="6", key="plan", title="Plan", body="Two", baseRevisionId=base)
    room.ask("register_deliverable", idempotencyKey="7", filename="out.txt", contentType="text/plain", byteSize=3,
             sha256="a" * 64, contentRef="workspace:out.txt", title="Output")  # fmt: skip
    room.ask("report_progress", idempotencyKey="8", body="Done so far.")
    room.ask("answer_status_question", idempotencyKey="9", body="It goes well.")
    room.ask("request_human_input", idempotencyKey="10", interactionKind="confirmation", title="Go on?",
             prompt="Shall I?", continuationPolicy="wake_assignee", targetRevisionId=None)  # fmt: skip
    room.ask("request_approval", idempotencyKey="11", approvalType="spend", payload={"cents": 5})
    approval = room.ask("list_approvals")["approvals"][0]["id"]
    room.ask("comment_on_approval", idempotencyKey="12", approvalId=approval, body="Please.")
    assert room.plane.state_revision() >= 13


@pytest.mark.requirement("dispatch.every-write")
@pytest.mark.parametrize(
    ("operation_id", "given", "status"),
    [
        ("finish_task", {"summary": "All done."}, "done"),
        ("block_task", {"reason": "Waiting for the bank."}, "blocked"),
        ("request_review", {"summary": "Please look."}, "in_review"),
    ],
)
def test_a_closing_write_moves_the_task(room, operation_id, given, status):
    room.ask(operation_id, idempotencyKey="end", **given)
    assert room.ask("get_task_context")["activeTask"]["status"] == status


@pytest.mark.requirement("policy.finished-task")
def test_after_finishing_the_run_reads_on_and_its_writes_are_denied_by_the_tasks_state(room):
    room.ask("finish_task", idempotencyKey="end", summary="All done.")
    number = room.plane.state_revision()
    assert room.ask("get_task_history")["comments"][-1]["body"] == "All done."
    assert room.ask("get_task_context")["activeTask"]["checkoutRunId"] is None
    late = room.call("report_progress", idempotencyKey="late", body="One more thing.")
    assert denied(late) == ("task_state_denied", None)
    assert room.plane.state_revision() == number
    assert "finish_task" in [tool.name for tool in room.dispatcher.list_tools(run_id="run-room")]


@pytest.mark.requirement("dispatch.unavailable")
def test_what_is_not_there_is_unavailable_by_name(room):
    assert denied(room.call("read_document", key="nothing")) == ("operation_unavailable", None)
    assert denied(room.call("get_agent", actorId="actor-nobody")) == ("operation_unavailable", None)
    assert denied(room.call("get_approval", approvalId="approval-9")) == ("operation_unavailable", None)


@pytest.mark.requirement("dispatch.unknown-run")
def test_an_unknown_run_is_a_typed_denial(room):
    call = Call(run_id="run-nobody", call_id="call-1", operation_id="get_task_context", input={})
    assert denied(room.dispatcher.dispatch(call)) == ("operation_unavailable", None)


LONG = "run-" + "r" * 220  # as long as a run is named at most


def with_the_long_one(room):
    room.plane.apply(Envelope(run_id="run-room", idempotency_key="k", command=ReleaseTask(reason="for another")))
    assert isinstance(room.open(LONG), Applied)


@pytest.mark.requirement("dispatch.unknown-run")
@pytest.mark.parametrize(
    "name",
    ["run\0room", "run-room\0", "\ud800", "r" * 300, LONG + "x" * 300, "", 7, None],
    ids=lambda name: repr(name)[:20],
)
def test_a_run_by_an_impossible_name_is_offered_and_allowed_nothing(room, name):
    with_the_long_one(room)
    assert room.dispatcher.list_tools(run_id=name) == []
    call = Call(run_id=name, call_id="call-1", operation_id="get_task_context", input={})
    assert denied(room.dispatcher.dispatch(call)) == ("operation_unavailable", None)
    assert {record["runId"] for record in list_authorization_records(company_id=room.company_id)} == {
        clean_text(name)[:240] if isinstance(name, str) else ""
    }


@pytest.mark.requirement("dispatch.envelope")
def test_a_run_with_the_longest_name_works_and_is_recorded_under_it_whole(room):
    with_the_long_one(room)
    assert len(room.dispatcher.list_tools(run_id=LONG)) == 25
    room.ask("report_progress", run_id=LONG, idempotencyKey="k", body="Half way")
    assert {record["runId"] for record in list_authorization_records(company_id=room.company_id)} == {LONG}


@pytest.mark.requirement("dispatch.protected")
def test_a_refused_write_moves_no_entity(room):
    before = room.plane.state()
    assert denied(
        room.call("report_progress", idempotencyKey="k", body="ghp_FAKE0123456789abcdefFAKE0123456789ab")
    ) == (
        "protected_data_denied",
        None,
    )
    stale = room.call("write_document", idempotencyKey="k", key="plan", title="Plan", body="x", baseRevisionId="r-9")
    assert denied(stale)[0] == "control_plane_denied"
    after = room.plane.state()
    assert {name: part for name, part in after.items() if name != "decisions"} == {
        name: part for name, part in before.items() if name != "decisions"
    }


@pytest.mark.requirement("company.workspace.controlled")
def test_a_run_with_the_claim_controls_a_service_of_its_task(room):
    claims = TEN_CLAIMS | {"workspace:control"}
    room.dispatcher = Dispatcher(port=room.plane, scenario=Scenario(claims=claims), explicit_claims=claims)
    given = {"idempotencyKey": "k", "serviceId": "web", "action": "start", "url": "http://127.0.0.1:3000"}
    assert denied(room.call("control_workspace_service", **given)) == (
        "control_plane_denied",
        "workspace_service_missing",
    )
    company = Company.objects.get(pk=room.company_id)
    task = Task.objects.get(public_id=room.identity.task_id)
    WorkspaceServiceFactory(company=company, task=task, public_id="web")
    assert room.ask("control_workspace_service", **given)["commandKind"] == "control_workspace_service"
    [service] = room.ask("get_workspace_runtime")["services"]
    assert (service["status"], service["url"]) == ("running", "http://127.0.0.1:3000")


@pytest.mark.requirement("company.authority.claims")
def test_a_fixture_run_holds_exactly_the_claims_that_the_command_boundary_asks_for():
    assert set(CLAIMS.values()) == COMMAND_CLAIMS
