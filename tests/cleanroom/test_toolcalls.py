"""One tool call: the mutation, its authorization and its events commit together, or none of them does."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from capability.dispatcher import list_authorization_records
from cleanroom import toolcalls
from evidence import record
from evidence.views import thread
from mockcore.models import Actor, Comment
from mockcore.plane import MockControlPlane
from tests.cleanroom.support.chat import Chat
from tests.cleanroom.support.memory_driver import MemoryDriver
from tests.cleanroom.support.scripts import QUESTION, STATUS, calls


def invocations(chat: Chat) -> list[dict[str, Any]]:
    records = list_authorization_records(company_id=chat.company_id)
    return [one for one in records if one["phase"] == "invocation"]


def revision(chat: Chat) -> int:
    return MockControlPlane(company_id=chat.company_id).state_revision()


@pytest.mark.requirement("toolcall.together")
def test_a_call_leaves_its_comment_its_authorization_and_its_events(agents: MemoryDriver, chat: Chat) -> None:
    before = revision(chat)
    agents.scripts.append(calls("report_progress", STATUS))
    chat.talk()
    [answer] = agents.agents[0].answers
    assert answer.success
    [done] = chat.calls()
    [allowed] = invocations(chat)
    assert revision(chat) == before + 1
    assert (done.turn_id, done.payload["stateRevision"]) == ("turn-1", before + 1)
    assert (allowed["callId"], allowed["allowed"]) == (done.payload["callId"], True)
    assert Comment.objects.filter(company_id=chat.company_id, body=STATUS["body"]).count() == 1


@pytest.mark.requirement("toolcall.together")
def test_what_a_call_wrote_names_the_actor_that_the_company_has(agents: MemoryDriver, chat: Chat) -> None:
    Actor.objects.filter(company_id=chat.company_id).update(name="Ada")
    agents.scripts.append(calls("report_progress", STATUS))
    chat.talk()
    [done] = chat.calls()
    assert [one["author"] for one in done.payload["records"]] == ["Ada"]


@pytest.mark.requirement("toolcall.together")
def test_a_failure_in_the_middle_leaves_none_of_them_and_the_turn_goes_on(
    agents: MemoryDriver, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    class BrokenRecord:
        @staticmethod
        def append(**_: Any) -> int:
            raise OperationalError("disk I/O error")

    before = revision(chat)
    agents.scripts.append(calls("report_progress", STATUS))
    monkeypatch.setattr(toolcalls, "record", BrokenRecord)
    assert chat.talk().event_type == "turn.completed"
    assert not agents.agents[0].answers[0].success
    assert revision(chat) == before
    assert invocations(chat) == []
    assert chat.calls() == []
    monkeypatch.setattr(toolcalls, "record", record)
    agents.scripts.append(calls("report_progress", STATUS))  # the same key: it has not been used
    chat.talk()
    assert revision(chat) == before + 1


@pytest.mark.requirement("toolcall.withheld")
def test_a_withheld_call_is_denied_shown_and_moves_nothing(agents: MemoryDriver, chat: Chat) -> None:
    before = revision(chat)
    withheld = sorted(agents.agents[0].request.withheld_tools)[0]
    agents.scripts.append(calls(withheld, {"idempotencyKey": "withheld-1"}, exposed=False))
    chat.talk()
    assert not agents.agents[0].answers[0].success
    [denied] = chat.calls()
    assert (denied.event_type, denied.payload["ok"]) == ("item.failed", False)
    assert [one["allowed"] for one in invocations(chat)] == [False]
    assert revision(chat) == before
    view, _ = thread.snapshot(session_id=chat.session_id)
    kinds = {item["kind"] for turn in view["turns"] for item in turn["items"]}
    assert "denial" in kinds
    assert "tool_activity" not in kinds


@pytest.mark.requirement("toolcall.cards")
def test_a_question_becomes_a_card_and_the_header_follows_the_issue(agents: MemoryDriver, chat: Chat) -> None:
    agents.scripts.append(calls("request_human_input", QUESTION))
    chat.talk()
    view, _ = thread.snapshot(session_id=chat.session_id)
    assert view["issue"]["status"] == "in_review"
    assert view["composer"]["pendingInteractionId"] == chat.cards()[0]


def test_the_fields_of_a_call_are_named_and_undeclared_ones_only_counted(agents: MemoryDriver, chat: Chat) -> None:
    agents.scripts.append(calls("report_progress", {**STATUS, "planted-name": "planted-value"}))
    chat.talk()
    [done] = chat.calls()
    assert done.payload["fields"] == ["body", "idempotencyKey", "1 undeclared"]
    assert "planted-value" not in done.body
    assert "planted-name" not in done.body


@pytest.mark.requirement("toolcalls.cut")
def test_a_summary_that_holds_a_secret_on_its_bound_is_stored_nowhere(agents: MemoryDriver, chat: Chat) -> None:
    summary = "x" * (toolcalls.SUMMARY_CHARS - 12) + " ghp_FAKE0123456789abcdefghijklmnopqrstuv"
    agents.scripts.append(calls("finish_task", {"idempotencyKey": "finish-1", "summary": summary}))
    chat.talk()
    [refused] = chat.calls()
    assert refused.payload["denial"]["code"] == "protected_data_denied"
    assert "dispositionSummary" not in refused.payload
    assert "ghp_" not in "".join(event.body for event in chat.events())
