"""What the rehearsal model says in words."""

from __future__ import annotations

import re

import pytest

from cleanroom.rehearsal.decide import decide
from cleanroom.rehearsal.wire import events
from cleanroom.rehearsal.words import one_sentence
from tests.cleanroom.support.rehearsal import PLAN, Thread, denial, interaction_answer, read, user


# ---------------------------------------------------------------- words only
@pytest.mark.requirement("rehearsal.honest")
@pytest.mark.parametrize(
    "words", ["hello", "help", "Why is the sky blue?", "\u202e{}[]\0 ```", '{"schema": 1}', "x" * 8000]
)
def test_anything_else_is_answered_with_what_it_is(words: str) -> None:
    thread = Thread()
    assert "rules, not a language model" in thread.ask(words)
    assert thread.names == []


def test_what_was_recorded_earlier_is_remembered_from_the_thread() -> None:
    thread = Thread()
    thread.ask("Record a status: the first draft is ready")
    assert "“the first draft is ready”" in thread.ask("What did you record?")


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
        "I recorded the status “the draft is ready”.",
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
    assert said.startswith("I recorded this status (state revision 6; recorded before, so nothing was added):\n\n> all")


@pytest.mark.parametrize("words", ["请记录状态", "Пожалуйста, запишите статус", "現在の状況を教えて", "ما هي الحالة؟"])
def test_another_script_is_answered_with_what_is_understood(words: str) -> None:
    said = Thread().ask(words)
    assert "English words only" in said
    assert "1 word" not in said


@pytest.mark.parametrize(
    ("asked", "section"),
    [
        ("Revise the plan: add a section about risks", "## Risks\n\nTo be filled in"),
        ("Revise the plan: add a section about risks: we may be late", "## Risks\n\nwe may be late"),
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


@pytest.mark.requirement("rehearsal.rules")
@pytest.mark.parametrize(
    ("request_", "tool", "field"),
    [
        ("Record a status", "report_progress", "body"),
        ("Answer the status question", "answer_status_question", "body"),
        ("Finish the issue", "finish_task", "summary"),
        ("Block the issue", "block_task", "reason"),
        ("Request a review", "request_review", "summary"),
        ("Create a child task", "create_task", "title"),
        ("Request an approval", "request_approval", "approvalType"),
        ("Comment on the approval", "comment_on_approval", "body"),
        ("Write a document called Notes", "write_document", "body"),
        ("Ask me a question", "request_human_input", "prompt"),
    ],
)
@pytest.mark.parametrize("words", ["ebay’s iOS team is late", "all  is well?", "a_b"])
def test_words_after_a_colon_or_in_quotes_are_taken_exactly(request_: str, tool: str, field: str, words: str) -> None:
    for asked in (f"{request_}: {words}", f"{request_} “{words}”"):
        thread = Thread(list_documents=read(documents=[]), list_approvals=read(approvals=[{"id": "a1"}]))
        thread.ask(asked)
        name, sent = thread.calls[-1]
        assert (name, sent[field].removesuffix("\n")) == (tool, words)


def test_words_after_that_or_because_are_made_a_sentence() -> None:
    thread = Thread()
    thread.ask("Block the issue because the key is missing")
    assert thread.calls[-1][1]["reason"] == "The key is missing."


def test_exact_words_are_recorded_and_not_the_answer_of_the_board() -> None:
    thread = Thread()
    thread.ask("Ask me which colour I like: red or blue, then record a status: it works")
    thread.ask(interaction_answer("questions", "answered", {"answers": {"q1": "red"}}))
    assert thread.calls[-1][1]["body"] == "it works"
