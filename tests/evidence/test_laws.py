"""The laws of the record: an old snapshot plus later frames is a fresh snapshot, whatever the log holds."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.prp.events import Event, EventType
from evidence.record import Draft
from evidence.views.composer import composer
from evidence.views.fold import Fold, copy_view
from evidence.views.frames import frames
from evidence.views.thread import ops
from tests.evidence.logs import as_bytes, blank, events_of, fold_frames, runner, tool_call, whole_turn

# No clock decides: this machine may be busy. The examples are many small logs, since a fault needs few events.
BOUNDED = settings(deadline=None, max_examples=60, database=None, suppress_health_check=list(HealthCheck))
TURNS = st.sampled_from(["turn-1", "turn-2", "turn-3", None])
ITEMS = st.sampled_from(["item-1", "item-2", "call-1", "card:interaction-0001", None])
KINDS = st.sampled_from(
    [
        "agent_message",
        "reasoning",
        "plan",
        "command",
        "file_change",
        "mcp_tool",
        "web_search",
        "image",
        "compaction",
        "other",
        "usage",
        "interrupt_acknowledgement",
        "tool_exposure",
        "semantic_tool",
        "unheard_of",
    ]
)
CARD_KINDS = st.sampled_from(
    ["questions", "confirmation", "checkbox", "suggest_tasks", "item_verdicts", "approval", "?"]
)
STATES = st.sampled_from(["pending", "accepted", "answered", "rejected", "approved", "stale_target", "nonsense"])
TEXT = st.text(max_size=30)
LEAF = st.none() | st.booleans() | st.integers(-5, 5000) | TEXT
SMALL = st.lists(LEAF, max_size=2)
JSON: st.SearchStrategy[Any] = LEAF | SMALL | st.dictionaries(TEXT, SMALL, max_size=2)
RECORD_KINDS = st.sampled_from(
    ["durable_comment", "document", "deliverable", "dependency", "disposition", "record", "x"]
)
RECORD = st.fixed_dictionaries(
    {"kind": RECORD_KINDS},
    optional={"id": TEXT, "body": JSON, "title": JSON, "createdTasks": JSON, "evidenceRef": JSON},
)
CARD = st.fixed_dictionaries(
    {"interactionId": st.sampled_from(["interaction-0001", "interaction-0002"]), "interactionKind": CARD_KINDS},
    optional={
        "id": st.just("card:interaction-0001"),
        "state": STATES,
        "title": JSON,
        "prompt": JSON,
        "payload": JSON | st.dictionaries(st.sampled_from(["questions", "options", "tasks", "items"]), JSON),
        "resolvedSummary": JSON,
    },
)
PAYLOAD = st.fixed_dictionaries(
    {"kind": KINDS, "text": TEXT | JSON, "code": st.sampled_from(["network_guard", "idle", "turn_timeout", 7])},
    optional={
        "status": st.sampled_from(["queued", "completed", "failed", None, 3]),
        "messageId": st.sampled_from(["message-1", "message-2"]),
        "hidden": st.booleans(),
        "ordinal": JSON,
        "message": JSON,
        "card": CARD | JSON,
        "issue": st.dictionaries(st.sampled_from(["status", "title", "secret"]), JSON),
        "callId": st.sampled_from(["call-1", "call-2", 3]),
        "ok": st.booleans(),
        "denial": JSON,
        "result": JSON,
        "records": st.lists(RECORD | JSON, max_size=3),
        "steps": JSON,
        "changes": JSON,
        "operationIds": JSON,
        "requests": JSON,
        "authorizationId": JSON,
    },
)
WILD = st.builds(
    Draft,
    type=st.sampled_from([each.value for each in EventType]),
    payload=PAYLOAD,
    turn_id=TURNS,
    item_id=ITEMS,
    source_kind=st.sampled_from(["runner", "control_plane"]),
)
PROSE = st.builds(
    lambda kind, text, item: runner(kind, "turn-1", item, kind="agent_message", text=text),
    st.sampled_from(["item.started", "item.delta", "item.delta", "item.completed"]),
    TEXT,
    st.sampled_from(["item-1", "item-2"]),
)
DRAFT = WILD | PROSE


def folded(events: list[Event]) -> dict[str, Any]:
    return Fold(blank()).apply([op for event in events for op in ops(event)])


def every_snapshot(events: list[Event]) -> list[dict[str, Any]]:
    """Return the view before any event, after the first, after the second, and so on."""
    fold = Fold(blank())
    views = [copy_view(fold.view)]
    for event in events:
        fold.apply(ops(event))
        views.append(copy_view(fold.view))
    return views


def assert_every_cut_is_seamless(events: list[Event]) -> None:
    fresh = as_bytes(folded(events))
    for cut, old in enumerate(every_snapshot(events)):
        assert as_bytes(fold_frames(old, frames(events[cut:], after=cut))) == fresh, f"cut at {cut}"


@pytest.mark.requirement("thread.snapshot-plus-frames")
@BOUNDED
@given(st.lists(DRAFT, max_size=12))
def test_an_old_snapshot_plus_later_frames_is_a_fresh_snapshot_for_every_cut(drafts):
    assert_every_cut_is_seamless(events_of(drafts))


@pytest.mark.requirement("thread.snapshot-plus-frames")
def test_an_ordinary_log_is_seamless_from_every_event_to_every_later_one():
    """Also in the middle of a message: its whole text, which would hide a lost piece, has not come yet."""
    events = events_of([*whole_turn(1), *whole_turn(2)])
    views = every_snapshot(events)
    for cut in range(len(events)):
        for end in range(cut, len(events) + 1):
            seen = fold_frames(views[cut], frames(events[cut:end], after=cut))
            assert as_bytes(seen) == as_bytes(views[end]), f"from {cut} to {end}"


@pytest.mark.requirement("thread.snapshot-plus-frames")
def test_a_long_ordinary_log_is_seamless_at_every_cut():
    drafts = [draft for turn in range(1, 7) for draft in whole_turn(turn)]
    assert_every_cut_is_seamless(events_of(drafts))


@pytest.mark.requirement("thread.replay-equals-live")
@BOUNDED
@given(st.lists(DRAFT, min_size=1, max_size=12), st.data())
def test_live_frames_of_any_size_fold_to_what_a_replay_folds_to_byte_for_byte(drafts, data):
    events = events_of(drafts)
    view, cursor = blank(), 0
    while cursor < len(events):
        upto = data.draw(st.integers(cursor + 1, len(events)))
        view = fold_frames(view, frames(events[cursor:upto], after=cursor))
        cursor = upto
    assert as_bytes(view) == as_bytes(folded(events))


@BOUNDED
@given(st.lists(DRAFT, max_size=12))
def test_frames_name_their_cursors_without_a_gap_and_end_at_every_terminal(drafts):
    events = events_of(drafts)
    cursor = 0
    for frame in frames(events, after=0):
        said = json.loads(frame.text)
        assert said["after"] == cursor
        inside = [events[number - 1].event_type for number in range(cursor + 1, frame.seq + 1)]
        terminals = [
            kind for kind in inside if kind.startswith("turn.") and kind not in {"turn.submitted", "turn.started"}
        ]
        terminals = [kind for kind in terminals if kind != "turn.accepted"]
        assert terminals == terminals[-1:], "a frame reaches past the end of a turn"
        assert (said["type"] in {"settled", "error"}) == bool(terminals)
        cursor = frame.seq
    assert cursor == len(events)


@BOUNDED
@given(st.lists(DRAFT, max_size=12))
def test_only_the_named_fields_of_the_view_ever_appear(drafts):
    view = folded(events_of(drafts))
    expected = blank()
    assert view.keys() == expected.keys()
    for part in ("identity", "issue", "connection", "session", "evidence", "usage"):
        assert view[part].keys() == expected[part].keys()
    assert view["composer"] == composer(view)


def test_folding_an_op_twice_is_folding_it_once_unless_it_appends_text():
    events = events_of([*whole_turn(1), *tool_call(1, 1)])
    once = [op for event in events for op in ops(event) if op["op"] != "text"]
    twice = [op for op in once for _ in range(2)]
    assert as_bytes(Fold(blank()).apply(once)) == as_bytes(Fold(blank()).apply(twice))
