"""One tool call of the agent, from the dispatcher's answer to the events that show it. Runs in one transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from capability.catalog import LIVE_OPERATIONS, find_operation
from capability.dispatcher import Call, Dispatched
from capability.policy import Code
from capability.redaction import redact_text
from cleanroom import cards
from cleanroom.cards import Item, Made
from cleanroom.harness import ToolAnswer, ToolCall
from cleanroom.rooms import Room, issue_header, stamp
from evidence import record
from evidence.record import Draft
from mockcore import history
from mockcore.port import Applied
from mockcore.text import clean

SUMMARY_CHARS = 500
MOVE_THE_ISSUE = frozenset(
    {
        "request_human_input",
        "request_approval",
        "set_dependencies",
        "finish_task",
        "block_task",
        "request_review",
    }
)
CARDS = {"approval": cards.approval_card, "interaction": cards.interaction_card}  # what may wait for the board
DISPOSITIONS = {"finish_task": "summary", "block_task": "reason", "request_review": "summary"}


@dataclass(frozen=True, kw_only=True)
class Performed:
    """What a call came to: the answer for the agent, and which cards now wait for the board."""

    answer: ToolAnswer
    opened: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()


def call_name(number: int) -> str:
    """Return our name for a room's call. No name is given twice: one whose call could not be recorded is left out."""
    return f"call-{number}"


def call_number(name: str) -> int:
    """Return the number in such a name; 0 for what is none."""
    return int(name.removeprefix("call-")) if name.startswith("call-") else 0


def perform(
    *, room: Room, call: ToolCall, turn: str, call_id: str, message_id: str, pending: frozenset[str]
) -> Performed:
    """Dispatch one call and append its events; the mutation, its authorization and its events commit together."""
    with transaction.atomic():
        dispatched = room.dispatcher().dispatch(
            Call(
                run_id=room.run_id,
                call_id=call_id,
                operation_id=call.operation_id,
                input=call.arguments,
                turn_id=turn,
                message_id=message_id,
            )
        )
        facts = _facts(call, call_id)
        made = _made(room, call, call_id, dispatched)
        opened = cards.cards_of(made) if made else []
        closed = settled_cards(room, pending) if made else []
        drafts = [
            _outcome(facts, dispatched, made, turn, call_id),  # its start too: nobody sees one without the other
            *(Draft(type="interaction.request.materialized", payload={"card": card}, turn_id=turn) for card in opened),
            *(Draft(type="interaction.response.resolved", payload={"card": card}, turn_id=turn) for card in closed),
        ]
        if made and call.operation_id in MOVE_THE_ISSUE:
            header = {"issue": issue_header(room.port(), room)}
            drafts.append(Draft(type="issue.status.decision.applied", payload=header, turn_id=turn))
        record.append(session_id=room.session_id, drafts=drafts)
    return Performed(
        answer=ToolAnswer(success=bool(dispatched.envelope["ok"]), text=json.dumps(dispatched.envelope)),
        opened=tuple(card["interactionId"] for card in opened),
        settled=tuple(card["interactionId"] for card in closed),
    )


def settled_cards(room: Room, pending: frozenset[str]) -> list[Item]:
    """Return the cards that were pending and are so no more, because of what just happened."""
    if not pending:
        return []
    at, drawn = stamp(), []
    for kind, draw in CARDS.items():
        refs = [f"{kind}:{one}" for one in sorted(pending)]
        found = history.entities(company_id=room.company_id, refs=refs).values()
        drawn += [draw(entity, at=at) for entity in found if entity["status"] != "pending"]
    return drawn


def wakes_delivered(room: Room, stored: Applied) -> list[Item]:
    """Return the items of the wakes that a command of the board delivered."""
    refs = [f"wake:{wake}" for wake in stored.delivered_wake_ids]
    wakes = history.entities(company_id=room.company_id, refs=refs).values()
    return [cards.delivery(wake, at=stamp(), by_board=True) for wake in wakes]


def _facts(call: ToolCall, call_id: str) -> dict[str, Any]:
    """Return what may be shown of a call before it is answered: declared field names, never their values."""
    operation = find_operation(call.operation_id)
    declared = set(operation.input_schema.get("properties", {})) if operation else set()
    given = set(call.arguments) if isinstance(call.arguments, dict) else set()
    fields = sorted(given & declared)
    if undeclared := len(given - declared):
        fields.append(f"{undeclared} undeclared")
    facts: dict[str, Any] = {
        "kind": "semantic_tool",
        "callId": call_id,
        "operationId": call.operation_id,
        "title": operation.title if operation else call.operation_id,
        "fields": fields,
    }
    spoken = DISPOSITIONS.get(call.operation_id)
    if spoken and isinstance(call.arguments, dict) and isinstance(call.arguments.get(spoken), str):
        facts["dispositionSummary"] = redact_text(call.arguments[spoken])[:SUMMARY_CHARS]
    return facts


def _outcome(facts: dict[str, Any], dispatched: Dispatched, made: Made | None, turn: str, call_id: str) -> Draft:
    envelope = dispatched.envelope
    payload = {
        **facts,
        "ok": envelope["ok"],
        "beforeRevision": dispatched.before_revision,
        "stateRevision": envelope["stateRevision"],
        "authorizationId": dispatched.authorization_id,
        "summary": _summary(dispatched),
        "records": cards.records_of(made) if made else [],
    }
    if not envelope["ok"]:
        if envelope["denial"]["code"] == Code.PROTECTED_DATA_DENIED:
            payload.pop("dispositionSummary", None)
        payload["denial"] = {name: value for name, value in envelope["denial"].items() if name != "schema"}
        return Draft(type="item.failed", payload=payload, turn_id=turn, item_id=call_id)
    if dispatched.applied:
        payload["result"] = dispatched.applied.as_json()
    return Draft(type="item.completed", payload=payload, turn_id=turn, item_id=call_id)


def _summary(dispatched: Dispatched) -> str:
    envelope, applied = dispatched.envelope, dispatched.applied
    if not envelope["ok"]:
        return str(envelope["denial"]["message"])
    if applied is None:
        return f"read at state {envelope['stateRevision']}"
    if applied.disposition == "duplicate":
        return f"already applied at state {applied.state_revision}; nothing changed"
    return f"state {dispatched.before_revision} → {applied.state_revision}"


def _made(room: Room, call: ToolCall, call_id: str, dispatched: Dispatched) -> Made | None:
    applied = dispatched.applied
    if applied is None or applied.disposition != "applied":
        return None
    blockers = call.arguments.get("blockedByTaskIds") or []
    drawn = cards.KINDS_DRAWN.get(call.operation_id, frozenset())
    refs = [ref for ref in applied.entity_refs if ref.partition(":")[0] in drawn]
    refs += [f"wake:{wake}" for wake in applied.scheduled_wake_ids if "wake" in drawn]
    refs += [f"wake:{wake}" for wake in applied.delivered_wake_ids]
    refs += [f"task:{task}" for task in blockers if "task" in drawn]
    return Made(
        operation_id=call.operation_id,
        call_id=call_id,
        applied=applied,
        entities=history.entities(company_id=room.company_id, refs=list(dict.fromkeys(refs))),
        input=clean(call.arguments),
        actor=dispatched.actor_name,
        task_id=room.task_id,
        task_identifier=room.identifier,
        at=stamp(),
    )


def withheld(exposed: list[str]) -> list[str]:
    """Return the catalog names that this run is not offered."""
    return sorted({operation.id for operation in LIVE_OPERATIONS} - set(exposed))


def pending_ids(room: Room) -> list[str]:
    """Return the ids of the interactions and approvals that wait for the board on this room's issue."""
    return history.pending_ids(company_id=room.company_id, task_id=room.task_id)
