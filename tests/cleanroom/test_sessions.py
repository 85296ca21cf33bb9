"""Messages, stops, reconnects and answers: what the rows say when two of them meet, or when a write fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import OperationalError

from cleanroom import handover, sessions, startup, turn_rows
from cleanroom.models import ChatTurn
from cleanroom.outbox import Outbox
from cleanroom.registry import registry
from cleanroom.turns import AlreadyTerminal, TurnActive
from mockcore import history
from mockcore.models import Company, DecisionRecord
from mockcore.plane import InteractionAlreadyResolved
from mockcore.refusal import Refusal
from tests.cleanroom.support.chat import Chat, Later, at_once
from tests.cleanroom.support.memory_driver import MemoryDriver
from tests.cleanroom.support.scripts import APPROVAL, QUESTION, calls, endless
from tests.factories import FaultFactory

SECRET = "sk-proj-FAKEanswerkeyFAKEanswerkey55"


def failing_settles(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Let the next writes of a turn's end fail; the list says which turns they were."""
    settle, failed = turn_rows.settle_turn, []

    def settle_turn(session_id: str, ordinal: int, **facts: Any) -> bool:
        if len(failed) < times:
            failed.append(ordinal)
            raise OperationalError("database is locked")
        return settle(session_id, ordinal, **facts)

    monkeypatch.setattr(turn_rows, "settle_turn", settle_turn)
    return failed


def let_go(chat: Chat, ordinal: int) -> None:
    """Wait until the host has given a turn up."""
    host = registry.find(chat.session_id)
    assert host is not None
    chat.agents.wait_until(lambda: host.has_begun(ordinal) and not host.holds(ordinal))


def asked(agents: MemoryDriver, chat: Chat, operation_id: str, arguments: dict[str, Any]) -> str:
    """Let the agent put one card before the board, and return its id."""
    agents.scripts.append(calls(operation_id, arguments))
    assert chat.talk().event_type == "turn.completed"
    return chat.cards()[-1]


def entity(chat: Chat, ref: str) -> dict[str, Any]:
    return history.entities(company_id=chat.company_id, refs=[ref])[ref]


# ---------------------------------------------------------------- an end that cannot be written
@pytest.mark.requirement("turn.settle.retried")
@pytest.mark.parametrize("times", [1, 3])
def test_an_end_that_the_database_refuses_for_a_while_is_written_after_all(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    failed = failing_settles(monkeypatch, times)
    assert chat.talk().event_type == "turn.completed"
    assert failed == [1] * times
    assert chat.talk().event_type == "turn.completed"


@pytest.mark.requirement("turn.settle.lost")
@pytest.mark.parametrize("command", [Chat.send, Chat.interrupt, Chat.reconnect])
def test_a_turn_whose_end_was_lost_is_ended_by_the_next_command(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, command: Callable[[Chat], Any]
) -> None:
    failing_settles(monkeypatch, times=4)
    ordinal = chat.send()
    let_go(chat, ordinal)
    assert chat.ends(ordinal) == []
    command(chat)
    assert chat.end_of(ordinal).payload["code"] == "internal_error"
    if command is Chat.send:
        chat.end_of(ordinal + 1)
    assert chat.talk().event_type == "turn.completed"


@pytest.mark.requirement("turn.settle.lost")
def test_a_turn_whose_end_is_being_written_is_not_taken_for_lost(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    do_surely, writing, go_on = Outbox.do_surely, threading.Event(), threading.Event()

    async def slow(outbox: Outbox, work: Any) -> Any:
        writing.set()
        assert await asyncio.to_thread(go_on.wait, 5)
        return await do_surely(outbox, work)

    monkeypatch.setattr(Outbox, "do_surely", slow)
    ordinal = chat.send()
    assert writing.wait(5)
    with pytest.raises(TurnActive):
        chat.send()
    with pytest.raises(TurnActive):
        chat.reconnect()
    with pytest.raises(AlreadyTerminal):
        chat.interrupt()
    go_on.set()
    assert chat.end_of(ordinal).event_type == "turn.completed"


@pytest.mark.requirement("turn.settle.lost")
def test_a_turn_that_never_came_to_its_host_is_lost_only_after_a_while(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over = sessions.hand_over
    monkeypatch.setattr(sessions, "hand_over", lambda turn: None)
    ordinal = chat.send()
    monkeypatch.setattr(sessions, "hand_over", hand_over)
    with pytest.raises(TurnActive):
        chat.send()  # it may still be on its way
    earlier = chat.turn(ordinal).submitted_at - timedelta(seconds=3 * handover.HAND_OVER_S)
    ChatTurn.objects.filter(ordinal=ordinal).update(submitted_at=earlier)
    chat.reconnect()
    assert chat.end_of(ordinal).payload["code"] == "internal_error"


@pytest.mark.requirement("turn.settle.lost")
def test_a_turn_far_beyond_its_clock_is_nobodys_any_more(agents: MemoryDriver, chat: Chat) -> None:
    agents.scripts.append(endless)
    ordinal = chat.send()
    earlier = chat.turn(ordinal).submitted_at - timedelta(seconds=120 + handover.STALE_S + 1)
    ChatTurn.objects.filter(ordinal=ordinal).update(submitted_at=earlier)
    chat.interrupt()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"


# ---------------------------------------------------------------- a room that is retired meanwhile
@pytest.mark.requirement("host.retired")
@pytest.mark.parametrize("look_first", [True, False])
def test_a_message_admitted_as_another_tab_retires_the_room_ends_with_it(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, look_first: bool
) -> None:
    chat.put_to_rest()
    is_live, admitted, retired = turn_rows.is_live, threading.Event(), threading.Event()

    def slow(session_id: str, ordinal: int) -> bool:
        seen = is_live(session_id, ordinal)
        admitted.set()
        assert retired.wait(5)
        return seen if look_first else is_live(session_id, ordinal)

    monkeypatch.setattr(turn_rows, "is_live", slow)
    sending = Later(chat.send)
    assert admitted.wait(5)
    chat.reset()
    retired.set()
    refusal = sending.outcome()
    assert isinstance(refusal, Refusal)
    assert refusal.code == "unknown_session"
    assert (chat.turn(1).state, chat.turn(1).error_code) == ("failed", "session_closed")
    assert registry.find(chat.session_id) is None
    assert chat.agents.messages == []
    assert startup.settle_cut_rooms() == 0


@pytest.mark.requirement("host.retired")
def test_a_message_that_comes_to_its_host_after_the_room_was_retired_is_refused(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over, admitted, retired = sessions.hand_over, threading.Event(), threading.Event()

    def slow(*args: Any, **facts: Any) -> None:
        admitted.set()
        assert retired.wait(5)
        hand_over(*args, **facts)

    monkeypatch.setattr(sessions, "hand_over", slow)
    sending = Later(chat.send)
    assert admitted.wait(5)
    chat.reset()
    retired.set()
    refusal = sending.outcome()
    assert isinstance(refusal, Refusal)
    assert refusal.code == "unknown_session"
    assert (chat.turn(1).state, chat.turn(1).error_code) == ("failed", "session_closed")
    assert chat.agents.messages == []


# ---------------------------------------------------------------- what the board answers
@pytest.mark.requirement("interaction.refused")
def test_an_answer_that_the_company_refuses_leaves_a_decision_and_no_turn(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(agents, chat, "request_human_input", QUESTION)
    before = len(chat.events())
    with pytest.raises(Refusal) as caught:
        chat.answer(card, "answered")  # a confirmation is accepted or rejected
    assert caught.value.code == "interaction_outcome_invalid"
    decision = DecisionRecord.objects.filter(company_id=chat.company_id).order_by("number").last()
    assert decision is not None
    assert (decision.operation, decision.reason) == ("resolve_human_input", "interaction_outcome_invalid")
    assert entity(chat, f"interaction:{card}")["status"] == "pending"
    assert chat.row.turns.count() == 1
    assert len(chat.events()) == before


def test_an_agent_that_uses_up_the_boards_keys_keeps_nobody_from_answering(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(agents, chat, "request_approval", APPROVAL)
    taken = {"idempotencyKey": f"capability-live-interaction:{card}:rejected", "body": "Mine."}
    agents.scripts.append(calls("report_progress", taken))
    assert chat.talk().event_type == "turn.completed"
    assert chat.end_of(chat.answer(card, "rejected", {"note": "No."})).event_type == "turn.completed"
    assert entity(chat, f"approval:{card}")["status"] == "rejected"


@pytest.mark.requirement("interaction.refused")
@pytest.mark.parametrize(
    ("outcome", "result", "code"),
    [
        ("rejected", {"reason": "x" * 8_193}, "message_too_large"),
        ("rejected", {"reason": "é" * 4_097}, "message_too_large"),
        ("rejected", {"reason": {"text": "No"}}, "interaction_answer_invalid"),
        ("rejected", {"reason": "No", "lockedVerdict": "approve"}, "interaction_answer_invalid"),
        ("accepted", ["yes"], "invalid_request"),
    ],
)
def test_an_answer_of_the_wrong_shape_or_size_leaves_the_card_open(
    agents: MemoryDriver, chat: Chat, outcome: str, result: Any, code: str
) -> None:
    card = asked(agents, chat, "request_human_input", QUESTION)
    with pytest.raises(Refusal) as caught:
        chat.answer(card, outcome, result)
    assert caught.value.code == code
    assert (entity(chat, f"interaction:{card}")["status"], chat.row.turns.count()) == ("pending", 1)
    chat.end_of(chat.answer(card, "rejected", {"reason": "é" * 4_096, "summary": ["x" * 8_200]}))
    assert entity(chat, f"interaction:{card}")["status"] == "rejected"


@pytest.mark.requirement("interaction.one-winner")
def test_of_eight_decisions_at_once_exactly_one_counts(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(agents, chat, "request_approval", APPROVAL)
    wishes = ["approved", "rejected"] * 4
    outcomes = at_once(*[lambda wish=wish: chat.answer(card, wish, {"note": wish}) for wish in wishes])
    [winner] = [place for place, one in enumerate(outcomes) if isinstance(one, int)]
    losers = {one.code for one in outcomes if isinstance(one, Refusal)}
    assert losers <= {"approval_already_decided", "turn_active"}
    assert sum(isinstance(one, Refusal) for one in outcomes) == 7
    assert chat.end_of(outcomes[winner]).event_type == "turn.completed"
    decided = entity(chat, f"approval:{card}")
    assert (decided["status"], decided["decisionNote"]) == (wishes[winner], wishes[winner])
    assert len(chat.events("interaction.response.resolved")) == 1
    assert len(agents.messages) == 2


@pytest.mark.requirement("interaction.secret")
@pytest.mark.parametrize(
    ("operation_id", "arguments", "outcome", "result"),
    [
        ("request_human_input", QUESTION, "accepted", {"reason": f"use {SECRET}"}),
        ("request_approval", APPROVAL, "approved", {"note": f"use {SECRET}"}),
    ],
)
def test_a_secret_in_an_answer_reaches_the_agent_and_no_row(
    agents: MemoryDriver, chat: Chat, operation_id: str, arguments: dict[str, Any], outcome: str, result: Any
) -> None:
    card = asked(agents, chat, operation_id, arguments)
    chat.end_of(chat.answer(card, outcome, result))
    assert SECRET in agents.messages[-1]
    rows = {model.__name__: str(list(model._default_manager.values())) for model in apps.get_models()}
    assert {name for name, everything in rows.items() if "FAKEanswerkey" in everything} == set()
    assert "use " in rows["Interaction" if operation_id == "request_human_input" else "Approval"]


@pytest.mark.requirement("company.answer.parts")
def test_verdicts_come_in_parts_and_the_card_waits_for_the_rest(agents: MemoryDriver, chat: Chat) -> None:
    items = {"payload": {"items": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]}}
    card = asked(agents, chat, "request_human_input", {**QUESTION, "interactionKind": "item_verdicts", **items})
    chat.end_of(chat.answer(card, "answered", {"verdicts": {"a": "approve"}}))
    assert entity(chat, f"interaction:{card}")["status"] == "pending"
    chat.end_of(chat.answer(card, "answered", {"verdicts": {"b": "reject"}}))
    assert entity(chat, f"interaction:{card}")["status"] == "answered"
    shown = [event.payload["card"] for event in chat.events("interaction.response.resolved")]
    assert [one["state"] for one in shown] == ["pending", "answered"]
    assert [item.get("lockedVerdict") for item in shown[0]["payload"]["items"]] == ["approve", None]


@pytest.mark.requirement("cleanroom.wake.shown")
def test_a_wake_that_an_answer_brings_is_shown_and_starts_no_turn(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(agents, chat, "request_human_input", {**QUESTION, "continuationPolicy": "wake_assignee"})
    chat.end_of(chat.answer(card, "accepted"))
    [resolved] = chat.events("interaction.response.resolved")
    assert [record["label"] for record in resolved.payload["records"]] == ["Wake delivered"]
    assert resolved.payload["records"][0]["body"].endswith("Codex gets this news in this turn.")
    assert entity(chat, "wake:wake-0001")["status"] == "delivered"
    assert len(agents.messages) == 2, "the message and the answer, and nothing for the wake"


@pytest.mark.requirement("cleanroom.wake.shown")
def test_a_wake_that_a_message_brings_is_shown_in_the_turn_of_the_message(agents: MemoryDriver, chat: Chat) -> None:
    asked(agents, chat, "request_human_input", {**QUESTION, "continuationPolicy": "wake_assignee"})
    chat.talk("Never mind")
    [resolved] = chat.events("interaction.response.resolved")
    assert [record["label"] for record in resolved.payload["records"]] == ["Wake delivered"]
    assert resolved.payload["records"][0]["body"].endswith("Codex gets this news in this turn.")
    assert (resolved.turn_id, len(agents.messages)) == ("turn-2", 2)


@pytest.mark.requirement("message.refused-by-the-company")
def test_a_message_that_a_fault_of_the_company_refuses_costs_nothing_and_goes_through_again(
    agents: MemoryDriver, chat: Chat
) -> None:
    asked(agents, chat, "request_human_input", QUESTION)
    FaultFactory(company=Company.objects.get(pk=chat.company_id), command_kind="post_board_comment", code="outage")
    turns = chat.row.turn_count
    with pytest.raises(Refusal) as refused:
        chat.send("Never mind")
    assert (refused.value.code, chat.row.turn_count) == ("outage", turns)
    assert DecisionRecord.objects.filter(company_id=chat.company_id, outcome="faulted").count() == 1
    assert chat.talk("Never mind").event_type == "turn.completed"
    assert agents.messages[-1] == "Never mind"
    assert chat.row.turn_count == turns + 1


@pytest.mark.requirement("interaction.superseded")
def test_a_message_while_a_question_waits_supersedes_it(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(agents, chat, "request_human_input", QUESTION)
    chat.talk("Never mind")
    question = entity(chat, f"interaction:{card}")
    assert (question["status"], question["result"]["outcome"]) == ("expired", "superseded_by_comment")
    [resolved] = chat.events("interaction.response.resolved")
    assert resolved.payload["card"]["state"] == "superseded_by_comment"
    [comment] = [
        one for one in history.list_revisions(company_id=chat.company_id) if one.operation == "post_board_comment"
    ]
    assert comment.cause.turn_id == "turn-2"
    first, second = chat.events("turn.submitted")
    assert (first.payload["recorded"], second.payload["recorded"]) == (False, True)
    assert chat.events("issue.status.decision.applied")[-1].turn_id is None
    with pytest.raises(InteractionAlreadyResolved):
        chat.answer(card, "accepted")


@pytest.mark.requirement("interaction.superseded")
def test_a_message_leaves_an_approval_pending(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(agents, chat, "request_approval", APPROVAL)
    chat.talk("Never mind")
    assert entity(chat, f"approval:{card}")["status"] == "pending"
    assert chat.events("turn.submitted")[-1].payload["recorded"] is True  # nothing was superseded, and it stands there
    assert chat.end_of(chat.answer(card, "approved")).event_type == "turn.completed"


def test_a_message_that_cannot_be_handed_over_fails_its_turn(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> bool:
        raise OperationalError("database is locked")

    chat.put_to_rest()
    monkeypatch.setattr(turn_rows, "is_live", broken)
    assert chat.send() == 1  # it was admitted; what became of it is in the log
    assert chat.end_of(1).payload["code"] == "internal_error"


def test_only_one_of_two_messages_at_once_is_admitted(agents: MemoryDriver, chat: Chat) -> None:
    agents.gates.terminal.hold()
    outcomes = at_once(chat.send, chat.send)
    assert sorted(type(one).__name__ for one in outcomes) == ["TurnActive", "int"]
    agents.gates.terminal.release()
    assert chat.end_of(1).event_type == "turn.completed"
    assert chat.row.turn_count == 1
