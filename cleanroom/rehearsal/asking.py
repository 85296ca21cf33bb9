"""Plans that ask the board: questions, confirmations, choices, approvals.

Card payloads have the fields of reference B section 1.10, so the page can draw every kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cleanroom.rehearsal.phrasing import OPEN_QUESTIONS, confirmation_from, question_from, subject_of
from cleanroom.rehearsal.prose import reference, refused, revision_note
from cleanroom.rehearsal.reply import Call, Memory, Plan, Said, one
from cleanroom.rehearsal.words import Clause, in_words

WAYS_ON = ("Read the issue, then record a status", "Write a short project plan", "Wait for my next message")
POINTING = frozenset({"it", "this", "that", "these", "those", "them"})  # at what was written


def ask_question(clause: Clause, memory: Memory) -> Plan:
    """Ask one question with the choices given. One without a subject offers ways to go on, and room for other words."""
    prompt = question_from(clause)
    question: dict[str, Any] = {"id": "q1", "prompt": prompt, "required": True}
    questions = [question]
    if clause.options:
        question["options"] = numbered(clause.options, "o", "label")
    elif prompt in OPEN_QUESTIONS:
        question["options"] = numbered(WAYS_ON, "o", "label")
        questions.append({"id": "q2", "prompt": "Anything to add, in your own words", "required": False})
    payload = {"questions": questions, "submitLabel": "Submit answers"}
    return (yield from ask(memory, kind="questions", title="A question for you", prompt=prompt, payload=payload))


def ask_confirmation(clause: Clause, memory: Memory) -> Plan:
    prompt = confirmation_from(clause)
    payload = {"targetSummary": prompt, "acceptLabel": "Yes, go on", "rejectLabel": "No", "requireRejectReason": True}
    return (yield from ask(memory, kind="confirmation", title="Please confirm", prompt=prompt, payload=payload))


def ask_checkbox(clause: Clause, memory: Memory) -> Plan:
    options = clause.options or ("Write a plan", "Record a status", "Request a review")
    payload = {
        "options": numbered(options, "o", "label"),
        "minSelected": 0,
        "maxSelected": len(options),
        "acceptLabel": "Accept the selection",
        "rejectLabel": "Reject",
    }
    prompt = "Tick everything that you want."
    return (yield from ask(memory, kind="checkbox", title="Please choose", prompt=prompt, payload=payload))


def suggest_tasks(clause: Clause, memory: Memory) -> Plan:
    titles = clause.options or ("Write down what done means", "Check the result with the board")
    tasks: list[dict[str, str]] = [
        {**task, "description": "Suggested in the chat."} for task in numbered(titles, "t", "title")
    ]
    payload = {"tasks": tasks, "acceptLabel": "Create selected tasks"}
    prompt = "Which of these tasks should be created?"
    return (yield from ask(memory, kind="suggest_tasks", title="Suggested tasks", prompt=prompt, payload=payload))


def ask_verdicts(clause: Clause, memory: Memory) -> Plan:
    items = clause.options or ("The title says what is wanted", "The priority is right")
    payload = {"items": numbered(items, "i", "title"), "submitLabel": "Submit verdicts"}
    prompt = "Approve, reject or defer each item."
    return (yield from ask(memory, kind="item_verdicts", title="Your verdicts, please", prompt=prompt, payload=payload))


def numbered(words: Sequence[str], prefix: str, field: str) -> list[dict[str, str]]:
    """Return each choice with an id of the contract: `o1`, `t1`, `i1`."""
    return [{"id": f"{prefix}{number}", field: choice} for number, choice in enumerate(words, 1)]


def ask(memory: Memory, *, kind: str, title: str, prompt: str, payload: Mapping[str, Any]) -> Plan:
    arguments = {
        "interactionKind": kind,
        "title": title,
        "prompt": prompt,
        "payload": payload,
        "continuationPolicy": "wake_assignee",
    }
    asked = yield from one(Call(name="request_human_input", arguments=arguments))
    if not asked.ok:
        return Said(text=refused(asked))
    return Said(text=f"I asked you: “{prompt}”{revision_note(asked)}. {waiting(memory)}")


def request_approval(clause: Clause, memory: Memory) -> Plan:
    """Ask for the board's decision; the subject is the kind of approval as well, since the card is headed by it."""
    subject = subject_of(clause)
    if subject.lower() in POINTING:
        subject = memory.document_title
    subject = subject or "The next step on this issue"
    payload = {"title": subject, "summary": "Asked for in the chat; nothing is done before you decide."}
    asked = yield from one(Call(name="request_approval", arguments={"approvalType": subject, "payload": payload}))
    if not asked.ok:
        return Said(text=refused(asked))
    memory.approval_id = reference(asked, "approval")
    return Said(text=f"I requested the board's approval: “{subject}”{revision_note(asked)}. {waiting(memory)}")


def waiting(memory: Memory) -> str:
    if not memory.postponed:
        return "I wait for your answer."
    return f"I wait for your answer, and then go on: {in_words(list(memory.postponed))}."


def comment_on_approval(clause: Clause, memory: Memory) -> Plan:
    listed = yield from one(Call(name="list_approvals"))
    body = clause.sentence or "The agent is waiting for this decision."
    approval_id = memory.approval_id or newest_approval(listed.value)
    arguments = {"approvalId": approval_id or "approval-0001", "body": body}
    commented = yield from one(Call(name="comment_on_approval", arguments=arguments))
    return Said(text=f"I commented on the approval: “{body}”" if commented.ok else refused(commented))


def decide_approval(clause: Clause, memory: Memory) -> Plan:
    """Reach for the decision that is the board's alone. The denial is the point."""
    approval_id = memory.approval_id
    if not approval_id:
        listed = yield from one(Call(name="list_approvals"))
        approval_id = newest_approval(listed.value) or "approval-0001"
    rejects = any(word in clause.text.lower() for word in ("reject", "decline"))
    arguments = {
        "approvalId": approval_id,
        "decision": "rejected" if rejects else "approved",
        "note": clause.sentence or "Decided in the chat.",
    }
    decided = yield from one(Call(name="decide_approval", arguments=arguments))
    return Said(text=f"I decided the approval `{approval_id}`." if decided.ok else refused(decided))


def newest_approval(value: Mapping[str, Any]) -> str:
    approvals = [a for a in value.get("approvals") or [] if isinstance(a, Mapping)]
    pending = [a for a in approvals if a.get("status") == "pending"] or approvals
    return str(pending[-1].get("id", "")) if pending else ""
