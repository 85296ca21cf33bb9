"""What calls leave in the thread, and the cards a person answers, against a scripted server."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.support.room_server import RoomServer
from tests.browser.support.thread_page import ThreadPage

pytestmark = pytest.mark.browser
RESULT = {
    "ok": True,
    "stateRevision": 3,
    "command": {
        "commandId": "command-0002",
        "commandKind": "report_progress",
        "disposition": "applied",
        "stateRevision": 3,
        "entityRefs": ["comment:comment-0001", "task:task-1"],
    },
}


def ask(server: RoomServer, kind: str, payload: dict[str, Any], *, title: str = "Before I begin") -> None:
    server.room.submit("ask me")
    card = {"interactionId": f"{kind}-1", "interactionKind": kind, "title": title, "prompt": "Please say."}
    state = {"state": "pending", "stateLabel": "Waiting for you", "resolvedSummary": [], "reason": None}
    server.room.item(1, f"card:{kind}-1", "interaction", payload=payload, evidenceRef=None, **card, **state)
    server.room.settle(1)


def resolve(server: RoomServer, kind: str, state: str, label: str, **facts: Any) -> None:
    card = {"interactionId": f"{kind}-1", "interactionKind": kind, "title": "Before I begin", "prompt": "Please say."}
    rest = {"payload": {}, "evidenceRef": None, "resolvedSummary": [], "reason": None}
    server.room.item(1, f"card:{kind}-1", "interaction", state=state, stateLabel=label, **card, **(rest | facts))


@pytest.fixture
def card(chat: ThreadPage) -> Locator:
    return chat.cards


@pytest.mark.requirement("page.items")
def test_a_tool_strip_is_one_line_and_unfolds_its_facts_by_keyboard(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("go")
    strip = {"operationId": "report_progress", "title": "Report progress", "summary": "state 2 → 3"}
    server.room.item(1, "call-1", "tool_activity", status="ok", fields=["body"], result=RESULT, **strip)
    shown = chat.page.locator("[data-kind=tool_activity]")
    expect(shown).to_contain_text("Report progress")
    expect(shown.get_by_text("comment:comment-0001")).to_be_hidden()
    shown.locator("summary").focus()
    chat.page.keyboard.press("Enter")
    for words in ("report_progress", "applied", "comment:comment-0001", "body"):
        expect(shown.get_by_text(words, exact=True).first).to_be_visible()
    server.room.item(1, "item-2", "agent_message", author="Codex", body="More.", streaming=False)
    expect(chat.prose).to_have_text("More.")
    expect(shown.get_by_text("applied")).to_be_visible()


@pytest.mark.requirement("page.items")
def test_what_calls_leave_behind_is_told_apart(chat: ThreadPage, server: RoomServer) -> None:
    room = server.room
    room.submit("go")
    room.item(1, "r1", "durable_comment", author="Mock Agent", body="All is *well*.", operationId="report_progress")
    document = {"documentKey": "plan", "title": "Project plan", "author": "Mock Agent", "excerpt": "# Goals"}
    room.item(1, "r2", "document", revisionFrom=1, revisionTo=2, **document)
    denied = {"title": "Decide approval", "operationId": "decide_approval", "code": "actor_role_denied"}
    room.item(1, "r3", "denial", reason="decide_approval is the board's.", **denied)
    deliverable = {"deliverableKind": "reference", "byteSize": 2048, "registeredBy": "Mock Agent"}
    room.item(1, "r4", "deliverable", filename="report.pdf", **deliverable)
    tasks = [{"identifier": "MCK-1043", "title": "Collect"}]
    room.item(1, "r5", "dependency", createdTasks=tasks, blockerEdges=["MCK-1043 blocks MCK-1042"])
    room.item(1, "r6", "disposition", operationId="finish_task", status="done", body="Finished.")
    room.item(1, "r7", "record", label="Wake scheduled", body="manual at noon")
    room.item(1, "r8", "system_notice", glyph="!", text="Commands are off here.", code="sandbox_unavailable")
    room.item(1, "r9", "kind_of_next_year", label="Something new", body="still readable")

    def shown(kind: str) -> Locator:
        return chat.page.locator(f"[data-kind={kind}]")

    expect(shown("durable_comment")).to_contain_text("Recorded to mock thread")
    expect(shown("durable_comment").locator("em")).to_have_text("well")
    expect(shown("document")).to_contain_text("revision 1 → 2")
    expect(shown("denial").locator("header")).to_have_text("DeniedDecide approval")
    for words in ("decide_approval", "actor_role_denied", "“Decide approval” is the board's.", "did not change"):
        expect(shown("denial")).to_contain_text(words)
    expect(shown("deliverable")).to_contain_text("reference, 2.0 KB")
    expect(shown("dependency")).to_contain_text("MCK-1043 blocks MCK-1042")
    expect(shown("disposition")).to_contain_text("Issue is now done")
    expect(shown("record")).to_contain_text("manual at noon")
    expect(shown("system_notice")).to_have_text("Commands are off here.")
    expect(shown("kind_of_next_year")).to_contain_text("still readable")


@pytest.mark.requirement("page.approval")
@pytest.mark.parametrize(
    ("button", "outcome", "label"),
    [("Approve", "approved", "Approved"), ("Reject", "rejected", "Rejected"), ("Cancel", "cancelled", "Cancelled")],
)
def test_an_approval_is_decided_on_its_card_with_a_note(
    chat: ThreadPage, server: RoomServer, card: Locator, button: str, outcome: str, label: str
) -> None:
    asked = {"details": [{"label": "amount", "value": "250 EUR"}]}
    ask(server, "approval", asked, title="budget_increase")
    expect(chat.field).to_have_attribute("placeholder", "Decide on the card, or write a message")
    chat.is_in("waiting")
    for words in ("Budget increase", "Waiting for you", "Amount", "250 EUR"):
        expect(card).to_contain_text(words)
    card.get_by_label("Note").fill("  With care. ")
    server.hold("interaction")
    card.get_by_role("button", name=button).click()
    expect(card).to_have_attribute("data-state", "submitting")
    expect(card.get_by_role("button", name=button)).to_be_disabled()
    server.release("interaction")
    answer = {"interactionId": "approval-1", "outcome": outcome, "result": {"note": "With care."}}
    assert server.wait_for("interaction") == {"sessionId": "session-1", **answer}
    resolve(server, "approval", outcome, label, reason="With care.", payload=asked)
    for words in (label, "With care.", "Amount", "250 EUR"):
        expect(card).to_contain_text(words)
    expect(card.get_by_role("button")).to_have_count(0)
    expect(card).to_be_focused()


@pytest.mark.requirement("page.approval")
def test_a_refused_answer_says_why_on_its_card_and_can_be_given_again(
    chat: ThreadPage, server: RoomServer, card: Locator
) -> None:
    ask(server, "approval", {"details": []})
    server.refuse("interaction", 409, "already_decided", "This approval was decided in another tab.")
    card.get_by_role("button", name="Approve").click()
    expect(card.get_by_test_id("card-error")).to_contain_text("decided in another tab. already_decided")
    expect(card.get_by_role("button", name="Approve")).to_be_enabled()
    assert len(server.bodies("interaction")) == 1


@pytest.mark.requirement("page.approval")
def test_a_card_that_arrives_while_typing_is_told_once_and_touches_nothing(
    chat: ThreadPage, server: RoomServer
) -> None:
    chat.listen()
    chat.field.press_sequentially("half a thought")
    for _ in range(3):
        chat.field.press("ArrowLeft")
    ask(server, "approval", {"details": []}, title="budget")
    chat.is_in("waiting")
    expect(chat.field).to_be_focused()
    chat.field.press_sequentially("X")
    expect(chat.field).to_have_value("half a thouXght")
    assert chat.heard("polite") == ["Codex started working.", "Codex finished. Waiting for you: an approval, budget."]


QUESTIONS = {
    "questions": [
        {
            "id": "q1",
            "prompt": "Who reads it?",
            "control": "radio",
            "options": [{"id": "o1", "label": "Engineers"}, {"id": "o2", "label": "Board"}],
            "required": True,
        },
        {"id": "q2", "prompt": "Anything else?", "control": "text", "options": [], "required": False},
    ],
    "submitLabel": "Submit answers",
}


@pytest.mark.requirement("page.cards")
def test_questions_are_answered_once_the_required_ones_are(server: RoomServer, card: Locator) -> None:
    ask(server, "questions", QUESTIONS)
    submit = card.get_by_role("button", name="Submit answers")
    expect(submit).to_be_disabled()
    card.get_by_role("radio", name="Board").check()
    submit.click()
    body = server.wait_for("interaction")
    assert (body["outcome"], body["result"]["answers"]) == ("answered", {"q1": "Board"})
    assert body["result"]["summary"] == ["Who reads it? Board"]


@pytest.mark.requirement("page.cards")
def test_a_question_keeps_what_was_asked_and_says_that_a_message_withdraws_it(
    chat: ThreadPage, server: RoomServer, card: Locator
) -> None:
    ask(server, "questions", QUESTIONS)
    expect(chat.field).to_have_attribute("placeholder", "Writing a message withdraws the question")
    label, reason = "Superseded by a later comment", "You wrote a message instead."
    resolve(server, "questions", "superseded_by_comment", label, payload=QUESTIONS, reason=reason)
    for words in ("Please say.", "Who reads it?", "Anything else?", label, reason):
        expect(card).to_contain_text(words)
    expect(chat.field).to_have_attribute("placeholder", "Message Codex")


@pytest.mark.requirement("page.cards")
def test_a_confirmation_is_accepted_or_rejected_with_its_required_reason(server: RoomServer, card: Locator) -> None:
    labels = {"acceptLabel": "Accept", "rejectLabel": "Reject", "requireRejectReason": True}
    ask(server, "confirmation", {"targetSummary": "plan, revision 2", **labels})
    expect(card).to_contain_text("plan, revision 2")
    card.get_by_role("button", name="Reject").click()
    expect(card.get_by_label("What should change?")).to_be_focused()
    expect(card.get_by_role("button", name="Reject")).to_be_disabled()
    card.get_by_label("What should change?").fill("Too long.")
    card.get_by_role("button", name="Reject").click()
    body = server.wait_for("interaction")
    assert (body["outcome"], body["result"]) == ("rejected", {"reason": "Too long."})


@pytest.mark.requirement("page.cards")
def test_a_choice_keeps_to_its_minimum_and_maximum(server: RoomServer, card: Locator) -> None:
    options = [{"id": f"o{place}", "label": name, "defaultSelected": place == 1} for place, name in enumerate("abc", 1)]
    labels = {"acceptLabel": "Take these", "rejectLabel": "None of them"}
    ask(server, "checkbox", {"options": options, "minSelected": 1, "maxSelected": 2, **labels})
    accept = card.get_by_role("button", name="Take these")
    card.get_by_role("checkbox", name="a").uncheck()
    expect(accept).to_be_disabled()
    for name in "abc":
        card.get_by_role("checkbox", name=name).check()
    expect(accept).to_be_disabled()
    card.get_by_role("checkbox", name="b").uncheck()
    accept.click()
    body = server.wait_for("interaction")
    assert (body["outcome"], body["result"]["selectedOptionIds"]) == ("accepted", ["o1", "o3"])


@pytest.mark.requirement("page.cards")
def test_suggested_tasks_are_accepted_by_their_ids(server: RoomServer, card: Locator) -> None:
    tasks = [{"id": "t1", "title": "Collect", "description": "Ask three"}, {"id": "t2", "title": "Draft"}]
    ask(server, "suggest_tasks", {"tasks": tasks, "acceptLabel": "Create selected tasks"})
    card.get_by_role("checkbox", name="Draft").uncheck()
    card.get_by_role("button", name="Create selected tasks").click()
    body = server.wait_for("interaction")
    assert (body["outcome"], body["result"]["acceptedTaskIds"]) == ("accepted", ["t1"])


@pytest.mark.requirement("page.cards")
def test_verdicts_need_one_for_each_item_and_a_reason_where_asked(server: RoomServer, card: Locator) -> None:
    items = [
        {"id": "a", "title": "Draft A", "requireReason": True, "lockedVerdict": None},
        {"id": "b", "title": "Draft B", "requireReason": False, "lockedVerdict": "approve"},
    ]
    ask(server, "item_verdicts", {"items": items, "submitLabel": "Submit verdicts"})
    submit = card.get_by_role("button", name="Submit verdicts")
    draft = card.get_by_role("group", name="Draft A")
    draft.get_by_role("radio", name="Defer").check()
    expect(submit).to_be_disabled()
    draft.get_by_label("Reason").fill("Not yet.")
    submit.click()
    body = server.wait_for("interaction")
    verdicts = {"a": {"verdict": "defer", "reason": "Not yet."}, "b": {"verdict": "approve", "reason": ""}}
    assert (body["outcome"], body["result"]["verdicts"]) == ("answered", verdicts)


@pytest.mark.requirement("page.cards")
def test_a_half_typed_answer_survives_what_happens_elsewhere(
    chat: ThreadPage, server: RoomServer, card: Locator
) -> None:
    ask(server, "questions", QUESTIONS)
    card.get_by_label(re.compile("Anything else")).fill("half")
    server.room.submit("meanwhile")
    server.room.settle(2)
    server.room.cut()
    server.wait_for("stream", count=2)
    expect(chat.people).to_have_count(2)
    expect(card.get_by_label(re.compile("Anything else"))).to_have_value("half")


@pytest.mark.requirement("page.cards")
def test_a_pending_card_returns_with_its_id_after_a_reload(chat: ThreadPage, server: RoomServer, card: Locator) -> None:
    ask(server, "questions", QUESTIONS)
    expect(card).to_have_count(1)
    chat.page.reload()
    expect(card).to_have_attribute("data-interaction", "questions-1")
    chat.is_in("waiting")


def add_document(server: RoomServer, text: str, **facts: Any) -> None:
    document = {"documentKey": "plan", "title": "Project plan", "author": "Mock Agent", "revisionTo": 1}
    server.room.item(1, "r1", "document", **{"revisionFrom": None, "excerpt": text, **document, **facts})


@pytest.mark.requirement("page.document-whole")
def test_a_short_document_is_read_whole_without_a_button(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("go")
    add_document(server, "# Goals\n\n" + "\n".join(f"{n}. step {n}" for n in range(1, 11)))
    shown = chat.page.locator("[data-kind=document]")
    expect(shown).to_contain_text("step 10")
    expect(shown.get_by_role("button")).to_have_count(0)
    assert shown.locator(".excerpt").evaluate("e => getComputedStyle(e).maskImage") == "none"


@pytest.mark.requirement("page.document-whole")
def test_a_long_document_is_folded_and_unfolds_by_keyboard(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("go")
    add_document(server, "\n\n".join(f"Paragraph {n}." for n in range(1, 60)), revisionFrom=1, revisionTo=2)
    shown = chat.page.locator("[data-kind=document]")
    button = shown.get_by_role("button", name="Show all of Project plan")
    expect(button).to_have_attribute("aria-expanded", "false")
    folded = shown.evaluate("e => e.offsetHeight")
    assert folded < 500
    button.focus()
    chat.page.keyboard.press("Enter")
    less = shown.get_by_role("button", name="Show less of Project plan")
    expect(less).to_have_attribute("aria-expanded", "true")
    expect(less).to_be_focused()
    assert shown.evaluate("e => e.offsetHeight") > 3 * folded
    chat.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "false")


@pytest.mark.requirement("page.items")
def test_a_command_that_ran_says_how_it_ended_and_is_read_whole(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("go")
    command = "echo " + " ".join(f"word-{n}" for n in range(80))
    details = [{"label": "Command", "value": command}, {"label": "Exit code", "value": "6"}]
    withheld = "The agent sees the output; it is not stored here."
    facts = {"activity": "command", "label": "Shell command", "summary": command[:239] + "…", "withheld": withheld}
    server.room.item(1, "i1", "progress_activity", status="failed", details=details, **facts)
    strip = chat.page.locator("[data-kind=progress_activity]")
    expect(strip.locator("summary")).to_contain_text("Exited with code 6")
    expect(strip).not_to_contain_text("Did not finish")
    strip.locator("summary").click()
    expect(strip.get_by_text(command, exact=True)).to_be_visible()
    expect(strip.get_by_text(withheld)).to_be_visible()


@pytest.mark.requirement("page.cards")
def test_a_card_cannot_be_sent_with_nothing_in_it(chat: ThreadPage, server: RoomServer, card: Locator) -> None:
    optional = [{"id": "q1", "prompt": "A wish", "control": "text", "options": [], "required": False}]
    ask(server, "questions", {"questions": optional, "submitLabel": "Submit answers"})
    submit = card.get_by_role("button", name="Submit answers")
    expect(submit).to_be_disabled()
    card.get_by_label("A wish").fill("none")
    expect(submit).to_be_enabled()


@pytest.mark.requirement("page.items")
def test_a_message_that_became_a_comment_says_so(chat: ThreadPage, server: RoomServer) -> None:
    server.room.submit("go")
    server.room.item(1, "m2", "user_message", author="Board user", body="Never mind", redacted=False, recorded=True)
    expect(chat.people.first).not_to_contain_text("Recorded to mock thread")
    expect(chat.people.last).to_contain_text("Recorded to mock thread")


@pytest.mark.requirement("page.cards")
def test_the_composer_leads_to_the_card_that_waits(chat: ThreadPage, server: RoomServer, card: Locator) -> None:
    ask(server, "confirmation", {"acceptLabel": "Yes", "rejectLabel": "No", "requireRejectReason": False})
    server.room.submit("talk")
    server.room.item(2, "i2", "agent_message", author="Codex", body="\n\n".join(["Long."] * 80), streaming=False)
    server.room.settle(2)
    chat.button("Go to the card").click()
    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()
