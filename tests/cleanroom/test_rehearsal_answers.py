"""What the rehearsal model makes of the board's answers, of denials, and of its keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cleanroom.rehearsal.decide import decide
from tests.cleanroom.support.rehearsal import TASK, Thread, denial, interaction_answer, read, user


# ---------------------------------------------------------------- the board's answers
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


@pytest.mark.parametrize(
    ("asked", "kind", "outcome"),
    [(APPROVAL, "approval", "rejected"), (APPROVAL, "approval", "cancelled"), (CONFIRM, "confirmation", "rejected")],
)
def test_what_was_announced_and_is_not_done_after_a_no_is_named(asked: str, kind: str, outcome: str) -> None:
    thread = Thread()
    announced = thread.ask(
        f"{asked}, then write a document called Plan: x, then record my decision as a status, finish it"
    )
    assert "and then go on: write a document, record a status and finish the issue." in announced
    said = thread.ask(interaction_answer(kind, outcome, {}))
    assert "So I leave this out: write a document and finish the issue." in said
    assert "I recorded this status" in said


def test_after_a_yes_or_when_nothing_was_announced_nothing_is_said_to_be_left_out() -> None:
    for more, outcome in ((", then finish the issue", "approved"), ("", "rejected")):
        thread = Thread()
        thread.ask(APPROVAL + more)
        assert "leave this out" not in thread.ask(interaction_answer("approval", outcome, {}))
