"""Company time: moved on purpose, and what it brings due is a mutation of its own."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from mockcore import models
from mockcore.commands import FinishTask, ReportProgress, RequestHumanInput, ResolveHumanInput, ScheduleWake
from mockcore.port import AdvanceClock, Applied, Principal, Refused
from tests.factories import FaultFactory, InteractionFactory, TaskFactory, WakeFactory
from tests.mockcore.conftest import Desk

HELLO = ReportProgress(body="hello")
BEGINNING = 1_786_233_600  # 2026-08-09T00:00:00Z


def later(delay: int) -> ScheduleWake:
    return ScheduleWake(reason="manual", delay_ticks=delay)


def ask(expires_at: str | None, **changed: Any) -> RequestHumanInput:
    values = {"interaction_kind": "confirmation", "title": "May I?", "prompt": "?", "continuation_policy": "none"}
    return RequestHumanInput(**{**values, "payload_json": {"expiresAt": expires_at}, **changed})


def wake(desk: Desk, number: int = 1) -> str:
    return str(desk.entity(f"wake:wake-{number:04d}")["status"])


# ---------------------------------------------------------------- the clock
@pytest.mark.requirement("company.clock.advance")
def test_the_clock_moves_exactly_as_far_as_asked_in_one_revision(desk: Desk) -> None:
    before = desk.company()
    applied = desk.pass_time(3_600)
    after = desk.company()
    assert (after.clock_tick, after.revision) == (before.clock_tick + 3_600, before.revision + 1)
    assert (applied.command_kind, applied.state_revision, applied.entity_refs) == ("advance_clock", 2, ())
    revision = models.StateRevision.objects.get(company_id=desk.company_id, number=2)
    assert (revision.principal, revision.run_id, revision.clock_tick) == ("operator", "", after.clock_tick)
    audit = desk.plane.state()["audit"][-1]
    assert (audit["action"], audit["runId"]) == ("company.clock_advanced", None)
    assert audit["details"] == {"fromTick": 1, "ticks": 3_600}


def test_a_company_without_a_run_has_time_too(blank: Desk) -> None:
    blank.pass_time(1)
    assert blank.company().clock_tick == 1


@pytest.mark.requirement("company.clock.bounds")
@pytest.mark.parametrize("ticks", [0, -1, 1.5, True, "5", None, 31_622_401])
def test_the_clock_moves_forward_and_not_too_far(desk: Desk, ticks: Any) -> None:
    before = desk.facts_of_state()
    outcome = desk.plane.advance_clock(AdvanceClock(ticks=ticks, idempotency_key="k"))
    assert isinstance(outcome, Refused)
    assert (outcome.code, desk.facts_of_state()) == ("clock_advance_invalid", before)


@pytest.mark.requirement("company.clock.bounds")
def test_company_time_ends_with_the_year_2099(desk: Desk) -> None:
    models.Company.objects.update(clock_tick=4_102_444_800 - BEGINNING - 10)
    assert isinstance(desk.plane.advance_clock(AdvanceClock(ticks=11, idempotency_key="k")), Refused)
    assert isinstance(desk.plane.advance_clock(AdvanceClock(ticks=10, idempotency_key="k")), Applied)


@pytest.mark.requirement("company.clock.once")
def test_one_key_moves_the_clock_once(desk: Desk) -> None:
    first = desk.plane.advance_clock(AdvanceClock(ticks=60, idempotency_key="k"))
    before = desk.facts_of_state()
    again = desk.plane.advance_clock(AdvanceClock(ticks=60, idempotency_key="k"))
    assert isinstance(first, Applied)
    assert isinstance(again, Applied)
    assert (again.disposition, again.state_revision) == ("duplicate", first.state_revision)
    other = desk.plane.advance_clock(AdvanceClock(ticks=61, idempotency_key="k"))
    none = desk.plane.advance_clock(AdvanceClock(ticks=60, idempotency_key=" "))
    assert isinstance(other, Refused)
    assert isinstance(none, Refused)
    assert (other.code, none.code) == ("idempotency_conflict", "idempotency_key_required")
    assert desk.facts_of_state() == before


def test_a_clock_move_and_a_command_may_share_a_key(desk: Desk) -> None:
    desk.do(HELLO, key="k")
    assert isinstance(desk.plane.advance_clock(AdvanceClock(ticks=1, idempotency_key="k")), Applied)


def test_the_operator_sends_no_command(desk: Desk) -> None:
    desk.refuse(HELLO, "operation_not_authorized", principal=Principal.OPERATOR)


# ---------------------------------------------------------------- wakes
@pytest.mark.requirement("company.wake.delivered")
def test_a_wake_is_delivered_by_a_mutation_of_its_own_once_it_is_due(desk: Desk) -> None:
    desk.do(later(90))
    assert wake(desk) == "scheduled"
    desk.pass_time(88)
    assert wake(desk) == "scheduled"
    moved = desk.pass_time(1)
    assert (wake(desk), moved.delivered_wake_ids) == ("delivered", ("wake-0001",))
    assert desk.operations(after=2) == ["advance_clock", "advance_clock", "deliver_wakes"]
    state = desk.plane.state()
    assert (state["audit"][-1]["action"], state["audit"][-1]["entityId"]) == ("company.deliver_wakes", "wake-0001")
    assert (state["decisions"][-1]["operation"], state["decisions"][-1]["outcome"]) == ("deliver_wakes", "allowed")
    assert state["decisions"][-1]["entityRefs"] == ["wake:wake-0001"]
    assert desk.entity("run:run-1")["status"] == "running"  # and nothing was started
    assert len(state["runs"]) == 1


@pytest.mark.requirement("company.wake.delivered")
def test_the_passing_of_ordinary_commands_makes_wakes_due_as_well(desk: Desk) -> None:
    desk.do(later(3))
    for _ in range(2):
        desk.do(HELLO)
    assert wake(desk) == "delivered"
    assert desk.operations(after=1) == ["schedule_wake", "report_progress", "report_progress", "deliver_wakes"]


def test_a_delivery_takes_a_second_and_may_thereby_make_the_next_wake_due(desk: Desk) -> None:
    desk.do(later(10))
    desk.do(later(10))
    assert desk.pass_time(8).delivered_wake_ids == ("wake-0001", "wake-0002")
    assert desk.operations(after=3) == ["advance_clock", "deliver_wakes", "deliver_wakes"]


def test_wakes_due_together_are_delivered_together_the_longest_due_first(desk: Desk) -> None:
    desk.do(later(20))
    desk.do(later(10))
    assert desk.pass_time(60).delivered_wake_ids == ("wake-0002", "wake-0001")
    assert desk.operations(after=3) == ["advance_clock", "deliver_wakes"]


def test_a_wake_for_a_finished_task_is_cancelled(desk: Desk) -> None:
    desk.do(later(10))
    desk.do(FinishTask(summary="Done"))
    assert desk.pass_time(60).delivered_wake_ids == ()
    assert wake(desk) == "cancelled"


def test_a_refusal_delivers_nothing_even_when_something_is_overdue(desk: Desk) -> None:
    company = desk.company()
    task = models.Task.objects.get(public_id=desk.task_id)
    WakeFactory(company=company, task=task, actor=task.assignee_actor, public_id="old")
    desk.refuse(ReportProgress(body=" "), "semantic_command_invalid")
    assert desk.entity("wake:old")["status"] == "scheduled"
    assert desk.do(HELLO).delivered_wake_ids == ("old",)


@pytest.mark.requirement("company.faults")
def test_a_lost_acknowledgement_loses_no_delivery(desk: Desk) -> None:
    FaultFactory(company=desk.company(), effect="lost_ack", code="gone")
    lost = desk.send(later(1), key="k")
    assert isinstance(lost, Refused)
    assert (lost.code, lost.retryable, wake(desk)) == ("gone", True, "delivered")
    before = desk.facts_of_state()
    again = desk.send(later(1), key="k")
    assert isinstance(again, Applied)
    assert (again.disposition, desk.facts_of_state()) == ("duplicate", before)


# ---------------------------------------------------------------- questions
@pytest.mark.requirement("company.interaction.expired")
def test_a_question_expires_once_its_time_has_come(desk: Desk) -> None:
    desk.do(ask("2026-08-09T01:00:00Z", continuation_policy="wake_assignee"))
    desk.pass_time(3_597)
    assert desk.entity("interaction:interaction-0001")["status"] == "pending"
    moved = desk.pass_time(1)
    card = desk.entity("interaction:interaction-0001")
    assert (card["status"], card["resolvedAt"]) == ("expired", "2026-08-09T01:00:00.000Z")
    assert card["result"] == {"outcome": "expired", "expiresAt": "2026-08-09T01:00:00Z"}
    assert desk.status == "in_progress"
    assert moved.delivered_wake_ids == ("wake-0001",)
    assert desk.operations(after=3) == ["advance_clock", "expire_interactions", "deliver_wakes"]
    late = ResolveHumanInput(interaction_id="interaction-0001", outcome="accepted")
    desk.refuse(late, "interaction_already_resolved", principal=Principal.BOARD)


@pytest.mark.requirement("company.interaction.expired")
def test_only_questions_whose_time_has_come_expire(desk: Desk) -> None:
    desk.do(ask("2026-08-09T01:00:00+00:00"))
    desk.do(ask("2026-08-09T05:00:00+02:00", title="Later"))
    desk.do(ask(None, title="Never"))
    desk.pass_time(3_600)
    assert [card["status"] for card in desk.plane.state()["interactions"]] == ["expired", "pending", "pending"]
    assert desk.status == "in_review"


def test_questions_of_every_task_expire_and_what_nobody_can_read_never_does(desk: Desk) -> None:
    company = desk.company()
    task = TaskFactory(company=company, status="in_review")
    InteractionFactory(company=company, task=task, public_id="a", payload={"expiresAt": "2026-08-09T00:00:30"})
    InteractionFactory(company=company, task=task, public_id="b", payload={"expiresAt": "tomorrow"})
    desk.pass_time(60)
    assert [desk.entity(f"interaction:{one}")["status"] for one in ("a", "b")] == ["expired", "pending"]
    models.Interaction.objects.filter(public_id="b").update(payload={"expiresAt": "2026-08-09T00:02:00Z"})
    desk.pass_time(60)
    assert desk.entity(f"task:{task.public_id}")["status"] == "todo"  # nobody holds it


# ---------------------------------------------------------------- by the operator
@pytest.mark.requirement("company.clock.command")
def test_an_operator_moves_a_companys_time_on_and_is_told_what_came_of_it(desk: Desk) -> None:
    desk.do(ask("2026-08-09T01:00:00Z", continuation_policy="wake_assignee"))
    said = io.StringIO()
    call_command("advance_clock", desk.company_id, "3600", "--key", "noon", "--json", stdout=said)
    told = json.loads(said.getvalue())
    assert told["revisions"] == ["advance_clock", "expire_interactions", "deliver_wakes"]
    assert (told["disposition"], told["deliveredWakeIds"]) == ("applied", ["wake-0001"])
    assert told["companyTime"] == "2026-08-09T01:00:04.000Z"
    assert told["stateRevision"] == desk.plane.state_revision()
    assert desk.entity("interaction:interaction-0001")["status"] == "expired"
    before = desk.facts_of_state()
    again = io.StringIO()
    call_command("advance_clock", desk.company_id, "3600", "--key", "noon", stdout=again)
    assert "duplicate" in again.getvalue()
    assert desk.facts_of_state() == before


@pytest.mark.requirement("company.clock.command")
@pytest.mark.parametrize(("seconds", "says"), [("0", "clock_advance_invalid"), ("31622401", "clock_advance_invalid")])
def test_a_move_that_cannot_be_is_refused_by_name(desk: Desk, seconds: str, says: str) -> None:
    before = desk.facts_of_state()
    with pytest.raises(CommandError, match=says):
        call_command("advance_clock", desk.company_id, seconds)
    assert desk.facts_of_state() == before
    with pytest.raises(CommandError, match=rf"company_missing.*\n?.*{desk.company_id}"):
        call_command("advance_clock", "company-nowhere", "1")
