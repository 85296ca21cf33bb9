"""Cards and thread items: named fields out of the entities of the mock company."""

from __future__ import annotations

from typing import Any

import pytest

from cleanroom.cards import approval_card, interaction_card, interaction_state, summary_of

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
    ("status", "result", "state", "label"),
    [
        ("pending", None, "pending", "Waiting for you"),
        ("answered", {"answers": {}}, "answered", "Answered"),
        ("accepted", None, "accepted", "Accepted"),
        ("rejected", {"reason": "no"}, "rejected", "Changes requested"),
        ("expired", {"outcome": "stale_target"}, "stale_target", "Stale — target moved"),
        ("expired", {"outcome": "superseded_by_comment"}, "superseded_by_comment", "Superseded by a later comment"),
        ("expired", {"outcome": "issue_closed"}, "issue_closed", "Issue closed"),
        ("expired", {"outcome": "made up"}, "expired", "Expired"),
        ("expired", None, "expired", "Expired"),
    ],
)
def test_a_card_names_the_state_of_its_interaction(status: str, result: Any, state: str, label: str) -> None:
    entity = {**QUESTION, "status": status, "result": result}
    card = interaction_card(entity, at="2026-01-01T00:00:00Z")
    assert interaction_state(entity) == state
    assert (card["state"], card["stateLabel"]) == (state, label)


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
    assert (card["state"], card["stateLabel"], card["reason"]) == ("rejected", "Rejected", "too much")
