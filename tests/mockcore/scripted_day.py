"""One long script that sends every command, with refusals, duplicates and faults among them. Knows no database."""

from __future__ import annotations

from typing import Any

from mockcore import commands, history, models
from mockcore.models.base import uid_of
from mockcore.port import Applied, Principal
from mockcore.tenants import CleanRoomIdentity
from mockcore.text import canonical
from tests.factories import FaultFactory, WorkspaceServiceFactory
from tests.mockcore.conftest import Desk, seated
from tests.mockcore.reports import event

IDENTITY = CleanRoomIdentity(token="0ddba11e", sequence=4242)
TASKS = {"tasks": [{"id": "a", "title": "Ä first ☃"}, {"id": "b", "title": "Second"}]}
SHA = "ab" * 32


def morning(desk: Desk) -> None:
    """Say and write things, some of them twice, some of them wrong."""
    desk.do(commands.ReportProgress(body="Grüße\0 \ud800 \U0001f600"), key="say")
    desk.send(commands.ReportProgress(body="Grüße\0 \ud800 \U0001f600"), key="say")
    desk.refuse(commands.ReportProgress(body="other"), "idempotency_conflict", key="say")
    desk.do(commands.AnswerStatusQuestion(body="Half of it."))
    desk.do(commands.WriteDocument(key="plan", title="Plan", body="# 1", base_revision_id=None))
    desk.do(commands.WriteDocument(key="plan", title="Plan", body="# 2", base_revision_id="revision-0001"))
    desk.refuse(
        commands.WriteDocument(key="plan", title="Plan", body="# 3", base_revision_id="revision-0001"),
        "document_revision_conflict",
    )
    desk.do(
        commands.RegisterDeliverable(
            filename="a.txt", content_type="text/plain", byte_size=3, sha256=SHA, content_ref="store://a", title="A"
        )
    )
    desk.do(commands.CreateTask(title="Child", priority="high", assignee_actor_id=desk.identity.actor_id))
    desk.do(commands.CreateTask(title="Grandchild", blocked_by_task_ids=("task-0001",)))
    desk.do(commands.ScheduleWake(reason="manual", delay_ticks=90, payload_json={"apiKey": "x", "z": [1.5, None]}))


def forenoon(desk: Desk) -> None:
    """Report as a runner does, spend, control a service, let time pass, and give the task back to take it up again."""
    for number in (1, 2):
        desk.plane.append_event(desk.run_id, event(number))
    desk.plane.checkpoint_session(desk.run_id, {"schema": "x", "driverSessionId": "thread-1"})
    task = models.Task.objects.get(uid=uid_of(desk.company_id, desk.task_id))
    WorkspaceServiceFactory(company=desk.company(), task=task, public_id="service-1")
    desk.do(commands.ControlWorkspaceService(service_id="service-1", action="start", url="http://127.0.0.1:1/"))
    desk.do(commands.ControlWorkspaceService(service_id="service-1", action="stop"))
    desk.do(commands.RecordBudgetUsage(cents=12))
    desk.pass_time(120)
    desk.do(commands.ReleaseTask(reason="Somebody else is faster."))
    desk.run_id = "run-2"
    assert isinstance(desk.open("run-2"), Applied)


def noon(desk: Desk) -> None:
    """Ask the board, and let it answer, decide, comment, and overtake its own questions."""
    for kind in ("questions", "suggest_tasks", "confirmation"):
        desk.do(ask(kind, TASKS if kind == "suggest_tasks" else {"b": 2, "a": 1}))
    desk.board(commands.ResolveHumanInput(interaction_id="interaction-0001", outcome="answered", result={"q1": "ja"}))
    desk.board(
        commands.ResolveHumanInput(
            interaction_id="interaction-0002", outcome="accepted", result={"acceptedTaskIds": ["b", "a"]}
        )
    )
    for kind in ("checkbox", "item_verdicts"):
        desk.do(ask(kind, {}))
    desk.board(commands.PostBoardComment(body="Never mind."))
    desk.do(commands.RequestApproval(approval_type="spend", payload_json={"cents": 100, "why": "é"}))
    desk.do(commands.CommentOnApproval(approval_id="approval-0001", body="Please."))
    desk.refuse(
        commands.DecideApproval(approval_id="approval-0001", decision="approved", note="me"),
        "operation_not_authorized",
    )
    desk.board(commands.DecideApproval(approval_id="approval-0001", decision="approved", note=""))


def evening(desk: Desk) -> None:
    """Wait for another task, meet two faults, and come to the end."""
    desk.do(commands.SetDependencies(blocked_by_task_ids=("task-0002", "task-0001")))
    desk.do(commands.SetDependencies(blocked_by_task_ids=()))
    desk.do(commands.BlockTask(reason="Waiting.", blocked_by_task_ids=("task-0001",)))
    desk.refuse(commands.FinishTask(summary="no"), "task_transition_illegal")
    desk.do(commands.SetDependencies(blocked_by_task_ids=()))
    desk.do(commands.RequestReview(summary="Look."))
    FaultFactory(company=desk.company(), public_id="fault-1", effect="retryable_error", code="outage")
    FaultFactory(company=desk.company(), public_id="fault-2", effect="lost_ack", code="lost")
    for _ in range(3):
        desk.send(commands.FinishTask(summary="Done."), key="finish")


def ask(kind: str, payload: dict[str, Any]) -> commands.RequestHumanInput:
    return commands.RequestHumanInput(
        interaction_kind=kind, title=kind, prompt="?", continuation_policy="wake_assignee", payload_json=payload
    )


def whole_day() -> Desk:
    desk = seated(IDENTITY)
    for part in (morning, forenoon, noon, evening):
        part(desk)
    return desk


def sections(desk: Desk) -> dict[str, str]:
    """Return the canonical text of each part of the state, and of the history, by name."""
    state = {name: canonical(value) for name, value in desk.plane.state().items()}
    revisions = history.list_revisions(company_id=desk.company_id)
    changed = {
        r.number: [(c.ref, c.before, c.after) for c in history.changes(company_id=desk.company_id, revision=r.number)]
        for r in revisions
    }
    told = [(r.number, r.operation, r.principal, r.command_id, r.at, r.cause.call_id) for r in revisions]
    return {**state, "history.changes": canonical(changed), "history.revisions": canonical(told)}


def kinds_applied(desk: Desk) -> set[str]:
    applied = models.StateRevision.objects.filter(company_id=desk.company_id)
    return set(applied.values_list("operation", flat=True))


def is_principal_used(desk: Desk, principal: Principal) -> bool:
    return models.StateRevision.objects.filter(company_id=desk.company_id, principal=principal.value).exists()
