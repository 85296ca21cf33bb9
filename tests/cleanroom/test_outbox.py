"""The outbox writes what happened in the order it happened, and merges streamed text."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from django.db import OperationalError

from cleanroom import outbox as outboxes
from cleanroom.hostloop import HostLoop
from cleanroom.outbox import Outbox, merged
from evidence import record
from evidence.follow import hub
from evidence.record import Draft


def delta(text: str, item: str = "item-1") -> Draft:
    return Draft(type="item.delta", payload={"kind": "agent_message", "text": text}, turn_id="turn-1", item_id=item)


NOTICE = Draft(type="harness.diagnostic", payload={"code": "x", "message": "y"})
USAGE = Draft(type="item.completed", payload={"kind": "usage", "totalTokens": 1}, item_id="item-9")


@pytest.mark.requirement("outbox.merge")
def test_adjacent_pieces_of_one_item_become_one_event_and_nothing_else_is_touched() -> None:
    drafts = merged([delta("a"), delta("b"), NOTICE, delta("c"), delta("d", "item-2"), delta("e", "item-2")])
    assert [draft.payload.get("text") for draft in drafts] == ["ab", None, "c", "de"]
    assert drafts[1] is NOTICE


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    own = HostLoop()
    monkeypatch.setattr("cleanroom.outbox.host_loop", own)
    yield own
    own.close()


@pytest.mark.requirement("outbox.order")
@pytest.mark.django_db(transaction=True)
def test_events_and_jobs_are_written_in_the_order_they_were_given(loop: HostLoop) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")

    def job() -> int:
        return record.append(session_id=session_id, drafts=[NOTICE])

    async def write() -> int:
        outbox = Outbox(session_id=session_id)
        for text in ["one", "two", "three"]:
            outbox.put(delta(text))
        number = await outbox.do(job)
        outbox.put(delta("four"))
        await outbox.close()
        outbox.put(delta("too late"))
        return number

    number = loop.call(write(), timeout_s=5)
    events = record.read_events(session_id=session_id, after=0)
    assert [event.payload.get("text") for event in events] == ["onetwothree", None, "four"]
    assert number == 2


@pytest.mark.django_db(transaction=True)
def test_a_job_that_fails_tells_its_owner_and_does_not_stop_the_writer(loop: HostLoop) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")

    def broken() -> None:
        raise LookupError("as planned")

    async def write() -> None:
        outbox = Outbox(session_id=session_id)
        with pytest.raises(LookupError, match="as planned"):
            await outbox.do(broken)
        outbox.put(NOTICE)
        await outbox.close()

    loop.call(write(), timeout_s=5)
    assert record.last_number(session_id) == 1


def failing_appends(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Let the next appends of the outbox fail as a locked database does; the list holds how many drafts they had."""
    append, failed = record.append, []

    def refuse(*, session_id: str, drafts: Any) -> int:
        if len(failed) < times:
            failed.append(len(drafts))
            raise OperationalError("database is locked")
        return append(session_id=session_id, drafts=drafts)

    monkeypatch.setattr(outboxes, "RETRY_PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(record, "append", refuse)
    return failed


@pytest.mark.requirement("outbox.retry")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("times", [1, 3])
def test_what_the_database_refuses_for_a_while_is_written_once_and_in_order(
    loop: HostLoop, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")
    failed = failing_appends(monkeypatch, times)

    async def write() -> None:
        outbox = Outbox(session_id=session_id)
        outbox.put(NOTICE)
        outbox.put(delta("one"))
        await outbox.do(lambda: record.append(session_id=session_id, drafts=[delta("two", "item-2")]))
        outbox.put(delta("three", "item-3"))
        await outbox.close()

    loop.call(write(), timeout_s=5)
    events = record.read_events(session_id=session_id, after=0)
    assert [event.payload.get("text") for event in events] == [None, "one", "two", "three"]
    assert failed == [2] * times


@pytest.mark.requirement("outbox.retry")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("times", "company"), [(1, False), (3, False), (1, True), (3, True)])
def test_a_job_for_soon_that_the_database_refuses_for_a_while_is_done_in_its_turn(
    loop: HostLoop, monkeypatch: pytest.MonkeyPatch, times: int, company: bool
) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")
    monkeypatch.setattr(outboxes, "RETRY_PAUSES_S", (0.0, 0.0, 0.0))
    refused = []

    def job() -> None:
        if len(refused) < times:
            refused.append(1)
            raise OperationalError("deadlock detected")
        record.append(session_id=session_id, drafts=[delta("soon")])

    async def write() -> None:
        outbox = Outbox(session_id=session_id)
        if company:
            outbox.put(delta("before", "item-0"))
        outbox.do_soon(job)
        if company:
            outbox.put(NOTICE)
        await outbox.close()

    loop.call(write(), timeout_s=5)
    written = [event.payload.get("text") for event in record.read_events(session_id=session_id, after=0)]
    assert written == (["before", "soon", None] if company else ["soon"])
    assert len(refused) == times


@pytest.mark.requirement("outbox.order")
@pytest.mark.django_db(transaction=True)
def test_what_keeps_the_books_waits_for_company_and_goes_first(loop: HostLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")
    monkeypatch.setattr(outboxes, "BOOKS_S", 3600.0)
    named: list[int] = []

    async def write() -> list[int]:
        outbox, running, done = Outbox(session_id=session_id), asyncio.get_running_loop(), asyncio.Event()

        def name() -> None:
            named.append(record.last_number(session_id))
            running.call_soon_threadsafe(done.set)

        outbox.put(USAGE)
        outbox.do_soon(name, within_s=outboxes.BOOKS_S)
        await asyncio.sleep(2 * outboxes.PROGRESS_S)
        waiting = [await loop.rows(record.last_number, session_id), *named]
        outbox.put(delta("x"))
        await done.wait()
        await outbox.close()
        return waiting

    assert loop.call(write(), timeout_s=10) == [0]
    assert named == [1]
    assert [event.payload.get("text") for event in record.read_events(session_id=session_id, after=0)] == [None, "x"]


@pytest.mark.requirement("outbox.order")
@pytest.mark.django_db(transaction=True)
def test_what_a_person_watches_is_written_soon_after_a_pause_and_rarely_from_then_on(
    loop: HostLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")
    monkeypatch.setattr(outboxes, "PROGRESS_S", 3600.0)

    async def write() -> list[int]:
        outbox, seen = Outbox(session_id=session_id), []
        for text in ("first", "second"):
            outbox.put(delta(text))
            await asyncio.sleep(20 * outboxes.GATHER_S)
            seen.append(await loop.rows(record.last_number, session_id))
        await outbox.close()
        return seen

    assert loop.call(write(), timeout_s=10) == [1, 1]
    texts = [event.payload.get("text") for event in record.read_events(session_id=session_id, after=0)]
    assert texts == ["first", "second"]


@pytest.mark.requirement("outbox.retry")
@pytest.mark.django_db(transaction=True)
def test_events_that_could_not_be_written_are_written_later_although_nothing_more_comes(
    loop: HostLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")
    failed = failing_appends(monkeypatch, times=len(outboxes.RETRY_PAUSES_S) + 1)
    monkeypatch.setattr(outboxes, "KEPT_S", 0.01)

    async def write() -> None:
        outbox = Outbox(session_id=session_id)
        with hub.following(session_id) as (_, bell):
            outbox.put(NOTICE)
            outbox.put(delta("one"))
            assert await bell.wait(timeout_s=5)
        await outbox.close()

    loop.call(write(), timeout_s=10)
    assert [event.payload.get("text") for event in record.read_events(session_id=session_id, after=0)] == [None, "one"]
    assert failed == [2, 2, 2, 2]


@pytest.mark.requirement("outbox.one-bad-event")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "bad",
    [
        Draft(type="no.such.event", payload={}),
        Draft(type="item.delta", payload={"text": float("nan")}, turn_id="turn-1"),
    ],
    ids=["a type that is none", "a payload that is no JSON"],
)
@pytest.mark.parametrize("company", [False, True])
def test_an_event_that_cannot_be_recorded_is_named_as_such_and_takes_no_other_with_it(
    loop: HostLoop, caplog: pytest.LogCaptureFixture, bad: Draft, company: bool
) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")

    async def write() -> None:
        outbox = Outbox(session_id=session_id)
        if company:
            outbox.put(delta("before"))
        outbox.put(bad)
        if company:
            outbox.put(delta("after"))
            await outbox.do(lambda: record.append(session_id=session_id, drafts=[delta("job")]))
        await outbox.close()

    loop.call(write(), timeout_s=5)
    events = record.read_events(session_id=session_id, after=0)
    told = [event.payload.get("text") or event.payload["code"] for event in events]
    assert told == (["before", "event_unrecorded", "after", "job"] if company else ["event_unrecorded"])
    assert "cannot be recorded" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_an_outbox_that_can_write_nothing_says_so_and_still_stops(
    loop: HostLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = str(uuid.uuid4())
    record.open_log(session_id=session_id, run_id="run-1")
    failing_appends(monkeypatch, times=100)

    async def write() -> None:
        outbox = Outbox(session_id=session_id)
        outbox.put(NOTICE)
        with pytest.raises(OperationalError):
            await outbox.close()
        with pytest.raises(RuntimeError, match="closed"):
            await outbox.flush()

    loop.call(write(), timeout_s=5)
    assert record.last_number(session_id) == 0
