"""Does an answer fit its card? Pure: the card and the board's answer in, what is stored out.

Each kind is one function in `CHECKS`. Ids and labels are those that the card shows. Source: reference A 3.11, issue
"mock control plane".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from mockcore.handlers import cards
from mockcore.handlers.suggestions import CHOSEN_NAMES, suggestions
from mockcore.refusal import Refusal
from mockcore.vocabulary import InteractionKind, InteractionStatus

VERDICTS = ("approve", "reject", "defer")
JSON = dict[str, Any]


class AnswerInvalid(Refusal):
    """The answer does not fit what the card asks."""

    code = "interaction_answer_invalid"


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is answered. `held` are the verdicts that an earlier, partial answer has locked."""

    kind: str
    prompt: str
    payload: JSON
    held: JSON


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is stored. An answer that is not `complete` leaves the card open, with what it said locked."""

    result: Any
    complete: bool = True


def held_verdicts(result: Any) -> JSON:
    """Return the verdicts that a pending card already holds, by item."""
    verdicts = result.get("verdicts") if isinstance(result, dict) else None
    given = verdicts.items() if isinstance(verdicts, dict) else ()
    return {name: entry for name, entry in given if isinstance(entry, dict) and entry.get("verdict") in VERDICTS}


def check(card: Card, *, outcome: str, result: Any) -> Answer:
    """Return the answer to store. Raises `AnswerInvalid` with a sentence that says what is missing or wrong."""
    if outcome == InteractionStatus.REJECTED:
        return _rejected(card, result)
    if outcome == InteractionStatus.EXPIRED:
        return Answer(result=result)
    return CHECKS[InteractionKind(card.kind)](card, result)


def _rejected(card: Card, result: Any) -> Answer:
    if cards.requires_reject_reason(card.kind, card.payload) and not _says(_field(result, "reason")):
        raise AnswerInvalid("a reason is needed to reject this")
    if card.held:
        return Answer(result={**_object(result), "verdicts": card.held})
    return Answer(result=result)


# ---------------------------------------------------------------- one function per kind
def _questions(card: Card, result: Any) -> Answer:
    asked = {one.id: one for one in cards.questions_of(card.payload, prompt=card.prompt)}
    given = _field(result, "answers")
    if given is None:  # a plain object of question id to answer is as good
        given = {name: value for name, value in _object(result).items() if name in asked}
    if not isinstance(given, dict):
        raise AnswerInvalid("answers must be an object: question id to answer")
    _only_known(given, asked, name="question")
    for question in asked.values():
        value = given.get(question.id)
        if question.required and not _says(value):
            raise AnswerInvalid(f"question {question.id} needs an answer")
        if question.options and _says(value):
            _one_of(value, question)
    return Answer(result=result)


def _one_of(value: Any, question: cards.AskedQuestion) -> None:
    """A card sends the label that it shows; an id is as good."""
    known = {option.id for option in question.options} | {_shown(option.label) for option in question.options}
    known |= {option.label for option in question.options}
    if not all(isinstance(one, str) and one.strip() in known for one in _each(value)):
        raise AnswerInvalid(f"the answer to question {question.id} is none of its options")


def _confirmation(card: Card, result: Any) -> Answer:
    return Answer(result=result)


def _checkbox(card: Card, result: Any) -> Answer:
    chosen = _ids(_field(result, "selectedOptionIds", []), name="selectedOptionIds")
    _only_known(chosen, {option.id for option in cards.options_of(card.payload)}, name="option")
    least, most = cards.selection_bounds(card.payload)
    if not least <= len(chosen) <= most:
        raise AnswerInvalid(f"{least} to {most} options must be chosen, not {len(chosen)}")
    return Answer(result=result)


def _suggest_tasks(card: Card, result: Any) -> Answer:
    """Without a list of ids every suggestion is accepted."""
    known = {name for one in suggestions(card.payload.get("tasks")) for name in (one.id, one.alias)}
    for name in CHOSEN_NAMES:
        if (listed := _field(result, name)) is not None:
            _only_known(_ids(listed, name=name), known, name="suggested task")
    return Answer(result=result)


def _item_verdicts(card: Card, result: Any) -> Answer:
    """Verdicts may come in parts. What was submitted is locked: it may be repeated, not changed."""
    items = {item.id: item for item in cards.items_of(card.payload)}
    given = _verdicts(result)
    _only_known(given, items, name="item")
    merged = dict(card.held)
    for name, entry in given.items():
        if name in merged and entry["verdict"] != merged[name]["verdict"]:
            raise AnswerInvalid(f"the verdict on {name} is given already")
        if name not in merged:
            merged[name] = _verdict(items[name], entry)
    if items and not set(merged) - set(card.held):
        raise AnswerInvalid("the answer holds no new verdict")
    stored = {**_object(result), "verdicts": merged}
    return Answer(result=stored if items else result, complete=set(merged) == set(items))


def _verdicts(result: Any) -> dict[str, JSON]:
    """Return the verdicts an answer gives, by item; `""` is none yet, and a plain word is a verdict without reason."""
    given = _field(result, "verdicts", {})
    if not isinstance(given, dict):
        raise AnswerInvalid("verdicts must be an object: item id to verdict")
    entries = {name: entry if isinstance(entry, dict) else {"verdict": entry} for name, entry in given.items()}
    return {name: entry for name, entry in entries.items() if entry.get("verdict") not in (None, "")}


def _verdict(item: cards.JudgedItem, entry: JSON) -> JSON:
    verdict, reason = entry["verdict"], entry.get("reason", "")
    if verdict not in VERDICTS:
        raise AnswerInvalid(f"the verdict on {item.id} must be one of: {', '.join(VERDICTS)}")
    if item.require_reason and verdict != "approve" and not _says(reason):
        raise AnswerInvalid(f"the verdict on {item.id} needs a reason")
    return {"verdict": verdict, "reason": reason}


CHECKS: dict[InteractionKind, Callable[[Card, Any], Answer]] = {
    InteractionKind.QUESTIONS: _questions,
    InteractionKind.CONFIRMATION: _confirmation,
    InteractionKind.CHECKBOX: _checkbox,
    InteractionKind.SUGGEST_TASKS: _suggest_tasks,
    InteractionKind.ITEM_VERDICTS: _item_verdicts,
}


# ---------------------------------------------------------------- small
def _object(result: Any) -> JSON:
    return result if isinstance(result, dict) else {}


def _field(result: Any, name: str, otherwise: Any = None) -> Any:
    value = _object(result).get(name)
    return otherwise if value is None else value


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _says(value: Any) -> bool:
    """Say whether a value answers anything: some text, a number, a truth, or a list of such."""
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list):
        return bool(value) and all(_says(one) for one in value)
    return value is not None


def _ids(value: Any, *, name: str) -> list[str]:
    if not isinstance(value, list) or len({str(one) for one in value}) != len(value):
        raise AnswerInvalid(f"{name} must be a list of different ids")
    return [str(one) for one in value]


def _only_known(given: Iterable[str], known: Iterable[str], *, name: str) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise AnswerInvalid(f"there is no {name} {unknown[0]}")


def _shown(label: str) -> str:
    """Return a label as a card shows it, and sends it back."""
    return label if len(label) <= cards.LABEL_CHARS else label[: cards.LABEL_CHARS - 1] + "…"
