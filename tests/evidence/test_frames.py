"""Frames: bounded, joined, and cut where a turn ends."""

import json
from itertools import pairwise

import pytest

from evidence.views.frames import closed, frames, heartbeat
from evidence.views.thread import ops
from tests.evidence.logs import (
    as_bytes,
    blank,
    events_of,
    fold_frames,
    items_of,
    ours,
    prose,
    runner,
    submitted,
    tool_call,
    whole_turn,
)

LIMIT = 256 * 1024
EMOJI = "🙂"


def said(drafts):
    return [json.loads(frame.text) for frame in frames(events_of(drafts), after=0)]


def test_adjacent_pieces_of_one_item_are_one_op():
    (frame,) = said(prose(1, "item-1", ["Hello ", "wide ", "world"])[:-1])
    assert [op for op in frame["ops"] if op["op"] == "text"] == [
        {"op": "text", "turnId": "turn-1", "id": "item-1", "text": "Hello wide world"}
    ]


def test_pieces_of_two_items_stay_apart():
    pieces = [runner("item.delta", "turn-1", item, kind="agent_message", text=item) for item in ("item-1", "item-2")]
    (frame,) = said(pieces)
    assert [op["id"] for op in frame["ops"]] == ["item-1", "item-2"]


def test_working_is_said_when_a_frame_starts_or_ends_a_turn_and_only_then():
    drafts = [ours("harness.diagnostic", message="x"), *whole_turn(1), ours("harness.diagnostic", message="y")]
    first, last = said(drafts)
    assert (first["type"], first["working"]) == ("settled", False)
    assert (last["type"], "working" in last) == ("frame", False)
    assert said([submitted(1)])[0]["working"] is True


@pytest.mark.requirement("stream.turn-end")
@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("turn.completed", "settled"),
        ("turn.interrupted", "settled"),
        ("turn.cancelled", "settled"),
        ("turn.failed", "error"),
    ],
)
def test_a_frame_ends_where_a_turn_ends(event, kind):
    got = said([submitted(1), runner(event, "turn-1", code="provider_error", message="No."), submitted(2)])
    assert [frame["type"] for frame in got] == [kind, "frame"]
    assert got[0].get("error") == ({"code": "provider_error", "message": "No."} if kind == "error" else None)


def test_events_that_show_nothing_still_move_the_cursor():
    (frame,) = said([ours("sandbox.metric"), ours("workspace.ready")])
    assert (frame["seq"], frame["ops"]) == (2, [])


def test_no_events_are_no_frame():
    assert frames([], after=7) == []


def test_heartbeat_and_closed_are_frames_too():
    assert json.loads(heartbeat(3).text) == {"type": "heartbeat", "seq": 3}
    assert json.loads(closed(3, "reset").text) == {"type": "closed", "seq": 3, "code": "reset"}


@pytest.mark.requirement("stream.bounded-frames")
@pytest.mark.parametrize(
    "drafts",
    [
        pytest.param(prose(1, "item-1", [EMOJI * 200_000]), id="a message of 800 KB"),
        pytest.param([submitted(1, text="\x00" * 100_000)], id="control characters"),
        pytest.param(prose(1, "item-1", [EMOJI * 10] * 5_000), id="five thousand pieces"),
        pytest.param([ours("harness.diagnostic", message="x" * 900)] * 600, id="six hundred notices"),
        pytest.param(
            tool_call(1, 1, records=[{"kind": "record", "label": EMOJI * 500, "body": EMOJI * 30_000}] * 100),
            id="records",
        ),
        pytest.param(
            [
                ours(
                    "interaction.request.materialized",
                    "turn-1",
                    card={
                        "interactionId": "interaction-0001",
                        "interactionKind": "questions",
                        "state": "pending",
                        "title": EMOJI * 1_000,
                        "prompt": EMOJI * 50_000,
                        "payload": {"questions": [{"prompt": EMOJI * 5_000, "options": [EMOJI * 300] * 90}] * 90},
                    },
                )
            ],
            id="a card",
        ),
        pytest.param([ours("runner.disconnected", code=EMOJI * 999, message=EMOJI * 99_999)], id="a long reason"),
    ],
)
def test_every_frame_stays_below_256_kib_and_the_fold_is_the_same(drafts):
    events = events_of(drafts)
    got = frames(events, after=0)
    assert max(len(frame.text.encode()) for frame in got) < LIMIT
    fresh = fold_frames(blank(), [frame for event in events for frame in frames([event], after=event.number - 1)])
    assert as_bytes(fold_frames(blank(), got)) == as_bytes(fresh)


def test_a_message_of_any_length_arrives_whole():
    text = EMOJI * 100_000 + "end"
    drafts = [submitted(1, text=text), *prose(1, "item-1", [text])]
    view = fold_frames(blank(), frames(events_of(drafts), after=0))
    assert [item["body"] for item in items_of(view)] == [text, text]


def test_the_parts_of_a_large_event_leave_the_cursor_before_it_until_the_last():
    events = events_of([submitted(1), *prose(1, "item-1", [EMOJI * 100_000])])
    cursors = [(said["after"], said["seq"]) for said in (json.loads(frame.text) for frame in frames(events, after=0))]
    assert cursors[0][0] == 0
    assert cursors[-1][1] == len(events)
    assert all(later[0] == earlier[1] for earlier, later in pairwise(cursors))
    assert (3, 3) in cursors, "the large event was not sent in parts"


def test_a_cut_between_the_parts_of_a_large_event_costs_nothing():
    events = events_of([submitted(1), *prose(1, "item-1", [EMOJI * 100_000])])
    got = frames(events, after=0)
    whole = as_bytes(fold_frames(blank(), got))
    for cut in range(1, len(got)):
        before = fold_frames(blank(), got[:cut])
        again = frames(events[got[cut - 1].seq :], after=got[cut - 1].seq)
        assert as_bytes(fold_frames(before, again)) == whole


@pytest.mark.parametrize(("length", "streamed"), [(16_000, True), (16_001, False)])
def test_a_piece_of_text_is_never_sent_in_parts_because_it_appends(length, streamed):
    """A piece that does not fit one op is left to the completed item, which replaces."""
    pieces = [runner("item.delta", "turn-1", "item-1", kind="agent_message", text=EMOJI * length) for _ in range(3)]
    got = frames(events_of(pieces), after=0)
    assert all(frame.seq > json.loads(frame.text)["after"] for frame in got)
    texts = [op["text"] for frame in got for op in json.loads(frame.text)["ops"]]
    assert texts == ([EMOJI * length] * 3 if streamed else [])


def test_a_long_thread_makes_no_frame_longer():
    """The cost of a frame does not depend on the length of the thread: ops need nothing but their event."""
    first, thousandth = events_of([submitted(1), *[ours("harness.diagnostic", message="x")] * 999, submitted(1)])[
        ::1000
    ]
    assert len(ops(first)) == len(ops(thousandth))
    assert abs(len(frames([first], after=0)[0].text) - len(frames([thousandth], after=1000)[0].text)) < 20
