"""What Codex says, as canonical events: named facts, bounded, without what is withheld."""

from __future__ import annotations

from typing import Any

import pytest

from capability.redaction import redact_text
from cleanroom.codex import failures, wire
from cleanroom.codex.drafts import Draft
from cleanroom.codex.items import OpenItems
from cleanroom.codex.translate import MAX_COMMAND_CHARS, MAX_DELTA_CHARS, MAX_TEXT_CHARS, translate

pytestmark = pytest.mark.requirement("driver.events")

WORKSPACE = "/runs/1/workspace"


def drafts(method: str, **params: Any) -> list[Draft]:
    notification = wire.Notification(method=method, params={"threadId": "t1", "turnId": "u1"} | params)
    return translate(notification, workspace=WORKSPACE)


def item(event: str, **facts: Any) -> list[Draft]:
    return drafts(f"item/{event}", item={"id": "i1"} | facts)


def test_prose_streams_and_completes_with_its_whole_text() -> None:
    (started,) = item("started", type="agentMessage", text="", phase="commentary")
    (delta,) = drafts("item/agentMessage/delta", itemId="i1", delta="Hel")
    (completed,) = item("completed", type="agentMessage", text="Hello", phase="commentary")
    assert (started.type, started.payload["text"]) == ("item.started", "")
    assert (delta.type, delta.payload) == ("item.delta", {"kind": "agent_message", "text": "Hel"})
    assert completed.payload == {"kind": "agent_message", "text": "Hello", "phase": "commentary"}
    assert {d.turn_id for d in (started, delta, completed)} == {"u1"}
    assert {d.item_id for d in (started, delta, completed)} == {"i1"}


def test_long_prose_is_cut_with_a_note_and_a_long_delta_into_pieces() -> None:
    (completed,) = item("completed", type="agentMessage", text="x" * (MAX_TEXT_CHARS + 5))
    assert completed.payload["text"].endswith("… (+5 characters)")
    pieces = drafts("item/agentMessage/delta", itemId="i1", delta="y" * (2 * MAX_DELTA_CHARS + 1))
    assert [len(piece.payload["text"]) for piece in pieces] == [MAX_DELTA_CHARS, MAX_DELTA_CHARS, 1]


def test_of_reasoning_only_its_existence_is_told() -> None:
    (completed,) = item("completed", type="reasoning", summary=["secret plan"], content=["more"])
    assert completed.payload == {"kind": "reasoning"}
    assert drafts("item/reasoning/summaryTextDelta", itemId="i1", delta="secret") == []


def test_a_command_is_told_without_shell_output_and_place() -> None:
    (done,) = item(
        "completed",
        type="commandExecution",
        command=f"/bin/bash -lc 'cat {WORKSPACE}/a.txt'",
        status="completed",
        exitCode=0,
        durationMs=12,
        aggregatedOutput="secret output",
        cwd=WORKSPACE,
    )
    assert done.type == "item.completed"
    assert done.payload == {
        "kind": "command",
        "command": "cat /workspace/a.txt",
        "status": "completed",
        "exitCode": 0,
        "durationMs": 12,
    }
    assert drafts("item/commandExecution/outputDelta", itemId="i1", delta="secret") == []


@pytest.mark.parametrize("status", ["failed", "declined"])
def test_a_command_that_did_not_succeed_is_a_failed_item(status: str) -> None:
    (done,) = item("completed", type="commandExecution", command="false", status=status, exitCode=1)
    assert (done.type, done.payload["status"]) == ("item.failed", status)


@pytest.mark.parametrize("command", ["unbalanced 'quote", "/bin/bash -c", "python3 -c 'print(1)'", ""])
def test_a_command_that_is_no_shell_script_is_told_as_it_is(command: str) -> None:
    (started,) = item("started", type="commandExecution", command=command)
    assert started.payload["command"] == command


def test_a_long_command_says_how_much_it_hides() -> None:
    (started,) = item("started", type="commandExecution", command="e" * (MAX_COMMAND_CHARS + 7))
    assert started.payload["command"].endswith("… (+7 characters)")


def test_a_file_change_names_paths_inside_the_workspace_and_never_its_content() -> None:
    changes = [
        {"path": f"{WORKSPACE}/a/b.txt", "kind": {"type": "add"}, "diff": "secret"},
        {"path": "/etc/passwd", "kind": {"type": "update", "move_path": None}, "diff": "secret"},
    ]
    (done,) = item("completed", type="fileChange", changes=changes, status="completed")
    told = [{"path": "a/b.txt", "kind": "add"}, {"path": "passwd", "kind": "update"}]
    assert done.payload == {"kind": "file_change", "changes": told}


@pytest.mark.parametrize(
    ("type", "kind"),
    [
        ("mcpToolCall", "mcp_tool"),
        ("webSearch", "web_search"),
        ("imageView", "image"),
        ("imageGeneration", "image"),
        ("contextCompaction", "compaction"),
        ("collabAgentToolCall", "other"),
        ("<b>new thing</b>", "other"),
    ],
)
def test_every_other_item_is_a_plain_label(type: str, kind: str) -> None:
    (done,) = item("completed", type=type, query="secret", path="/secret", tool="look_up", result="secret")
    assert done.payload["kind"] == kind
    assert set(done.payload) == {"kind", "label"}
    assert "secret" not in done.payload["label"]
    assert "<" not in done.payload["label"]


@pytest.mark.parametrize("type", ["userMessage", "dynamicToolCall"])
def test_what_we_record_ourselves_is_not_told_again(type: str) -> None:
    assert item("started", type=type) == []
    assert item("completed", type=type) == []


def test_a_plan_is_one_item_of_its_turn() -> None:
    (plan,) = drafts("turn/plan/updated", plan=[{"step": "read", "status": "inProgress"}, "nonsense", {"step": 7}])
    assert (plan.type, plan.item_id) == ("item.completed", "plan:u1")
    assert plan.payload["steps"] == [{"step": "read", "status": "in_progress"}, {"step": "", "status": "pending"}]


def test_usage_is_the_total_of_the_thread() -> None:
    total = {
        "totalTokens": 15,
        "inputTokens": 10,
        "cachedInputTokens": 4,
        "outputTokens": 5,
        "reasoningOutputTokens": 1,
    }
    (usage,) = drafts("thread/tokenUsage/updated", tokenUsage={"total": total, "last": {}})
    assert usage.payload == {
        "kind": "usage",
        "inputTokens": 10,
        "cachedInputTokens": 4,
        "outputTokens": 5,
        "totalTokens": 15,
    }


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("item/started", {}),
        ("item/started", {"item": None}),
        ("item/started", {"item": {"type": "agentMessage"}}),
        ("item/agentMessage/delta", {"itemId": "i1", "delta": None}),
        ("thread/tokenUsage/updated", {"tokenUsage": 5}),
        ("configWarning", {"summary": "/home/someone"}),
        ("warning", {"message": "text"}),
        ("thread/started", {"thread": {}}),
        ("something/new", {"a": 1}),
    ],
)
def test_what_is_unknown_or_incomplete_tells_nothing(method: str, params: dict[str, Any]) -> None:
    assert drafts(method, **params) == []


# ---------------------------------------------------------------- open items
def _see(items: OpenItems, found: list[Draft]) -> list[Draft]:
    return [seen for draft in found for seen in items.see(draft)]


def test_a_delta_of_an_unknown_message_starts_it() -> None:
    seen = _see(OpenItems(), drafts("item/agentMessage/delta", itemId="i1", delta="Hi"))
    assert [draft.type for draft in seen] == ["item.started", "item.delta"]


def test_streamed_text_is_bounded_and_so_is_what_closes_it() -> None:
    items = OpenItems()
    seen = _see(items, drafts("item/agentMessage/delta", itemId="i1", delta="z" * (MAX_TEXT_CHARS + 100)))
    assert sum(len(draft.payload["text"]) for draft in seen) == MAX_TEXT_CHARS
    (closed,) = items.close_turn(turn_id="u1", status="interrupted")
    assert len(closed.payload["text"]) == MAX_TEXT_CHARS


@pytest.mark.parametrize(
    ("status", "event", "command"),
    [
        ("completed", "item.completed", "background"),
        ("interrupted", "item.failed", "interrupted"),
        ("failed", "item.failed", "interrupted"),
    ],
)
def test_a_turns_end_closes_its_items_and_only_its_own(status: str, event: str, command: str) -> None:
    items = OpenItems()
    _see(items, item("started", type="commandExecution", command="sleep 9"))
    _see(items, drafts("item/started", item={"id": "i2", "type": "webSearch"}, turnId="u2"))
    (closed,) = items.close_turn(turn_id="u1", status=status)
    assert (closed.type, closed.payload["status"]) == (event, command)
    assert items.close_turn(turn_id="u1", status=status) == []
    assert len(items.close_turn(turn_id="u2", status=status)) == 1


# ---------------------------------------------------------------- failures
@pytest.mark.requirement("driver.failure.final-error")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"codexErrorInfo": "unauthorized"}, "codex_login_required"),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 401}}}, "codex_login_required"),
        ({"codexErrorInfo": "other", "message": "unexpected status 401 Unauthorized: sk-x"}, "codex_login_required"),
        ({"codexErrorInfo": "usageLimitExceeded"}, "usage_limit"),
        ({"codexErrorInfo": "contextWindowExceeded"}, "context_window"),
        ({"codexErrorInfo": {"responseTooManyFailedAttempts": {"httpStatusCode": 429}}}, "provider_error"),
        ({"codexErrorInfo": "other", "message": "stream disconnected before completion: x"}, "provider_error"),
        ({"codexErrorInfo": "somethingNew"}, "provider_error"),
        ({"codexErrorInfo": ["x"]}, "provider_error"),
        ({}, "provider_error"),
        (None, "provider_error"),
        ("text", "provider_error"),
    ],
)
def test_a_providers_error_becomes_a_stable_code_and_a_sentence_of_ours(error: Any, code: str) -> None:
    failure = failures.classify(error)
    assert failure.code == code
    assert failure.message.endswith(".")
    assert "sk-x" not in failure.message


@pytest.mark.requirement("toolcalls.cut")
@pytest.mark.parametrize("before", range(0, 60, 4))
def test_a_bound_never_leaves_the_head_of_a_secret(before: int) -> None:
    secret = "ghp_FAKE0123456789abcdefghijklmnopqrstuv"
    script = "x" * (MAX_COMMAND_CHARS - before - 1) + f" {secret}"
    (command,) = item("started", type="commandExecution", command=script)
    assert "ghp_" not in redact_text(command.payload["command"])
    text = "x" * (MAX_TEXT_CHARS - before - 1) + f" {secret} and more"
    (message,) = item("completed", type="agentMessage", text=text)
    assert "ghp_" not in redact_text(message.payload["text"])


@pytest.mark.requirement("toolcalls.cut")
@pytest.mark.parametrize("before", range(0, 60, 4))
def test_a_streamed_message_that_is_cut_leaves_no_head_of_a_secret(before: int) -> None:
    items = OpenItems()
    text = "x" * (MAX_TEXT_CHARS - before - 1) + " ghp_FAKE0123456789abcdefghijklmnopqrstuv and more"
    for start in range(0, len(text), 1000):
        _see(items, drafts("item/agentMessage/delta", itemId="i1", delta=text[start : start + 1000]))
    (closed,) = items.close_turn(turn_id="u1", status="interrupted")
    assert "ghp_" not in redact_text(closed.payload["text"])
    assert len(closed.payload["text"]) <= MAX_TEXT_CHARS + 40
