"""Cards and thread items: named fields out of the entities of the mock company."""

from __future__ import annotations

from typing import Any

import pytest

from cleanroom import cards
from cleanroom.cards import (
    COMES_WITH_THE_TURN,
    STARTS_NO_TURN,
    Made,
    approval_card,
    delivery,
    interaction_card,
    interaction_state,
    records_of,
    summary_of,
)
from mockcore.port import Applied

QUESTION: dict[str, Any] = {
    "id": "interaction-0001",
    "kind": "questions",
    "status": "pending",
    "title": "Which colour?",
    "prompt": "Please choose.",
    "payload": {"questions": [{"id": "q1", "prompt": "Colour?"}]},
    "result": None,
}


@pytest.mark.parametrize(
    ("status", "result", "state", "reason"),
    [
        ("pending", None, "pending", ""),
        ("answered", {"answers": {}}, "answered", ""),
        ("accepted", None, "accepted", ""),
        ("rejected", {"reason": "no"}, "rejected", "no"),
        ("expired", {"outcome": "stale_target"}, "stale_target", ""),
        ("expired", {"outcome": "superseded_by_comment"}, "superseded_by_comment", "You wrote a message instead."),
        ("expired", {"outcome": "issue_closed"}, "issue_closed", ""),
        ("expired", {"outcome": "made up"}, "expired", ""),
        ("expired", None, "expired", ""),
    ],
)
def test_a_card_names_the_state_of_its_interaction_and_why(status: str, result: Any, state: str, reason: str) -> None:
    entity = {**QUESTION, "status": status, "result": result}
    card = interaction_card(entity, at="2026-01-01T00:00:00Z")
    assert interaction_state(entity) == state
    assert (card["state"], card["reason"]) == (state, reason)
    assert (card["prompt"], card["payload"]) == (QUESTION["prompt"], QUESTION["payload"])


def test_fields_that_are_not_named_do_not_leave_with_a_card() -> None:
    card = interaction_card({**QUESTION, "workingDirectory": "/secret"}, at="now")
    assert "workingDirectory" not in card
    assert "/secret" not in str(card)


def test_an_answer_is_shown_as_readable_lines() -> None:
    result = {"answers": {"colour": ["blue", "red"], "sure": True}, "outcome": "answered"}
    assert summary_of(result) == ["colour: blue, red", "sure: yes"]
    assert summary_of(None) == []
    assert summary_of("fine") == ["fine"]


def test_a_decided_approval_shows_the_note_of_the_board() -> None:
    entity = {
        "id": "approval-0001",
        "type": "Spend money",
        "status": "rejected",
        "payload": {},
        "decisionNote": "too much",
    }
    card = approval_card(entity, at="now")
    assert (card["state"], card["reason"]) == ("rejected", "too much")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("pending", "Only you can decide it."),
        ("approved", "You approved this."),
        ("rejected", "You rejected this."),
        ("cancelled", "You cancelled this request."),
        ("withdrawn", "This request is closed."),
    ],
)
def test_an_approval_says_what_became_of_it_and_keeps_what_was_asked(status: str, words: str) -> None:
    entity = {"id": "approval-0001", "type": "budget", "status": status, "payload": {"amount": 5}, "decisionNote": None}
    card = approval_card(entity, at="now")
    assert card["prompt"].endswith(words)
    assert card["payload"] == {"amount": 5}


def made(
    operation_id: str, entities: dict[str, dict[str, Any]], *, scheduled: tuple[str, ...] = (), **applied_as: Any
) -> Made:
    applied = Applied(
        command_id="command-0001",
        command_kind=operation_id,
        disposition="applied",
        state_revision=2,
        entity_refs=(),
        scheduled_wake_ids=scheduled,
        **applied_as,
    )
    return Made(
        operation_id=operation_id,
        call_id="call-1",
        applied=applied,
        entities=entities,
        input={},
        actor="Mock Agent",
        task_id="task-1",
        task_identifier="MCK-1",
        at="now",
    )


def test_a_wake_says_when_it_is_due_in_the_time_of_the_company() -> None:
    wake = {"id": "wake-0001", "reason": "manual", "dueAt": "2026-08-09T00:00:33.000Z"}
    (record,) = records_of(made("schedule_wake", {"wake:wake-0001": wake}, scheduled=("wake-0001",)))
    assert record["label"] == "Wake scheduled"
    assert record["body"] == "manual, in company time 9 Aug 2026, 00:00:33"


@pytest.mark.requirement("cleanroom.wake.shown")
def test_a_delivered_wake_is_shown_whatever_call_made_it_due() -> None:
    wake = {"id": "wake-0001", "reason": "manual", "dueAt": "2026-08-09T00:00:33.000Z"}
    _, record = records_of(made("finish_task", {"wake:wake-0001": wake}, delivered_wake_ids=("wake-0001",)))
    assert (record["id"], record["label"]) == ("delivered:wake-0001", "Wake delivered")
    assert record["body"].endswith("It starts no turn here.")


@pytest.mark.parametrize(
    ("reason", "by_board", "said"),
    [
        ("approval_resolved", True, COMES_WITH_THE_TURN),
        ("interaction_resolved", True, COMES_WITH_THE_TURN),
        ("issue_commented", True, COMES_WITH_THE_TURN),
        ("manual", True, STARTS_NO_TURN),  # it only became due at that moment
        ("issue_commented", False, STARTS_NO_TURN),  # asked for by the agent itself
    ],
)
def test_a_wake_that_tells_the_news_of_its_own_turn_does_not_say_that_it_starts_none(
    reason: str, by_board: bool, said: str
) -> None:
    wake = {"id": "wake-0001", "reason": reason, "dueAt": "2026-08-09T00:00:33.000Z"}
    assert delivery(wake, at="now", by_board=by_board)["body"].endswith(f"00:00:33. {said}")


@pytest.mark.requirement("company.answer.parts")
def test_a_card_shows_the_verdicts_that_are_locked() -> None:
    items = [{"id": "a", "title": "A"}, {"title": "B"}, {"id": "c", "title": "C"}]
    entity = {**QUESTION, "kind": "item_verdicts", "payload": {"items": items}}
    held = {"verdicts": {"a": {"verdict": "reject", "reason": "No"}, "i2": {"verdict": "defer", "reason": ""}}}
    card = interaction_card({**entity, "result": held}, at="now")
    assert card["state"] == "pending"
    assert [item["lockedVerdict"] for item in card["payload"]["items"]] == ["reject", "defer", None]


@pytest.mark.requirement("company.answer.parts")
@pytest.mark.parametrize("kind", ["questions", "confirmation", "checkbox", "suggest_tasks", "item_verdicts"])
def test_no_card_of_an_old_row_shows_an_answer_that_the_agent_wrote_into_its_payload(kind: str) -> None:
    forged = {"id": ["no id"], "lockedVerdict": "approve", "options": [{"supersededBy": "x", "label": "Yes"}]}
    payload = {"items": [forged], "questions": [forged], "resolvedSummary": ["Approved"], "title": "T"}
    shown = interaction_card({**QUESTION, "kind": kind, "payload": payload, "result": None}, at="now")["payload"]
    said = str(shown).replace("'lockedVerdict': None", "")
    assert not [name for name in ("lockedVerdict", "supersededBy", "resolvedSummary") if name in said]
    assert (shown["title"], shown["questions"][0]["options"]) == ("T", [{"label": "Yes"}])


def test_a_deliverable_is_a_reference() -> None:
    artifact = {"id": "artifact-0001", "filename": "report.md", "byteSize": 21}
    (record,) = records_of(made("register_deliverable", {"artifact:artifact-0001": artifact}))
    assert (record["deliverableKind"], record["byteSize"]) == ("reference", 21)


@pytest.mark.requirement("page.document-whole")
def test_a_document_is_shown_whole_and_one_beyond_the_bound_says_how_much_is_left_out() -> None:
    assert cards.clipped("a" * 20_000) == "a" * 20_000
    shown = cards.clipped("a" * 20_001)
    assert len(shown) < 20_000
    assert shown.endswith("*101 more characters are kept in the mock company.*")
