"""Does an answer fit its card? Pure: the card and the board's answer in, what is stored out.

Each kind is one function in `CHECKS`. Ids and labels are those that the card shows. Source: reference A 3.11, issue
"mock control plane".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from mockcore.handlers import cards
from mockcore.handlers.cards import MAX_ENTRIES, MAX_ID_CHARS
from mockcore.handlers.suggestions import CHOSEN_NAMES, suggestions
from mockcore.refusal import Refusal
from mockcore.vocabulary import UNANSWERED, InteractionKind, InteractionStatus

VERDICTS = ("approve", "reject", "defer")
REMARKS = ("reason", "note")  # texts that any answer may have
MAX_TEXT_CHARS = 20_000  # of an answer, a reason or a note: the bound of the tools' texts (reference A 1.3)
MAX_LINE_CHARS = 24_000  # of the summary: a question as its card shows it, and the answer
JSON = dict[str, Any]


class AnswerInvalid(Refusal):
    """The answer does not fit what the card asks."""

    code = "interaction_answer_invalid"


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is answered. `held` are the verdicts that earlier parts have locked, `remarks` what else they said."""

    kind: str
    prompt: str
    payload: JSON
    held: JSON
    remarks: JSON = field(default_factory=dict)


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


def shown_payload(entity: JSON) -> JSON:
    """Return what a card shows of a payload: the agent's own, and on each item the verdict that is locked so far.

    Which verdicts those are is said by the board's answers and by nothing else.
    """
    payload: JSON = cards.agents_own(dict(entity.get("payload") or {}))
    if entity["kind"] != InteractionKind.ITEM_VERDICTS or not isinstance(payload.get("items"), list):
        return payload
    held = held_verdicts(entity.get("result"))
    items = [item for item in payload["items"] if isinstance(item, dict)]
    locked = [held.get(item.id, {}).get("verdict") for item in cards.items_of(payload)]
    return {**payload, "items": [{**item, "lockedVerdict": one} for item, one in zip(items, locked, strict=True)]}


def held_remarks(result: Any) -> JSON:
    """Return what the parts of an answer said besides verdicts, as far as it can be read."""
    given = result if isinstance(result, dict) else {}
    readable = {**dict.fromkeys(REMARKS, str), "summary": list}
    return {name: given[name] for name, kind in readable.items() if isinstance(given.get(name), kind) and given[name]}


def check(card: Card, *, outcome: str, result: Any) -> Answer:
    """Return the answer to store. Raises `AnswerInvalid` with a sentence that says what is missing or wrong.

    An answer is null, or an object of what its kind asks and of what any answer may say (`REMARKS`, `summary`). Earlier
    parts of it are never lost: their verdicts stay locked, and what they remarked stays in front of what is said now.
    """
    given = _object(result)
    ends = outcome in UNANSWERED
    own = () if ends else _own_names(card, given)
    _check_remarks({name: value for name, value in given.items() if name not in own})
    if ends:
        _check_reason(card, outcome, given)
        return _with_parts(card, Answer(result=result), {"verdicts": card.held} if card.held else {})
    return CHECKS[InteractionKind(card.kind)](card, result)


def _own_names(card: Card, given: JSON) -> Iterable[str]:
    """Return the names that an answer of the card's kind may have besides what any answer may say."""
    if card.kind == InteractionKind.QUESTIONS and "answers" not in given:
        return [one.id for one in cards.questions_of(card.payload, prompt=card.prompt)]
    return OWN[InteractionKind(card.kind)]


def _check_remarks(given: JSON) -> None:
    if unknown := sorted(given.keys() - {*REMARKS, "summary"}):
        raise AnswerInvalid(f"an answer to this card has no {unknown[0][:MAX_ID_CHARS]}")
    for name in REMARKS:
        _text(given.get(name), name=name)
    lines = given.get("summary")
    if lines is not None and not (isinstance(lines, list) and len(lines) <= MAX_ENTRIES):
        raise AnswerInvalid(f"summary must be a list of at most {MAX_ENTRIES} lines")
    for line in lines or []:
        if _text(line, name="a line of the summary", at_most=MAX_LINE_CHARS) is None:
            raise AnswerInvalid("a line of the summary must be a text")


def _check_reason(card: Card, outcome: str, given: JSON) -> None:
    needed = outcome == InteractionStatus.REJECTED and cards.requires_reject_reason(card.kind, card.payload)
    if needed and not _says(given.get("reason")):
        raise AnswerInvalid("a reason is needed to reject this")


def _with_parts(card: Card, answer: Answer, more: JSON) -> Answer:
    """Return an answer with what is stored besides it, and with what earlier parts remarked."""
    given, earlier = _object(answer.result), card.remarks
    kept = {
        name: "\n".join(dict.fromkeys(text for text in (earlier.get(name), given.get(name)) if text))
        for name in REMARKS
        if earlier.get(name)
    }
    lines = {"summary": earlier["summary"]} if earlier.get("summary") and not given.get("summary") else {}
    stored = {**given, **kept, **lines, **more}
    return Answer(result=stored if kept or lines or more else answer.result, complete=answer.complete)


# ---------------------------------------------------------------- one function per kind
def _questions(card: Card, result: Any) -> Answer:
    """Every question takes one answer: a text, or one of its options. An optional one may be left empty."""
    asked = {one.id: one for one in cards.questions_of(card.payload, prompt=card.prompt)}
    given = _object(result).get("answers")
    if given is None:  # a plain object of question id to answer is as good
        given = {name: value for name, value in _object(result).items() if name in asked}
    if not isinstance(given, dict):
        raise AnswerInvalid("answers must be an object: question id to answer")
    _only_known(given, asked, name="question")
    for question in asked.values():
        said = _text(given.get(question.id), name=f"the answer to question {question.id}")
        if question.required and not _says(said):
            raise AnswerInvalid(f"question {question.id} needs an answer")
        if question.options and said is not None and _says(said):
            _one_of(said, question)
    return Answer(result=result)


def _one_of(said: str, question: cards.AskedQuestion) -> None:
    """A card sends the label that it shows; an id is as good."""
    known = {option.id for option in question.options} | {_shown(option.label) for option in question.options}
    known |= {option.label for option in question.options}
    if said not in known and said.strip() not in {one.strip() for one in known}:
        raise AnswerInvalid(f"the answer to question {question.id} is none of its options")


def _confirmation(card: Card, result: Any) -> Answer:
    return Answer(result=result)


def _checkbox(card: Card, result: Any) -> Answer:
    chosen = _ids(_object(result).get("selectedOptionIds"), name="selectedOptionIds")
    _only_known(chosen, {option.id for option in cards.options_of(card.payload)}, name="option")
    least, most = cards.selection_bounds(card.payload)
    if not least <= len(chosen) <= most:
        raise AnswerInvalid(f"{least} to {most} options must be chosen, not {len(chosen)}")
    return Answer(result=result)


def _suggest_tasks(card: Card, result: Any) -> Answer:
    """Without a list of ids every suggestion is accepted. There is one list: two might say different things."""
    known = {name for one in suggestions(card.payload.get("tasks")) for name in (one.id, one.alias)}
    listed = [name for name in CHOSEN_NAMES if _object(result).get(name) is not None]
    if len(listed) > 1:
        raise AnswerInvalid(f"the accepted tasks are given twice: {' and '.join(listed)}")
    for name in listed:
        _only_known(_ids(_object(result)[name], name=name), known, name="suggested task")
    return Answer(result=result)


def _item_verdicts(card: Card, result: Any) -> Answer:
    """Verdicts may come in parts. What was submitted is locked: it may be repeated, not changed."""
    items = {item.id: item for item in cards.items_of(card.payload)}
    given = _verdicts(result)
    _only_known(given, items, name="item")
    merged = dict(card.held)
    for name, entry in given.items():
        if name not in merged:
            merged[name] = _verdict(items[name], entry)
        elif entry["verdict"] != merged[name]["verdict"] or entry.get("reason") not in _repeats(merged[name]):
            raise AnswerInvalid(f"the verdict on {name} is given already")
    if items and not set(merged) - set(card.held):
        raise AnswerInvalid("the answer holds no new verdict")
    complete = set(merged) == set(items)
    return _with_parts(card, Answer(result=result, complete=complete), {"verdicts": merged} if items else {})


def _repeats(held: JSON) -> tuple[Any, ...]:
    return (None, "", held.get("reason", ""))


def _verdicts(result: Any) -> dict[str, JSON]:
    """Return the verdicts an answer gives, by item; `""` is none yet, and a plain word is a verdict without reason."""
    given = _object(result).get("verdicts")
    if given is not None and not isinstance(given, dict):
        raise AnswerInvalid("verdicts must be an object: item id to verdict")
    entries = {name: one if isinstance(one, dict) else {"verdict": one} for name, one in (given or {}).items()}
    for name, entry in entries.items():
        if set(entry) - {"verdict", "reason"}:
            raise AnswerInvalid(f"the verdict on {name[:MAX_ID_CHARS]} has a verdict and a reason, and nothing else")
        reason = _text(entry.get("reason"), name=f"the reason for the verdict on {name[:MAX_ID_CHARS]}")
        if entry.get("verdict") in (None, "") and _says(reason):
            raise AnswerInvalid(f"the reason for {name[:MAX_ID_CHARS]} has no verdict")
    return {name: entry for name, entry in entries.items() if entry.get("verdict") not in (None, "")}


def _verdict(item: cards.JudgedItem, entry: JSON) -> JSON:
    verdict, reason = entry["verdict"], entry.get("reason") or ""
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


OWN: dict[InteractionKind, tuple[str, ...]] = {  # what an answer that is one may hold, kind by kind
    InteractionKind.QUESTIONS: ("answers",),
    InteractionKind.CONFIRMATION: (),
    InteractionKind.CHECKBOX: ("selectedOptionIds",),
    InteractionKind.SUGGEST_TASKS: CHOSEN_NAMES,
    InteractionKind.ITEM_VERDICTS: ("verdicts",),
}


# ---------------------------------------------------------------- small
def _object(result: Any) -> JSON:
    if result is None:
        return {}
    if not isinstance(result, dict):
        raise AnswerInvalid("an answer must be an object, or nothing")
    return result


def _text(value: Any, *, name: str, at_most: int = MAX_TEXT_CHARS) -> str | None:
    """Return a text of bounded length, or None where there is none."""
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > at_most:
        raise AnswerInvalid(f"{name} must be a text of at most {at_most:,} characters")
    return value


def _says(value: str | None) -> bool:
    return value is not None and bool(value.strip())


def _ids(value: Any, *, name: str) -> list[str]:
    given = [] if value is None else value
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given) or len(set(given)) != len(given):
        raise AnswerInvalid(f"{name} must be a list of different ids")
    return given


def _only_known(given: Iterable[str], known: Iterable[str], *, name: str) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise AnswerInvalid(f"there is no {name} {unknown[0][:MAX_ID_CHARS]}")


def _shown(label: str) -> str:
    """Return a label as a card shows it, and sends it back."""
    return label if len(label) <= cards.LABEL_CHARS else label[: cards.LABEL_CHARS - 1] + "…"
