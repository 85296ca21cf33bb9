"""What each event changes in the thread view, and what a snapshot is."""

import pytest

from evidence import record
from evidence.models import SessionLog
from evidence.record import UnknownSession
from evidence.views import thread
from evidence.views.thread import snapshot
from tests.evidence.logs import (
    as_bytes,
    blank,
    items_of,
    new_session_id,
    ours,
    prose,
    runner,
    submitted,
    tool_call,
    whole_turn,
)
from tests.evidence.views import only_item, rows, view_of


# ---------------------------------------------------------------- the session and its runner
def test_a_connected_runner_is_attached_and_names_its_model():
    facts = {"agentVersion": "0.132.0", "sandboxed": True, "model": "m", "modelLabel": "Rehearsal model", "attempt": 2}
    view = view_of(ours("runner.connected", **facts, driverKind="codex_app_server", rehearsal=True))
    identity = view["identity"]
    assert (identity["runnerAttached"], identity["modelLabel"], identity["rehearsal"]) == (
        True,
        "Rehearsal model",
        True,
    )
    assert (identity["agentLabel"], identity["runnerLabel"]) == ("Real Codex", "Real runnerd")
    assert view["connection"] == {"state": "connected", "attempt": 2, "code": None, "message": None}
    (row,) = rows(view, "runner")
    assert {"label": "Sandboxed", "value": "yes"} in row["details"]


@pytest.mark.requirement("opening.live-only")
@pytest.mark.parametrize(
    ("events", "label"),
    [
        ([], "No agent"),
        ([ours("runner.connected", model="m")], "No agent"),
        ([ours("runner.connected", driverKind="scripted")], "Scripted agent"),
        ([ours("runner.connected", driverKind="")], "Scripted agent"),
    ],
)
def test_no_agent_is_called_real_before_its_driver_is_known_to_be(events, label):
    assert view_of(*events)["identity"]["agentLabel"] == label


def test_a_lost_runner_makes_the_agent_unavailable_until_it_is_back():
    lost = ours("runner.disconnected", code="codex_unavailable", message="Codex went away.", retryable=True)
    view = view_of(ours("runner.connected"), lost)
    assert view["connection"]["code"] == "codex_unavailable"
    assert (view["composer"]["state"], view["composer"]["reason"]) == ("unavailable", "Codex went away.")
    assert view["identity"]["runnerAttached"] is False
    back = view_of(ours("runner.connected"), lost, ours("runner.connected", attempt=2))
    assert back["composer"]["state"] == "ready"


@pytest.mark.parametrize("code", ["idle", "server_shutdown"])
def test_a_runner_that_rests_leaves_the_composer_ready(code):
    view = view_of(ours("runner.connected"), ours("runner.disconnected", code=code, message="resting"))
    assert view["composer"]["state"] == "ready"
    assert view["identity"]["runnerAttached"] is False


def test_a_session_that_resumes_is_reconnecting():
    view = view_of(ours("session.resuming", attempt=3))
    assert (view["connection"]["state"], view["connection"]["attempt"]) == ("reconnecting", 3)


def test_a_closed_session_says_why():
    view = view_of(ours("session.closed", code="room_yielded", reason="room_yielded"))
    assert view["session"] == {"closed": True, "code": "room_yielded"}
    assert view["composer"]["state"] == "disabled"


@pytest.mark.requirement("thread.network-guard")
@pytest.mark.parametrize(
    ("requests", "keys", "outcome", "reason"),
    [
        (
            0,
            [],
            "no_real_paperclip_request",
            "Real Paperclip API requests: 0. Child PAPERCLIP_* environment keys: none.",
        ),
        (
            2,
            ["PAPERCLIP_API_URL", "PAPERCLIP_RUN"],
            "real_paperclip_request",
            "Real Paperclip API requests: 2. Child PAPERCLIP_* environment keys: PAPERCLIP_API_URL, PAPERCLIP_RUN.",
        ),
    ],
)
def test_the_network_guard_row_is_built_from_what_was_measured(requests, keys, outcome, reason):
    facts = {"code": "network_guard", "requests": requests, "environmentKeys": keys, "stateRevision": 3}
    view = view_of(ours("runner.diagnostic", **facts), ours("runner.diagnostic", **facts), *tool_call(1, 1))
    first, *others = rows(view, "controlPlane")
    assert first["id"] == "network-guard-session-1"
    assert (first["outcome"], first["reason"], first["stateRevision"]) == (outcome, reason, 3)
    assert (first["turnId"], first["category"]) == ("turn-0", "session")
    assert len(others) == 1


def test_a_diagnostic_of_ours_is_a_notice_and_the_drivers_is_one_status_line():
    notice = only_item(ours("harness.diagnostic", "turn-1", code="sandbox_unavailable", message="No sandbox here."))
    assert (notice["kind"], notice["text"], notice["code"]) == (
        "system_notice",
        "No sandbox here.",
        "sandbox_unavailable",
    )
    tries = [runner("harness.diagnostic", "turn-1", message=f"retrying {place}") for place in (1, 2)]
    line = only_item(*tries)
    assert (line["kind"], line["summary"]) == ("progress_activity", "retrying 2")


# ---------------------------------------------------------------- turns
def test_a_turn_goes_from_submitted_to_running_to_its_end():
    states = []
    drafts = [submitted(1), runner("turn.started", "turn-1"), runner("turn.completed", "turn-1", durationMs=1200)]
    for upto in range(1, 4):
        (turn,) = view_of(*drafts[:upto])["turns"]
        states.append(turn["state"])
    assert states == ["submitted", "running", "completed"]
    assert (turn["ordinal"], turn["durationMs"], turn["mode"]) == (1, 1200, "live")
    assert turn["at"] < turn["endedAt"]


def test_a_stopped_turn_says_whether_a_person_stopped_it():
    (one, two) = view_of(
        submitted(1),
        runner("turn.interrupted", "turn-1", byUser=True),
        submitted(2),
        runner("turn.interrupted", "turn-2"),
    )["turns"]
    assert (one["stoppedByUser"], two["stoppedByUser"]) == (True, False)


def test_a_failed_turn_names_its_error_and_closes_what_was_open():
    drafts = [
        submitted(1),
        runner("item.started", "turn-1", "item-1", kind="command", command="sleep 9"),
        *prose(1, "item-2", ["Half a"])[:-1],
        ours("turn.failed", "turn-1", code="server_restarted", message="The server was restarted."),
    ]
    (turn,) = view_of(*drafts)["turns"]
    assert turn["error"] == {"code": "server_restarted", "message": "The server was restarted."}
    command, message = turn["items"][1:]
    assert (command["status"], message["streaming"], message["body"]) == ("failed", False, "Half a")


def test_a_message_is_shown_with_its_note_and_an_answer_handed_to_the_agent_is_not():
    shown = only_item(submitted(1, text="my key is [REDACTED]", redacted=True))
    assert (shown["kind"], shown["redacted"], shown["author"]) == ("user_message", True, "Board user")
    assert shown["recorded"] is False
    assert only_item(submitted(1, text="Never mind", recorded=True))["recorded"] is True
    (turn,) = view_of(submitted(1, text='{"schema": "…"}', hidden=True))["turns"]
    assert turn["items"] == []


# ---------------------------------------------------------------- what the agent does
def test_streamed_prose_grows_and_ends_whole():
    drafts = [submitted(1), *prose(1, "item-1", ["Hello ", "world"])]
    bodies = [items_of(view_of(*drafts[:upto]))[1] for upto in range(2, 6)]
    assert [(item["body"], item["streaming"]) for item in bodies] == [
        ("", True),
        ("Hello ", True),
        ("Hello world", True),
        ("Hello world", False),
    ]
    assert len({item["at"] for item in bodies}) == 1


@pytest.mark.parametrize(
    ("facts", "activity", "label", "summary"),
    [
        ({"kind": "reasoning", "text": "my secret plan"}, "thinking", "Thinking", "Thinking"),
        (
            {
                "kind": "plan",
                "steps": [{"step": "Read", "status": "completed"}, {"step": "Do", "status": "in_progress"}],
            },
            "planning",
            "Planning",
            "Do",
        ),
        ({"kind": "plan", "steps": [{"step": "Read", "status": "completed"}]}, "planning", "Planning", "1 step"),
        ({"kind": "command", "command": "ls  -l\n| wc"}, "command", "Shell command", "ls -l | wc"),
        ({"kind": "file_change", "changes": [{"path": "a.txt", "kind": "add"}]}, "file_change", "File change", "a.txt"),
        ({"kind": "mcp_tool", "label": "search docs"}, "tool", "Codex tool", "search docs"),
        ({"kind": "web_search"}, "tool", "Web search", "Web search"),
        ({"kind": "unheard_of", "label": "??"}, "tool", "Codex", "??"),
        ({}, "tool", "Codex", "Codex is working"),
    ],
    ids=str,
)
def test_each_kind_of_work_has_its_line(facts, activity, label, summary):
    item = only_item(runner("item.started", "turn-1", "item-1", **facts))
    assert (item["kind"], item["status"]) == ("progress_activity", "running")
    assert (item["activity"], item["label"], item["summary"]) == (activity, label, summary)


@pytest.mark.parametrize(
    ("event", "facts", "status"),
    [
        ("item.completed", {"exitCode": 0}, "complete"),
        ("item.completed", {"status": "failed", "exitCode": 1}, "failed"),
        ("item.completed", {"status": "declined"}, "failed"),
        ("item.failed", {}, "failed"),
    ],
    ids=str,
)
def test_a_command_ends_complete_or_failed(event, facts, status):
    assert only_item(runner(event, "turn-1", "item-1", kind="command", command="ls", **facts))["status"] == status


def test_command_output_and_chain_of_thought_are_withheld_in_words():
    command = only_item(
        runner(
            "item.completed", "turn-1", "item-1", kind="command", command="ls", exitCode=2, durationMs=5, output="OUT"
        )
    )
    assert command["withheld"] == "The agent sees the output; it is not stored here."
    assert command["details"] == [
        {"label": "Command", "value": "ls"},
        {"label": "Exit code", "value": "2"},
        {"label": "Duration", "value": "5 ms"},
    ]
    thought = only_item(runner("item.completed", "turn-1", "item-1", kind="reasoning", text="THOUGHT"))
    assert thought["withheld"] == "Chain of thought is withheld."
    assert "OUT" not in str(command)
    assert "THOUGHT" not in str(thought)


def test_a_stop_is_one_line_that_its_acknowledgement_replaces():
    drafts = [
        ours("item.completed", "turn-1", kind="interrupt_acknowledgement", status=status)
        for status in ("queued", "acknowledged")
    ]
    assert items_of(view_of(submitted(1), *drafts))[1]["summary"] == "Stop requested; waiting for Codex"


@pytest.mark.parametrize(
    ("ending", "words"),
    [("interrupted", "Stopped"), ("failed", "Stopped"), ("completed", "Codex had already finished")],
)
def test_a_stop_waits_for_nothing_once_its_turn_has_ended(ending, words):
    asked = ours("item.completed", "turn-1", kind="interrupt_acknowledgement", status="acknowledged")
    ended = runner(f"turn.{ending}", "turn-1")
    for drafts in ([asked, ended], [ended, asked]):
        items = items_of(view_of(submitted(1), *drafts))
        assert [item["summary"] for item in items[1:]] == [words]


def test_usage_is_a_fact_of_the_session_and_no_item():
    view = view_of(runner("item.completed", "turn-1", kind="usage", inputTokens=7, totalTokens=9, secret=1))
    assert view["usage"] == {"inputTokens": 7, "cachedInputTokens": 0, "outputTokens": 0, "totalTokens": 9}
    assert view["turns"] == []


# ---------------------------------------------------------------- tool calls
def test_an_allowed_call_is_a_strip_with_its_proof_and_its_records():
    view = view_of(submitted(1), *tool_call(1, 1))
    strip, comment = items_of(view)[1:]
    assert (strip["id"], strip["kind"], strip["status"], strip["fields"]) == ("call-1", "tool_activity", "ok", ["body"])
    assert strip["result"]["command"]["entityRefs"] == ["comment:comment-0001"]
    assert (comment["kind"], comment["body"]) == ("durable_comment", "Started.")
    assert comment["evidenceRef"] == {"section": "calls", "recordId": "call-1"}
    (call,) = rows(view, "calls")
    assert (call["outcome"], call["beforeRevision"], call["stateRevision"]) == ("ok", 1, 2)
    (authorization,) = rows(view, "authorization")
    assert (authorization["id"], authorization["allowed"]) == ("semantic-auth-000001", True)
    assert (authorization["callId"], authorization["phase"], authorization["code"]) == (
        "call-1",
        "invocation",
        "allowed",
    )
    (command,) = rows(view, "controlPlane")
    assert (command["id"], command["outcome"], command["stateRevision"]) == ("command-0001", "applied", 2)
    assert view["turns"][0]["toolCallCount"] == 1


def test_a_denied_call_is_a_denial_in_the_place_of_its_strip():
    denial = {"code": "required_claim_missing", "message": "Not granted.", "retryable": False}
    drafts = tool_call(1, 1, ok=False, denial=denial, records=[], result=None)
    view = view_of(submitted(1), *drafts)
    _, item = items_of(view)
    assert (item["id"], item["kind"], item["code"], item["reason"]) == (
        "call-1",
        "denial",
        "required_claim_missing",
        "Not granted.",
    )
    assert item["evidenceRef"] == {"section": "authorization", "recordId": "semantic-auth-000001"}
    (authorization,) = rows(view, "authorization")
    assert (authorization["allowed"], authorization["code"]) == (False, "required_claim_missing")
    assert rows(view, "calls")[0]["outcome"] == "denied"
    assert rows(view, "controlPlane") == []
    assert view["turns"][0]["toolCallCount"] == 1


def test_a_call_that_broke_is_neither_ok_nor_denied():
    started, _ = tool_call(1, 1)
    view = view_of(started, ours("item.failed", "turn-1", "call-1", kind="semantic_tool", callId="call-1"))
    assert items_of(view)[0]["status"] == "failed"


def test_a_duplicate_command_is_a_row_of_idempotency():
    result = {"commandId": "command-0001", "commandKind": "report_progress", "disposition": "duplicate"}
    assert rows(view_of(*tool_call(1, 1, result=result)), "controlPlane")[0]["category"] == "idempotency"


def test_every_catalog_operation_is_listed_once_and_the_last_exposure_wins():
    exposure = {"kind": "tool_exposure", "operationIds": ["a", "b"], "withheldOperationIds": ["c"]}
    later = {**exposure, "operationIds": ["a"], "withheldOperationIds": ["b", "c"]}
    view = view_of(*(ours("item.completed", None, "tool-exposure", **facts) for facts in (exposure, later)))
    assert {row["operationId"]: row["exposed"] for row in rows(view, "tools")} == {"a": True, "b": False, "c": False}
    assert view["turns"] == []


RECORDS = {
    "document": {"documentKey": "plan", "title": "Plan", "revisionFrom": 1, "revisionTo": 2, "excerpt": "…"},
    "deliverable": {
        "filename": "a.pdf",
        "deliverableKind": "reference",
        "byteSize": 9,
        "registeredBy": "Mock Agent",
    },
    "dependency": {"createdTasks": [{"identifier": "MCK-2", "title": "Two"}], "blockerEdges": ["MCK-2 blocks MCK-1"]},
    "disposition": {"operationId": "finish_task", "status": "done", "body": "Done."},
    "record": {"label": "Wake scheduled", "body": "tomorrow"},
}


@pytest.mark.requirement("thread.named-fields")
@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_leaves_with_its_named_fields_and_no_other(kind):
    given = {"id": "r-1", "kind": kind, **RECORDS[kind], "contentRef": "s3://secret", "providerThreadId": "t-1"}
    item = items_of(view_of(*tool_call(1, 1, records=[given])))[-1]
    assert {name: item[name] for name in RECORDS[kind]} == RECORDS[kind]
    assert "contentRef" not in item
    assert "providerThreadId" not in item


def test_a_record_of_an_unknown_kind_is_not_drawn():
    assert len(items_of(view_of(*tool_call(1, 1, records=[{"kind": "secret_store", "body": "x"}])))) == 1


def test_labels_and_long_texts_are_clamped_and_messages_are_not():
    comment = {"kind": "durable_comment", "author": "A" * 999, "body": "B" * 30_000}
    view = view_of(submitted(1, text="C" * 30_000), *tool_call(1, 1, records=[comment]), *prose(1, "i", ["D" * 30_000]))
    message, _, item, answer = items_of(view)
    assert (len(item["author"]), len(item["body"])) == (240, 20_000)
    assert item["author"].endswith("…")
    assert (len(message["body"]), len(answer["body"])) == (30_000, 30_000)


# ---------------------------------------------------------------- snapshots
@pytest.fixture
def session_id(db):
    made = new_session_id()
    record.open_log(session_id=made, run_id="run-1")
    return made


def test_a_snapshot_comes_with_the_cursor_it_was_taken_at(session_id):
    assert snapshot(session_id=session_id) == (blank(session_id), 0)
    last = record.append(session_id=session_id, drafts=whole_turn(1))
    view, cursor = snapshot(session_id=session_id)
    assert cursor == last
    assert view["turns"][0]["state"] == "completed"


def test_a_snapshot_takes_only_named_fields_of_what_it_is_told(session_id):
    identity, issue = {"modelLabel": "M", "cookie": "c"}, {"identifier": "MCK-9", "companyId": "x"}
    view, _ = snapshot(session_id=session_id, identity=identity, issue=issue)
    assert (view["identity"]["modelLabel"], view["issue"]["identifier"]) == ("M", "MCK-9")
    assert "cookie" not in view["identity"]
    assert "companyId" not in view["issue"]


def test_a_closed_log_has_no_snapshot(session_id):
    record.close_log(session_id=session_id)
    with pytest.raises(UnknownSession):
        snapshot(session_id=session_id)


@pytest.mark.django_db(transaction=True)
def test_a_kept_fold_goes_on_where_it_was_and_its_copies_stay_as_they_were():
    session_id = new_session_id()
    record.open_log(session_id=session_id, run_id="run-1")
    record.append(session_id=session_id, drafts=[*whole_turn(1), submitted(2)])
    first, _ = snapshot(session_id=session_id)
    before = as_bytes(first)
    record.append(session_id=session_id, drafts=[*prose(2, "item-9", ["Hi"]), *tool_call(2, 7)])
    second, cursor = snapshot(session_id=session_id)
    assert as_bytes(first) == before
    second["turns"][1]["items"].clear()
    third, _ = snapshot(session_id=session_id)
    events = record.read_events(session_id=session_id, after=0)
    fresh = thread.apply_ops(blank(session_id), [op for event in events for op in thread.ops(event)])
    assert as_bytes(third) == as_bytes(fresh)
    assert cursor == len(events)


@pytest.mark.django_db(transaction=True)
def test_a_log_that_was_discarded_leaves_nothing_in_the_kept_fold_of_its_successor():
    session_id = new_session_id()
    for text in ("first life", "second life"):
        record.open_log(session_id=session_id, run_id="run-1")
        record.append(session_id=session_id, drafts=[submitted(1, text=text)])
        view, _ = snapshot(session_id=session_id)
        assert [item["body"] for item in items_of(view)] == [text]
        record.discard_log(session_id=session_id)


@pytest.mark.django_db(transaction=True)
def test_only_so_many_folds_are_kept(monkeypatch):
    monkeypatch.setattr(thread, "KEPT_FOLDS", 2)
    for _ in range(4):
        session_id = new_session_id()
        record.open_log(session_id=session_id, run_id="run-1")
        snapshot(session_id=session_id)
    assert len(thread._held) == 2
    assert SessionLog.objects.count() == 4
