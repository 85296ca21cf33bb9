"""Plant a secret, read everything, find none."""

import asyncio
from contextlib import aclosing

import pytest

from evidence import record
from evidence.follow import follow, threads
from evidence.models import SessionEvent
from evidence.prp.events import EventType
from evidence.views.thread import snapshot
from tests.evidence.logs import new_session_id, ours, runner

OPENAI = "sk-proj-Zq3xPlantedPlantedPlanted0123456789abcdef"
BEARER = "PlantedBearerToken0123456789abcdefghij"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJlLXBsYW50ZWQ"
PLANTED = (OPENAI, BEARER, JWT)
SENTENCE = f"use {OPENAI} or Authorization: Bearer {BEARER} or {JWT} now"
KINDS = [
    "agent_message",
    "reasoning",
    "plan",
    "command",
    "file_change",
    "mcp_tool",
    "semantic_tool",
    "tool_exposure",
    "interrupt_acknowledgement",
    "unheard_of",
]


def everywhere(kind: str) -> dict:
    """Return a payload with a secret in every field that any view reads, and in some that none does."""
    record_item = {"kind": "durable_comment", "author": SENTENCE, "body": SENTENCE, "token": OPENAI}
    return {
        "kind": kind,
        "text": SENTENCE,
        "message": SENTENCE,
        "code": "planted",
        "reason": SENTENCE,
        "command": f"curl -H 'Authorization: Bearer {BEARER}' --api-key {OPENAI} https://user:{BEARER}@example.test",
        "steps": [{"step": SENTENCE, "status": SENTENCE}],
        "changes": [{"path": SENTENCE, "kind": SENTENCE}],
        "label": SENTENCE,
        "title": SENTENCE,
        "fields": [SENTENCE],
        "summary": SENTENCE,
        "model": SENTENCE,
        "denial": {"code": "planted", "message": SENTENCE} if kind == "semantic_tool" else None,
        "records": [record_item],
        "card": {"interactionKind": "approval", "title": SENTENCE, "prompt": SENTENCE, "payload": {"apiKey": OPENAI}},
        "issue": {"title": SENTENCE},
        "operationIds": [SENTENCE],
        "output": SENTENCE,
        "environment": {"OPENAI_API_KEY": OPENAI, "AUTH": f"Bearer {BEARER}"},
        "undeclared": {OPENAI: 1},
    }


def assert_clean(text: str) -> None:
    for secret in PLANTED:
        assert secret not in text


@pytest.mark.requirement("thread.no-secret")
@pytest.mark.django_db(transaction=True)
async def test_a_planted_secret_is_in_no_row_no_frame_and_no_snapshot():
    session_id = new_session_id()
    drafts = [
        make(event, "turn-1", f"item-{kind}", **everywhere(kind))
        for kind in KINDS
        for event in EventType
        for make in (ours, runner)
        if event.startswith("item.") or kind == "other" or kind == KINDS[0]
    ]

    def write():
        record.open_log(session_id=session_id, run_id="run-1")
        return record.append(session_id=session_id, drafts=drafts)

    last = await threads.do(write)
    sent = []
    async with asyncio.timeout(10), aclosing(follow(session_id=session_id, after=0, heartbeat_s=60)) as stream:
        async for frame in stream:
            sent.append(frame.text)
            if frame.seq == last:
                break
    view, _ = await threads.do(snapshot, session_id=session_id)
    stored = await threads.do(lambda: "".join(SessionEvent.objects.values_list("body", flat=True)))
    assert "[REDACTED]" in stored
    for text in (stored, "".join(sent), str(view)):
        assert_clean(text)
