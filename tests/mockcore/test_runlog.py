"""What a runner reports is kept once, in any order it comes, and can be read again from a cursor."""

from __future__ import annotations

from typing import Any

import pytest

from mockcore import models
from mockcore.commands import RecordBudgetUsage
from mockcore.plane import RunMissing
from mockcore.port import Applied, EventReceipt, Refused, ReplayEvents
from mockcore.runlog import ReplayBindingMismatch
from tests.factories import FaultFactory
from tests.mockcore.conftest import Desk
from tests.mockcore.reports import SOURCE, event, native, result, terminal


def keep(desk: Desk, given: dict[str, Any]) -> EventReceipt:
    receipt = desk.plane.append_event("run-1", given)
    assert isinstance(receipt, EventReceipt), receipt
    return receipt


def refuse(desk: Desk, given: dict[str, Any], code: str) -> None:
    before = desk.facts_of_state()
    outcome = desk.plane.append_event("run-1", given)
    assert isinstance(outcome, Refused), outcome
    assert (outcome.code, desk.facts_of_state()) == (code, before)


def replayed(desk: Desk, **changed: Any) -> list[int]:
    asked = {"run_id": "run-1", "source_instance_id": SOURCE, **changed}
    return [one["sourceSeq"] for one in desk.plane.replay_events(ReplayEvents(**asked))]


# ---------------------------------------------------------------- keeping
@pytest.mark.requirement("company.event.kept")
def test_an_event_is_kept_in_a_revision_of_its_own(desk: Desk) -> None:
    receipt = keep(desk, event(1))
    assert receipt == EventReceipt(disposition="committed", event_id="event-0001", contiguous_seq=1, state_revision=2)
    state = desk.plane.state()
    assert [one["body"] for one in state["runs"][0]["events"]] == [event(1)]
    assert state["audit"][-1]["action"] == "run.event_appended"
    decision = desk.last_decision()
    assert (decision["operation"], decision["reason"]) == ("append_event", "event_committed")
    assert decision["entityRefs"] == ["event:event-0001", "run:run-1"]


@pytest.mark.requirement("company.event.once")
def test_an_event_reported_again_is_a_duplicate_and_moves_nothing(desk: Desk) -> None:
    keep(desk, event(1))
    keep(desk, event(2))
    before = desk.facts_of_state()
    again = keep(desk, dict(reversed(event(1).items())))
    assert (again.disposition, again.event_id, again.contiguous_seq) == ("duplicate", "event-0001", 2)
    assert desk.facts_of_state() == before
    assert (desk.last_decision()["outcome"], desk.last_decision()["reason"]) == ("duplicate", "event_already_committed")


@pytest.mark.requirement("company.event.once")
@pytest.mark.parametrize(
    "mutated",
    [
        {"payload": {"text": "something else"}},
        {"sourceEventId": "event-9"},  # another event in the same place
        {"sourceSeq": 9},  # the same event in another place
        {"eventType": "item.failed"},
    ],
)
def test_an_event_that_comes_back_changed_is_a_conflict(desk: Desk, mutated: dict[str, Any]) -> None:
    keep(desk, event(1))
    refuse(desk, event(1, **mutated), "native_event_replay_conflict")


@pytest.mark.requirement("company.event.order")
def test_events_may_come_out_of_order_and_the_receipt_says_how_far_they_reach(desk: Desk) -> None:
    assert [keep(desk, event(n)).contiguous_seq for n in (2, 3, 1, 6, 5, 4)] == [0, 0, 3, 3, 3, 6]
    assert replayed(desk) == [1, 2, 3, 4, 5, 6]


def test_each_source_counts_its_own_events(desk: Desk) -> None:
    ours = {"sourceKind": "control_plane", "sourceInstanceId": "plane"}
    keep(desk, event(1))
    assert keep(desk, event(1, sourceEventId="ours-1", **ours)).contiguous_seq == 1
    assert keep(desk, event(2)).contiguous_seq == 2
    assert replayed(desk, source_instance_id="plane") == [1]


@pytest.mark.requirement("company.event.native")
def test_native_events_come_one_after_the_other(desk: Desk) -> None:
    refuse(desk, native(2), "native_event_sequence_gap")
    keep(desk, native(1))
    refuse(desk, native(3), "native_event_sequence_gap")
    assert keep(desk, native(2)).contiguous_seq == 2
    assert keep(desk, native(1)).disposition == "duplicate"


@pytest.mark.requirement("company.event.envelope")
@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": "paperclip.prp.event.v2"},
        {"schemaVersion": 2},
        {"schemaVersion": True},
        {"sourceEventId": ""},
        {"sourceEventId": "e" * 161},
        {"sourceInstanceId": None},
        {"sourceInstanceId": "another-runner"},
        {"sourceSeq": 0},
        {"sourceSeq": "1"},
        {"sourceSeq": 2**53},
        {"sourceKind": "page"},
        {"runId": "run-2"},
        {"eventType": "Item"},
        {"eventType": 7},
        {"priority": 3},
        {"emittedAt": "now"},
        {"emittedAt": "2026-08-09T00:00:00"},
        {"payload": []},
        {"payload": {"n": float("nan")}},
        {"payload": {"text": "x" * 262_144}},
        {"eventType": "run.terminal"},
        {"eventType": "run.terminal", "payload": {"turnTerminalState": "completed"}},
    ],
)
def test_a_malformed_or_foreign_event_is_refused(desk: Desk, wrong: dict[str, Any]) -> None:
    refuse(desk, event(1, **wrong), "native_event_invalid")


@pytest.mark.parametrize("name", sorted(event(1)))
def test_an_event_needs_every_field_of_its_envelope(desk: Desk, name: str) -> None:
    refuse(desk, {key: value for key, value in event(1).items() if key != name}, "native_event_invalid")


def test_unknown_extra_fields_are_kept_and_hostile_text_is_cleaned(desk: Desk) -> None:
    keep(desk, event(1, debug={"a": "nul \0 and \ud800"}))
    [kept] = desk.plane.replay_events(ReplayEvents(run_id="run-1", source_instance_id=SOURCE))
    assert kept["debug"] == {"a": "nul \ufffd and \ufffd"}
    assert keep(desk, event(1, debug={"a": "nul \0 and \ud800"})).disposition == "duplicate"


@pytest.mark.requirement("company.run.ended")
def test_an_ended_run_takes_no_new_event_and_still_knows_the_old_ones(desk: Desk) -> None:
    keep(desk, terminal(1))
    assert isinstance(desk.plane.complete_run("run-1", result()), Applied)
    refuse(desk, event(2), "run_not_writable")
    assert keep(desk, terminal(1)).disposition == "duplicate"


def test_a_stopped_run_takes_no_new_event(desk: Desk) -> None:
    desk.do(RecordBudgetUsage(cents=1_000))
    refuse(desk, event(1), "budget_hard_stop")


def test_a_stopped_company_takes_none_and_still_replays(desk: Desk) -> None:
    keep(desk, event(1))
    desk.plane.stop()
    outcome = desk.plane.append_event("run-1", event(2))
    assert isinstance(outcome, Refused)
    assert (outcome.code, replayed(desk)) == ("mock_not_running", [1])


def test_an_unknown_run_is_an_exception_as_everywhere(desk: Desk) -> None:
    for use in (
        lambda: desk.plane.append_event("run-9", event(1)),
        lambda: desk.plane.replay_events(ReplayEvents(run_id="run-9", source_instance_id=SOURCE)),
        lambda: desk.plane.checkpoint_session("run-9", {}),
        lambda: desk.plane.load_session_checkpoint("run-9"),
        lambda: desk.plane.complete_run("run-9", result()),
    ):
        with pytest.raises(RunMissing):
            use()


@pytest.mark.requirement("company.faults")
@pytest.mark.parametrize(("effect", "kept"), [("retryable_error", "committed"), ("lost_ack", "duplicate")])
def test_a_fault_of_reporting_strikes_once_and_the_retry_finds_what_stands(desk: Desk, effect: str, kept: str) -> None:
    FaultFactory(company=desk.company(), operation="append_event", effect=effect, code="outage")
    outcome = desk.plane.append_event("run-1", event(1))
    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.retryable) == ("outage", True)
    assert keep(desk, event(1)).disposition == kept
    assert models.RunEvent.objects.count() == 1


# ---------------------------------------------------------------- replay
@pytest.mark.requirement("company.event.replay")
def test_a_replay_begins_after_its_cursor_and_ends_at_its_limit(desk: Desk) -> None:
    for number in (3, 1, 2, 5):
        keep(desk, event(number))
    assert replayed(desk, after=1) == [2, 3, 5]
    assert replayed(desk, after=1, limit=2) == [2, 3]
    assert replayed(desk, after=5) == []
    assert replayed(desk, after=-3, limit=0) == [1]


@pytest.mark.requirement("company.event.replay")
def test_a_replay_of_another_source_is_refused(desk: Desk) -> None:
    keep(desk, event(1))
    assert replayed(desk, after=1) == []
    with pytest.raises(ReplayBindingMismatch):
        replayed(desk, source_instance_id="forged")


# ---------------------------------------------------------------- checkpoints
@pytest.mark.requirement("company.checkpoint")
def test_the_last_checkpoint_is_loaded_again(desk: Desk) -> None:
    assert desk.plane.load_session_checkpoint("run-1") is None
    for place in (1, 2):
        outcome = desk.plane.checkpoint_session("run-1", {"place": place})
        assert isinstance(outcome, Applied)
        assert outcome.state_revision == place + 1
    assert desk.plane.load_session_checkpoint("run-1") == {"place": 2}
    assert desk.plane.state()["audit"][-1]["action"] == "run.session_checkpointed"


@pytest.mark.parametrize("wrong", [{"n": float("inf")}, {"text": "x" * 1_048_576}])
def test_a_checkpoint_that_cannot_be_kept_is_refused(desk: Desk, wrong: dict[str, Any]) -> None:
    outcome = desk.plane.checkpoint_session("run-1", wrong)
    assert isinstance(outcome, Refused)
    assert (outcome.code, desk.plane.state_revision()) == ("session_checkpoint_invalid", 1)
