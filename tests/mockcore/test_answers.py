"""What the board answers must fit its card, and verdicts may come in parts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mockcore import models
from mockcore.commands import PostBoardComment, RequestHumanInput, ResolveHumanInput
from mockcore.handlers.answers import Answer, AnswerInvalid, Card, check
from mockcore.handlers.cards import check_card
from mockcore.handlers.scene import CommandInvalid
from mockcore.port import Principal
from tests.mockcore.conftest import Desk

NOW = datetime(2026, 8, 9, tzinfo=UTC)
FIRST = "interaction-0001"
TWO = [{"id": "red", "label": "Red"}, "Blue"]
ASKED = {
    "questions": [
        {"id": "colour", "prompt": "Which?", "options": TWO},
        {"prompt": "Why?", "required": False},
        {"id": "free", "prompt": "How?", "options": TWO, "control": "text", "required": False},
    ]
}
BOXES = {"options": [*TWO, {"title": "Green"}], "minSelected": 1, "maxSelected": 2}
TASKS = {"tasks": [{"id": "a", "title": "One"}, {"title": "Two"}, {"id": 7, "title": "Three"}]}
ITEMS = {"items": [{"id": "a", "title": "A", "requireReason": True}, {"title": "B"}, {"id": "c", "title": "C"}]}


def judged(kind: str, payload: dict[str, Any], outcome: str, result: Any, **held: Any) -> Answer:
    return check(Card(kind=kind, prompt="Well?", payload=payload, held=held), outcome=outcome, result=result)


@pytest.mark.requirement("company.answer.fits-card")
@pytest.mark.parametrize(
    ("kind", "payload", "outcome", "result"),
    [
        ("questions", {}, "answered", {"answers": {"q1": "Because"}}),
        ("questions", {}, "answered", {"q1": "Because"}),
        ("questions", ASKED, "answered", {"answers": {"colour": "Red", "q2": ""}, "summary": ["Which? Red"]}),
        ("questions", ASKED, "answered", {"answers": {"colour": "red", "free": "With care"}}),
        ("questions", ASKED, "answered", {"answers": {"colour": " o2 ", "q2": None}, "note": "In a hurry"}),
        ("questions", {"questions": [{"id": "note"}]}, "answered", {"note": "Because", "reason": "So"}),
        ("questions", {}, "answered", {"q1": "x" * 20_000, "summary": ["x" * 24_000] * 64}),
        ("confirmation", {}, "accepted", {"reason": "", "note": "x" * 20_000}),
        ("questions", ASKED, "rejected", {}),
        ("confirmation", {}, "accepted", None),
        ("confirmation", {}, "rejected", {"reason": "Too long"}),
        ("confirmation", {"requireRejectReason": False}, "rejected", None),
        ("checkbox", {}, "accepted", None),
        ("checkbox", BOXES, "accepted", {"selectedOptionIds": ["red", "o3"]}),
        ("checkbox", BOXES, "rejected", None),
        ("checkbox", {**BOXES, "requireRejectReason": True}, "rejected", {"reason": "None fits"}),
        ("suggest_tasks", TASKS, "accepted", None),
        ("suggest_tasks", TASKS, "accepted", {"acceptedTaskIds": ["a", "t2", "7"]}),
        ("suggest_tasks", TASKS, "accepted", {"acceptedTaskIds": ["t3"]}),
        ("suggest_tasks", TASKS, "accepted", {"acceptedTaskIds": []}),
        ("item_verdicts", {}, "answered", None),
        ("item_verdicts", ITEMS, "rejected", {}),
        ("confirmation", {}, "expired", None),
    ],
)
def test_an_answer_that_fits_is_stored_as_given(kind: str, payload: Any, outcome: str, result: Any) -> None:
    assert judged(kind, payload, outcome, result) == Answer(result=result)


@pytest.mark.requirement("company.answer.fits-card")
@pytest.mark.parametrize(
    ("kind", "payload", "outcome", "result", "says"),
    [
        ("questions", {}, "answered", None, "question q1 needs an answer"),
        ("questions", {}, "answered", {"answers": {"q1": " "}}, "question q1 needs an answer"),
        ("questions", {}, "answered", {"answers": {"q1": []}}, "answer to question q1 must be a text"),
        ("questions", {}, "answered", {"answers": {"q1": {"text": "Because"}}}, "answer to question q1 must be a text"),
        ("questions", {}, "answered", {"q1": 3}, "answer to question q1 must be a text"),
        ("questions", {}, "answered", {"q1": True}, "answer to question q1 must be a text"),
        ("questions", {}, "answered", {"q1": "x" * 20_001}, "at most 20,000 characters"),
        ("questions", {}, "answered", {"q1": "yes", "q2": "no"}, "this card has no q2"),
        ("questions", {}, "answered", {"answers": None, "q1": "yes"}, "this card has no q1"),
        ("questions", ASKED, "answered", {"answers": {"colour": ["Red", "o2"]}}, "question colour must be a text"),
        ("questions", ASKED, "answered", {"answers": {"colour": ["Red"]}}, "question colour must be a text"),
        ("questions", ASKED, "answered", {"answers": {"colour": "Red, Blue"}}, "none of its options"),
        ("questions", ASKED, "answered", {"answers": {"colour": "Red"}, "selectedOptionIds": []}, "has no selected"),
        ("questions", {}, "answered", {"answers": ["Because"]}, "answers must be an object"),
        ("questions", {}, "answered", {"answers": {"q1": "x", "q9": "y"}}, "there is no question q9"),
        ("questions", ASKED, "answered", {"answers": {"q2": "No colour"}}, "question colour needs an answer"),
        ("questions", ASKED, "answered", {"answers": {"colour": "Mauve"}}, "none of its options"),
        ("confirmation", {}, "rejected", None, "a reason is needed"),
        ("confirmation", {}, "rejected", {"reason": "  "}, "a reason is needed"),
        ("confirmation", {}, "rejected", {"reason": {"text": "No"}}, "reason must be a text"),
        ("confirmation", {}, "rejected", {"reason": "x" * 20_001}, "reason must be a text of at most 20,000"),
        ("confirmation", {}, "accepted", {"note": ["x"]}, "note must be a text"),
        ("confirmation", {}, "accepted", {"summary": "x"}, "summary must be a list"),
        ("confirmation", {}, "accepted", {"summary": ["x"] * 65}, "summary must be a list of at most 64"),
        ("confirmation", {}, "accepted", {"summary": [None]}, "a line of the summary must be a text"),
        ("confirmation", {}, "accepted", {"summary": ["x" * 24_001]}, "at most 24,000 characters"),
        ("confirmation", {}, "accepted", {"lockedVerdict": "approve"}, "this card has no lockedVerdict"),
        ("confirmation", {}, "accepted", "yes", "must be an object, or nothing"),
        ("confirmation", {}, "accepted", ["yes"], "must be an object, or nothing"),
        ("confirmation", {}, "expired", {"outcome": "stale_target"}, "this card has no outcome"),
        ("confirmation", {}, "expired", 3, "must be an object, or nothing"),
        ("checkbox", BOXES, "rejected", {"selectedOptionIds": ["red"]}, "this card has no selectedOptionIds"),
        ("checkbox", BOXES, "accepted", {"selectedOptionIds": [1]}, "different ids"),
        ("checkbox", BOXES, "accepted", {"selectedOptionIds": [["red"]]}, "different ids"),
        ("suggest_tasks", TASKS, "accepted", {"acceptedTaskIds": [7]}, "different ids"),
        ("suggest_tasks", TASKS, "accepted", {"acceptedTaskIds": ["a"], "selectedTaskIds": []}, "given twice"),
        ("checkbox", BOXES, "accepted", None, "1 to 2 options must be chosen, not 0"),
        ("checkbox", BOXES, "accepted", {"selectedOptionIds": ["red", "o2", "o3"]}, "1 to 2 options"),
        ("checkbox", BOXES, "accepted", {"selectedOptionIds": ["red", "red"]}, "different ids"),
        ("checkbox", BOXES, "accepted", {"selectedOptionIds": "red"}, "different ids"),
        ("checkbox", BOXES, "accepted", {"selectedOptionIds": ["mauve"]}, "there is no option mauve"),
        ("checkbox", {**BOXES, "requireRejectReason": True}, "rejected", {}, "a reason is needed"),
        ("suggest_tasks", TASKS, "accepted", {"acceptedTaskIds": ["z"]}, "there is no suggested task z"),
        ("suggest_tasks", TASKS, "accepted", {"selectedOptionIds": {"a": 1}}, "different ids"),
        ("item_verdicts", ITEMS, "answered", None, "no new verdict"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": ["approve"]}, "verdicts must be an object"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"i2": "maybe"}}, "must be one of"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"i2": ["approve"]}}, "must be one of"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"i2": {"verdict": "defer", "by": "me"}}}, "nothing else"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"i2": {"verdict": "defer", "reason": 3}}}, "must be a text"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"i2": {"reason": "Dear"}}}, "has no verdict"),
        ("item_verdicts", ITEMS, "rejected", {"verdicts": {"i2": "defer"}}, "this card has no verdicts"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"a": "defer"}}, "reason"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"a": {"verdict": "defer", "reason": " "}}}, "reason"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"i9": "approve"}}, "there is no item i9"),
        ("item_verdicts", ITEMS, "answered", {"verdicts": {"a": {"verdict": "reject"}}}, "needs a reason"),
    ],
)
def test_an_answer_that_does_not_fit_says_why(kind: str, payload: Any, outcome: str, result: Any, says: str) -> None:
    with pytest.raises(AnswerInvalid, match=says):
        judged(kind, payload, outcome, result)


def test_a_label_comes_back_as_far_as_the_card_shows_it() -> None:
    payload = {"questions": [{"id": "q", "options": ["x" * 300]}]}
    assert judged("questions", payload, "answered", {"answers": {"q": "x" * 239 + "…"}}).complete


# ---------------------------------------------------------------- in parts
def resolve(outcome: str = "answered", **verdicts: Any) -> ResolveHumanInput:
    return ResolveHumanInput(interaction_id=FIRST, outcome=outcome, result={"verdicts": verdicts})


def ask(payload: dict[str, Any] | None = None, kind: str = "item_verdicts", **changed: Any) -> RequestHumanInput:
    values = {"title": "Look", "prompt": "Please.", "continuation_policy": "wake_assignee", **changed}
    return RequestHumanInput(interaction_kind=kind, payload_json=ITEMS if payload is None else payload, **values)


@pytest.mark.requirement("company.answer.parts")
def test_verdicts_on_some_items_lock_those_and_leave_the_card_open(desk: Desk) -> None:
    desk.do(ask())
    first = desk.board(resolve(a={"verdict": "reject", "reason": "Too dear"}, i2={"verdict": "", "reason": ""}))
    card = desk.entity(f"interaction:{FIRST}")
    assert (card["status"], card["resolvedAt"], desk.status) == ("pending", None, "in_review")
    assert card["result"]["verdicts"] == {"a": {"verdict": "reject", "reason": "Too dear"}}
    assert (f"interaction:{FIRST}" in first.entity_refs, first.scheduled_wake_ids) == (True, ())

    board = Principal.BOARD
    desk.refuse(resolve(a="approve"), "interaction_answer_invalid", principal=board)
    desk.refuse(resolve(a="reject"), "interaction_answer_invalid", principal=board)  # nothing new
    last = desk.board(resolve(a="reject", i2="approve", c={"verdict": "defer"}))
    card = desk.entity(f"interaction:{FIRST}")
    assert card["status"] == "answered"
    assert {name: one["verdict"] for name, one in card["result"]["verdicts"].items()} == {
        "a": "reject",
        "i2": "approve",
        "c": "defer",
    }
    assert card["result"]["verdicts"]["a"]["reason"] == "Too dear"
    assert (desk.status, len(last.scheduled_wake_ids)) == ("in_progress", 1)


FORGED: dict[str, dict[str, Any]] = {
    "a verdict of an item": {"items": [{"id": "a", "lockedVerdict": "approve"}, {"id": "b"}]},
    "a verdict deep inside": {"items": [{"id": "a", "facts": [{"lockedVerdict": "reject"}]}]},
    "a summary of what the board said": {"resolvedSummary": ["Approved"]},
    "a time of the answer": {"questions": [{"prompt": "?", "resolvedAt": "2026-08-09T00:00:00.000Z"}]},
    "a successor": {"options": [{"label": "x", "supersededBy": {"kind": "comment", "id": "c"}}]},
    "a state": {"stateLabel": "Accepted"},
}


@pytest.mark.requirement("company.answer.parts")
@pytest.mark.parametrize("kind", ["questions", "confirmation", "checkbox", "suggest_tasks", "item_verdicts"])
@pytest.mark.parametrize("name", FORGED)
def test_a_card_that_says_what_only_the_board_says_is_not_asked(desk: Desk, kind: str, name: str) -> None:
    refused = desk.refuse(ask(FORGED[name], kind=kind), "semantic_command_invalid")
    assert "only the board's own answer" in refused.message


@pytest.mark.requirement("company.answer.parts")
def test_a_verdict_in_the_payload_of_an_old_row_is_none_of_the_board(desk: Desk) -> None:
    desk.do(ask({"items": [{"id": "a", "lockedVerdict": None}, {"id": "b"}]}))
    forged = {"items": [{"id": "a", "lockedVerdict": "approve"}, {"id": "b"}]}
    models.Interaction.objects.update(payload=forged)
    desk.board(resolve(b="approve"))
    assert desk.entity(f"interaction:{FIRST}")["status"] == "pending"
    desk.board(resolve(a="reject"))
    given = desk.entity(f"interaction:{FIRST}")["result"]["verdicts"]
    assert {name: one["verdict"] for name, one in given.items()} == {"a": "reject", "b": "approve"}


@pytest.mark.requirement("company.answer.parts")
@pytest.mark.parametrize("outcome", ["rejected", "expired"])
def test_a_card_that_ends_otherwise_keeps_its_parts(desk: Desk, outcome: str) -> None:
    desk.do(ask())
    desk.board(resolve(i2="approve"))
    desk.board(ResolveHumanInput(interaction_id=FIRST, outcome=outcome, result={"reason": "Enough"}))
    card = desk.entity(f"interaction:{FIRST}")
    assert (card["status"], card["result"]["reason"]) == (outcome, "Enough")
    assert card["result"]["verdicts"] == {"i2": {"verdict": "approve", "reason": ""}}


def part(summary: list[str] | None = None, note: str | None = None, **verdicts: Any) -> ResolveHumanInput:
    said: dict[str, Any] = {"verdicts": verdicts}
    said |= {name: value for name, value in (("note", note), ("summary", summary)) if value is not None}
    return ResolveHumanInput(interaction_id=FIRST, outcome="answered", result=said)


@pytest.mark.requirement("company.answer.parts")
def test_what_an_earlier_part_remarked_stays_in_front_of_what_a_later_one_says(desk: Desk) -> None:
    desk.do(ask())
    desk.board(part(note="Dear", summary=["B: approve"], i2="approve"))
    desk.board(part(c="defer"))
    assert desk.entity(f"interaction:{FIRST}")["result"]["note"] == "Dear"
    assert desk.entity(f"interaction:{FIRST}")["result"]["summary"] == ["B: approve"]
    desk.board(part(note="But well made", summary=["All approved"], a="approve"))
    card = desk.entity(f"interaction:{FIRST}")
    assert (card["status"], card["result"]["note"]) == ("answered", "Dear\nBut well made")
    assert card["result"]["summary"] == ["All approved"]


@pytest.mark.requirement("company.answer.parts")
def test_what_a_part_remarked_stays_when_a_comment_overtakes_the_card(desk: Desk) -> None:
    desk.do(ask())
    desk.board(part(note="Dear", i2="approve"))
    desk.board(PostBoardComment(body="Never mind"))
    result = desk.entity(f"interaction:{FIRST}")["result"]
    assert (result["outcome"], result["note"], list(result["verdicts"])) == ("superseded_by_comment", "Dear", ["i2"])


def test_another_reason_for_a_verdict_that_is_locked_is_refused_and_not_dropped(desk: Desk) -> None:
    desk.do(ask())
    desk.board(resolve(a={"verdict": "reject", "reason": "Dear"}))
    again = resolve(a={"verdict": "reject", "reason": "Late"}, c="defer")
    desk.refuse(again, "interaction_answer_invalid", principal=Principal.BOARD)
    desk.board(resolve(a={"verdict": "reject", "reason": "Dear"}, c="defer"))


# ---------------------------------------------------------------- what may be asked
@pytest.mark.requirement("company.card.answerable")
@pytest.mark.parametrize(
    ("kind", "payload", "says"),
    [
        ("checkbox", {"options": ["a"], "minSelected": 2}, "do not fit 1 options"),
        ("checkbox", {"options": ["a", "b"], "minSelected": 2, "maxSelected": 1}, "do not fit 2 options"),
        ("checkbox", {"options": ["a"], "maxSelected": -1}, "must be a whole number"),
        ("checkbox", {"options": ["a"], "minSelected": "1"}, "must be a whole number"),
        ("checkbox", {"options": [{"id": "x"}, {"id": "x"}]}, "must differ"),
        (
            "checkbox",
            {"options": [{"recommended": True}] * 2, "maxSelected": 1},
            "at most 1 options can be recommended",
        ),
        ("questions", {"questions": [{"options": [{"recommended": True}] * 2}]}, "can recommend one option"),
        ("questions", {"questions": [{"id": "x"}] * 2}, "must differ"),
        ("questions", {"questions": [{"prompt": "?"}] * 65}, "at most 64 entries"),
        ("item_verdicts", {"items": [{"id": "i" * 121}]}, "at most 120 characters"),
        ("suggest_tasks", {"tasks": [{"id": "t2"}, {"title": "x"}]}, "must differ"),
        ("confirmation", {"expiresAt": "soon"}, "must be a time to come"),
        ("confirmation", {"expiresAt": 5}, "must be a time to come"),
        ("confirmation", {"expiresAt": "2026-08-09T00:00:00Z"}, "must be a time to come"),
    ],
)
def test_a_card_that_nobody_could_answer_is_not_asked(kind: str, payload: Any, says: str) -> None:
    with pytest.raises(CommandInvalid, match=says):
        check_card(kind, payload, now=NOW)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("checkbox", {"options": [{"recommended": True}, "b"], "maxSelected": 1}),
        ("checkbox", {"options": "none"}),
        ("questions", {"questions": [{"options": [{"recommended": True}, "b"]}]}),
        ("item_verdicts", {"items": [3, None]}),
        ("confirmation", {"expiresAt": "2026-08-09T00:00:01"}),
        ("confirmation", {"expiresAt": None}),
    ],
)
def test_what_cannot_be_read_is_no_entry_and_no_reason_to_refuse(kind: str, payload: Any) -> None:
    check_card(kind, payload, now=NOW)


def test_a_refused_card_leaves_nothing_behind(desk: Desk) -> None:
    desk.refuse(ask({"options": [], "minSelected": 1}, kind="checkbox"), "semantic_command_invalid")


# ---------------------------------------------------------------- asked again
@pytest.mark.requirement("company.interaction.withdrawn")
def test_what_is_asked_again_is_withdrawn_and_wakes_nobody(desk: Desk) -> None:
    desk.do(ask())
    applied = desk.do(ask(title=" Look "))
    first, second = desk.entity(f"interaction:{FIRST}"), desk.entity("interaction:interaction-0002")
    assert (first["status"], second["status"], desk.status) == ("expired", "pending", "in_review")
    assert first["result"] == {
        "outcome": "withdrawn",
        "supersededBy": {"kind": "interaction", "id": "interaction-0002"},
    }
    assert applied.scheduled_wake_ids == ()


@pytest.mark.requirement("company.interaction.withdrawn")
@pytest.mark.parametrize("again", [{"kind": "checkbox", "payload": {}}, {"title": "Look elsewhere"}])
def test_another_kind_or_title_is_another_question(desk: Desk, again: dict[str, Any]) -> None:
    desk.do(ask())
    desk.do(ask(**again))
    assert desk.entity(f"interaction:{FIRST}")["status"] == "pending"
