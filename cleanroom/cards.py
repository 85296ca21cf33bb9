"""Thread items for the records of the mock company: entity JSON in, items of `ARCHITECTURE.md` out. Pure.

Every item names its fields, so nothing of an entity leaves that is not named here. Source: reference B section 1.10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mockcore import history
from mockcore.port import Applied

Entity = Mapping[str, Any]
Item = dict[str, Any]

EXCERPT_CHARS = 20_000  # the whole text of nearly every document; the page folds a long one
APPROVAL_PROMPTS = {
    "pending": "The agent asks for your approval. Only you can decide it.",
    "approved": "You approved this.",
    "rejected": "You rejected this.",
    "cancelled": "You cancelled this request.",
}
APPROVAL_OVER = "This request is closed."
REASONS = {"superseded_by_comment": "You wrote a message instead."}  # where the answer itself gives none
NEWS_OF_THE_BOARD = frozenset({"interaction_resolved", "approval_resolved", "issue_commented"})  # reasons of a wake
COMES_WITH_THE_TURN = "Codex gets this news in this turn."
STARTS_NO_TURN = "It starts no turn here."
EXPIRY_OUTCOMES = frozenset({"stale_target", "superseded_by_comment", "withdrawn", "issue_closed"})


@dataclass(frozen=True, kw_only=True)
class Made:
    """What one applied call left behind, and where its proof stands."""

    operation_id: str
    call_id: str
    applied: Applied
    entities: Mapping[str, Entity]  # by `kind:id`, as they are now
    input: Mapping[str, Any]
    actor: str
    task_id: str
    task_identifier: str
    at: str

    def of(self, kind: str) -> list[Entity]:
        """Return the touched entities of one kind, in the order of their ids."""
        return [entity for ref, entity in self.entities.items() if ref.split(":", 1)[0] == kind]

    @property
    def evidence_ref(self) -> dict[str, str]:
        return {"section": "calls", "recordId": self.call_id}

    def item(self, *, kind: str, key: str, **fields: Any) -> Item:
        return {"id": f"{self.call_id}:{key}", "kind": kind, "at": self.at, "evidenceRef": self.evidence_ref, **fields}


def records_of(made: Made) -> list[Item]:
    """Return the thread items that a call made besides its own strip and besides cards."""
    draw = DRAWN_BY.get(made.operation_id)
    items = draw(made) if draw else []
    delivered = [entity for entity in made.of("wake") if entity["id"] in made.applied.delivered_wake_ids]
    return items + [delivery(entity, at=made.at, evidence_ref=made.evidence_ref) for entity in delivered]


def delivery(wake: Entity, *, at: str, evidence_ref: dict[str, str] | None = None, by_board: bool = False) -> Item:
    """Return the item of a delivered wake. In a clean room it is shown, and starts no turn.

    `by_board`: a message or an answer brought it about, and stands at the head of a turn that is its own news.
    """
    is_news = by_board and wake["reason"] in NEWS_OF_THE_BOARD
    effect = COMES_WITH_THE_TURN if is_news else STARTS_NO_TURN
    return {
        "id": f"delivered:{wake['id']}",
        "kind": "record",
        "at": at,
        "evidenceRef": evidence_ref,
        "label": "Wake delivered",
        "body": f"{wake['reason']}, due in company time {clock(wake['dueAt'])}. {effect}",
    }


def cards_of(made: Made) -> list[Item]:
    """Return the cards that a call opened for the board."""
    opened = [
        interaction_card(entity, at=made.at) for entity in made.of("interaction") if entity["status"] == "pending"
    ]
    opened += [approval_card(entity, at=made.at) for entity in made.of("approval") if entity["status"] == "pending"]
    if made.operation_id not in {"request_human_input", "request_approval"}:
        return []
    return [card | {"evidenceRef": made.evidence_ref} for card in opened]


# ---------------------------------------------------------------- cards the board answers
def interaction_card(entity: Entity, *, at: str) -> Item:
    """Return the card of one interaction in the state its row says."""
    state = interaction_state(entity)
    result = entity.get("result") if isinstance(entity.get("result"), Mapping) else {}
    return {
        "id": f"card:{entity['id']}",
        "kind": "interaction",
        "at": at,
        "interactionId": entity["id"],
        "interactionKind": entity["kind"],
        "title": entity["title"],
        "prompt": entity["prompt"],
        "payload": history.card_payload(dict(entity)),
        "targetRevisionId": entity.get("targetRevisionId"),
        "state": state,
        "resolvedSummary": summary_of(entity.get("result")),
        "reason": text_of(result, "reason") or REASONS.get(state, ""),
    }


def interaction_state(entity: Entity) -> str:
    """Return the thread's name for the state; an expired one is named by the outcome in its result."""
    if entity["status"] != "expired":
        return str(entity["status"])
    result = entity.get("result")
    outcome = result.get("outcome") if isinstance(result, Mapping) else None
    return outcome if outcome in EXPIRY_OUTCOMES else "expired"


def approval_card(entity: Entity, *, at: str) -> Item:
    """Return the card of one approval; the board decides it."""
    state = str(entity["status"])
    return {
        "id": f"card:{entity['id']}",
        "kind": "interaction",
        "at": at,
        "interactionId": entity["id"],
        "interactionKind": "approval",
        "title": entity["type"],
        "prompt": APPROVAL_PROMPTS.get(state, APPROVAL_OVER),
        "payload": dict(entity.get("payload") or {}),
        "targetRevisionId": None,
        "state": state,
        "resolvedSummary": [],
        "reason": entity.get("decisionNote") or "",
    }


def summary_of(result: Any) -> list[str]:
    """Return an answer as a few readable lines, whatever shape it was given in."""
    if result is None:
        return []
    if not isinstance(result, Mapping):
        return [plain(result)]
    if isinstance(result.get("summary"), list):
        return [plain(line) for line in result["summary"]]
    answers = result.get("answers")
    inner = answers if isinstance(answers, Mapping) else result
    hidden = {"outcome", "reason", "supersededBy"}
    return [f"{name}: {plain(value)}" for name, value in inner.items() if name not in hidden]


def plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(inner)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(inner) for inner in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def text_of(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


# ---------------------------------------------------------------- items by operation
def _comments(made: Made) -> list[Item]:
    """The comment is what was sent; it needs no second look at the rows."""
    return [
        made.item(
            kind="durable_comment",
            key=ref.removeprefix("comment:"),
            author=made.actor,
            body=str(made.input["body"]),
            operationId=made.operation_id,
        )
        for ref in made.applied.entity_refs
        if ref.startswith("comment:")
    ]


def _documents(made: Made) -> list[Item]:
    items = []
    for entity in made.of("document"):
        newest = entity["revisions"][-1]
        items.append(
            made.item(
                kind="document",
                key=newest["id"],
                documentKey=entity["key"],
                title=entity["title"],
                author=made.actor,
                revisionFrom=newest["revision"] - 1 or None,
                revisionTo=newest["revision"],
                excerpt=clipped(newest["body"]),
            )
        )
    return items


def clipped(body: str) -> str:
    """Return a document's text, or its beginning with a last line that says how much is left out."""
    if len(body) <= EXCERPT_CHARS:
        return body
    shown = body[: EXCERPT_CHARS - 100]
    return f"{shown}…\n\n*{len(body) - len(shown):,} more characters are kept in the mock company.*"


def _deliverables(made: Made) -> list[Item]:
    return [
        made.item(
            kind="deliverable",
            key=entity["id"],
            filename=entity["filename"],
            deliverableKind="reference",
            byteSize=entity["byteSize"],
            registeredBy=made.actor,
        )
        for entity in made.of("artifact")
    ]


def _dependencies(made: Made) -> list[Item]:
    tasks = {entity["id"]: entity for entity in made.of("task")}
    created = [task for task in tasks.values() if task.get("parentId") == made.task_id]
    blocked = created[0]["identifier"] if created else made.task_identifier
    blockers = made.input.get("blockedByTaskIds") or []
    return [
        made.item(
            kind="dependency",
            key="dependency",
            createdTasks=[{"identifier": task["identifier"], "title": task["title"]} for task in created],
            blockerEdges=[f"{tasks.get(one, {}).get('identifier', one)} blocks {blocked}" for one in blockers],
        )
    ]


def _disposition(made: Made) -> list[Item]:
    body = made.input.get("summary") or made.input.get("reason") or ""
    status = next((task["status"] for task in made.of("task") if task["id"] == made.task_id), "")
    return [made.item(kind="disposition", key="disposition", operationId=made.operation_id, status=status, body=body)]


def _wake(made: Made) -> list[Item]:
    return [
        made.item(
            kind="record",
            key=entity["id"],
            label="Wake scheduled",
            body=f"{entity['reason']}, in company time {clock(entity['dueAt'])}",
        )
        for entity in made.of("wake")
        if entity["id"] in made.applied.scheduled_wake_ids
    ]


def clock(at: str) -> str:
    """Return an ISO time as people write it, to the second: `9 Aug 2026, 00:00:33`."""
    due = datetime.fromisoformat(at)
    return f"{due.day} {due:%b %Y, %H:%M:%S}"


def _approval_comment(made: Made) -> list[Item]:
    body = str(made.input.get("body", ""))
    return [made.item(kind="record", key="comment", label="Comment on an approval", body=body)]


DRAWN_BY: dict[str, Callable[[Made], list[Item]]] = {
    "report_progress": _comments,
    "answer_status_question": _comments,
    "write_document": _documents,
    "register_deliverable": _deliverables,
    "create_task": _dependencies,
    "set_dependencies": _dependencies,
    "finish_task": _disposition,
    "block_task": _disposition,
    "request_review": _disposition,
    "schedule_wake": _wake,
    "comment_on_approval": _approval_comment,
}


KINDS_DRAWN: dict[str, frozenset[str]] = {  # what is read again after a call, because its item or card needs it
    "write_document": frozenset({"document"}),
    "register_deliverable": frozenset({"artifact"}),
    "create_task": frozenset({"task"}),
    "set_dependencies": frozenset({"task"}),
    "finish_task": frozenset({"task"}),
    "block_task": frozenset({"task"}),
    "request_review": frozenset({"task"}),
    "schedule_wake": frozenset({"wake"}),
    "request_human_input": frozenset({"interaction"}),
    "request_approval": frozenset({"approval"}),
}
