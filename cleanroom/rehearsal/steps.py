"""What a message asks for, in order: the table of intents laid over a person's words. Pure.

The first match in the text goes first. At the same place a row that names its object wins over one that names none
(`ask me to confirm` over `ask me`), then the nearest object, which is the shorter match, then the order of the table.
After the first request another begins only where a request can: after a stop, a comma, "and", "then". So `ask me
whether to finish the issue` finishes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cleanroom.rehearsal import plans
from cleanroom.rehearsal.intents import INTENTS, Intent, row
from cleanroom.rehearsal.reply import Memory, Plan
from cleanroom.rehearsal.words import Clause, exact_words, hide_quotes

NOT = re.compile(r"\b(?:don't|do not|don’t|never|without|not yet|instead of)\b[^.;:,!?\n]{0,20}$", re.IGNORECASE)
ASKS_HOW = re.compile(r"\b(?:how (?:do|does|can|could|would)|why (?:do|does|did))\b[^.!?\n]*$", re.IGNORECASE)
BEGINS = re.compile(
    r"(?:[.;:,!?\n()•—]|\s[*–-]|\b(?:and|then|also|next|finally|afterwards|plus|but|now|first)\b)"
    r"(?:\s|\b(?:please|then|also|kindly|now|just|(?:can|could|may|will|would|should)? ?you)\b)*$",
    re.IGNORECASE,
)
JSON_FOLLOWS = re.compile(
    r"\s*`?\s*(?:(?:with|using)\b)?(?:\s*(?:the )?(?:arguments?|args|json|input|parameters))?[\s:=`]*(?=\{)"
    r"|\s*(?:with|using)\b[^{\n]{0,20}?(?=\[)",
    re.IGNORECASE,
)
NATURAL = {  # operations whose plan finds the arguments by itself, so a bare name is enough
    "get_task_context": "read_issue",
    "get_task_history": "read_history",
    "report_progress": "record_status",
    "answer_status_question": "answer_status",
    "list_documents": "list_documents",
    "read_document": "read_document",
    "write_document": "write_document",
    "request_human_input": "ask_question",
    "request_approval": "request_approval",
    "request_review": "request_review",
    "create_task": "create_task",
    "block_task": "block_task",
    "finish_task": "finish_task",
    "schedule_wake": "schedule_wake",
    "register_deliverable": "register_deliverable",
    "comment_on_approval": "comment_on_approval",
    "decide_approval": "decide_approval",
    "control_workspace_service": "control_service",
    "generic_api_request": "generic_request",
}
BY_NAME = {intent.name: intent for intent in INTENTS}
NAMED_CALL = re.compile(
    rf"(?:\b(?:call|use|invoke|try)(?: the)?(?: (?:tool|operation))? `?(?P<any>[a-z]+(?:_[a-z]+)+)`?"
    rf"|`?\b(?P<known>{'|'.join(NATURAL)})\b`?)(?: (?:tool|operation)\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to do, and the words that asked for it."""

    intent: Intent
    clause: Clause


def find_steps(text: str) -> list[Step]:
    """Return what a message asks for, in order. Quoted text and words after a colon are never read as a request."""
    found: list[tuple[int, int, Intent]] = []  # where the match starts, where its words end
    hidden = hide_quotes(text)
    first = match = first_match(text, hidden, 0)
    while match is not None:
        start, end, intent = match
        if match != first and not BEGINS.search(hidden[:start]):
            match = first_match(text, hidden, start + 1)
            continue
        if not NOT.search(hidden[:start]) and not ASKS_HOW.search(hidden[:start]):
            found.append(match)
        match = first_match(text, hidden, end)
        exact = exact_words(text, end, greedy=intent.greedy)
        if exact and (match is None or match[0] >= exact[0]):
            match = first_match(text, hidden, exact[1])
    ends = [*(start for start, _, _ in found[1:]), len(text)]
    steps = [
        Step(intent=intent, clause=Clause(text=until(text[start:stop]), tail=until(text[end:stop])))
        for (start, end, intent), stop in zip(found, ends, strict=False)
    ]
    return [step for index, step in enumerate(steps) if not repeats(step, steps[index - 1] if index else None)]


def repeats(step: Step, before: Step | None) -> bool:
    """Whether a step only says again what the one before it said, as in `call report_progress to leave a status`."""
    return before is not None and step.intent.name == before.intent.name and not step.clause.exact


def first_match(text: str, hidden: str, position: int) -> tuple[int, int, Intent] | None:
    matches = [
        (match.start(), intent.broad, match.end(), order, intent)
        for order, intent in enumerate(INTENTS)
        if (match := intent.pattern.search(hidden, position))
    ]
    best = min(matches, default=None, key=lambda match: match[:4])
    named = NAMED_CALL.search(text, position)
    if named and (best is None or named.start() <= best[0]):
        return named_match(text, named)
    return (best[0], best[2], best[4]) if best else None


def named_match(text: str, named: re.Match[str]) -> tuple[int, int, Intent]:
    """Return the intent for a tool called by its name: with the JSON that follows, else by its own plan if any.

    When what follows cannot be read, nothing is called, and nothing after it is read as a request.
    """
    name = (named["any"] or named["known"]).lower()
    follows = JSON_FOLLOWS.match(text, named.end())
    if follows is None and name in NATURAL:
        return named.start(), named.end(), BY_NAME[NATURAL[name]]
    arguments, end = json_at(text, follows.end()) if follows else ({}, named.end())
    plan: Callable[[Clause, Memory], Plan] = partial(plans.say_unreadable, name=name)
    if arguments is not None:
        plan = partial(plans.call_operation, name=name, arguments=arguments)
    return named.start(), end, row(f"call {name}", f"call `{name}`", r"$^", plan)


def json_at(text: str, start: int) -> tuple[Mapping[str, Any] | None, int]:
    """Return the JSON object that begins at `start`, and where it ends; None and the text's end when it is none."""
    try:
        data, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return None, len(text)
    return (data, end) if isinstance(data, dict) else (None, len(text))


def until(text: str) -> str:
    """Cut the words that lead over to the next request off the end of a clause."""
    return re.sub(r"[\s,;.]*\b(?:and\s+)?(?:then|and|also|finally|next)?\s*$", "", text, flags=re.IGNORECASE).rstrip(
        " ,;"
    )
