"""A random script of commands on one clean room: seeded, so that it is the same every time, and with refusals in it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from mockcore import history
from mockcore.commands import (
    AnswerStatusQuestion,
    BlockTask,
    Command,
    CommentOnApproval,
    CreateTask,
    DecideApproval,
    FinishTask,
    PostBoardComment,
    RegisterDeliverable,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    RequestReview,
    ResolveHumanInput,
    ScheduleWake,
    SetDependencies,
    WriteDocument,
)
from mockcore.models import Approval, Document, Task
from mockcore.port import Applied, Cause, Principal
from tests.mockcore.conftest import Desk

KINDS = {"questions": "answered", "confirmation": "accepted", "checkbox": "rejected"}
BOARD = (ResolveHumanInput, DecideApproval, PostBoardComment)


def play(desk: Desk, *, commands: int, seed: int) -> Iterator[bool]:
    """Send so many random commands; yields after each whether it took effect. Some are refused, some are duplicates."""
    chance = random.Random(seed)
    for number in range(1, commands + 1):
        command = _any(desk, chance, number)
        key = f"step-{number}" if chance.random() > 0.05 else f"step-{max(1, number - 1)}"
        principal = Principal.BOARD if isinstance(command, BOARD) else Principal.RUN
        outcome = desk.send(command, key=key, principal=principal, cause=cause_of(number))
        yield isinstance(outcome, Applied) and outcome.disposition == "applied"


def cause_of(number: int) -> Cause:
    return Cause(
        turn_id=f"turn-{number // 7}",
        call_id=f"call-{number}",
        message_id=f"message-{number // 7}",
        authorization_id=f"semantic-auth-{number:06d}",
    )


def _any(desk: Desk, chance: random.Random, number: int) -> Command:
    answers = _answers(desk)
    if answers and chance.random() < 0.6:
        return chance.choice(answers)
    tasks = Task.objects.filter(company_id=desk.company_id).order_by("position").values_list("public_id", flat=True)
    some = tuple(sorted(chance.sample(list(tasks), k=min(len(tasks), chance.randrange(3)))))
    return chance.choice(_commands(desk, chance, number, some))


def _answers(desk: Desk) -> list[Command]:
    where = {"company_id": desk.company_id, "task_id": desk.task_id}
    asked = history.pending_interactions(**where)
    wanted = history.pending_approvals(**where)
    found: list[Command] = [
        ResolveHumanInput(interaction_id=one["id"], outcome=KINDS[one["kind"]], result=_said(one)) for one in asked
    ]
    return found + [DecideApproval(approval_id=one["id"], decision="approved", note=one["id"]) for one in wanted]


def _said(asked: dict[str, Any]) -> dict[str, Any]:
    return {"q1": asked["id"]} if asked["kind"] == "questions" else {"note": asked["id"]}


def _commands(desk: Desk, chance: random.Random, number: int, some: tuple[str, ...]) -> list[Command]:
    kind, key = chance.choice(sorted(KINDS)), chance.choice(("plan", "notes"))
    latest = Document.objects.filter(company_id=desk.company_id, key=key).first()
    base = latest.latest_revision_id.partition("/")[2] if latest else None
    approval = Approval.objects.filter(company_id=desk.company_id).order_by("-position").first()
    return [
        ReportProgress(body=f"Step {number} – done"),
        AnswerStatusQuestion(body=f"{number} of many"),
        ReportProgress(body=" "),
        WriteDocument(key=key, title=f"{key} {number // 9}", body=f"body {number}", base_revision_id=base),
        RequestHumanInput(
            interaction_kind=kind, title="May I?", prompt=f"{number}", continuation_policy="wake_assignee"
        ),
        RegisterDeliverable(
            filename=f"{number}", content_type="c", byte_size=number, sha256="s", content_ref="store://f", title="t"
        ),
        SetDependencies(blocked_by_task_ids=some),
        SetDependencies(blocked_by_task_ids=()),
        CreateTask(title=f"Part {number}", priority="high"),
        RequestApproval(approval_type="spend", payload_json={"cents": [number, {"per": "day"}]}),
        CommentOnApproval(approval_id=approval.public_id if approval else "approval-0001", body=f"Note {number}"),
        BlockTask(reason=f"Waiting {number}", blocked_by_task_ids=some),
        RequestReview(summary=f"Look {number}"),
        ScheduleWake(reason="manual", delay_ticks=number),
        PostBoardComment(body=f"Board {number}"),
        FinishTask(summary=" "),
    ]
