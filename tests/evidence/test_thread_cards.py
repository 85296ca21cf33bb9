"""What cards become in the thread view: their payloads, their words, and the answers that settle them."""

import pytest

from tests.evidence.logs import (
    items_of,
    ours,
    runner,
    submitted,
)
from tests.evidence.views import only_item, view_of


# ---------------------------------------------------------------- cards
def card(**facts):
    given = {
        "id": "card:interaction-0001",
        "kind": "interaction",
        "interactionId": "interaction-0001",
        "interactionKind": "confirmation",
        "title": "May I?",
        "prompt": "May I go on?",
        "state": "pending",
        "payload": {},
        "runId": "run-9",
    }
    return {**given, **facts}


def materialized(**facts) -> dict:
    return only_item(ours("interaction.request.materialized", "turn-1", card=card(**facts)))


@pytest.mark.parametrize(
    ("kind", "payload", "drawn"),
    [
        (
            "questions",
            {"questions": [{"prompt": "Which?", "options": ["a", {"id": "x", "label": "b"}]}, {"prompt": "Why?"}]},
            {
                "questions": [
                    {
                        "id": "q1",
                        "prompt": "Which?",
                        "control": "radio",
                        "options": [
                            {"id": "o1", "label": "a", "defaultSelected": False},
                            {"id": "x", "label": "b", "defaultSelected": False},
                        ],
                        "required": True,
                    },
                    {"id": "q2", "prompt": "Why?", "control": "text", "options": [], "required": True},
                ],
                "submitLabel": "Submit answers",
            },
        ),
        (
            "confirmation",
            {},
            {
                "targetSummary": "May I go on?",
                "acceptLabel": "Accept",
                "rejectLabel": "Reject",
                "requireRejectReason": True,
            },
        ),
        (
            "checkbox",
            {"options": [{"label": "a", "defaultSelected": True}], "secret": 1},
            {
                "options": [{"id": "o1", "label": "a", "defaultSelected": True}],
                "minSelected": 0,
                "maxSelected": 1,
                "acceptLabel": "Accept",
                "rejectLabel": "Reject",
            },
        ),
        (
            "suggest_tasks",
            {"tasks": [{"title": "One", "description": "first"}]},
            {
                "tasks": [{"id": "t1", "title": "One", "description": "first"}],
                "acceptLabel": "Create selected tasks",
            },
        ),
        (
            "item_verdicts",
            {"items": [{"title": "One", "requireReason": True, "lockedVerdict": "approve"}, {"title": "Two"}]},
            {
                "items": [
                    {"id": "i1", "title": "One", "requireReason": True, "lockedVerdict": "approve"},
                    {"id": "i2", "title": "Two", "requireReason": False, "lockedVerdict": None},
                ],
                "submitLabel": "Submit verdicts",
            },
        ),
        (
            "approval",
            {"amount": 5, "to": {"name": "Ada"}},
            {"details": [{"label": "amount", "value": "5"}, {"label": "to", "value": "name: Ada"}]},
        ),
        ("unheard_of", {"x": 1}, {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_kind_of_card_leaves_with_its_named_payload_and_defaults(kind, payload, drawn):
    item = materialized(interactionKind=kind, payload=payload)
    assert item["payload"] == drawn
    assert "runId" not in item


def test_four_options_are_a_select():
    item = materialized(interactionKind="questions", payload={"questions": [{"prompt": "?", "options": list("abcd")}]})
    assert item["payload"]["questions"][0]["control"] == "select"


@pytest.mark.parametrize(
    ("state", "label"),
    [
        ("pending", "Waiting for you"),
        ("accepted", "Accepted"),
        ("answered", "Answered"),
        ("rejected", "Changes requested"),
        ("stale_target", "Stale — target moved"),
        ("superseded_by_comment", "Superseded by a later comment"),
        ("withdrawn", "Withdrawn"),
        ("issue_closed", "Issue closed"),
        ("expired", "Expired"),
        ("invented", "Expired"),
    ],
)
def test_each_state_of_a_card_has_its_words(state, label):
    assert materialized(state=state)["stateLabel"] == label


def test_a_rejected_approval_is_rejected_and_not_sent_back_for_changes():
    assert materialized(interactionKind="approval", state="rejected")["stateLabel"] == "Rejected"


def test_an_answer_finds_its_card_whatever_turn_it_comes_from_and_moves_the_issue():
    asked = ours("interaction.request.materialized", "turn-1", card=card())
    answered = ours(
        "interaction.response.resolved",
        card=card(state="accepted", resolvedSummary=["yes"]),
        issue={"status": "in_progress", "secretField": "x"},
    )
    waiting = view_of(submitted(1), asked, runner("turn.completed", "turn-1"))
    assert waiting["composer"] == {
        **waiting["composer"],
        "state": "waiting",
        "pendingInteractionId": "interaction-0001",
    }
    view = view_of(submitted(1), asked, runner("turn.completed", "turn-1"), answered)
    assert [turn["id"] for turn in view["turns"]] == ["turn-1"]
    assert items_of(view)[1]["state"] == "accepted"
    assert view["composer"]["state"] == "ready"
    assert "secretField" not in view["issue"]


def test_what_an_answer_made_stands_in_the_turn_of_the_answer():
    made = {"kind": "dependency", "createdTasks": [{"identifier": "MCK-2", "title": "Two"}], "blockerEdges": []}
    answered = ours(
        "interaction.response.resolved",
        "turn-2",
        card=card(state="accepted"),
        records=[made | {"companyId": "c"}, {"kind": "unheard_of"}],
    )
    asked = ours("interaction.request.materialized", "turn-1", card=card())
    drafts = [submitted(1), asked, runner("turn.completed", "turn-1"), answered, submitted(2, hidden=True)]
    view = view_of(*drafts)
    assert items_of(view)[1]["state"] == "accepted"
    (record,) = items_of(view, "turn-2")
    assert (record["kind"], record["createdTasks"]) == ("dependency", made["createdTasks"])
    assert record["id"] == "answer-4:1"
    assert "companyId" not in record
    assert view["turns"][1]["state"] == "submitted"
    assert view["turns"][1]["toolCallCount"] == 0


def test_the_issue_header_moves_by_named_fields():
    view = view_of(
        ours("issue.status.decision.applied", issue={"status": "done", "title": "T", "companyId": "c", "priority": 5})
    )
    assert (view["issue"]["status"], view["issue"]["title"], view["issue"]["priority"]) == ("done", "T", "medium")
    assert "companyId" not in view["issue"]
    assert view["composer"]["state"] == "ready"
    assert "New chat" in view["composer"]["helper"]
