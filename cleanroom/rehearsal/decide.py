"""One request in, one reply out: the whole model as a pure function.

The plans of the newest message are run from their start, and each is handed the results that the conversation already
holds. The first call without a result is the reply; when there is none, the reply is what the plans had to say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cleanroom.rehearsal.answers import NO, Answer, asked_in, asking_index, from_card, from_words, is_choice
from cleanroom.rehearsal.conversation import Conversation, Exchange, Result, known_identifiers, read
from cleanroom.rehearsal.phrasing import OPEN_QUESTIONS
from cleanroom.rehearsal.prose import denied, with_identifiers
from cleanroom.rehearsal.reply import Call, Memory, Plan, Reply, Said
from cleanroom.rehearsal.steps import Step, find_steps
from cleanroom.rehearsal.talk import is_small_talk, small_talk
from cleanroom.rehearsal.words import in_words

KEYED_BUT_WITHHELD = ("decide_approval", "control_workspace_service")  # their schema is never in a request
TELLS_THE_ANSWER = ("record_status", "answer_status", "comment_on_approval")  # sensible after a "no" as well
ON_THE_CARD = "Only the card decides this approval: please press Approve or Reject on it. I wait for that."

THINKING_S = 0.1  # seconds a word, while the reason of a refusal is still on its way


def decide(body: Mapping[str, Any]) -> Reply:
    """Return the answer to one Responses-API request. Same request, same reply; nothing raises."""
    conversation = read(body)
    newest = conversation.newest
    if newest.late_denial is not None:
        text = denied(newest.denied_name, newest.late_denial)
        return Reply(text=with_identifiers(text, known_identifiers(conversation)))
    memory = Memory(tools=conversation.tools, earlier=conversation.exchanges[:-1])
    steps, opening = steps_of(conversation, memory)
    if not steps and opening is None:
        return Reply(text=small_talk(newest.text))
    return run(steps, opening=opening or "", conversation=conversation, memory=memory)


def steps_of(conversation: Conversation, memory: Memory) -> tuple[list[Step], str | None]:
    """Return what is to be done now, and a sentence to open with when the message is an answer of the board."""
    exchanges = conversation.exchanges
    found = answer_at(exchanges, len(exchanges) - 1)
    wanted = wanted_at(exchanges, len(exchanges) - 1)
    now, later = split_at_question(wanted)
    memory.postponed = tuple(step.intent.title for step in later)
    if found is None:
        waits = waiting_call(exchanges, len(exchanges) - 1)
        held = waits is not None and waits.name == "request_approval" and not wanted
        return now, ON_THE_CARD if held and not is_small_talk(conversation.newest.text) else None
    answer, asked = found
    memory.answer, memory.question = answer.words, str(asked.arguments.get("prompt", "")) if asked else ""
    thanks = "Thank you. " if conversation.newest.answer is not None else ""
    dropped = titles(left_out(exchanges, len(exchanges) - 1, answer))
    return now, f"{thanks}{answer.sentence}." + (f" So I leave this out: {dropped}." if dropped else "")


def wanted_at(exchanges: tuple[Exchange, ...], index: int) -> list[Step]:
    """Return everything that a message asks for. An answer takes up what was left when the board was asked."""
    if index < 0:
        return []
    found = answer_at(exchanges, index)
    if found is None:
        return find_steps(exchanges[index].text)
    return [*_wanted_after(exchanges, index, *found), *find_steps(exchanges[index].more)]


def _wanted_after(exchanges: tuple[Exchange, ...], index: int, answer: Answer, asked: Result | None) -> list[Step]:
    """Return what an answer asks for: what was left when the board was asked, as far as the answer allows it."""
    left = left_at(exchanges, index)
    if answer.outcome in NO:
        return [step for step in left if step.intent.name in TELLS_THE_ANSWER]
    is_open = asked is not None and asked.arguments.get("prompt") in OPEN_QUESTIONS
    return left or (find_steps(answer.words) if is_open else [])


def left_at(exchanges: tuple[Exchange, ...], index: int) -> list[Step]:
    """Return what was left to be done when the board was last asked before a message."""
    before = asking_index(exchanges[:index])
    return split_at_question(wanted_at(exchanges, before))[1] if before is not None else []


def left_out(exchanges: tuple[Exchange, ...], index: int, answer: Answer) -> list[Step]:
    """Return what was announced when the board was asked and, after its "no", is not done."""
    if answer.outcome not in NO:
        return []
    return [step for step in left_at(exchanges, index) if step.intent.name not in TELLS_THE_ANSWER]


def titles(steps: Sequence[Step]) -> str:
    return in_words([step.intent.title for step in steps])


def answer_at(exchanges: tuple[Exchange, ...], index: int) -> tuple[Answer, Result | None] | None:
    """Return the board's answer that a message is, and the call it answers; None when it is a message of its own.

    A card's answer says so. Typed words are one when the turn before asked and they ask for nothing themselves.
    """
    if index < 0:
        return None
    exchange = exchanges[index]
    if exchange.answer is not None:
        before = asking_index(exchanges[:index])
        asked = asked_in(exchanges[before]) if before is not None else None
        return from_card(exchange.answer, asked.arguments if asked else {}), asked
    asked = waiting_call(exchanges, index)
    if asked is None or asked.name != "request_human_input":
        return None
    if not is_choice(exchange.text, asked) and (is_small_talk(exchange.text) or find_steps(exchange.text)):
        return None
    typed = from_words(exchange.text, asked)
    return (typed, asked) if typed else None


def waiting_call(exchanges: tuple[Exchange, ...], index: int) -> Result | None:
    """Return the call of the turn right before that asked the board and has no answer yet; None when there is none."""
    asked = asked_in(exchanges[index - 1]) if index > 0 else None
    return asked if asked is not None and asked.ok else None


def split_at_question(steps: list[Step]) -> tuple[list[Step], list[Step]]:
    """Divide at the first step that asks the board: what follows waits, except reaching for what is withheld."""
    asking = next((index for index, step in enumerate(steps) if step.intent.waits), None)
    if asking is None:
        return steps, []
    after = steps[asking + 1 :]
    return [*steps[: asking + 1], *(s for s in after if s.intent.reaches)], [s for s in after if not s.intent.reaches]


def run(steps: list[Step], *, opening: str, conversation: Conversation, memory: Memory) -> Reply:
    results = iter(conversation.newest.results)
    said = [Said(text=opening)] if opening else []
    made = 0
    for step in steps:
        outcome, made = advance(step.intent.plan(step.clause, memory), results, made)
        if not isinstance(outcome, Said):
            first = made == 0
            calls = tuple(with_key(call, made + index, conversation) for index, call in enumerate(outcome))
            return Reply(calls=calls, thinking=thoughts(steps) if first else "")
        said.append(outcome)
    slow = next((part.seconds_a_word for part in said if part.seconds_a_word is not None), None)
    if slow is None and conversation.newest.awaits_denial:
        slow = THINKING_S  # no real model answers at once; the denial is on its way
    failure = next((part.failure for part in said if part.failure is not None), None)
    names = known_identifiers(conversation)
    parts = [part.text if part.exact else with_identifiers(part.text, names) for part in said]
    text = "\n\n".join(part for part in parts if part)
    alone = made == 0 and any(step.intent.name == "think" for step in steps)
    return Reply(text=text, seconds_a_word=slow, failure=failure, thinking=thoughts(steps) if alone else "")


def advance(plan: Plan, results: Iterator[Result], made: int) -> tuple[Said | tuple[Call, ...], int]:
    """Run one plan as far as the results go. Returns what it says, or the calls it now needs, and the calls so far."""
    try:
        wanted = next(plan)
        while True:
            held = [result for _, result in zip(wanted, results, strict=False)]
            if len(held) < len(wanted):
                return wanted[len(held) :], made + len(held)
            made += len(held)
            wanted = plan.send(tuple(held))
    except StopIteration as end:
        outcome: Said = end.value
        return outcome, made


def with_key(call: Call, position: int, conversation: Conversation) -> Call:
    """Add the idempotency key to a call whose operation takes one.

    It is made of the place in the conversation and of what is asked, so a model that is asked again after a crash, by
    Codex or by a person in the same words, repeats the same key, and no other call ever does.
    """
    schema = conversation.tools.get(call.name, {})
    if "idempotencyKey" not in schema.get("properties", {}) and call.name not in KEYED_BUT_WITHHELD:
        return call
    if "idempotencyKey" in call.arguments:
        return call
    place = [conversation.asking, conversation.newest.text, position, call.name, call.arguments]
    digest = hashlib.sha256(json.dumps(place, sort_keys=True).encode()).hexdigest()[:24]
    return Call(name=call.name, arguments={"idempotencyKey": f"rehearsal-{digest}", **call.arguments}, patch=call.patch)


def thoughts(steps: Sequence[Step]) -> str:
    """Return a summary of reasoning for a message that asks for several things, or that asks to think."""
    if len(steps) < 2 and not any(step.intent.name == "think" for step in steps):
        return ""
    order = ", in that order" if len(steps) > 1 else ""
    return f"**Planning**\n\nThe message asks me to {titles(steps)}{order}."
