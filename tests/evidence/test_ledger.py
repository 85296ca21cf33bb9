"""No row of a ledger can be changed, removed, added or moved without `verify_ledger` finding it."""

from __future__ import annotations

import functools
import importlib
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import AutoField, BooleanField, CharField, DateTimeField, F, Model, QuerySet, TextField
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from capability.models import AuthorizationCounter, AuthorizationRecord
from cleanroom.bench.toolcall import blank_room
from cleanroom.harness import ToolCall
from cleanroom.rooms import Room
from cleanroom.toolcalls import perform
from evidence.ledger import chains
from evidence.models import SessionEvent, SessionLog
from mockcore import chain, tenants
from mockcore.chain import first_flaw
from mockcore.models import Company, LedgerRow, StateRevision
from mockcore.models.base import CanonicalJSON

TABLES: dict[type[Model], str] = {
    **{model: f"mockcore {model.CHAIN}" for model in LedgerRow.__subclasses__()},
    AuthorizationRecord: "capability authorization records",
    SessionEvent: "evidence session events",
}
CALLS = 6


def worked(calls: int = CALLS) -> Room:
    """Return a room whose agent reported progress a few times and was refused once."""
    room = blank_room()
    for number in range(calls):
        call(room, number, body=f"Report {number}" if number else " ")
    return room


def call(room: Room, number: int, *, body: str) -> None:
    arguments = {"idempotencyKey": f"key-{number}", "body": body}
    asked = ToolCall(turn_id="turn-1", call_id=f"call-{number}", operation_id="report_progress", arguments=arguments)
    perform(room=room, call=asked, turn="turn-1", call_id=asked.call_id, message_id="m-1", pending=frozenset())


def rows_of(model: type[Model], room: Room) -> QuerySet[Any]:
    """Return a table's rows of the room, past the manager that refuses to change them."""
    where = {"session_id": room.session_id} if model is SessionEvent else {"company_id": room.company_id}
    return QuerySet(model).filter(**where).order_by("number")


def flaws(room: Room) -> list[tuple[str, int]]:
    found = [first_flaw(one) for one in chains(company_id=room.company_id)]
    return [(one.table, one.number) for one in found if one]


def other_value(field: Any, value: Any) -> Any:
    """Return a value that differs as little as can be, and that the column's constraints may still take."""
    if isinstance(field, CanonicalJSON):
        return {"changed": True}
    if isinstance(field, BooleanField):
        return not value
    if isinstance(field, DateTimeField):
        return timezone.now()
    if isinstance(field, CharField | TextField):
        return f"{(value or '')[:-1]}{'y' if (value or '').endswith('x') else 'x'}"
    return value + 1


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
@pytest.mark.parametrize("model", TABLES, ids=TABLES.get)
def test_a_change_of_any_column_of_any_row_is_found(model: type[Model]) -> None:
    room = worked()
    assert flaws(room) == []
    pinned = {"number", "principal", "outcome", "phase", "allowed", "code"}  # the database knows these values by itself
    fields = [f for f in model._meta.concrete_fields if not isinstance(f, AutoField) and f.name not in pinned]
    for place in (0, 2, -1):
        row = list(rows_of(model, room))[place]
        for field in fields:
            if field.attname in ("company_id", "session_id"):
                continue
            old = getattr(row, field.attname)
            held = rows_of(model, room).filter(pk=row.pk)
            held.update(**{field.attname: other_value(field, old)})
            assert flaws(room) == [(TABLES[model], row.number)], field.name
            held.update(**{field.attname: old})
    assert flaws(room) == []


def swap(rows: QuerySet[Any]) -> int:
    """Give two neighbours each other's number."""
    first, second = rows[1:3]
    for row, number in ((first, 10_000), (second, first.number), (first, second.number)):
        rows.filter(pk=row.pk).update(number=number)
    return int(first.number)


def remove(place: int) -> Callable[[QuerySet[Any]], int]:
    def act(rows: QuerySet[Any]) -> int:
        row = list(rows)[place]
        rows.filter(pk=row.pk)._raw_delete("default")
        return int(row.number)

    return act


def cut_the_tail(rows: QuerySet[Any]) -> int:
    gone = list(rows)[-3:]
    rows.filter(pk__in=[row.pk for row in gone])._raw_delete("default")
    return int(gone[0].number)


def rewrite_the_newest(rows: QuerySet[Any]) -> int:
    """Change the newest row and give it a hash that fits."""
    before, newest = list(rows)[-2:]
    column = next(
        f for f in newest._meta.concrete_fields if f.attname in ("scope", "reason", "entity_id", "body", "run_id")
    )
    setattr(newest, column.attname, f"{getattr(newest, column.attname)}x")
    owner = "session_id" if isinstance(newest, SessionEvent) else "company_id"
    forged = chain.link(before.hash, chain.content_of(newest, owner=owner))
    rows.filter(pk=newest.pk).update(**{column.attname: getattr(newest, column.attname), "hash": forged})
    return int(newest.number)


def append_one(rows: QuerySet[Any]) -> int:
    newest = list(rows)[-1]
    newest.pk, newest.number = None, newest.number + 1
    for name in ("entity_id", "key"):
        if hasattr(newest, name):
            setattr(newest, name, "forged")
    owner = "session_id" if isinstance(newest, SessionEvent) else "company_id"
    newest.hash = chain.link(list(rows)[-1].hash, chain.content_of(newest, owner=owner))
    QuerySet(type(newest)).bulk_create([newest])
    return int(newest.number)


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
@pytest.mark.parametrize("model", TABLES, ids=TABLES.get)
@pytest.mark.parametrize(
    "tamper",
    [swap, remove(0), remove(2), remove(-1), cut_the_tail, rewrite_the_newest, append_one],
    ids=["reorder", "first", "middle", "newest", "tail", "rewrite", "append"],
)
def test_a_row_that_is_moved_removed_or_added_is_found(model: type[Model], tamper: Callable[[Any], int]) -> None:
    room = worked()
    number = tamper(rows_of(model, room))
    assert flaws(room) == [(TABLES[model], number)]


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
def test_another_spelling_of_the_same_json_is_found() -> None:
    room = worked()
    spaced = (
        "UPDATE mockcore_auditrecord SET details = REPLACE(details, ',', ', ') WHERE company_id = %s AND number = 2"
    )
    with connection.cursor() as cursor:
        cursor.execute(spaced, [room.company_id])
    assert flaws(room) == [("mockcore audit", 2)]


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
def test_rows_that_lost_their_counter_or_log_are_found() -> None:
    room = worked()
    QuerySet(AuthorizationCounter).filter(company_id=room.company_id)._raw_delete("default")
    QuerySet(SessionLog).filter(session_id=room.session_id)._raw_delete("default")
    assert flaws(room) == [(TABLES[AuthorizationRecord], 1), (TABLES[SessionEvent], 1)]


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
@pytest.mark.parametrize("gone", ["revisions", "events", "neither"])
def test_authorization_records_that_are_gone_with_their_counter_are_missed(gone: str) -> None:
    """What is left of them is their names: in the revisions that their calls made, and in the events that tell of them.

    Either is enough: a room may have had no change, or no log.
    """
    room = worked()
    if gone == "revisions":
        QuerySet(StateRevision).filter(company_id=room.company_id).update(cause_authorization_id="")
    if gone == "events":
        rows_of(SessionEvent, room).filter(body__contains="semantic-auth")._raw_delete("default")
    rows_of(AuthorizationRecord, room)._raw_delete("default")
    QuerySet(AuthorizationCounter).filter(company_id=room.company_id)._raw_delete("default")
    assert (TABLES[AuthorizationRecord], 1) in flaws(room)
    assert TABLES[AuthorizationRecord] in {flaw.table for one in chains() if (flaw := first_flaw(one))}


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
def test_a_counter_that_was_set_back_to_an_earlier_record_is_found() -> None:
    room = worked()
    newest, before = list(rows_of(AuthorizationRecord, room))[-1], list(rows_of(AuthorizationRecord, room))[-2]
    rows_of(AuthorizationRecord, room).filter(pk=newest.pk)._raw_delete("default")
    QuerySet(AuthorizationCounter).filter(company_id=room.company_id).update(
        last_number=before.number, head=before.hash
    )
    assert flaws(room) == [(TABLES[AuthorizationRecord], newest.number)]


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
def test_a_row_of_another_company_does_not_fit() -> None:
    mine, theirs = worked(), worked()
    for model in (AuthorizationRecord, *LedgerRow.__subclasses__()):
        newest = rows_of(model, mine).last()
        rows_of(model, theirs).filter(number=newest.number)._raw_delete("default")
        rows_of(model, mine).filter(pk=newest.pk).update(company_id=theirs.company_id)
    assert len(flaws(mine)) == len(flaws(theirs)) == 6


# ---------------------------------------------------------------- the command
@pytest.mark.requirement("ledger.command")
@pytest.mark.django_db
def test_the_command_says_ok_or_names_the_first_bad_row_of_each_table(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = worked(), worked()
    call_command("verify_ledger")
    assert capsys.readouterr().out.startswith("OK: ")
    for model in TABLES:
        rows = rows_of(model, bad)
        rows.filter(number__gte=rows[1].number).update(hash="0" * 64)
    call_command("verify_ledger", "--company", good.company_id)
    assert " in 7 chains." in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        call_command("verify_ledger")
    printed = capsys.readouterr().out
    assert stopped.value.code == 1
    assert [line.split(":")[0] for line in printed.splitlines()[:7]] == list(TABLES.values())
    assert "row 2 of " in printed
    assert printed.splitlines()[-1] == "7 of 14 chains are broken."


@pytest.mark.requirement("ledger.command")
@pytest.mark.django_db
def test_an_unknown_company_is_no_proof(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify_ledger")
    assert capsys.readouterr().out.strip() == "OK: 0 rows in 0 chains."
    with pytest.raises(CommandError, match="no ledger of nobody"):
        call_command("verify_ledger", "--company", "nobody")


@pytest.mark.requirement("ledger.command")
@pytest.mark.django_db
def test_a_chain_is_read_in_one_statement_however_long_it_is() -> None:
    def statements(room: Room) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert flaws(room) == []
        return len(queries)

    assert statements(worked(calls=2)) == statements(worked(calls=20))


def chained(company_id: str, count: int) -> None:
    """Store a whole chain of authorization records, each with an input of about half a kilobyte."""
    texts = {"input_json": json.dumps({"body": "x" * 500}), "reason": "", "effective_claims_json": "[]"}
    facts = {"phase": "invocation", "code": "allowed", "allowed": True, "before_revision": 1, "after_revision": 1}
    running, rows = chain.genesis(table="authorization records", owner=company_id), []
    for number in range(1, count + 1):
        row = AuthorizationRecord(company_id=company_id, number=number, operation_id="list_agents", **facts, **texts)
        row.hash = running = chain.link(running, chain.content_of(row, owner="company_id"))
        rows.append(row)
    AuthorizationRecord.objects.bulk_create(rows, batch_size=1_000)
    AuthorizationCounter.objects.create(company_id=company_id, last_number=count, head=running)


def peak_bytes(work: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.requirement("ledger.command")
@pytest.mark.django_db
def test_a_chain_of_ten_times_as_many_rows_is_proved_in_the_same_memory(capsys: pytest.CaptureFixture[str]) -> None:
    peaks = []
    for company_id, count in (("short", 2_000), ("long", 20_000)):
        chained(company_id, count)
        call_command("verify_ledger", "--company", company_id)  # once before: what is made only once is not counted
        peaks.append(peak_bytes(functools.partial(call_command, "verify_ledger", "--company", company_id)))
        assert f"OK: {count:,} rows in 1 chains." in capsys.readouterr().out
    assert peaks[1] < 1.5 * peaks[0], peaks


# ---------------------------------------------------------------- what was there before
@pytest.mark.requirement("ledger.older-rows")
@pytest.mark.django_db
def test_rows_from_before_the_chains_stay_and_the_chains_begin_after_them(capsys: pytest.CaptureFixture[str]) -> None:
    room = worked()
    for model in TABLES:
        rows_of(model, room).update(hash="")
    for name in ("change", "idempotencyrecord"):
        model = next(one for one in TABLES if one._meta.model_name == name)
        rows_of(model, room).update(number=F("number") + 1000)  # as yet they had none
    Company.objects.filter(pk=room.company_id).update(chains={}, base=None)
    AuthorizationCounter.objects.update(head="")
    SessionLog.objects.update(head="")
    begin_again()
    call(room, 50, body="After the upgrade")
    assert flaws(room) == []
    call_command("verify_ledger")
    assert "are older than their chain" in capsys.readouterr().out
    newest = rows_of(AuthorizationRecord, room).last()
    rows_of(AuthorizationRecord, room).filter(pk=newest.pk).update(reason="x")
    assert flaws(room) == [(TABLES[AuthorizationRecord], newest.number)]
    assert Company.objects.filter(pk=room.company_id, base_revision=F("revision") - 1).exists()


@pytest.mark.requirement("ledger.older-rows")
@pytest.mark.django_db
@pytest.mark.parametrize("model", LedgerRow.__subclasses__(), ids=lambda model: str(model.CHAIN))
def test_nothing_is_added_to_or_taken_from_the_rows_that_are_older_than_a_chain(model: Any) -> None:
    room = worked()
    for each in TABLES:
        rows_of(each, room).update(hash="")
    Company.objects.filter(pk=room.company_id).update(chains={}, base=None)
    AuthorizationCounter.objects.update(head="")
    SessionLog.objects.update(head="")
    begin_again()
    assert flaws(room) == []
    gone = rows_of(model, room)[0]
    rows_of(model, room).filter(pk=gone.pk)._raw_delete("default")
    assert [table for table, _ in flaws(room)] == [TABLES[model]]
    gone.pk = None
    QuerySet(model).bulk_create([gone])
    assert flaws(room) == []
    if model.CHAIN in ("changes", "idempotency"):  # the other tables have one row of a number
        gone.pk, gone.revision = None, 10_000
        setattr(gone, "entity_id" if model.CHAIN == "changes" else "key", "another")
        QuerySet(model).bulk_create([gone])
        assert [table for table, _ in flaws(room)] == [TABLES[model]]


def begin_again() -> None:
    """Run the data migrations of the chains on the rows that are there."""
    loader = MigrationLoader(connection)
    begin = [(house, "0003_chain_from_the_present_end") for house in ("mockcore", "capability", "evidence")]
    for house, name in (*begin, ("mockcore", "0009_how_many_rows_are_older_than_a_chain")):
        apps = loader.project_state([(house, name)]).apps
        migration = importlib.import_module(f"{house}.migrations.{name}")
        [operation] = migration.Migration.operations
        operation.code(apps, None)


@pytest.mark.requirement("ledger.tamper")
@pytest.mark.django_db
def test_a_discarded_tenant_leaves_no_broken_chain() -> None:
    room = blank_room()
    tenants.discard(company_id=room.company_id)
    assert [one for one in chains() if one.owner == room.company_id] == []
