"""The rehearsal model: every intent from words to calls to an answer, its wire, and real Codex in front of it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from django.conf import settings

from cleanroom.bench.raw_codex import RawCodex
from cleanroom.codex import binary, config, home
from cleanroom.rehearsal import MODEL_NAME
from cleanroom.rehearsal.decide import decide
from cleanroom.rehearsal.intents import INTENTS, Intent
from cleanroom.rehearsal.phrasing import HOW_TO_BEGIN, WHAT_NEXT
from cleanroom.rehearsal.reply import Reply
from cleanroom.rehearsal.server import RehearsalServer
from cleanroom.rehearsal.steps import find_steps
from cleanroom.rehearsal.wire import events
from cleanroom.rehearsal.words import one_sentence

KEYED = {"type": "object", "properties": {"idempotencyKey": {"type": "string"}}}
PLAIN = {"type": "object", "properties": {}}
READS = ("get_task_context", "get_task_history", "list_documents", "read_document", "list_approvals")
WRITES = (
    "report_progress",
    "answer_status_question",
    "write_document",
    "request_human_input",
    "register_deliverable",
    "request_approval",
    "request_review",
    "finish_task",
    "block_task",
    "set_dependencies",
    "create_task",
    "comment_on_approval",
    "schedule_wake",
)
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}}
TASK = {"identifier": "MCK-1234", "title": "Clean-room chat", "status": "in_progress", "priority": "medium"}
CONTEXT: dict[str, Any] = {"activeTask": TASK, "actor": {"name": "Mock Agent", "role": "engineer"}}


def tools(*names: str) -> list[dict[str, Any]]:
    schemas = dict.fromkeys(READS, PLAIN) | dict.fromkeys(WRITES, KEYED) | {"shell_command": SHELL}
    schemas |= {"update_plan": PLAIN}
    return [{"type": "function", "name": n, "parameters": schemas[n]} for n in names or schemas]


class Thread:
    """A conversation as Codex would send it: what was said and called goes back into the next request."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.tools = tools()
        self.input: list[dict[str, Any]] = [user("<environment_context>\n  <cwd>/w</cwd>\n</environment_context>")]
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def request(self) -> dict[str, Any]:
        return {"model": MODEL_NAME, "input": self.input, "tools": self.tools, "stream": True}

    def ask(self, text: str) -> str:
        """Say something and run the turn to its end; returns the answer."""
        self.input.append(user(text))
        for _ in range(20):
            reply = decide(self.request())
            if not reply.calls:
                self.input.append({"type": "message", "role": "assistant", "content": [{"text": reply.text}]})
                return reply.text
            self.take(reply)
        raise AssertionError("the turn does not end")

    def take(self, reply: Reply) -> None:
        for call in reply.calls:
            call_id = f"call_{len(self.calls)}"
            self.calls.append((call.name, dict(call.arguments)))
            self.input.append({"type": "function_call", "name": call.name, "call_id": call_id} | arguments(call))
        for number, call in enumerate(reply.calls, len(self.calls) - len(reply.calls)):
            output = {"type": "function_call_output", "call_id": f"call_{number}", "output": self.output(call.name)}
            self.input.append(output)

    def output(self, name: str) -> str:
        if name in self.answers:
            answer = self.answers[name]
            return answer if isinstance(answer, str) else json.dumps(answer)
        if name in ("decide_approval", "control_workspace_service", "generic_api_request"):
            return f"unsupported call: {name}"
        result = (
            CONTEXT if name == "get_task_context" else {"disposition": "applied", "stateRevision": 3, "entityRefs": []}
        )
        return json.dumps({"ok": True, "operationId": name, "result": result, "stateRevision": 3})

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def arguments(call: Any) -> dict[str, Any]:
    return {"arguments": json.dumps(dict(call.arguments))}


def read(**result: Any) -> dict[str, Any]:
    return {"ok": True, "result": result, "stateRevision": 3}


def denial(code: str, message: str, operation: str) -> dict[str, Any]:
    inner = {"schema": "paperclip.semantic-denial.v1", "code": code, "message": message, "retryable": False}
    return {"ok": False, "operationId": operation, "callId": "call-1", "denial": inner, "stateRevision": 3}


# ---------------------------------------------------------------- intents
PLAN = {"id": "document-0001", "key": "plan", "title": "Plan", "latestRevisionId": "rev-2", "revisionCount": 2}
CASES = [
    ("Read this issue", ["get_task_context"]),
    ("What is the status of this task?", ["get_task_context"]),
    ("Read this issue, then record a one-sentence status on it", ["get_task_context", "report_progress"]),
    (
        "Please call get_task_context and then report_progress with a short status",
        ["get_task_context", "report_progress"],
    ),
    ("Record a status: all is well", ["report_progress"]),
    ("Comment that the draft is ready", ["report_progress"]),
    ("Answer the status question: on track", ["answer_status_question"]),
    ("Show the comments", ["get_task_history"]),
    ("Unblock the issue", ["set_dependencies"]),
    ("Take stock", ["get_task_context", "get_task_history", "list_documents"]),
    ("List the documents", ["list_documents"]),
    ("Write a document called Launch plan: first ask", ["list_documents", "write_document"]),
    ("Revise the plan: and test it", ["list_documents", "read_document", "write_document"]),
    ("Read the plan", ["list_documents", "read_document"]),
    ("Ask me which colour I like: red or blue", ["request_human_input"]),
    ("Ask me to confirm that we start", ["request_human_input"]),
    ("Ask me to tick: docs, tests", ["request_human_input"]),
    ("Suggest tasks: tests, help", ["request_human_input"]),
    ("Ask me for verdicts: title, priority", ["request_human_input"]),
    ("Request an approval for a domain", ["request_approval"]),
    ("Request a review: ready", ["request_review"]),
    ("Create a child task called Write help", ["create_task"]),
    ("Block this issue because the key is missing", ["block_task"]),
    ("Schedule a wake in 30 seconds", ["schedule_wake"]),
    ("Register a deliverable notes.txt: hello", ["register_deliverable"]),
    ("Comment on the approval: still needed", ["list_approvals", "comment_on_approval"]),
    ("Finish the issue", ["finish_task"]),
    ("Run `ls -la`", ["shell_command"]),
    ("Write a file called a.txt: hello", ["shell_command"]),
    ("Plan the steps", ["update_plan", "update_plan"]),
    ("Approve the approval yourself", ["list_approvals", "decide_approval"]),
    ("Start the preview service", ["control_workspace_service"]),
    ("Make a generic API request", ["generic_api_request"]),
    ('Call search_tasks with {"query": "finish the issue"}', ["search_tasks"]),
]


@pytest.mark.requirement("rehearsal.rules")
@pytest.mark.parametrize(("words", "expected"), CASES, ids=[words for words, _ in CASES])
def test_plain_words_become_the_calls_they_ask_for(words: str, expected: list[str]) -> None:
    thread = Thread(list_documents=read(documents=[PLAN]), read_document=read(revision={"body": "# Plan\n\nold"}))
    answer = thread.ask(words)
    assert thread.names == expected
    assert answer


@pytest.mark.requirement("rehearsal.rules")
@pytest.mark.parametrize("intent", INTENTS, ids=[intent.name for intent in INTENTS])
def test_the_example_of_every_row_asks_for_that_row(intent: Intent) -> None:
    assert find_steps(intent.example)[0].intent is intent


HELP_CALLS = {  # every line of the help, and what it says it does
    "Read this issue, then record a one-sentence status on it": ["get_task_context", "report_progress"],
    "Record a status: the first draft is ready": ["report_progress"],
    "Write a document called Launch plan: first ask, then build": ["list_documents", "write_document"],
    "Revise the Launch plan: and test it": ["list_documents", "read_document", "write_document"],
    "Ask me which colour I like: red, green or blue, then record my answer as a status": ["questions"],
    "Ask me to confirm that we start today": ["confirmation"],
    "Ask me to tick: docs, tests, release": ["checkbox"],
    "Ask me for verdicts: title, priority": ["item_verdicts"],
    "Request an approval to spend 100 dollars on hosting, then record my decision as a status": ["request_approval"],
    "Create a child task called Write help": ["create_task"],
    "Finish the issue: everything asked for is done": ["finish_task"],
    "Run `ls -la`": ["shell_command"],
    "Write a file called notes.txt: hello": ["shell_command"],
    "Count slowly to 30": [],
    'Call `get_task_history` with {"limit": 5}': ["get_task_history"],
    "Approve the approval yourself": ["list_approvals", "decide_approval"],
    "Start the preview service": ["control_workspace_service"],
    "Make a generic API request": ["generic_api_request"],
}


def help_lines() -> list[str]:
    return [line[2:] for line in Thread().ask("help").splitlines() if line.startswith("- ")]


@pytest.mark.requirement("rehearsal.rules")
@pytest.mark.parametrize("line", HELP_CALLS)
def test_a_line_of_the_help_typed_as_it_stands_does_what_it_says(line: str) -> None:
    document = PLAN | {"key": "launch-plan", "title": "Launch plan"}
    thread = Thread(list_documents=read(documents=[document]), read_document=read(revision={"body": "old"}))
    answer = thread.ask(line)
    assert line in help_lines()
    assert [sent.get("interactionKind", name) for name, sent in thread.calls] == HELP_CALLS[line]
    assert answer
    assert HELP_CALLS[line] or answer == " ".join(map(str, range(1, 31)))


@pytest.mark.requirement("rehearsal.rules")
@pytest.mark.parametrize(
    "words",
    [
        "Don't ask me to finish the issue",
        "Don't finish the issue",
        "how do I write a document?",
        'Say "finish the issue"',
        "Never run a command",
        "a joke, please",
    ],
)
def test_words_that_do_not_ask_for_it_call_nothing(words: str) -> None:
    thread = Thread()
    thread.ask(words)
    assert thread.names == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Ask me whether to finish the issue", "request_human_input"),
        ("Request an approval to finish the issue", "request_approval"),
        ("Block the issue because we must finish the task", "block_task"),
        ("Comment that we should finish the issue", "report_progress"),
        ("Create a child task to write the help document", "create_task"),
    ],
)
def test_what_a_request_is_about_is_not_a_request_of_its_own(words: str, expected: str) -> None:
    thread = Thread()
    thread.ask(words)
    assert thread.names == [expected]


@pytest.mark.parametrize("joined", ["{}, then {}", "{} and {}", "{}. Please {}", "1. {}\n2. {}", "- {}\n- {}"])
def test_requests_are_found_however_they_are_joined(joined: str) -> None:
    thread = Thread()
    thread.ask(joined.format("Read the issue", "finish it"))
    assert thread.names == ["get_task_context", "finish_task"]


@pytest.mark.parametrize(
    ("words", "prompt"),
    [
        ("Ask me a question about which colour to use.", "Which colour should I use?"),
        ("Ask me a question about the budget", "What should I know about the budget?"),
        ("Ask me whether we should ship today", "Should we ship today?"),
        ("Ask me whether you should go on", "Should I go on?"),
        ("Ask me whether I trust you", "Do you trust me?"),
        ("Ask me if you are ready", "Am I ready?"),
        ("Ask me a good question", WHAT_NEXT),
        ("Ask me what to name the dog", "What should I name the dog?"),
        ("Ask me how I want to proceed", "How do you want to proceed?"),
        ("Ask me for my name", "Can you give me your name?"),
        ("Ask me before you deploy", "May I deploy now?"),
        ("Ask me to confirm that we start today", "Do you confirm that we start today?"),
        ("Ask me to confirm: deploy now", "Do you confirm this: deploy now?"),
        ("Ask me for a confirmation to deploy", "May I deploy?"),
        ('Ask me "Which way?"', "Which way?"),
    ],
)
def test_a_question_is_put_as_a_person_would_put_it(words: str, prompt: str) -> None:
    thread = Thread()
    thread.ask(words)
    assert thread.calls[0][1]["prompt"] == prompt


@pytest.mark.parametrize(
    ("words", "subject"),
    [
        ("Request an approval to spend 100 dollars on hosting.", "Spend 100 dollars on hosting"),
        ("please get approval to hire a clown", "Hire a clown"),
        ("Read this issue, then request an approval to spend 100 dollars", "Spend 100 dollars"),
        ("Request an approval for a budget of 250 EUR", "A budget of 250 EUR"),
        ("Request board approval of the hiring plan, please", "The hiring plan"),
        ("Ask for approval that we ship because it is cheap", "We ship because it is cheap"),
        ("Request an approval: buy a domain", "Buy a domain"),
        ('Request an approval called "Big spend"', "Big spend"),
        ("Get a hosting approval", "Hosting"),
        ("Request an approval", "The next step on this issue"),
    ],
)
def test_an_approval_says_what_it_is_about(words: str, subject: str) -> None:
    thread = Thread()
    answer = thread.ask(words)
    sent = thread.calls[-1][1]
    assert (sent["approvalType"], sent["payload"]["title"]) == (subject, subject)
    assert sent["payload"]["summary"]
    assert subject not in sent["payload"]["summary"]  # the card says it once
    assert f"“{subject}”" in answer


@pytest.mark.parametrize(
    "words",
    [
        "call create_task with {bad",
        'call create_task with {"title": "finish the issue"',
        "call create_task with arguments: {'title': 'x'}, then finish the issue",
        "use create_task with [1]",
    ],
)
def test_json_that_cannot_be_read_calls_nothing_and_says_so(words: str) -> None:
    thread = Thread()
    assert "I could not read the JSON after `create_task`" in thread.ask(words)
    assert thread.names == []


# ---------------------------------------------------------------- the prompts of the blank page
def blank_prompts() -> list[str]:
    source = (settings.BASE_DIR / "cleanroom/static/cleanroom/components/blank.js").read_text()
    listed = re.search(r"const EXAMPLES = \[(.*?)\]", source, re.DOTALL)
    return re.findall(r"'([^'\n]+)'", listed[1]) if listed else []


def test_every_prompt_of_the_blank_page_gives_a_sensible_result() -> None:
    prompts = blank_prompts()
    assert len(prompts) == len(PLAUSIBLE)
    for prompt in prompts:
        thread = Thread(list_documents=read(documents=[]))
        answer = thread.ask(prompt)
        name, sent = thread.calls[-1]
        assert answer
        assert PLAUSIBLE[name](sent), (prompt, sent)


def is_a_status(sent: dict[str, Any]) -> bool:
    return "MCK-1234" in sent["body"] and sent["body"].count(".") == 1


def is_a_plan(sent: dict[str, Any]) -> bool:
    steps = re.findall(r"^\d\. .{20,}\.$", sent["body"], re.MULTILINE)
    about = "MCK-1234" in sent["body"] and "Clean-room chat" in sent["body"]
    return sent["title"] == "Project plan" and about and len(steps) >= 3 and "Project plan" not in sent["body"]


def is_a_question(sent: dict[str, Any]) -> bool:
    first, own = sent["payload"]["questions"]
    return sent["prompt"] == first["prompt"] == HOW_TO_BEGIN and len(first["options"]) == 3 and "options" not in own


PLAUSIBLE = {"report_progress": is_a_status, "write_document": is_a_plan, "request_human_input": is_a_question}


def test_the_way_to_begin_that_was_chosen_is_taken() -> None:
    for choice, expected in (("Read the issue, then record a status", "report_progress"), ("Wait", "")):
        thread = Thread()
        thread.ask("Ask me a question before you begin")
        thread.ask(interaction_answer("questions", "answered", {"answers": {"q1": choice}}))
        assert thread.names[1:] == (["get_task_context", expected] if expected else [])


def test_the_answer_quotes_what_the_tools_gave() -> None:
    thread = Thread()
    answer = thread.ask("Read this issue, then record a one-sentence status on it")
    recorded = thread.calls[1][1]["body"]
    assert "MCK-1234" in answer
    assert "Clean-room chat" in answer
    assert recorded in answer
    assert recorded.count(".") == 1
    assert "MCK-1234" in recorded


def test_several_calls_are_made_one_response_after_the_other_and_some_in_one() -> None:
    thread = Thread()
    thread.input.append(user("Take stock, then record a status: looked"))
    first = decide(thread.request())
    assert [call.name for call in first.calls] == ["get_task_context", "get_task_history", "list_documents"]
    thread.take(first)
    assert [call.name for call in decide(thread.request()).calls] == ["report_progress"]


def test_words_after_a_colon_are_taken_exactly_up_to_then() -> None:
    steps = find_steps("Record a status: I will finish the document; ask later. Then finish the issue")
    assert [(step.intent.name, step.clause.exact) for step in steps] == [
        ("record_status", "I will finish the document; ask later"),
        ("finish_task", ""),
    ]


def test_a_command_keeps_everything_up_to_then() -> None:
    thread = Thread(shell_command="Exit code: 3\nWall time: 0 seconds\nOutput:\none\ntwo\n")
    answer = thread.ask("run echo one && echo two; exit 3, then record the output as a status")
    assert thread.calls[0][1]["command"] == "echo one && echo two; exit 3"
    assert thread.calls[1][1]["body"] == "The command printed: one two."
    assert "code 3" in answer


def test_a_document_that_exists_gets_a_revision_on_top_of_its_newest() -> None:
    thread = Thread(list_documents=read(documents=[PLAN]), read_document=read(revision={"body": "Old."}))
    answer = thread.ask("Revise the plan: and test it")
    written = thread.calls[-1][1]
    assert (written["key"], written["baseRevisionId"]) == ("plan", "rev-2")
    assert written["body"] == "Old.\n\nand test it\n"
    assert "revision 3" in answer

    fresh = Thread(list_documents=read(documents=[]))
    fresh.ask('Write a document called "Launch plan" saying "first ask"')
    assert fresh.calls[-1][1] | {"idempotencyKey": ""} == {
        "idempotencyKey": "",
        "key": "launch-plan",
        "title": "Launch plan",
        "body": "first ask\n",
        "baseRevisionId": None,
        "changeSummary": "Document written as asked",
    }


# ---------------------------------------------------------------- the board's answers
def interaction_answer(kind: str, outcome: str, result: Any) -> str:
    return json.dumps(
        {
            "schema": "paperclip.semantic-interaction-result.v1",
            "interactionId": "interaction-0001",
            "kind": kind,
            "outcome": outcome,
            "result": result,
            "instruction": "The board answered. Continue the issue with this answer.",
        }
    )


def test_a_question_waits_and_its_answer_is_used_as_asked() -> None:
    thread = Thread()
    asked = thread.ask("Ask me which colour I like: red, green or blue, then record my answer as a status")
    assert thread.names == ["request_human_input"]
    card = thread.calls[0][1]
    assert card["prompt"] == "Which colour do you like?"
    assert [option["label"] for option in card["payload"]["questions"][0]["options"]] == ["red", "green", "blue"]
    assert "record a status" in asked

    answer = thread.ask(interaction_answer("questions", "answered", {"answers": {"q1": "o2"}}))
    assert thread.names == ["request_human_input", "report_progress"]
    assert thread.calls[1][1]["body"] == "The board's answer to “Which colour do you like?”: green."
    assert "green" in answer


CONFIRM, TICK, VERDICTS = "Ask me to confirm that we start", "Ask me to tick: docs, tests", "Ask me for verdicts: title"
APPROVAL, COLOUR = "Request an approval for a domain", "Ask me which colour I like: red, green or blue"
JUDGED = {"verdicts": {"i1": {"verdict": "reject", "reason": "too long"}, "i2": {"verdict": "approve", "reason": ""}}}


@pytest.mark.parametrize(
    ("words", "kind", "outcome", "result", "said"),
    [
        (COLOUR, "questions", "answered", {"answers": {"q1": "red"}}, "You answered **red**."),
        (COLOUR, "questions", "answered", {"answers": {"q1": "Deep blue."}}, "You answered **Deep blue**."),
        (COLOUR, "questions", "rejected", {}, "You declined to answer."),
        (CONFIRM, "confirmation", "accepted", {}, "You confirmed it."),
        (CONFIRM, "confirmation", "rejected", {"reason": "too soon"}, "You said no: **too soon**."),
        (TICK, "checkbox", "accepted", {"selectedOptionIds": ["o2"]}, "You chose **tests**."),
        (TICK, "checkbox", "accepted", {"selectedOptionIds": []}, "You accepted, and chose none."),
        (TICK, "checkbox", "rejected", {"reason": "all wrong"}, "You rejected the choice: **all wrong**."),
        (f"{VERDICTS}, help", "item_verdicts", "answered", JUDGED, "**title: reject (too long) and help: approve**."),
        (APPROVAL, "approval", "approved", {"note": "go"}, "You approved it: **go**."),
        (APPROVAL, "approval", "rejected", {"note": ""}, "You rejected it."),
        (APPROVAL, "approval", "cancelled", None, "You cancelled it."),
    ],
)
def test_every_answer_is_acknowledged_in_words(words: str, kind: str, outcome: str, result: Any, said: str) -> None:
    thread = Thread()
    thread.ask(words)
    calls = list(thread.names)
    answer = thread.ask(interaction_answer(kind, outcome, result))
    assert said in answer
    assert "`" not in answer
    assert thread.names == calls


def test_after_a_no_only_the_answer_is_recorded_and_nothing_else_is_done() -> None:
    thread = Thread()
    thread.ask("Request an approval to ship, then record my decision as a status, then finish the issue")
    thread.ask(interaction_answer("approval", "rejected", {"note": "not yet"}))
    assert thread.names == ["request_approval", "report_progress"]
    assert "rejected: not yet" in thread.calls[-1][1]["body"]


def test_what_a_person_says_after_a_kept_answer_is_done_as_well() -> None:
    thread = Thread()
    thread.ask("Request an approval to ship, then record my decision as a status")
    kept = interaction_answer("approval", "rejected", {"note": "not yet"})
    thread.ask(f"{kept}\n\nFinish the issue")
    assert thread.names == ["request_approval", "report_progress", "finish_task"]
    assert "rejected: not yet" in thread.calls[1][1]["body"]


def test_two_questions_in_one_message_are_asked_one_after_the_other() -> None:
    thread = Thread()
    thread.ask(f"{COLOUR}, then ask me to confirm that we start, then finish the issue")
    thread.ask(interaction_answer("questions", "answered", {"answers": {"q1": "red"}}))
    assert thread.names == ["request_human_input"] * 2
    thread.ask(interaction_answer("confirmation", "accepted", {}))
    assert thread.names == ["request_human_input", "request_human_input", "finish_task"]


@pytest.mark.parametrize(
    ("asked", "typed", "recorded"),
    [
        ("Ask me a question about which colour to use", "blue", "“Which colour should I use?”: blue."),
        (COLOUR, "GREEN.", "“Which colour do you like?”: green."),
        (CONFIRM, "yes", "“Do you confirm that we start?”: yes."),
    ],
)
def test_words_typed_while_a_card_waits_are_its_answer(asked: str, typed: str, recorded: str) -> None:
    thread = Thread()
    thread.ask(f"{asked}, then record my answer as a status")
    answer = thread.ask(typed)
    assert "as your answer to “" in answer
    assert thread.calls[-1][0] == "report_progress"
    assert recorded in thread.calls[-1][1]["body"]


@pytest.mark.parametrize("typed", ["no", "not yet", "maybe tomorrow"])
def test_without_a_plain_yes_what_was_to_follow_is_left_out(typed: str) -> None:
    thread = Thread()
    thread.ask(f"{CONFIRM}, then finish the issue")
    assert f"**{typed}**" in thread.ask(typed)
    assert thread.names == ["request_human_input"]


@pytest.mark.parametrize("typed", ["Why do you ask?", "help", "hello", "Read this issue"])
def test_words_that_ask_for_something_themselves_are_no_answer(typed: str) -> None:
    thread = Thread()
    thread.ask(f"{COLOUR}, then finish the issue")
    assert "as your answer" not in thread.ask(typed)
    assert "finish_task" not in thread.names


def test_only_the_turn_right_after_a_question_answers_it() -> None:
    thread = Thread()
    thread.ask(COLOUR)
    thread.ask("hello")
    assert "as your answer" not in thread.ask("blue")


def test_an_approval_is_not_decided_by_a_typed_message() -> None:
    thread = Thread()
    thread.ask(f"{APPROVAL}, then finish the issue")
    assert "Only the card decides" in thread.ask("approved")
    assert thread.names == ["request_approval"]


# ---------------------------------------------------------------- denials
@pytest.mark.requirement("rehearsal.rules")
def test_a_denial_is_told_with_its_code_and_sentence() -> None:
    refused = denial("control_plane_denied", "The document has moved on.", "report_progress")
    refused["denial"]["controlPlaneCode"] = "stale_revision"
    answer = Thread(report_progress=refused).ask("Record a status: x")
    assert "`control_plane_denied` (`stale_revision`)" in answer
    assert "The document has moved on." in answer


def test_a_denial_is_told_in_whole_sentences_and_names_issues_as_people_do() -> None:
    refused = denial("control_plane_denied", "task-0004 may not go from done to done", "finish_task")
    refused["denial"]["controlPlaneCode"] = "task_transition_illegal"
    thread = Thread(get_task_context=read(activeTask={"id": "task-0004"} | TASK), finish_task=refused)
    thread.ask("Read this issue")
    answer = thread.ask("Finish the issue")
    assert answer.endswith(": MCK-1234 may not go from done to done. Nothing changed.")


def test_words_to_be_repeated_keep_their_ids() -> None:
    thread = Thread(get_task_context=read(activeTask={"id": "task-0004"} | TASK))
    thread.ask("Read this issue")
    assert thread.ask("Say: task-0004") == "task-0004"


def test_a_created_task_is_named_by_its_identifier_where_the_result_has_it() -> None:
    made = read(task={"id": "task-0002", "identifier": "MCK-77"}, entityRefs=["task:task-0002"])
    assert "(`MCK-77`)" in Thread(create_task=made).ask("Create a child task called Write help")
    assert "(`task-0002`)" in Thread(create_task=read(entityRefs=["task:task-0002"])).ask("Create a task called Help")


def test_a_denial_that_comes_as_a_message_is_about_the_call_that_codex_did_not_know() -> None:
    thread = Thread(list_approvals=read(approvals=[{"id": "approval-0007", "status": "pending"}]))
    thread.input.append(user("Approve the approval yourself"))
    thread.take(decide(thread.request()))
    thread.take(decide(thread.request()))
    assert thread.calls[-1] == (
        "decide_approval",
        {"idempotencyKey": thread.calls[-1][1]["idempotencyKey"], "approvalId": "approval-0007", "decision": "approved"}
        | {"note": "Decided in the chat."},
    )
    note = json.dumps(denial("actor_role_denied", "Engineers do not decide.", "decide_approval"))
    thread.input.append(user(f"The control plane answered your call to decide_approval: {note}"))
    assert "`actor_role_denied`: Engineers do not decide." in decide(thread.request()).text


def test_a_denial_that_comes_after_the_answer_is_told_as_well() -> None:
    thread = Thread()
    assert thread.ask("Start the preview service") == "I tried `control_workspace_service`."
    thread.input.append(user(json.dumps(denial("required_claim_missing", "Not granted.", "control_workspace_service"))))
    assert "`required_claim_missing`: Not granted." in decide(thread.request()).text


def test_a_name_that_nobody_knows_is_said_to_be_unknown_since_no_denial_will_follow() -> None:
    thread = Thread(launch_rocket="unsupported call: launch_rocket")
    assert thread.ask("Call launch_rocket") == "I tried `launch_rocket`, which Codex does not know."


# ---------------------------------------------------------------- keys
@pytest.mark.requirement("rehearsal.same-key")
def test_a_cut_turn_asked_again_in_the_same_words_repeats_its_key_and_a_new_one_does_not() -> None:
    thread = Thread()
    thread.input.append(user("Record a status: ready"))
    thread.take(decide(thread.request()))
    assert decide(thread.request()) == decide(thread.request())
    thread.input.append(user("<turn_aborted>\nThe user interrupted.\n</turn_aborted>"))

    thread.ask("Record a status: ready")
    thread.ask("Record a status: ready")
    first, again, new = (sent["idempotencyKey"] for _, sent in thread.calls)
    assert first == again
    assert new != first


def test_two_equal_requests_in_one_message_have_different_keys() -> None:
    thread = Thread()
    thread.ask("Record a status: one, then record a status: one")
    assert len({sent["idempotencyKey"] for _, sent in thread.calls}) == 2


# ---------------------------------------------------------------- words only
@pytest.mark.requirement("rehearsal.honest")
@pytest.mark.parametrize(
    "words", ["hello", "help", "Why is the sky blue?", "\u202e{}[]\0 ```", '{"schema": 1}', "x" * 8000]
)
def test_anything_else_is_answered_with_what_it_is(words: str) -> None:
    thread = Thread()
    assert "rules, not a language model" in thread.ask(words)
    assert thread.names == []


def test_help_is_short_begins_with_ordinary_things_and_ends_with_what_is_withheld() -> None:
    lines = help_lines()
    assert list(HELP_CALLS) == lines
    assert len(lines) < 20
    assert HELP_CALLS[lines[0]] == ["get_task_context", "report_progress"]
    withheld = [HELP_CALLS[line][-1] for line in lines[-3:]]
    assert withheld == ["decide_approval", "control_workspace_service", "generic_api_request"]


def test_what_was_recorded_earlier_is_remembered_from_the_thread() -> None:
    thread = Thread()
    thread.ask("Record a status: the first draft is ready")
    assert "The first draft is ready." in thread.ask("What did you record?")


def test_thinking_is_shown_for_a_message_with_several_requests() -> None:
    thread = Thread()
    thread.input.append(user("Read this issue, then record a status"))
    reply = decide(thread.request())
    assert "read the issue and record a status" in reply.thinking
    kinds = [event.data["type"] for event in events(reply, new_id=lambda: "id", input_characters=10)]
    assert kinds.index("response.reasoning_summary_text.delta") < len(kinds) - 2
    assert kinds[-1] == "response.completed"


def test_a_request_that_makes_no_sense_is_still_answered() -> None:
    for body in ({}, {"input": None}, {"input": [1, {}], "tools": "no"}, {"input": "hello"}):
        assert "rehearsal model" in decide(body).text


# ---------------------------------------------------------------- the wire and the process
async def streamed(url: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    async with aiohttp.ClientSession() as http, http.post(f"{url}/responses", json=body) as answer:
        assert answer.status == 200
        text = await answer.text()
    return [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")]


async def test_text_is_streamed_in_pieces_that_join_to_the_whole() -> None:
    async with RehearsalServer(pace_s=0) as model:
        sent = await streamed(model.url, {"input": "count to 20", "stream": True})
    pieces = [event["delta"] for event in sent if event["type"] == "response.output_text.delta"]
    done = next(event["item"] for event in sent if event["type"] == "response.output_item.done")
    assert len(pieces) > 3
    assert "".join(pieces) == done["content"][0]["text"] == " ".join(map(str, range(1, 21)))
    assert sent[-1]["response"]["usage"]["total_tokens"] > 0


async def test_bad_requests_and_asked_for_failures_are_refused() -> None:
    async with RehearsalServer(pace_s=0) as model, aiohttp.ClientSession() as http:
        for data in (b"{", b"[]", json.dumps({"input": "Fail with an error"}).encode()):
            async with http.post(f"{model.url}/responses", data=data) as answer:
                assert answer.status == 400
        async with http.get(f"{model.url}/models") as answer:
            assert (await answer.json())["data"][0]["id"] == MODEL_NAME


async def start_process() -> tuple[asyncio.subprocess.Process, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "cleanroom.rehearsal", "--port", "0", "--pace", "0"),
        cwd=settings.BASE_DIR,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    async with asyncio.timeout(15):
        line = await process.stdout.readline()
    return process, line.decode().strip()


@pytest.mark.parametrize("ending", ["stdin", "sigterm"])
async def test_the_process_prints_its_address_and_ends_with_its_parent_or_when_told(ending: str) -> None:
    process, address = await start_process()
    assert process.stdin
    try:
        sent = await streamed(address, {"input": "hello", "stream": True})
        assert sent[-1]["type"] == "response.completed"
        if ending == "stdin":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(5):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        process.stdin.close()
        await process.wait()


# ---------------------------------------------------------------- real Codex
@pytest.mark.codex
@pytest.mark.requirement("rehearsal.wire")
async def test_real_codex_runs_tools_commands_and_failures_against_it(tmp_path: Path) -> None:
    calls: list[str] = []

    def answer(tool: str, given: Any) -> tuple[bool, str]:
        calls.append(tool)
        return True, Thread().output(tool)

    found = binary.find(codex_bin=settings.CODEX_BIN)
    base = settings.VAR_DIR / "rehearsal-test" / str(os.getpid())
    workspace, codex_home = base / "workspace", base / "home"
    workspace.mkdir(parents=True)
    codex_home.mkdir()
    offered = [
        {"name": "get_task_context", "description": "Reads the issue", "inputSchema": PLAIN},
        {"name": "report_progress", "description": "Records a status", "inputSchema": KEYED},
    ]
    try:
        async with RehearsalServer(pace_s=0) as model:
            chosen = config.session_config(
                workspace=workspace,
                binary_directory=found.directory,
                model_url=model.url,
                model_name=MODEL_NAME,
            )
            (codex_home / "config.toml").write_text(config.to_toml(chosen))
            async with RawCodex(
                codex_bin=str(found.path), home=codex_home, workspace=workspace, answer=answer
            ) as codex:
                await codex.open_thread(dynamicTools=offered)
                turn = await codex.turn("Read this issue, then record a one-sentence status on it")
                assert (turn["status"], calls) == ("completed", ["get_task_context", "report_progress"])
                assert "MCK-1234" in codex.items("agentMessage")[-1]["text"]
                assert "record a status" in codex.items("reasoning")[0]["summary"][0]

                await codex.turn("Run `echo one; exit 3`")
                assert codex.items("commandExecution")[-1]["exitCode"] == 3
                assert "code 3" in codex.items("agentMessage")[-1]["text"]

                await codex.turn("Start the preview service")
                assert "I tried `control_workspace_service`." in codex.items("agentMessage")[-1]["text"]

                assert (await codex.turn("Fail with an error"))["status"] == "failed"
                assert (await codex.turn("Say nothing"))["status"] == "completed"
    finally:
        home.remove_tree(path=base)


def test_a_sentence_begins_with_a_capital_but_a_name_stays_a_name() -> None:
    assert one_sentence("a task is blocked") == "A task is blocked."
    assert one_sentence("decide_approval is for the board.") == "decide_approval is for the board."


@pytest.mark.requirement("rehearsal.recalls")
def test_everything_that_was_done_is_told_when_asked_for() -> None:
    denied = denial("claim_missing", "The run does not hold the claim", "decide_approval")
    thread = Thread(list_documents=read(documents=[]), decide_approval=denied)
    thread.ask("Record a status: the draft is ready")
    thread.ask("Write a document called Launch plan: first ask")
    thread.ask("Create a child task called Write help")
    thread.ask("Run `ls -la`")
    thread.ask("Request an approval to spend 100 dollars on hosting")
    thread.ask("Approve the approval yourself")
    told = thread.ask("What did you just do?")
    deeds = re.findall(r"^\d\. (.+)$", told, re.MULTILINE)
    assert deeds == [
        "I recorded the status “The draft is ready.”.",
        "I wrote a revision of the document “Launch plan”.",
        "I created the child task “Write help”.",
        "I ran `ls -la`.",
        "I requested the board's approval of “Spend 100 dollars on hosting”.",
        "I tried `decide_approval`; it was denied with `claim_missing`.",
    ]


@pytest.mark.requirement("rehearsal.recalls")
def test_nothing_done_is_said_and_reads_and_repetitions_are_no_deeds() -> None:
    again = read(disposition="duplicate", stateRevision=6, entityRefs=[])
    thread = Thread(report_progress=again)
    assert "I have done nothing in this chat yet." in thread.ask("What did you do?")
    thread.ask("Read this issue, then record a status")
    assert "I have done nothing in this chat yet." in thread.ask("What did you do?")


def test_a_repetition_is_told_in_a_whole_sentence() -> None:
    thread = Thread(report_progress=read(disposition="duplicate", stateRevision=6, entityRefs=[]))
    said = thread.ask("Record a status: all is well")
    assert said.startswith("I recorded this status (state revision 6; recorded before, so nothing was added):\n\n> All")


@pytest.mark.parametrize("words", ["请记录状态", "Пожалуйста, запишите статус", "現在の状況を教えて", "ما هي الحالة؟"])
def test_another_script_is_answered_with_what_is_understood(words: str) -> None:
    said = Thread().ask(words)
    assert "English words only" in said
    assert "1 word" not in said


@pytest.mark.parametrize(
    ("asked", "section"),
    [
        ("Revise the plan: add a section about risks", "## Risks\n\nTo be filled in"),
        ("Revise the plan: add a section about risks: we may be late", "## Risks\n\nWe may be late."),
        ("Add a section about the risks to the plan", "## The risks\n\nTo be filled in"),
        ("Update the plan and add a short chapter on costs", "## Costs\n\nTo be filled in"),
    ],
)
def test_a_section_that_is_asked_for_is_added_with_a_heading(asked: str, section: str) -> None:
    thread = Thread(list_documents=read(documents=[PLAN]), read_document=read(revision={"body": "How to do it.\n"}))
    thread.ask(asked)
    name, sent = thread.calls[-1]
    assert name == "write_document"
    assert sent["body"].startswith(f"How to do it.\n\n{section}")
    assert "add a" not in sent["body"]


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("Can you write a document about the risks?", "Notes about the risks"),
        ("Write a memo on hosting costs!", "Memo about hosting costs"),
        ("Write a short project plan as a document on this issue", "Project plan"),
    ],
)
def test_a_document_is_titled_by_its_topic(asked: str, title: str) -> None:
    thread = Thread(list_documents=read(documents=[]))
    thread.ask(asked)
    assert thread.calls[-1][1]["title"] == title
    assert "?" not in thread.calls[-1][1]["body"]


def test_the_question_before_beginning_cannot_be_answered_with_nothing() -> None:
    thread = Thread()
    thread.ask("Ask me a question before you begin")
    assert [one["required"] for one in thread.calls[-1][1]["payload"]["questions"]] == [True, False]
