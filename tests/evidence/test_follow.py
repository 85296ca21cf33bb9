"""Following a log: every event once, in order, whoever writes, leaves, returns or closes."""

import asyncio
import json
import random
import threading
import time
from contextlib import aclosing
from dataclasses import replace

import pytest
from django.db import transaction

from evidence import record, tape
from evidence.follow import CursorAhead, UnknownSession, follow, hub
from evidence.prp.events import Event
from evidence.views import thread
from mockcore.threads import RowThreads
from tests.evidence.logs import (
    as_bytes,
    events_of,
    fold_frames,
    items_of,
    new_session_id,
    ours,
    prose,
    runner,
    submitted,
    whole_turn,
)

pytestmark = pytest.mark.django_db(transaction=True)
LONG_S = 60.0  # a heartbeat that is not due in a test


@pytest.fixture
def writers():
    threads = RowThreads(8, "writers")
    yield threads
    threads.close()


@pytest.fixture
async def log(writers):
    """A log, appended to from other threads as hosts do."""

    class Log:
        session_id = new_session_id()

        async def append(self, *drafts):
            return await run(record.append, session_id=self.session_id, drafts=drafts)

        async def close(self, code="reset"):
            await self.append(ours("session.closed", code=code, reason=code))
            await run(record.close_log, session_id=self.session_id)

    async def run(work, **kwargs):
        return await writers.do(work, **kwargs)

    await run(record.open_log, session_id=Log.session_id, run_id="run-1")
    return Log()


async def frames_until(stream, seq):
    """Return the frames up to the one that brings the cursor to `seq`."""
    got = []
    async with asyncio.timeout(5):
        async for frame in stream:
            got.append(frame)
            if frame.seq >= seq:
                return got
    raise AssertionError("the stream ended")


async def next_frame(stream):
    async with asyncio.timeout(5):
        return await anext(stream)


async def test_what_was_written_before_comes_first_and_then_what_is_written(log):
    await log.append(submitted(1), runner("turn.started", "turn-1"))
    async with aclosing(follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)) as stream:
        first = json.loads((await next_frame(stream)).text)
        assert (first["after"], first["seq"], first["working"]) == (0, 2, True)
        await log.append(runner("turn.completed", "turn-1"))
        second = json.loads((await next_frame(stream)).text)
        assert (second["type"], second["after"], second["seq"], second["working"]) == ("settled", 2, 3, False)


async def test_a_follower_that_holds_everything_is_sent_only_what_is_new(log):
    cursor = await log.append(*whole_turn(1))
    async with aclosing(follow(session_id=log.session_id, after=cursor, heartbeat_s=LONG_S)) as stream:
        waiting = asyncio.ensure_future(next_frame(stream))
        await log.append(submitted(2))
        assert json.loads((await waiting).text)["after"] == cursor


@pytest.mark.requirement("stream.turn-end")
async def test_a_turn_ends_in_exactly_one_settled_or_error_frame(log):
    failed = runner("turn.failed", "turn-2", code="turn_timeout", message="Too long.")
    last = await log.append(*whole_turn(1), submitted(2), failed, submitted(3), runner("turn.interrupted", "turn-3"))
    async with aclosing(follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)) as stream:
        got = [json.loads(frame.text) for frame in await frames_until(stream, last)]
    assert [frame["type"] for frame in got] == ["settled", "error", "settled"]
    assert got[1]["error"] == {"code": "turn_timeout", "message": "Too long."}
    assert [frame["after"] for frame in got[1:]] == [frame["seq"] for frame in got[:-1]]


@pytest.mark.requirement("stream.closed")
async def test_a_closed_log_ends_with_what_is_left_and_then_closed(log):
    async with aclosing(follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)) as stream:
        await log.append(submitted(1))
        await next_frame(stream)
        await log.close("room_yielded")
        rest = [json.loads(frame.text) for frame in [await next_frame(stream), await next_frame(stream)]]
        assert rest[0]["ops"][0] == {
            "op": "head",
            "set": {"session": {"closed": True, "code": "room_yielded"}, "identity": {"runnerAttached": False}},
        }
        assert rest[1] == {"type": "closed", "seq": 2, "code": "room_yielded"}
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
    assert hub.followers(log.session_id) == 0


async def test_a_closed_or_absent_log_cannot_be_followed(log):
    await log.close()
    for session_id in (log.session_id, "session-nowhere"):
        with pytest.raises(UnknownSession):
            await next_frame(follow(session_id=session_id, after=0))


async def test_a_cursor_beyond_the_log_is_refused(log):
    await log.append(submitted(1))
    with pytest.raises(CursorAhead):
        await next_frame(follow(session_id=log.session_id, after=2))


@pytest.mark.requirement("stream.heartbeat")
async def test_a_quiet_stream_sends_its_cursor(log):
    await log.append(submitted(1))
    async with aclosing(follow(session_id=log.session_id, after=1, heartbeat_s=0.02)) as stream:
        assert json.loads((await next_frame(stream)).text) == {"type": "heartbeat", "seq": 1}
        assert (await next_frame(stream)).type == "heartbeat"


async def test_a_bell_that_never_rings_costs_only_time(log, monkeypatch):
    await log.append(submitted(1))
    async with aclosing(follow(session_id=log.session_id, after=1, heartbeat_s=0.02)) as stream:
        await next_frame(stream)
        monkeypatch.setattr(tape.Hub, "publish", lambda *_: None)
        monkeypatch.setattr(tape.Hub, "close", lambda *_: None)
        await log.append(runner("turn.started", "turn-1"))
        got = await frames_until(stream, 2)
        assert got[-1].type == "frame"
        await log.close()
        async with asyncio.timeout(5):
            kinds = [frame.type async for frame in stream]
        assert [kind for kind in kinds if kind != "heartbeat"] == ["frame", "closed"]


async def test_events_that_were_rolled_back_are_never_seen(log, writers):
    def command_that_fails():
        with transaction.atomic():
            record.append(session_id=log.session_id, drafts=[submitted(1, text="never")])
            raise RuntimeError("the command failed")

    await log.append(ours("runner.connected"))
    async with aclosing(follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)) as stream:
        await next_frame(stream)
        with pytest.raises(RuntimeError, match="the command failed"):
            await writers.do(command_that_fails)
        await log.append(submitted(1, text="at last"))
        frame = await next_frame(stream)
    assert "at last" in frame.text
    assert "never" not in frame.text


async def test_a_follower_that_leaves_leaves_nothing_behind(log):
    streams = [follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S) for _ in range(5)]
    await log.append(submitted(1))
    for stream in streams:
        await next_frame(stream)
    assert hub.followers(log.session_id) == 5
    for stream in streams:
        await stream.aclose()
    assert hub.followers(log.session_id) == 0
    assert hub.tape_count() == 0


async def test_followers_at_one_cursor_share_one_frame(log):
    streams = [follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S) for _ in range(3)]
    await log.append(submitted(1))
    for stream in streams:
        await next_frame(stream)
    waiting = [asyncio.ensure_future(next_frame(stream)) for stream in streams]
    await asyncio.sleep(0)
    await log.append(runner("turn.started", "turn-1"))
    frames = await asyncio.gather(*waiting)
    assert frames[0] is frames[1] is frames[2]
    for stream in streams:
        await stream.aclose()


@pytest.mark.requirement("stream.text-rate")
async def test_streamed_text_is_merged_and_anything_else_is_sent_at_once(log, monkeypatch):
    monkeypatch.setattr("evidence.follow.TEXT_PERIOD_S", 30.0)
    await log.append(submitted(1), runner("item.started", "turn-1", "item-1", kind="agent_message"))
    async with aclosing(follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)) as stream:
        await next_frame(stream)
        delta = [runner("item.delta", "turn-1", "item-1", kind="agent_message", text=str(place)) for place in range(9)]
        await log.append(delta[0])
        assert json.loads((await next_frame(stream)).text)["ops"][0]["text"] == "0"
        merged = asyncio.ensure_future(next_frame(stream))
        for each in delta[1:]:
            await log.append(each)
        await log.append(runner("item.completed", "turn-1", "item-1", kind="agent_message", text="012345678"))
        ops = json.loads((await merged).text)["ops"]
        assert ops[0] == {"op": "text", "turnId": "turn-1", "id": "item-1", "text": "12345678"}
        assert ops[1]["item"]["body"] == "012345678"


@pytest.mark.requirement("stream.text-rate")
async def test_text_that_waits_is_sent_after_a_thirtieth_of_a_second_and_not_before(log):
    await log.append(submitted(1))
    async with aclosing(follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)) as stream:
        await next_frame(stream)
        sent = asyncio.ensure_future(frames_until(stream, 31))
        began = time.monotonic()
        for place in range(30):
            await log.append(runner("item.delta", "turn-1", "item-1", kind="agent_message", text=str(place)))
        got = await sent
        took = time.monotonic() - began
    assert len(got) <= took * 30 + 2


async def test_text_cut_twice_by_the_network_is_whole_and_one_item(log):
    """Case t17 of the turn races: the connection is lost in the middle of a message, twice."""
    cursor = 0
    pieces = prose(1, "item-1", ["Hello ", "wide ", "world"])
    steps = [[submitted(1), *pieces[:2]], [pieces[2]], [pieces[3], pieces[4], runner("turn.completed", "turn-1")]]
    view = thread.empty_view(session_id=log.session_id, identity={}, issue={})
    for step in steps:
        async with aclosing(follow(session_id=log.session_id, after=cursor, heartbeat_s=LONG_S)) as stream:
            last = await log.append(*step)
            got = await frames_until(stream, last)
        view, cursor = fold_frames(view, got), last
    said = [item for item in items_of(view) if item["kind"] == "agent_message"]
    assert [item["body"] for item in said] == ["Hello wide world"]


async def test_a_reader_that_pauses_gets_everything_and_delays_nobody(log):
    """Case s05 of the stream cases: 500 events while one reader does not read."""
    paused = follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)
    other = follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)
    await log.append(submitted(1))
    await next_frame(paused)
    for start in range(0, 500, 20):
        await log.append(*(ours("harness.diagnostic", message=str(start + place)) for place in range(20)))
    assert (await frames_until(other, 501))[-1].seq == 501
    got = await frames_until(paused, 501)
    rows = [op["row"]["id"] for frame in got for op in json.loads(frame.text)["ops"] if op["op"] == "row"]
    assert rows == [f"event-{number}" for number in range(2, 502)]
    await paused.aclose()
    await other.aclose()


async def test_a_follower_further_behind_than_the_tape_reads_the_journal(log, monkeypatch):
    monkeypatch.setattr(tape, "TAPE_EVENTS", 8)
    monkeypatch.setattr(record, "READ_LIMIT", 5)
    monkeypatch.setattr(record.stored_events, "__kwdefaults__", {"limit": 5})
    async with aclosing(follow(session_id=log.session_id, after=0, heartbeat_s=LONG_S)) as stream:
        await log.append(submitted(1))
        await next_frame(stream)
        await log.append(*(ours("harness.diagnostic", message=str(place)) for place in range(40)))
        got = await frames_until(stream, 41)
    assert [json.loads(frame.text)["after"] for frame in got] == [1, *(frame.seq for frame in got[:-1])]
    rows = [op["row"]["id"] for frame in got for op in json.loads(frame.text)["ops"] if op["op"] == "row"]
    assert rows == [f"event-{number}" for number in range(2, 42)]


# ---------------------------------------------------------------- the tape alone
def numbered(first: int, last: int) -> list[Event]:
    return events_of(ours("harness.diagnostic", message=str(place)) for place in range(last))[first - 1 :]


@pytest.mark.parametrize(
    ("published", "cursor", "held"),
    [
        ([(1, 3)], 0, [1, 2, 3]),
        ([(1, 3), (4, 4)], 2, [3, 4]),
        ([(1, 3), (1, 3)], 0, [1, 2, 3]),
        ([(1, 2), (2, 4)], 0, [1, 2, 3, 4]),
        ([(1, 2), (5, 6)], 4, [5, 6]),
        ([(1, 2), (5, 6)], 1, None),
        ([(5, 6), (1, 4)], 4, [5, 6]),
        ([(5, 6), (1, 4)], 0, None),
        ([(5, 6)], 9, []),
    ],
    ids=str,
)
def test_a_tape_holds_a_run_without_a_gap_or_says_that_it_does_not_reach(published, cursor, held):
    one = tape.Tape()
    for first, last in published:
        one.extend(numbered(first, last))
    got = one.events_after(cursor)
    assert (got if got is None else [event.number for event in got]) == held


async def test_whoever_wrote_goes_on_before_followers_wake_unless_a_turn_has_ended(monkeypatch):
    monkeypatch.setattr(tape, "WRITER_FIRST_S", LONG_S)
    one, bell = tape.Tape(), tape.Bell()
    one.attach(bell)
    one.extend(numbered(1, 1))
    assert not await bell.wait(timeout_s=0.05)
    one.extend([replace(numbered(2, 2)[0], event_type="turn.completed")])
    assert await bell.wait(timeout_s=5)


# ---------------------------------------------------------------- everything at once
@pytest.mark.requirement("stream.no-gap")
async def test_no_follower_ever_misses_or_repeats_an_event(log, writers, monkeypatch):
    """Writers append at once, publications are late and out of order, followers leave and return at any frame."""
    chance = random.Random(7)
    publish = tape.Hub.publish
    late: list[threading.Timer] = []

    def jittered(self, session_id, events):
        timer = threading.Timer(chance.random() * 0.02, publish, (self, session_id, events))
        late.append(timer)
        timer.start()

    monkeypatch.setattr(tape.Hub, "publish", jittered)
    monkeypatch.setattr(tape, "TAPE_EVENTS", 32)
    total, writing = 6 * 30 * 2, 6

    def write(name):
        for place in range(30):
            drafts = [
                ours("harness.diagnostic", message=f"{name}-{place}"),
                runner("turn.completed", f"turn-{name + 1}"),
            ]
            record.append(session_id=log.session_id, drafts=drafts)

    async def read(seed):
        mind = random.Random(seed)
        cursor, view, visits = 0, thread.empty_view(session_id=log.session_id, identity={}, issue={}), 0
        while cursor < total:
            visits += 1
            stay = mind.randint(1, 12)
            async with aclosing(follow(session_id=log.session_id, after=cursor, heartbeat_s=2)) as stream:
                async for frame in stream:
                    said = json.loads(frame.text)
                    if said["type"] != "heartbeat":
                        assert said["after"] == cursor, "a gap or a repetition"
                        cursor, view = frame.seq, thread.apply_ops(view, said["ops"])
                    stay -= 1
                    if stay == 0 or cursor == total:
                        break
        return view, visits

    async with asyncio.timeout(40):
        work = [asyncio.ensure_future(writers.do(write, name)) for name in range(writing)]
        followers = [asyncio.create_task(read(seed)) for seed in range(8)]
        await asyncio.gather(*work)
        seen = await asyncio.gather(*followers)
    for timer in late:
        timer.join()
    fresh, cursor = await writers.do(thread.snapshot, session_id=log.session_id)
    assert cursor == total
    assert all(as_bytes(view) == as_bytes(fresh) for view, _ in seen)
    assert sum(visits for _, visits in seen) > 8
    assert hub.tape_count() == 0
