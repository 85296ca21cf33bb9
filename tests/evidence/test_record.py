"""The record: numbered, append-only, in one transaction with whatever it tells of."""

import json
import threading
from datetime import UTC, datetime
from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from evidence import record
from evidence.models import SessionEvent, SessionLog
from evidence.prp.events import EventType, canonical
from evidence.record import Draft, UnknownEventType, UnknownSession
from mockcore.appending import AppendOnly
from mockcore.threads import RowThreads
from tests.evidence.logs import new_session_id, ours, runner, submitted, whole_turn


@pytest.fixture
def session_id(db):
    made = new_session_id()
    record.open_log(session_id=made, run_id="run-1")
    return made


def read(session_id, after=0, **kwargs):
    return record.read_events(session_id=session_id, after=after, **kwargs)


@pytest.mark.requirement("record.numbered")
def test_events_are_numbered_from_one_and_the_last_number_is_returned(session_id):
    assert record.append(session_id=session_id, drafts=whole_turn(1)) == len(whole_turn(1))
    assert record.append(session_id=session_id, drafts=[submitted(2)]) == len(whole_turn(1)) + 1
    assert [event.number for event in read(session_id)] == list(range(1, len(whole_turn(1)) + 2))
    assert record.last_number(session_id) == len(whole_turn(1)) + 1


def test_nothing_appended_is_nothing_changed(session_id):
    assert record.append(session_id=session_id, drafts=[]) == 0
    assert read(session_id) == []


@pytest.mark.requirement("record.read.cursor")
def test_a_read_after_a_cursor_returns_what_follows_it_oldest_first(session_id):
    record.append(session_id=session_id, drafts=whole_turn(1))
    assert [event.number for event in read(session_id, after=3)][:2] == [4, 5]
    assert [event.number for event in read(session_id, after=3, limit=2)] == [4, 5]
    assert read(session_id, after=1000) == []


def test_the_stored_body_is_the_whole_envelope_as_canonical_json(session_id):
    at = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)
    record.append(session_id=session_id, drafts=[Draft("turn.started", {"b": 1, "a": "ä"}, turn_id="turn-1", at=at)])
    (event,) = read(session_id)
    assert event.envelope == {
        "schema": "paperclip.prp.event.v1",
        "sourceEventId": "capability-control-plane:run-1:1",
        "sourceSeq": 1,
        "sourceInstanceId": "capability-control-plane",
        "sourceKind": "control_plane",
        "runId": "run-1",
        "eventType": "turn.started",
        "schemaVersion": 1,
        "priority": 1,
        "emittedAt": "2026-01-02T03:04:05.678Z",
        "normalizedSessionId": session_id,
        "turnId": "turn-1",
        "payload": {"a": "ä", "b": 1},
    }
    assert event.body == canonical(event.envelope)
    assert event.body.isascii()
    assert SessionEvent.objects.get(session_id=session_id).at == at


def test_each_source_counts_its_own_events_without_a_gap(session_id):
    record.append(
        session_id=session_id, drafts=[ours("runner.connected"), runner("session.started"), ours("turn.submitted")]
    )
    record.append(session_id=session_id, drafts=[runner("turn.started"), ours("session.closed")])
    events = [event.envelope for event in read(session_id)]
    assert [each["sourceSeq"] for each in events if each["sourceKind"] == "runner"] == [1, 2]
    assert [each["sourceSeq"] for each in events if each["sourceKind"] == "control_plane"] == [1, 2, 3]
    assert len({each["sourceEventId"] for each in events}) == 5


def test_a_driver_may_bring_its_own_number(session_id):
    record.append(session_id=session_id, drafts=[Draft("turn.started", {}, source_kind="runner", source_seq=41)])
    assert read(session_id)[0].envelope["sourceEventId"] == "capability-live-runnerd:run-1:41"


@pytest.mark.parametrize("text", ["a\x00b", "\ud800 alone", "🙂", "\u2028", "ü" * 500])
def test_any_text_is_stored_and_can_be_sent_as_utf_8(session_id, text):
    record.append(session_id=session_id, drafts=[ours("turn.submitted", text=text)])
    stored = read(session_id)[0].payload["text"]
    assert stored.encode()
    assert stored == text.replace("\ud800", "\ufffd")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("payload", [{"n": float("nan")}, {"n": float("inf")}])
def test_what_is_not_json_is_refused_before_anything_is_written(session_id, payload):
    with pytest.raises(ValueError, match="JSON"):
        record.append(session_id=session_id, drafts=[ours("turn.started"), ours("turn.submitted", **payload)])
    assert read(session_id) == []
    assert record.last_number(session_id) == 0


@pytest.mark.requirement("record.vocabulary")
def test_there_are_sixty_five_event_types_and_no_other_is_recorded(session_id):
    assert len(EventType) == 65
    with pytest.raises(UnknownEventType) as refused:
        record.append(session_id=session_id, drafts=[ours("turn.started"), ours("turn.began")])
    assert refused.value.code == "unknown_event_type"
    assert read(session_id) == []


def test_an_unknown_source_is_a_bug(session_id):
    with pytest.raises(ValueError, match="somewhere"):
        record.append(session_id=session_id, drafts=[Draft("turn.started", {}, source_kind="somewhere")])


@pytest.mark.requirement("record.redacted")
def test_a_payload_is_redacted_before_it_is_stored(session_id):
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz012345"
    draft = ours("turn.failed", message=f"Bearer {secret} was refused", deep={"list": [f"key {secret}"]})
    record.append(session_id=session_id, drafts=[draft])
    stored = SessionEvent.objects.get(session_id=session_id).body
    assert secret not in stored
    assert "[REDACTED]" in stored


@pytest.mark.requirement("record.append-only")
def test_a_stored_event_is_never_changed_or_removed(session_id):
    record.append(session_id=session_id, drafts=[ours("turn.started")])
    event, log = SessionEvent.objects.get(session_id=session_id), SessionLog.objects.get(session_id=session_id)
    writes = [event.save, event.delete, log.delete]
    for manager in (SessionEvent.objects, SessionEvent._base_manager):
        writes += [manager.all().delete, partial(manager.update, body="{}")]
        writes += [partial(manager.bulk_update, [event], ["body"]), partial(manager.update_or_create, pk=event.pk)]
    for write in writes:
        with pytest.raises(AppendOnly):
            write()
    assert SessionEvent.objects.get(session_id=session_id).body == event.body


def test_the_database_itself_refuses_a_number_twice(session_id):
    record.append(session_id=session_id, drafts=[ours("turn.started")])
    twin = SessionEvent.objects.get(session_id=session_id)
    twin.pk, twin._state.adding = None, True
    with pytest.raises(IntegrityError, match=r"evidence_event_number_unique|UNIQUE"), transaction.atomic():
        twin.save()


@pytest.mark.requirement("record.together")
def test_events_commit_with_the_callers_transaction_or_not_at_all(session_id):
    def command_that_fails():
        with transaction.atomic():
            record.append(session_id=session_id, drafts=[ours("turn.started")])
            raise RuntimeError("the command failed")

    with pytest.raises(RuntimeError, match="the command failed"):
        command_that_fails()
    assert read(session_id) == []
    assert record.append(session_id=session_id, drafts=[ours("turn.started")]) == 1


@pytest.mark.django_db(transaction=True)
def test_an_append_that_fails_takes_the_callers_transaction_with_it(session_id):
    """Whoever catches the refusal inside must not commit the command without its event."""
    other = new_session_id()

    def command_that_goes_on():
        with transaction.atomic():
            record.open_log(session_id=other, run_id="run-2")
            with pytest.raises(UnknownSession):
                record.append(session_id="session-nowhere", drafts=[ours("turn.started")])

    command_that_goes_on()
    assert not SessionLog.objects.filter(session_id=other).exists()


def test_an_append_is_three_statements(session_id):
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        record.append(session_id=session_id, drafts=whole_turn(1))
    written = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
    assert len(written) == 3


@pytest.mark.requirement("record.closed")
@pytest.mark.django_db(transaction=True)
def test_a_closed_log_is_unknown_to_readers_and_writers_and_its_rows_stay(session_id):
    record.append(session_id=session_id, drafts=[ours("session.closed", code="reset", reason="reset")])
    record.close_log(session_id=session_id)
    for use in (
        lambda: read(session_id),
        lambda: record.last_number(session_id=session_id),
        lambda: record.append(session_id=session_id, drafts=[ours("turn.started")]),
    ):
        with pytest.raises(UnknownSession) as refused:
            use()
        assert refused.value.code == "unknown_session"
    assert SessionEvent.objects.filter(session_id=session_id).count() == 1
    assert SessionLog.objects.get(session_id=session_id).close_code == "reset"


def test_the_code_given_when_closing_stands_and_closing_twice_changes_nothing(session_id):
    record.close_log(session_id=session_id, code="room_yielded")
    first = SessionLog.objects.get(session_id=session_id).closed_at
    record.close_log(session_id=session_id, code="reset")
    log = SessionLog.objects.get(session_id=session_id)
    assert (log.close_code, log.closed_at) == ("room_yielded", first)


@pytest.mark.django_db(transaction=True)
def test_a_log_that_was_never_opened_is_unknown():
    with pytest.raises(UnknownSession):
        read("session-nowhere")
    with pytest.raises(UnknownSession):
        record.append(session_id="session-nowhere", drafts=[ours("turn.started")])
    record.close_log(session_id="session-nowhere")


def test_an_open_that_failed_leaves_nothing(session_id):
    other = new_session_id()
    record.open_log(session_id=other, run_id="run-2")
    record.append(session_id=other, drafts=[ours("turn.started")])
    record.append(session_id=session_id, drafts=[ours("turn.started")])
    record.discard_log(session_id=session_id)
    assert not SessionLog.objects.filter(session_id=session_id).exists()
    assert not SessionEvent.objects.filter(session_id=session_id).exists()
    assert record.last_number(other) == 1


def test_a_session_has_one_log(session_id):
    with pytest.raises(IntegrityError), transaction.atomic():
        record.open_log(session_id=session_id, run_id="run-2")


@pytest.mark.requirement("record.numbered")
@pytest.mark.django_db(transaction=True)
def test_writers_at_once_leave_no_gap_and_no_number_twice():
    session_id = new_session_id()
    record.open_log(session_id=session_id, run_id="run-1")
    failures: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for place in range(10):
                record.append(session_id=session_id, drafts=[ours("item.started", text=name, place=place)] * 2)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(str(place),)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not failures
    events = read(session_id)
    assert [event.number for event in events] == list(range(1, 81))
    for name in "0123":
        mine = [json.loads(event.body)["payload"]["place"] for event in events if event.payload["text"] == name]
        assert mine == sorted(mine)


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("opening.discarded")
def test_a_log_discarded_while_an_event_is_being_appended_leaves_nothing():
    session_id, asked = new_session_id(), threading.Event()
    record.open_log(session_id=session_id, run_id="run-1")

    def discard():
        with transaction.atomic():
            asked.set()
            record.discard_log(session_id=session_id)

    threads = RowThreads(1, "discard")
    with transaction.atomic():
        record.append(session_id=session_id, drafts=whole_turn(1))
        discarded = threads.submit(discard)
        if connection.vendor == "postgresql":
            assert asked.wait(5)  # on SQLite it waits at the gate before it begins
    discarded.result(5)
    threads.close()
    assert not SessionEvent.objects.exists()
    assert not SessionLog.objects.exists()
