"""What the board answered: the card's own answer, or the words a person typed while a card waited. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cleanroom.rehearsal.conversation import Exchange, Result
from cleanroom.rehearsal.words import in_words, shortened

ASKING_TOOLS = ("request_human_input", "request_approval")
NO = ("rejected", "cancelled", "expired")  # outcomes after which what was to follow is left out
SAYS_YES = re.compile(
    r"^(?:yes|yep|yeah|y|ok|okay|sure|agreed|confirm(?:ed)?|accept(?:ed)?|go ahead|go on|do it)\b", re.I
)
NOT_ANSWERS = ("outcome", "schema", "id", "questionId", "supersededBy", "summary")  # ids and notes about an answer


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`words` is what to record of it; `sentence` is what to say about it, without a full stop; `outcome` the code."""

    words: str
    sentence: str
    outcome: str


def from_card(message: Mapping[str, Any], asked: Mapping[str, Any]) -> Answer:
    """Read the message that a card's answer makes. `asked` are the arguments of the call that asked."""
    outcome = str(message.get("outcome") or message.get("decision") or "answered")
    kind = str(message.get("kind") or asked.get("interactionKind") or "questions")
    labels = labels_in(asked.get("payload"))
    said = in_words([labels.get(words, words) for words in leaves(message.get("result"), labels)]).rstrip(".! ")
    return Answer(words=recorded(outcome, kind, said), sentence=told(outcome, kind, said), outcome=outcome)


def told(outcome: str, kind: str, said: str) -> str:
    """Say what the board did, in the words that fit its card."""
    shown = f"**{shortened(said)}**" if said else ""
    if outcome == "answered" and kind == "item_verdicts":
        return f"Your verdicts: {shown}" if said else "You gave your verdicts"
    if outcome == "answered":
        return f"You answered {shown}" if said else "You answered without words"
    if outcome == "accepted" and kind in ("checkbox", "suggest_tasks"):
        return f"You chose {shown}" if said else "You accepted, and chose none"
    did = DID.get((kind, outcome)) or DID.get(("", outcome)) or f"Your answer is {outcome}"
    return f"{did}: {shown}" if said else did


DID = {
    ("questions", "rejected"): "You declined to answer",
    ("item_verdicts", "rejected"): "You declined to answer",
    ("confirmation", "rejected"): "You said no",
    ("checkbox", "rejected"): "You rejected the choice",
    ("suggest_tasks", "rejected"): "You rejected the suggested tasks",
    ("confirmation", "accepted"): "You confirmed it",
    ("", "accepted"): "You accepted it",
    ("", "approved"): "You approved it",
    ("", "rejected"): "You rejected it",
    ("", "cancelled"): "You cancelled it",
    ("", "expired"): "It expired without an answer",
}


def recorded(outcome: str, kind: str, said: str) -> str:
    if outcome == "answered" or (outcome == "accepted" and kind in ("checkbox", "suggest_tasks")):
        return said or ("without words" if outcome == "answered" else "none of them")
    word = "declined to answer" if DID.get((kind, outcome)) == "You declined to answer" else outcome
    return f"{word}: {said}" if said else word


def from_words(text: str, asked: Result) -> Answer | None:
    """Read a typed message as the answer to the card that waits; None when it rather asks something back."""
    words = text.strip().rstrip(".! ")
    kind = str(asked.arguments.get("interactionKind", "questions"))
    labels = {label.lower(): label for label in labels_in(asked.arguments.get("payload")).values()}
    words = labels.get(words.lower(), words)
    if not words or words.endswith("?"):
        return None
    outcome = "answered"
    if kind == "confirmation":
        outcome = "accepted" if SAYS_YES.match(words) else "rejected"  # what is not a plain yes confirms nothing
    question = str(asked.arguments.get("prompt", ""))
    sentence = f"I take **{shortened(words)}** as your answer" + (f" to “{question}”" if question else "")
    return Answer(words=words, sentence=sentence, outcome=outcome)


def is_choice(text: str, asked: Result) -> bool:
    """Whether a typed message is, word for word, one of the choices that the card offered."""
    labels = {label.lower() for label in labels_in(asked.arguments.get("payload")).values()}
    return text.strip().rstrip(".! ").lower() in labels


def labels_in(payload: Any) -> dict[str, str]:
    """Return option, task or item id to label, of whatever a card offered."""
    if isinstance(payload, list):
        return {key: label for part in payload for key, label in labels_in(part).items()}
    if not isinstance(payload, Mapping):
        return {}
    found = {key: label for part in payload.values() for key, label in labels_in(part).items()}
    label = payload.get("label") or payload.get("title")
    if isinstance(payload.get("id"), str) and isinstance(label, str):
        found[payload["id"]] = label
    return found


def leaves(result: Any, labels: Mapping[str, str]) -> list[str]:
    """Return every answer in a result, in order, whatever shape the page gave it; ids and notes about it left out."""
    if isinstance(result, str):
        return [result] if result.strip() else []
    if isinstance(result, bool | int | float):
        return [str(result)]
    if isinstance(result, list):
        return [words for part in result for words in leaves(part, labels)]
    if not isinstance(result, Mapping):
        return []
    if isinstance(result.get("verdict"), str):
        return [verdict(str(result.get("id", "")), result, labels)]
    return [
        words
        for key, part in result.items()
        if key not in NOT_ANSWERS
        for words in verdict_or_leaves(key, part, labels)
    ]


def verdict_or_leaves(key: str, part: Any, labels: Mapping[str, str]) -> list[str]:
    if isinstance(part, Mapping) and isinstance(part.get("verdict"), str):
        return [verdict(key, part, labels)]
    return leaves(part, labels)


def verdict(item: str, given: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Return one verdict in words: `The title: reject (too long)`."""
    reason = str(given.get("reason") or "").strip()
    about = labels.get(item, item)
    return (f"{about}: " if about else "") + str(given["verdict"]) + (f" ({reason})" if reason else "")


def asking_index(exchanges: tuple[Exchange, ...]) -> int | None:
    """Return the place of the newest exchange in which the board was asked something."""
    return next((i for i in reversed(range(len(exchanges))) if asked_in(exchanges[i]) is not None), None)


def asked_in(exchange: Exchange) -> Result | None:
    """Return the newest call of an exchange that asked the board."""
    return next((r for r in reversed(exchange.results) if r.name in ASKING_TOOLS), None)
