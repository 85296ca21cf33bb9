"""Plans that ask the board: questions, confirmations, choices, approvals; and what to do with the answers.

Card payloads have the fields of reference B section 1.10, so the page can draw every kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cleanroom.rehearsal.conversation import Exchange
from cleanroom.rehearsal.prose import reference, refused, revision_note
from cleanroom.rehearsal.reply import Call, Memory, Plan, Said, one
from cleanroom.rehearsal.words import Clause, in_words, one_sentence, shortened, turned_around

ASKING_TOOLS = ("request_human_input", "request_approval")


def ask_question(clause: Clause, memory: Memory) -> Plan:
    prompt = prompt_of(clause) or "What should I do next on this issue?"
    question: dict[str, Any] = {"id": "q1", "prompt": prompt, "required": True}
    if clause.options:
        question["options"] = numbered(clause.options, "o", "label")
    payload = {"questions": [question], "submitLabel": "Submit answers"}
    return (yield from ask(memory, kind="questions", title="A question for you", prompt=prompt, payload=payload))


def ask_confirmation(clause: Clause, memory: Memory) -> Plan:
    prompt = prompt_of(clause) or "May I go on?"
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
    wanted = clause.exact or clause.about or "the next step on this issue"
    payload = {
        "title": shortened(one_sentence(wanted), limit=200),
        "summary": f"The board is asked to approve: {wanted}",
    }
    arguments = {"approvalType": "board_decision", "payload": payload}
    asked = yield from one(Call(name="request_approval", arguments=arguments))
    if not asked.ok:
        return Said(text=refused(asked))
    memory.approval_id = reference(asked, "approval")
    return Said(
        text=f"I requested the board's approval for “{shortened(wanted)}”{revision_note(asked)}. {waiting(memory)}"
    )


def waiting(memory: Memory) -> str:
    if not memory.postponed:
        return "I wait for your answer."
    return f"I wait for your answer, and then go on: {in_words(list(memory.postponed))}."


def comment_on_approval(clause: Clause, memory: Memory) -> Plan:
    listed = yield from one(Call(name="list_approvals"))
    body = one_sentence(clause.exact) or "The agent is waiting for this decision."
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
        "note": one_sentence(clause.exact) or "Decided in the chat.",
    }
    decided = yield from one(Call(name="decide_approval", arguments=arguments))
    return Said(text=f"I decided the approval `{approval_id}`." if decided.ok else refused(decided))


def newest_approval(value: Mapping[str, Any]) -> str:
    approvals = [a for a in value.get("approvals") or [] if isinstance(a, Mapping)]
    pending = [a for a in approvals if a.get("status") == "pending"] or approvals
    return str(pending[-1].get("id", "")) if pending else ""


# ---------------------------------------------------------------- answers
def answer_in_words(answer: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Say what the board answered: the outcome, unless it is a plain answer, and the labels chosen or words typed.

    `answer` is the message of the session; `asked` are the arguments of the call that asked, for the labels.
    """
    labels = labels_in(asked.get("payload"))
    chosen = in_words([labels.get(words, words) for words in leaves(answer.get("result"))])
    outcome = str(answer.get("outcome") or answer.get("decision") or "answered")
    if outcome == "answered":
        return chosen or outcome
    return f"{outcome}: {chosen}" if chosen else outcome


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


def leaves(result: Any) -> list[str]:
    """Return every answer in a result, in order, whatever shape the page gave it; ids and notes about it left out."""
    if isinstance(result, str):
        return [result] if result.strip() else []
    if isinstance(result, bool | int | float):
        return [str(result)]
    if isinstance(result, list):
        return [words for part in result for words in leaves(part)]
    if isinstance(result, Mapping):
        verdict = result.get("verdict")
        if isinstance(verdict, str) and isinstance(result.get("id"), str):
            return [f"{result['id']}: {verdict}"]
        skipped = ("outcome", "schema", "id", "questionId", "supersededBy", "summary")
        return [words for key, part in result.items() if key not in skipped for words in leaves(part)]
    return []


def asking_exchange(earlier: tuple[Exchange, ...]) -> Exchange | None:
    """Return the newest exchange in which the board was asked something."""
    return next((e for e in reversed(earlier) if any(r.name in ASKING_TOOLS for r in e.results)), None)


def asked_arguments(exchange: Exchange) -> Mapping[str, Any]:
    """Return the arguments of the call that asked. Cards of one message are answered in the order asked."""
    return next((r.arguments for r in reversed(exchange.results) if r.name in ASKING_TOOLS), {})


def prompt_of(clause: Clause) -> str:
    """Return the question itself: quoted, or the words between "ask me" and the choices, said back to the person."""
    if clause.quoted and len(clause.quoted) == 1:
        return clause.quoted[0]
    words = clause.tail
    if clause.after_colon and clause.options:
        words = clause.tail.split(":", 1)[0]
    elif clause.after_colon:
        words = clause.after_colon
    words = turned_around(words.strip(" ,.;:\n")).removeprefix("that ").removeprefix("about ").strip()
    if not words:
        return ""
    words = words.rstrip("?.! ")
    return shortened(words[0].upper() + words[1:], limit=2000) + "?"
