"""One request in, one reply out: the whole model as a pure function.

The plans of the newest message are run from their start, and each is handed the results that the conversation already
holds. The first call without a result is the reply; when there is none, the reply is what the plans had to say.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cleanroom.rehearsal.asking import answer_in_words, asked_arguments, asking_exchange
from cleanroom.rehearsal.conversation import Conversation, Exchange, Result, read
from cleanroom.rehearsal.intents import INTENTS
from cleanroom.rehearsal.prose import as_quote, denied
from cleanroom.rehearsal.reply import Call, Memory, Plan, Reply, Said
from cleanroom.rehearsal.steps import Step, find_steps
from cleanroom.rehearsal.words import in_words, shortened

WHO = "I am the rehearsal model: rules, not a language model."
KEYED_BUT_WITHHELD = ("decide_approval", "control_workspace_service")  # their schema is never in a request
GREETING = re.compile(r"^\s*(?:hi|hello|hey|good (?:morning|day|evening)|thanks|thank you)\b", re.IGNORECASE)
HELP = re.compile(r"\b(?:help|what can you do|who are you|what are you|which commands)\b", re.IGNORECASE)


def decide(body: Mapping[str, Any]) -> Reply:
    """Return the answer to one Responses-API request. Same request, same reply; nothing raises."""
    conversation = read(body)
    newest = conversation.newest
    if newest.late_denial is not None:
        return Reply(text=denied(newest.results[-1].name, newest.late_denial) if newest.results else "")
    memory = Memory(tools=conversation.tools, earlier=conversation.exchanges[:-1])
    steps, opening = steps_of(conversation, memory)
    if not steps and opening is None:
        return Reply(text=small_talk(newest.text))
    return run(steps, opening=opening or "", conversation=conversation, memory=memory)


def steps_of(conversation: Conversation, memory: Memory) -> tuple[list[Step], str | None]:
    """Return what is to be done now, and a sentence to open with when the message is an answer of the board."""
    newest = conversation.newest
    if newest.answer is None:
        now, later = split_at_question(find_steps(newest.text))
        memory.postponed = tuple(step.intent.title for step in later)
        return now, None
    asked = asking_exchange(conversation.exchanges[:-1]) or Exchange(text="")
    arguments = asked_arguments(asked)
    memory.answer = answer_in_words(newest.answer, arguments)
    memory.question = str(arguments.get("prompt", ""))
    _, later = split_at_question(find_steps(asked.text))
    outcome = str(newest.answer.get("outcome") or newest.answer.get("decision"))
    return later, f"Thank you. You answered **{shortened(memory.answer)}** (`{outcome}`)."


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
    failure = next((part.failure for part in said if part.failure is not None), None)
    text = "\n\n".join(part.text for part in said if part.text)
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
    return f"**Planning**\n\nThe message asks me to {in_words([step.intent.title for step in steps])}{order}."


# ---------------------------------------------------------------- everything else a person types
def small_talk(text: str) -> str:
    if HELP.search(text):
        return help_text()
    if GREETING.search(text):
        return f"Hello! {WHO} I can work this issue with real tools. {suggestion()}"
    words = len(text.split())
    return (
        f"{WHO} You wrote {words} word{'' if words == 1 else 's'}:\n\n{as_quote(shortened(text, limit=300))}\n\n"
        f"I found nothing in it that my rules know how to do. {suggestion()}"
    )


def suggestion() -> str:
    return "Try “Read this issue, then record a one-sentence status on it”, or type “help” for everything I can do."


def help_text() -> str:
    lines = "\n".join(f"- {intent.example}" for intent in INTENTS if intent.example)
    return (
        f"{WHO} I match words, choose tools by them, and use what comes back. Everything behind me is real: Codex, its "
        f"runner, the tools and the denials. You can ask for several things in one message, joined by “then”. Words in "
        f"quotes or after a colon are taken exactly. For example:\n\n{lines}\n"
        '- Call `get_task_history` with {"limit": 5} (any tool by its name, offered or not)'
    )
