"""Whatever is sent through the port is answered, or refused with a code: no value makes it raise anything else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mockcore import arrival, commands
from mockcore.handlers import HANDLERS
from mockcore.plane import MockControlPlane, RunMissing
from mockcore.port import AdvanceClock, Cause, Envelope, OpenRun, Principal, Refused, ReplayEvents
from mockcore.queries import QUERIES
from mockcore.refusal import Refusal
from tests.mockcore.conftest import CLAIMS, Desk
from tests.mockcore.reports import event, native, result, terminal

DEEP: Any = "x"
for _ in range(100):
    DEEP = [DEEP]

JUNK: dict[str, Any] = {
    "none": None,
    "a list": [],
    "a list of lists": [["x"]],
    "an object": {"x": 1},
    "an object in objects": {"x": {"y": {}}},
    "an object with numbers as names": {1: "x", "y": 2},
    "true": True,
    "a fraction": 0.5,
    "no number": float("nan"),
    "infinity": float("inf"),
    "a negative number": -1,
    "a huge number": 2**70,
    "a number too long to write": 10**5_000,
    "an empty text": "",
    "a NUL": "a\0b",
    "half a surrogate": "\ud800",
    "a megabyte": "x" * 1_000_000,
    "a text just too long for an id": "x" * 241,
    "bytes": b"x",
    "a set": {"x"},
    "a tuple": ("x",),
    "an instance": object(),
    "nested too deep": DEEP,
}
WELL: dict[type[commands.Command], dict[str, Any]] = {
    commands.ReportProgress: {"body": "b"},
    commands.AnswerStatusQuestion: {"body": "b"},
    commands.PostBoardComment: {"body": "b"},
    commands.WriteDocument: {"key": "k", "title": "t", "body": "b", "base_revision_id": None},
    commands.RequestHumanInput: {
        "interaction_kind": "questions",
        "title": "t",
        "prompt": "p",
        "continuation_policy": "none",
        "payload_json": {},
    },
    commands.ResolveHumanInput: {"interaction_id": "interaction-0001", "outcome": "answered", "result": {"q1": "x"}},
    commands.RegisterDeliverable: {
        "filename": "f",
        "content_type": "c",
        "byte_size": 1,
        "sha256": "s",
        "content_ref": "r",
        "title": "t",
    },
    commands.SetDependencies: {"blocked_by_task_ids": ()},
    commands.CreateTask: {"title": "t"},
    commands.RequestApproval: {"approval_type": "t", "payload_json": {}},
    commands.DecideApproval: {"approval_id": "approval-0001", "decision": "approved", "note": "n"},
    commands.CommentOnApproval: {"approval_id": "approval-0001", "body": "b"},
    commands.FinishTask: {"summary": "s"},
    commands.BlockTask: {"reason": "r"},
    commands.RequestReview: {"summary": "s"},
    commands.ScheduleWake: {"reason": "manual", "delay_ticks": 1},
    commands.ControlWorkspaceService: {"service_id": "s", "action": "start"},
    commands.RecordBudgetUsage: {"cents": 1},
    commands.ReleaseTask: {"reason": "r"},
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    **{name: {} for name in QUERIES},
    "read_document": {"key": "k"},
    "list_document_revisions": {"key": "k"},
    "get_agent": {"actor_id": "a"},
    "get_approval": {"approval_id": "a"},
    "get_approval_context": {"approval_id": "a"},
}
CODES = frozenset(
    {"semantic_command_invalid", "run_missing", "idempotency_key_required", "native_event_invalid"}
    | {"native_result_invalid", "session_checkpoint_invalid", "clock_advance_invalid"}
)


@pytest.fixture
def desk_with_cards(desk: Desk) -> Desk:
    """A desk whose board has something to answer and to decide."""
    desk.do(commands.RequestHumanInput(**WELL[commands.RequestHumanInput]))
    desk.do(commands.RequestApproval(**WELL[commands.RequestApproval]))
    return desk


def told(step: Callable[[], Any]) -> str:
    """Return the code that a step was refused with, by a value or by an exception, or nothing."""
    no: Refusal | Refused
    try:
        outcome = step()
    except Refusal as raised:
        no = raised
    else:
        if not isinstance(outcome, Refused):
            return ""
        no = outcome
    assert len(no.message) < 2_000, "a refusal does not repeat what it was sent"
    return no.code


def sent(kind: type[commands.Command], **changed: Any) -> commands.Command:
    return kind(**{**WELL[kind], **changed})


# ---------------------------------------------------------------- commands
@pytest.mark.parametrize("kind", HANDLERS, ids=lambda kind: kind.kind)
def test_no_field_of_any_command_makes_the_port_raise(desk_with_cards: Desk, kind: type[commands.Command]) -> None:
    desk, before = desk_with_cards, desk_with_cards.plane.state_revision()
    for field in dataclasses.fields(kind):
        for name, junk in JUNK.items():
            for principal in (Principal.RUN, Principal.BOARD):
                code = told(lambda f=field, j=junk, p=principal: desk.send(sent(kind, **{f.name: j}), principal=p))
                assert code != "refused", (field.name, name)
    assert desk.plane.state_revision() >= before
    desk.plane.state()


@pytest.mark.parametrize("kind", HANDLERS, ids=lambda kind: kind.kind)
def test_a_field_of_the_wrong_type_is_refused_and_the_decision_recorded(
    desk: Desk, kind: type[commands.Command]
) -> None:
    for field in dataclasses.fields(kind):
        if field.name not in arrival.JUDGED_LATER and field.type != "Any":
            desk.refuse(sent(kind, **{field.name: 0.5}), "semantic_command_invalid")


def test_every_command_has_a_well_formed_example() -> None:
    assert WELL.keys() == HANDLERS.keys()
    assert ARGUMENTS.keys() == QUERIES.keys()


class Unheard(commands.ReportProgress):
    """A command that no handler knows."""


def test_a_command_that_the_company_does_not_know_is_refused(desk: Desk) -> None:
    desk.refuse(Unheard(body="b"), "semantic_command_invalid")


# ---------------------------------------------------------------- what is around a command, and requests
def requests(desk: Desk) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """Yield each request of the port, well formed, with the method that takes it."""
    plane = desk.plane
    opened = {"run_id": "run-2", "session_id": "s", "actor_id": desk.identity.actor_id, "task_id": desk.task_id}
    yield desk.envelope(commands.ReportProgress(body="b")), plane.apply
    yield OpenRun(**opened, capabilities=CLAIMS, wake={"reason": "manual"}), plane.open_run
    yield AdvanceClock(ticks=1, idempotency_key="k"), plane.advance_clock
    yield ReplayEvents(run_id="run-1", source_instance_id="capability-live-runnerd"), plane.replay_events


def test_no_field_of_any_request_makes_the_port_raise(desk: Desk) -> None:
    for request, take in requests(desk):
        for field in dataclasses.fields(request):
            for name, junk in JUNK.items():
                code = told(lambda f=field, j=junk, r=request, t=take: t(dataclasses.replace(r, **{f.name: j})))
                assert code != "refused", (type(request).__name__, field.name, name)
    for _, take in requests(desk):
        for junk in JUNK.values():
            assert told(lambda t=take, j=junk: t(j)) == "semantic_command_invalid"


def test_no_part_of_a_cause_makes_the_port_raise(desk: Desk) -> None:
    for field in dataclasses.fields(Cause):
        for junk in JUNK.values():
            cause = dataclasses.replace(Cause(), **{field.name: junk})
            assert told(lambda c=cause: desk.send(commands.ReportProgress(body="b"), cause=c)) in {"", *CODES}


# ---------------------------------------------------------------- reads
@pytest.mark.parametrize("query", QUERIES)
def test_no_argument_of_any_query_makes_the_port_raise(desk_with_cards: Desk, query: str) -> None:
    plane, given = desk_with_cards.plane, ARGUMENTS[query]
    for name in (*arrival._arguments(QUERIES[query])[0], "unheard_of"):
        for junk in JUNK.values():
            told(lambda n=name, j=junk: plane.query("run-1", query, **{**given, n: j}))
    assert told(lambda: plane.query("run-1", query, **given, unheard_of=1)) == "semantic_command_invalid"
    if given:
        assert told(lambda: plane.query("run-1", query)) == "semantic_command_invalid"


def test_no_run_and_no_query_that_cannot_be_makes_the_port_raise(desk: Desk) -> None:
    plane = desk.plane
    for junk in JUNK.values():
        for read in (plane.facts, plane.context, plane.load_session_checkpoint):
            with pytest.raises(RunMissing):
                read(junk)
        with pytest.raises(RunMissing):
            plane.query(junk, "list_agents")
        assert told(lambda j=junk: plane.query("run-1", j)) == "semantic_command_invalid"
        assert told(lambda j=junk: plane.append_event(j, event(1))) == "run_missing"


@pytest.mark.parametrize(
    ("limit", "code"), [(0, "semantic_command_invalid"), (1, ""), (200, ""), (201, "semantic_command_invalid")]
)
def test_a_read_returns_from_one_to_two_hundred_rows(desk: Desk, limit: int, code: str) -> None:
    assert told(lambda: desk.plane.query("run-1", "search_tasks", limit=limit)) == code


# ---------------------------------------------------------------- what a runner reports
@pytest.mark.parametrize("whole", [event(1), native(1), terminal(1)], ids=["prp", "native", "terminal"])
def test_no_field_of_an_event_makes_the_port_raise(desk: Desk, whole: dict[str, Any]) -> None:
    for name in whole:
        for junk in JUNK.values():
            assert told(lambda n=name, j=junk: desk.plane.append_event("run-1", {**whole, n: j})) in {
                "",
                "native_event_invalid",
                "native_event_replay_conflict",
            }
    for name in whole["payload"]:
        for junk in JUNK.values():
            changed = {**whole, "payload": {**whole["payload"], name: junk}}
            told(lambda c=changed: desk.plane.append_event("run-1", c))
    for junk in JUNK.values():
        assert told(lambda j=junk: desk.plane.append_event("run-1", j)) == "native_event_invalid"


@pytest.mark.parametrize("name", ["turnTerminalState", "runTerminalState", "reportedWorkDisposition"])
@pytest.mark.parametrize("junk", [[], {}, None, 1, ["completed"], {"completed": 1}])
def test_a_terminal_event_says_in_words_how_the_run_ended(desk: Desk, name: str, junk: Any) -> None:
    said = terminal(1)
    said["payload"][name] = junk
    assert told(lambda: desk.plane.append_event("run-1", said)) == "native_event_invalid"


@pytest.mark.parametrize("disposition", ["done", "blocked", "needs_review", "yielded"])
def test_no_field_of_a_result_makes_the_port_raise(desk: Desk, disposition: str) -> None:
    whole = {**result(disposition), "runTerminalState": "succeeded"}
    for name in whole:
        for junk in JUNK.values():
            code = told(lambda n=name, j=junk: desk.plane.complete_run("run-1", {**whole, n: j}))
            assert code in {"native_result_invalid", "terminal_event_missing"}
    for junk in (*JUNK.values(), {"schema": []}, {"schema": {}}):
        assert told(lambda j=junk: desk.plane.complete_run("run-1", j)) == "native_result_invalid"


def test_a_result_is_no_longer_than_an_event_may_be(desk: Desk) -> None:
    desk.plane.append_event("run-1", terminal(1))
    whole = result(notes="")
    room = 262_144 - len(arrival.canonical(whole))
    assert (
        told(lambda: desk.plane.complete_run("run-1", {**whole, "notes": "x" * (room + 1)})) == "native_result_invalid"
    )
    assert told(lambda: desk.plane.complete_run("run-1", {**whole, "notes": "x" * room})) == ""


def test_no_checkpoint_makes_the_port_raise(desk: Desk) -> None:
    for junk in JUNK.values():
        assert told(lambda j=junk: desk.plane.checkpoint_session("run-1", j)) in {"", "session_checkpoint_invalid"}
        told(lambda j=junk: desk.plane.checkpoint_session("run-1", {"x": j}))


# ---------------------------------------------------------------- at the bounds
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"body": "x" * 200_000}, ""),
        ({"body": "x" * 200_001}, "semantic_command_invalid"),
        ({"task_id": "x" * 240}, "task_missing"),
        ({"task_id": "x" * 241}, "semantic_command_invalid"),
    ],
)
def test_a_text_is_taken_up_to_its_bound(desk: Desk, changed: dict[str, Any], code: str) -> None:
    assert told(lambda: desk.send(sent(commands.ReportProgress, **changed))) == code


def test_a_payload_is_taken_up_to_its_bound(desk: Desk) -> None:
    room = 262_144 - len('{"x":""}')
    for size, code in ((room + 1, "semantic_command_invalid"), (room, "")):
        command = sent(commands.RequestApproval, payload_json={"x": "y" * size})
        assert told(lambda c=command: desk.send(c)) == code


def test_ids_are_taken_up_to_their_bound(desk: Desk) -> None:
    ids = tuple(f"t{number}" for number in range(1_001))
    for given, code in ((ids, "semantic_command_invalid"), (ids[:1_000], "task_missing")):
        assert told(lambda g=given: desk.send(commands.SetDependencies(blocked_by_task_ids=g))) == code


def test_a_plane_of_no_company_says_so(db: None) -> None:
    plane = MockControlPlane(company_id="nowhere")
    envelope = Envelope(run_id="r", idempotency_key="k", command=commands.ReportProgress(body="b"))
    assert told(lambda: plane.apply(envelope)) == "company_missing"
