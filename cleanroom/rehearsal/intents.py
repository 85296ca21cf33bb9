"""The table of everything a person can ask for: the words that mean it, the plan that does it, a line of help."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cleanroom.rehearsal import asking, memories, plans, tools
from cleanroom.rehearsal.reply import Memory, Plan
from cleanroom.rehearsal.words import Clause

SOMEBODY = r"(?: (?:me|us|the board|the user|the person))?"
GAP = r"[^.;:!?\n]{0,50}?"  # words of one clause between a verb and its object
WORK = r"(?:issue|task|ticket|assignment|context)"
LOOK = r"(?:read|look at|check|open|show|review|describe|summari[sz]e|inspect)"
PAPER = r"(?:documents?|docs?|plan|spec|specification|brief|outline|report|memo|notes)"
PART = r"(?:section|chapter|paragraph)"
ADD_PART = rf"\s+(?:(?:and|by|to)\s+)?add(?:ing)?\b{GAP}\b{PART}\b"
NOTE = r"(?:status|progress|comment|update|note)\b(?!\s+(?:document|doc|page|report)\b)"


@dataclass(frozen=True, kw_only=True)
class Intent:
    """One row of the table. `waits` marks those that need the board's answer before the rest of a message goes on."""

    name: str
    title: str
    pattern: re.Pattern[str]
    plan: Callable[[Clause, Memory], Plan]
    example: str = ""
    waits: bool = False
    reaches: bool = False  # for an operation that a clean room withholds
    greedy: bool = False  # everything up to "then" belongs to it, as a command does
    broad: bool = False  # it names no object, so any other row at the same place says more exactly what is meant


def row(
    name: str,
    title: str,
    pattern: str,
    plan: Callable[[Clause, Memory], Plan],
    example: str = "",
    *,
    waits: bool = False,
    reaches: bool = False,
    greedy: bool = False,
    broad: bool = False,
) -> Intent:
    """Write one row of the table."""
    return Intent(
        name=name,
        title=title,
        pattern=re.compile(pattern, re.IGNORECASE),
        plan=plan,
        example=example,
        waits=waits,
        reaches=reaches,
        greedy=greedy,
        broad=broad,
    )


INTENTS: tuple[Intent, ...] = (
    # What the board alone may do, and what a clean room withholds: asked for, denied, shown.
    row(
        "decide_approval",
        "decide the approval",
        rf"\b(?:decide|approve|reject|accept|grant)\b{GAP}\b(?:approval|request|it yourself|yourself)\b",
        asking.decide_approval,
        "Approve the approval yourself",
        reaches=True,
    ),
    row(
        "control_service",
        "control a workspace service",
        rf"\b(?:start|stop|restart|fail)\b{GAP}\b(?:service|dev server|preview)\b",
        tools.control_service,
        "Start the preview service",
        reaches=True,
    ),
    row(
        "generic_request",
        "send a generic API request",
        rf"\b(?:send|make|call|use|try)\b{GAP}\b(?:generic api|api request|escape hatch)\b",
        tools.generic_request,
        "Make a generic API request",
        reaches=True,
    ),
    # Asking the board.
    row(
        "request_approval",
        "request an approval",
        rf"\b(?:(?:request|get|seek|need|obtain)\b{GAP}\bapproval\b|ask{SOMEBODY} (?:for|to give)\b{GAP}\bapproval\b)",
        asking.request_approval,
        "Request an approval to spend 100 dollars on hosting, then record my decision as a status",
        waits=True,
    ),
    row(
        "request_review",
        "request a review",
        rf"\b(?:(?:request|send)\b{GAP}\breview\b|ask{SOMEBODY} (?:for (?:an? |my |your )?|to )review\b)",
        plans.request_review,
        "Ask for a review: ready to look at",
    ),
    row(
        "suggest_tasks",
        "suggest tasks",
        rf"\b(?:suggest|propose)\b{GAP}\b(?:sub-?)?tasks?\b",
        asking.suggest_tasks,
        "Suggest tasks: write tests, write help",
        waits=True,
    ),
    row(
        "ask_verdicts",
        "ask for verdicts",
        rf"\bask{SOMEBODY} for (?:\w+ ){{0,3}}?verdicts?\b",
        asking.ask_verdicts,
        "Ask me for verdicts: title, priority",
        waits=True,
    ),
    row(
        "ask_confirmation",
        "ask for a confirmation",
        rf"\bask{SOMEBODY} (?:to confirm|for (?:\w+ ){{0,2}}?confirmation|(?:whether|if) I agree)\b",
        asking.ask_confirmation,
        "Ask me to confirm that we start today",
        waits=True,
    ),
    row(
        "ask_checkbox",
        "ask for a choice of several",
        rf"\bask{SOMEBODY} (?:to (?:tick|check|(?:choose|pick) (?:several|some))|(?:with|for) (?:\w+ ){{0,2}}?"
        r"(?:checkbox(?:es)?|checklist|ticks)|which ones)\b",
        asking.ask_checkbox,
        "Ask me to tick: docs, tests, release",
        waits=True,
    ),
    row(
        "ask_question",
        "ask a question",
        r"\bask (?:me|us|the board|the user|the person)(?: (?:a|one|another) (?:short )?question)?\b",
        asking.ask_question,
        "Ask me which colour I like: red, green or blue, then record my answer as a status",
        waits=True,
        broad=True,
    ),
    # Documents.
    row(
        "list_documents",
        "list the documents",
        rf"\b(?:list|which|what|show)\b{GAP}\b(?:documents|docs)\b",
        plans.list_documents,
        "List the documents",
    ),
    row(
        "write_document",
        "write a document",
        rf"\b(?:write|draft|create|make|start|add)\b{GAP}\b{PAPER}\b",
        plans.write_document,
        "Write a document called Launch plan: first ask, then build",
    ),
    row(
        "revise_document",
        "revise a document",
        rf"(?:\b(?:revise|update|edit|change|extend|improve|rewrite|append)\b{GAP}\b{PAPER}\b(?:{ADD_PART})?|\badd\b{GAP}\b{PART}\b)",
        plans.revise_document,
        "Revise the Launch plan: and test it",
    ),
    row(
        "read_document",
        "read a document",
        rf"\b(?:read|show|open)\b{GAP}\b{PAPER}\b",
        plans.read_document,
        "Read the document called Launch plan",
    ),
    # The issue.
    row("take_stock", "take stock", r"\b(?:take stock|look around|read everything)\b", plans.take_stock, "Take stock"),
    row(
        "read_issue",
        "read the issue",
        rf"(?:\b(?:{LOOK}|tell me about|what(?:'s|’s| is| are))\b{GAP}\b(?:{WORK}|status|you working on)\b"
        r"|^\s*status\s*\??\s*$)",
        plans.read_issue,
        "Read this issue, then record a one-sentence status on it",
    ),
    row(
        "read_history",
        "read the comments",
        rf"\b(?:read|list|show)\b{GAP}\b(?:comments|history)\b",
        plans.read_history,
        "Show the comments",
    ),
    row(
        "record_status",
        "record a status",
        rf"(?:\b(?:record|report|post|write|add|leave|log|note|put|update|save)\b{GAP}\b{NOTE}"
        r"|\b(?:record|note down|report) (?:it|this|that|my|the (?:answer|result|output|decision))\b"
        r"|\bcomment\b(?! on (?:the|an|that) approval))",
        plans.record_status,
        "Record a status: the first draft is ready",
    ),
    row(
        "answer_status",
        "answer on the issue",
        rf"\banswer\b{GAP}\bstatus question\b",
        plans.answer_status,
        "Answer the status question: on track",
    ),
    row(
        "create_task",
        "create a child task",
        r"\b(?:create|add|make|file|open) (?:a|an|another|one)\b[^.;:\n]{0,20}?\b(?:sub-?)?(?:task|issue)\b",
        plans.create_task,
        "Create a child task called Write help",
    ),
    row(
        "block_task",
        "block the issue",
        rf"\bblock\b{GAP}\b(?:{WORK}|it|this)\b",
        plans.block_task,
        "Block the issue because the key is missing",
    ),
    row(
        "unblock_task",
        "unblock the issue",
        rf"\bunblock\b{GAP}\b(?:{WORK}|it|this)\b",
        plans.unblock_task,
        "Unblock the issue",
    ),
    row(
        "schedule_wake",
        "schedule a wake",
        rf"\b(?:schedule{GAP}\bwake|wake (?:me|yourself|up)|remind (?:me|yourself)|check back)\b",
        plans.schedule_wake,
        "Schedule a wake in 30 seconds",
    ),
    row(
        "register_deliverable",
        "register a deliverable",
        rf"\bregister\b{GAP}\b(?:deliverable|artifact|artefact|file)\b",
        tools.register_deliverable,
        "Register a deliverable notes.txt: the text of the notes",
    ),
    row(
        "comment_on_approval",
        "comment on the approval",
        rf"\bcomment on\b{GAP}\bapproval\b",
        asking.comment_on_approval,
        "Comment on the approval: still needed",
    ),
    row(
        "finish_task",
        "finish the issue",
        rf"(?:\b(?:finish|complete|close|wrap up|mark)\b{GAP}\b(?:{WORK}|done|work|it|this|up)\b|^\s*finish\b)",
        plans.finish_task,
        "Finish the issue: everything asked for is done",
    ),
    # Codex's own tools.
    row(
        "write_file",
        "write a file",
        rf"\b(?:write|create|make|save)\b{GAP}\bfile\b",
        tools.write_file,
        "Write a file called notes.txt: hello",
    ),
    row(
        "run_command",
        "run a command",
        r"\b(?:run|execute)(?:\s+(?:the|a|this)?\s*(?:shell )?command)?\b(?! out)",
        tools.run_command,
        "Run `ls -la`",
        greedy=True,
    ),
    row(
        "show_plan",
        "show a plan",
        r"\bplan (?:it|this|your (?:steps|work)|the (?:steps|work))\b",
        tools.show_plan,
        "Plan the steps",
    ),
    # Only words.
    row(
        "recall",
        "say what I did",
        rf"\bwhat\b{GAP}\b(?:record(?:ed)?|just (?:do|did|said?)|did you (?:do|say|write))\b",
        memories.recall,
        "What did you do?",
    ),
    row(
        "count",
        "count",
        r"\bcount\b(?: slowly)?(?: up)?(?: slowly)? (?:to|until)\b",
        tools.count,
        "Count slowly to 30",
    ),
    row("say_nothing", "say nothing", r"\bsay nothing\b", tools.say_nothing, "Say nothing"),
    row(
        "fail",
        "fail",
        r"\bfail (?:with an error|this turn)\b",
        tools.fail,
        "Fail with an error",
    ),
    row(
        "say",
        "repeat your words",
        r"\b(?:repeat after me|say|echo)\b(?! nothing)",
        tools.say,
        "Say: anything, word for word",
        greedy=True,
    ),
    row("think", "think", r"\bthink (?:about|hard|it over|first)\b", tools.think, "Think about it"),
)
