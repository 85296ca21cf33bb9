"""Answers that the agent was never given: kept, handed on by the next turn, and only then called delivered."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from cleanroom import answers, outbox, startup
from cleanroom.codex.drafts import Draft
from cleanroom.harness import AgentUnavailableError
from mockcore.models import Company
from mockcore.plane import ApprovalAlreadyDecided, InteractionAlreadyResolved
from mockcore.refusal import Refusal
from tests.cleanroom.support.chat import Chat
from tests.cleanroom.support.memory_driver import MemoryAgent, MemoryDriver
from tests.cleanroom.support.scripts import APPROVAL, QUESTION, calls
from tests.factories import FaultFactory

pytestmark = pytest.mark.requirement("turn.answer-kept")

SECRET = "sk-proj-FAKEanswerkeyFAKEanswerkey55"
Lose = Callable[[Chat, Callable[[], int]], int]


async def silence(agent: MemoryAgent, message: str) -> None:
    await asyncio.Event().wait()


async def nothing(agent: MemoryAgent, message: str) -> None:
    return None


async def compacting(agent: MemoryAgent, message: str) -> None:
    for kind in ("compaction", "usage"):
        payload = {"kind": kind}
        await agent.tell(Draft(type="item.completed", payload=payload, turn_id=agent.turn_id, item_id=kind))
    await asyncio.Event().wait()


def asked(chat: Chat, operation_id: str = "request_human_input", arguments: dict[str, Any] = QUESTION) -> str:
    chat.agents.scripts.append(calls(operation_id, arguments))
    assert chat.talk().event_type == "turn.completed"
    return chat.cards()[-1]


def no_agent_starts(chat: Chat, begin: Callable[[], int]) -> int:
    chat.put_to_rest()
    chat.agents.refusal = AgentUnavailableError("It does not start.")
    ordinal = begin()
    assert chat.end_of(ordinal).payload["code"] == "codex_unavailable"
    chat.agents.refusal = None
    return ordinal


def the_agent_dies_before_it_names_the_turn(chat: Chat, begin: Callable[[], int]) -> int:
    name = chat.agents.gates.name
    name.hold()
    ordinal = begin()
    assert name.reached.wait(5)
    chat.agents.living[-1].die()
    assert chat.end_of(ordinal).payload["code"] == "codex_unavailable"
    name.release()
    return ordinal


def the_agent_dies_as_it_has_named_the_turn(chat: Chat, begin: Callable[[], int]) -> int:
    """A name is no proof: Codex keeps a message some milliseconds after it has named the turn."""
    chat.agents.scripts.append(silence)
    ordinal = begin()
    chat.agents.wait_until(lambda: chat.events("turn.started")[-1].turn_id == f"turn-{ordinal}")
    chat.agents.living[-1].die()
    assert chat.end_of(ordinal).payload["code"] == "codex_unavailable"
    return ordinal


def the_server_is_killed_after_the_202(chat: Chat, begin: Callable[[], int]) -> int:
    chat.put_to_rest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "hand_over", lambda turn: None)
        ordinal = begin()
    assert startup.settle_cut_rooms() == 1
    assert chat.end_of(ordinal).payload["code"] == "server_restarted"
    return ordinal


WAYS = [
    no_agent_starts,
    the_agent_dies_before_it_names_the_turn,
    the_agent_dies_as_it_has_named_the_turn,
    the_server_is_killed_after_the_202,
]


def delivered(chat: Chat) -> list[str]:
    return [event.payload["interactionId"] for event in chat.events("interaction.response.delivered")]


def parts(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the answers that a text to the agent begins with, and the rest of it."""
    *kept, last = text.split("\n\n")
    return [json.loads(one) for one in kept], last


def test_an_answer_is_called_delivered_when_the_agent_works_with_it_and_not_before(
    agents: MemoryDriver, chat: Chat
) -> None:
    card = asked(chat)
    agents.gates.name.hold()
    ordinal = chat.answer(card, "accepted")
    assert agents.gates.name.reached.wait(5)
    assert delivered(chat) == []
    agents.gates.name.release()
    chat.end_of(ordinal)
    assert delivered(chat) == [card]
    types = [event.event_type for event in chat.events("turn.started", "interaction.response.delivered")]
    assert types == ["turn.started", "turn.started", "interaction.response.delivered"]
    chat.talk("Go on")
    assert (agents.messages[-1], delivered(chat)) == ("Go on", [card]), "once is enough"


def test_that_an_answer_was_delivered_is_written_at_once(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = asked(chat)
    monkeypatch.setattr(outbox, "PROGRESS_S", 3600.0)
    agents.gates.terminal.hold()
    ordinal = chat.answer(card, "accepted")
    assert agents.gates.terminal.reached.wait(5)
    deadline = time.monotonic() + 5
    while not delivered(chat) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert delivered(chat) == [card]
    agents.gates.terminal.release()
    chat.end_of(ordinal)


@pytest.mark.parametrize("lose", WAYS)
def test_an_answer_that_was_lost_goes_before_the_next_message(agents: MemoryDriver, chat: Chat, lose: Lose) -> None:
    card = asked(chat)
    lose(chat, lambda: chat.answer(card, "accepted", {"reason": "fine"}))
    assert delivered(chat) == []
    with pytest.raises(InteractionAlreadyResolved):
        chat.answer(card, "accepted")
    assert chat.talk("Go on").event_type == "turn.completed"
    [kept], rest = parts(agents.messages[-1])
    assert (kept["schema"], kept["interactionId"]) == ("paperclip.semantic-interaction-result.v1", card)
    assert (kept["kind"], kept["outcome"], kept["result"]["reason"]) == ("confirmation", "accepted", "fine")
    assert rest == "Go on"
    assert chat.events("turn.submitted")[-1].payload["text"] == "Go on"
    assert delivered(chat) == [card]
    chat.talk("And on")
    assert (agents.messages[-1], delivered(chat)) == ("And on", [card])


def test_what_an_agent_says_before_it_reads_delivers_nothing(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(chat)
    agents.scripts.append(compacting)
    ordinal = chat.answer(card, "accepted")
    agents.wait_until(lambda: [event for event in chat.events("item.completed") if event.payload["kind"] == "usage"])
    agents.living[-1].die()
    chat.end_of(ordinal)
    assert delivered(chat) == []
    chat.talk("Go on")
    assert delivered(chat) == [card]


def test_an_answer_that_the_agent_has_finished_without_a_word_is_delivered(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(chat)
    agents.scripts.append(nothing)
    chat.end_of(chat.answer(card, "accepted"))
    assert delivered(chat) == [card]


def test_an_answer_that_a_call_follows_is_delivered_before_the_call(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(chat)
    agents.scripts.append(calls("get_task_context", {}))
    chat.end_of(chat.answer(card, "accepted"))
    assert delivered(chat) == [card]
    told = chat.events("interaction.response.delivered", "item.completed")
    names = [event.payload.get("operationId", event.event_type) for event in told]
    assert names.index("interaction.response.delivered") < names.index("get_task_context")


def test_an_answer_is_kept_until_a_turn_brings_it_however_many_are_lost(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(chat)
    no_agent_starts(chat, lambda: chat.answer(card, "accepted"))
    no_agent_starts(chat, lambda: chat.send("Anybody there?"))
    assert delivered(chat) == []
    chat.talk("Go on")
    [kept], rest = parts(agents.messages[-1])
    assert (kept["interactionId"], rest, delivered(chat)) == (card, "Go on", [card])


def test_an_answer_that_was_lost_goes_before_the_next_answer_as_it_is_stored(agents: MemoryDriver, chat: Chat) -> None:
    approval = asked(chat, "request_approval", APPROVAL)
    question = asked(chat)
    no_agent_starts(chat, lambda: chat.answer(approval, "approved", {"note": f"use {SECRET}"}))
    chat.end_of(chat.answer(question, "accepted"))
    [kept], last = parts(agents.messages[-1])
    assert (kept["interactionId"], kept["kind"], kept["outcome"]) == (approval, "approval", "approved")
    assert kept["result"]["note"].startswith("use ")
    assert SECRET not in agents.messages[-1], "only the company has it, and it has it redacted"
    assert json.loads(last)["interactionId"] == question
    assert delivered(chat) == [approval, question]


def test_a_part_of_an_answer_that_was_lost_goes_before_the_rest(agents: MemoryDriver, chat: Chat) -> None:
    items = {"payload": {"items": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]}}
    card = asked(chat, arguments={**QUESTION, "interactionKind": "item_verdicts", **items})
    no_agent_starts(chat, lambda: chat.answer(card, "answered", {"verdicts": {"a": "approve"}}))
    chat.end_of(chat.answer(card, "answered", {"verdicts": {"b": "reject"}}))
    [kept], last = parts(agents.messages[-1])
    assert (kept["outcome"], list(kept["result"]["verdicts"])) == ("answered", ["a"])
    assert json.loads(last)["result"] == {"verdicts": {"b": "reject"}}
    assert delivered(chat) == [card]


def test_an_answer_the_user_stopped_before_an_agent_had_it_is_kept(agents: MemoryDriver, chat: Chat) -> None:
    card = asked(chat)
    chat.put_to_rest()
    agents.gates.start.hold()
    ordinal = chat.answer(card, "accepted")
    assert agents.gates.start.reached.wait(5)
    chat.interrupt()
    assert chat.end_of(ordinal).event_type == "turn.interrupted"
    agents.gates.start.release()
    chat.talk("Go on")
    [kept], rest = parts(agents.messages[-1])
    assert (kept["interactionId"], rest, delivered(chat)) == (card, "Go on", [card])


@pytest.mark.requirement("interaction.lost-acknowledgement")
@pytest.mark.parametrize(
    ("operation_id", "arguments", "outcome", "over"),
    [
        ("request_human_input", QUESTION, "accepted", InteractionAlreadyResolved),
        ("request_approval", APPROVAL, "approved", ApprovalAlreadyDecided),
    ],
)
def test_an_answer_whose_acknowledgement_was_lost_is_sent_again_and_handed_on_once(
    agents: MemoryDriver, chat: Chat, operation_id: str, arguments: dict[str, Any], outcome: str, over: type[Exception]
) -> None:
    card = asked(chat, operation_id, arguments)
    FaultFactory(company=Company.objects.get(pk=chat.row.company_id), effect="lost_ack", code="lost")
    with pytest.raises(Refusal, match="fault"):
        chat.answer(card, outcome)
    with pytest.raises(over):
        chat.answer(card, "rejected" if outcome == "approved" else "declined")
    assert len(agents.messages) == 1
    assert chat.end_of(chat.answer(card, outcome)).event_type == "turn.completed"
    assert [json.loads(message)["outcome"] for message in agents.messages[1:]] == [outcome]
    assert delivered(chat) == [card]
    [resolved] = chat.events("interaction.response.resolved")
    assert resolved.payload["card"]["state"] == outcome
    with pytest.raises(over):
        chat.answer(card, outcome)
