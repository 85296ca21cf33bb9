"""Whatever a run or the board hands to the port, no secret of it becomes a row, and no old row shows one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.utils import quote
from django.db.models import QuerySet
from django.test import Client

from mockcore import copies, models
from mockcore.commands import (
    BlockTask,
    CreateTask,
    DecideApproval,
    PostBoardComment,
    RegisterDeliverable,
    ReportProgress,
    RequestApproval,
    RequestHumanInput,
    ScheduleWake,
    WriteDocument,
)
from mockcore.port import AdvanceClock, Cause, EventReceipt
from mockcore.text import canonical
from tests.mockcore.conftest import Desk
from tests.mockcore.reports import event, result, terminal

SECRET = "sk-proj-FAKEportkeyFAKEportkeyFAKE77"
MODELS = tuple(apps.get_app_config("mockcore").get_models())
HELD = {"note": f"use {SECRET}", "apiKey": "hunter-value-22", "deep": [{"list": [SECRET]}]}

COMMANDS = [
    ReportProgress(body=f"It is {SECRET}."),
    WriteDocument(key="plan", title=SECRET, body=f"a\n{SECRET}\n", base_revision_id=None, change_summary=SECRET),
    RequestHumanInput(
        interaction_kind="questions", title=SECRET, prompt=SECRET, payload_json=HELD, continuation_policy="none"
    ),
    RegisterDeliverable(
        filename=SECRET, content_type="text/plain", byte_size=1, sha256="0" * 64, content_ref=SECRET, title=SECRET
    ),
    CreateTask(title=SECRET, description=SECRET, priority="high"),
    ScheduleWake(reason="manual", delay_ticks=5, payload_json=HELD),
    RequestApproval(approval_type=SECRET, payload_json=HELD),
    BlockTask(reason=SECRET),
]


def stored_text() -> str:
    """Return everything that the tables of this house hold, keyframes apart."""
    tables = [QuerySet(model).values_list() for model in MODELS if model is not models.Keyframe]
    return str([list(rows) for rows in tables])


def reveals(text: str) -> bool:
    return SECRET in text or "hunter-value-22" in text


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.kind))
def test_no_command_stores_a_secret_nor_does_its_key_or_its_cause(desk: Desk, command: Any) -> None:
    cause = Cause(turn_id=SECRET, call_id=SECRET, message_id=SECRET, authorization_id=SECRET)
    first = desk.do(command, key=f"key-{SECRET}", cause=cause)
    again = desk.send(command, key=f"key-{SECRET}", cause=cause)
    assert not reveals(stored_text() + canonical(desk.plane.state()))
    assert (again.state_revision, getattr(again, "disposition", "")) == (first.state_revision, "duplicate")
    assert desk.plane.has_applied(desk.run_id, f"key-{SECRET}")


def test_the_board_stores_none_either(desk: Desk) -> None:
    desk.board(PostBoardComment(body=SECRET))
    asked = desk.do(RequestApproval(approval_type="spend", payload_json={})).entity_refs
    approval_id = next(ref.removeprefix("approval:") for ref in asked if ref.startswith("approval:"))
    desk.board(DecideApproval(approval_id=approval_id, decision="rejected", note=SECRET))
    desk.plane.advance_clock(AdvanceClock(ticks=1, idempotency_key=SECRET, cause=Cause(message_id=SECRET)))
    assert not reveals(stored_text())


def test_what_opens_a_run_and_what_a_runner_reports_of_it_is_masked(blank: Desk) -> None:
    blank.open(wake=HELD)
    told = {**event(1), "payload": HELD}
    for disposition in ("committed", "duplicate"):
        receipt = blank.plane.append_event("run-1", told)
        assert isinstance(receipt, EventReceipt)
        assert receipt.disposition == disposition
    blank.plane.checkpoint_session("run-1", HELD)
    assert blank.plane.load_session_checkpoint("run-1") != HELD
    blank.plane.append_event("run-1", terminal(2))
    ended = result(summary=f"Done with {SECRET}")
    assert [getattr(blank.plane.complete_run("run-1", ended), "disposition", "") for _ in range(2)] == [
        "applied",
        "duplicate",
    ]
    assert not reveals(stored_text() + copies.serialize(company_id=blank.company_id).body.decode())


def test_a_report_from_before_that_holds_a_secret_is_still_the_same_report(desk: Desk) -> None:
    told = {**event(1), "payload": HELD}
    desk.plane.append_event("run-1", told)
    models.RunEvent.objects.update(body=told)
    receipt = desk.plane.append_event("run-1", told)
    assert isinstance(receipt, EventReceipt)
    assert receipt.disposition == "duplicate"


def test_what_is_no_json_is_refused_and_not_made_a_text_of(desk: Desk) -> None:
    desk.refuse(RequestApproval(approval_type="t", payload_json={"n": object()}), "semantic_command_invalid")


@pytest.mark.parametrize(
    ("model", "spoil"),
    [
        (models.Task, lambda rows: rows.update(title=SECRET, description=SECRET)),
        (models.Run, lambda rows: rows.update(wake=HELD, session_checkpoint=HELD, session_id=SECRET)),
        (models.RunEvent, lambda rows: rows.update(body=HELD, source_event_id=SECRET, event_type=SECRET)),
        (models.AuditRecord, lambda rows: rows.update(details=HELD, action=SECRET)),
        (models.Change, lambda rows: rows.update(before=HELD, after=HELD)),
        (models.IdempotencyRecord, lambda rows: rows.update(key=SECRET, input_canonical=canonical(HELD), result=HELD)),
        (models.StateRevision, lambda rows: rows.update(cause_turn_id=SECRET, cause_call_id=SECRET)),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_no_page_of_the_admin_shows_a_secret_of_an_old_row(
    desk: Desk, admin_client: Client, model: Any, spoil: Callable[[Any], Any]
) -> None:
    desk.do(ReportProgress(body="One"))
    desk.plane.append_event("run-1", event(1))
    newest = QuerySet(model).filter(company_id=desk.company_id).order_by("-pk")[:1]
    spoil(QuerySet(model).filter(pk__in=[row.pk for row in newest]))
    for row in QuerySet(model).filter(company_id=desk.company_id):
        page = f"/admin/mockcore/{model._meta.model_name}/"
        for address in (page, f"{page}{quote(row.pk)}/change/"):
            shown = admin_client.get(address)
            assert shown.status_code == 200
            assert not reveals(shown.content.decode().replace("&quot;", '"')), address
