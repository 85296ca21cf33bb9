"""What the model has done in earlier turns of a thread, told from the results of its calls. Pure.

Reads leave nothing behind and are not told; what was denied is, because nothing came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cleanroom.rehearsal.conversation import Exchange, Result
from cleanroom.rehearsal.prose import is_duplicate
from cleanroom.rehearsal.reply import Memory, Plan, Said
from cleanroom.rehearsal.words import Clause, in_words, shortened

ASKED_SHOWN = 3
DEED_CHARS = 300


def recall(clause: Clause, memory: Memory) -> Plan:
    """Answer from the conversation alone: everything that was done in earlier turns, and what was asked last."""
    yield from ()
    done = deeds(memory.earlier)
    listed = "\n".join(f"{number}. {deed}" for number, deed in enumerate(done, 1))
    parts = [f"In this chat I did this:\n\n{listed}" if done else "I have done nothing in this chat yet."]
    asked = [exchange.text for exchange in memory.earlier if exchange.answer is None]
    if asked:
        quoted = [f"“{shortened(text, limit=80)}”" for text in asked[-ASKED_SHOWN:]]
        parts.append(f"Before this message you asked me {in_words(quoted)}.")
    return Said(text="\n\n".join(parts))


def deeds(exchanges: Sequence[Exchange]) -> list[str]:
    """Return one sentence for everything that was done or refused, oldest first."""
    told = (deed(result) for exchange in exchanges for result in exchange.results)
    return [sentence for sentence in told if sentence]


def deed(result: Result) -> str:
    """Return what one call came to; empty for a read, and for a repetition that added nothing."""
    if result.denial is not None:
        return f"I tried `{result.name}`; it was denied with `{result.denial.get('code', 'unknown')}`."
    say = DEEDS.get(result.name)
    return say(result.arguments) if say and result.ok and not is_duplicate(result) else ""


def text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    return " ".join(shortened(value, limit=DEED_CHARS).split()) if isinstance(value, str) else ""


def saying(words: str, name: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a sentence maker: the words, then one argument in quotes."""
    return lambda arguments: f"{words} “{text(arguments, name)}”."


def command(arguments: Mapping[str, Any]) -> str:
    given = arguments.get("cmd", arguments.get("command", ""))
    line = given[-1] if isinstance(given, list) and given else given
    return f"I ran `{' '.join(shortened(str(line), limit=DEED_CHARS).split())}`."


def approval(arguments: Mapping[str, Any]) -> str:
    return f"I requested the board's approval of “{text(arguments, 'approvalType')}”."


DEEDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "report_progress": saying("I recorded the status", "body"),
    "answer_status_question": saying("I answered on the issue", "body"),
    "write_document": saying("I wrote a revision of the document", "title"),
    "create_task": saying("I created the child task", "title"),
    "set_dependencies": lambda arguments: "I changed what blocks a task.",
    "request_human_input": saying("I asked you", "prompt"),
    "request_approval": approval,
    "comment_on_approval": saying("I commented on the approval", "body"),
    "register_deliverable": saying("I registered the deliverable", "filename"),
    "request_review": saying("I asked for a review", "summary"),
    "block_task": saying("I blocked the issue", "reason"),
    "finish_task": saying("I finished the issue", "summary"),
    "schedule_wake": lambda arguments: (
        f"I scheduled a wake in {arguments.get('delayTicks', 0)} seconds of company time."
    ),
    "exec_command": command,
    "shell_command": command,
    "shell": command,
    "apply_patch": lambda arguments: "I changed files in the workspace.",
}
