"""Answers of the board that the agent was never given, as when it died before the turn that hands one on had begun.

The company has them, and a card is answered once: so the next turn of the room hands them on, before its own text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cleanroom.models import ChatSession
from cleanroom.rooms import Room
from cleanroom.turn_rows import undelivered_refs
from mockcore import history

ANSWER_SCHEMA = "paperclip.semantic-interaction-result.v1"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the board said to one card."""

    ref: str
    kind: str
    outcome: str
    result: Any

    @property
    def card_id(self) -> str:
        return self.ref.partition(":")[2]


def answer_text(answer: Answer) -> str:
    """Return the message that hands an answer to the agent; the thread hides it by its schema."""
    return json.dumps(
        {
            "schema": ANSWER_SCHEMA,
            "interactionId": answer.card_id,
            "kind": answer.kind,
            "outcome": answer.outcome,
            "result": answer.result,
            "instruction": "The board answered. Continue the issue with this answer.",
        },
        ensure_ascii=False,
    )


def text_after(kept: list[Answer], text: str) -> str:
    """Return what the agent gets: the answers it has missed, oldest first, then the turn's own text."""
    return "\n\n".join([*map(answer_text, kept), text])


def kept_answers(session: ChatSession, room: Room) -> list[Answer]:
    """Return the answers that the agent was not given, as the company has stored them, oldest first.

    Inside a transaction that holds the chat's row, and before the new turn changes the company.
    """
    refs = undelivered_refs(session)
    if not refs:
        return []
    return [_stored(ref, entity) for ref, entity in history.entities(company_id=room.company_id, refs=refs).items()]


def _stored(ref: str, entity: dict[str, Any]) -> Answer:
    if ref.startswith("approval:"):
        note = entity["decisionNote"]
        return Answer(ref=ref, kind="approval", outcome=entity["status"], result={"note": note} if note else None)
    # A card with verdicts on some of its items is pending still; what it holds of them was answered.
    outcome = "answered" if entity["status"] == "pending" else entity["status"]
    return Answer(ref=ref, kind=entity["kind"], outcome=outcome, result=entity["result"])
