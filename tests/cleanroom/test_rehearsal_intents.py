"""What plain words ask the rehearsal model for, and which calls it makes of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings

from cleanroom.rehearsal.decide import decide
from cleanroom.rehearsal.intents import INTENTS, Intent
from cleanroom.rehearsal.phrasing import HOW_TO_BEGIN, WHAT_NEXT
from cleanroom.rehearsal.steps import find_steps
from tests.cleanroom.support.rehearsal import PLAN, Thread, interaction_answer, read, user

# ---------------------------------------------------------------- intents
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
        ("Ask me which database we should use", "Which database should we use?"),
        ("Ask me when you can begin", "When can I begin?"),
        ("Ask me how the team will know", "How will the team know?"),
        ("Ask me who should review it", "Who should review it?"),
        ("Ask me whether you should go on", "Should I go on?"),
        ("Ask me whether I trust you", "Do you trust me?"),
        ("Ask me if you are ready", "Am I ready?"),
        ("Ask me a good question", WHAT_NEXT),
        ("Ask me what to name the dog", "What should I name the dog?"),
        ("Ask me how I want to proceed", "How do you want to proceed?"),
        ("Ask me for my name", "Can you give me your name?"),
        ("Ask me before you deploy", "May I deploy now?"),
        ("Ask me to confirm that we start today", "Do you confirm that we start today?"),
        ("Ask me to confirm: deploy now", "Do you confirm “deploy now”?"),
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
        ("Request an approval: buy a domain", "buy a domain"),
        ('Request an approval called "Big spend"', "Big spend"),
        ("Get a hosting approval", "Hosting"),
        ("Request an approval", "The next step on this issue"),
        ("Request an approval for it", "The next step on this issue"),
        ("Write a plan about the release, then request an approval for it", "Plan about the release"),
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


def test_help_is_short_begins_with_ordinary_things_and_ends_with_what_is_withheld() -> None:
    lines = help_lines()
    assert list(HELP_CALLS) == lines
    assert len(lines) < 20
    assert HELP_CALLS[lines[0]] == ["get_task_context", "report_progress"]
    withheld = [HELP_CALLS[line][-1] for line in lines[-3:]]
    assert withheld == ["decide_approval", "control_workspace_service", "generic_api_request"]


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
