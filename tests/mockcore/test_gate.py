"""The fair writer: the gate itself, and the database backend around it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.db.utils import OperationalError
from django.utils import timezone

from mockcore.sqlite.gate import FairGate, gate_of

WAIT_S = 5.0


def wait_until_waiting(gate: FairGate, count: int) -> None:
    done = threading.Event()
    for _ in range(500):
        if gate.waiting_count == count:
            return
        done.wait(0.01)
    raise AssertionError(f"{gate.waiting_count} threads wait, not {count}")


@pytest.mark.requirement("company.writers.fair")
def test_the_gate_lets_writers_in_in_the_order_of_asking() -> None:
    gate, order = FairGate(), list[int]()

    def enter(number: int) -> None:
        assert gate.enter(timeout_s=WAIT_S)
        order.append(number)
        gate.leave()

    assert gate.enter(timeout_s=WAIT_S)
    threads = []
    for number in range(6):
        threads.append(threading.Thread(target=enter, args=(number,)))
        threads[-1].start()
        wait_until_waiting(gate, number + 1)
    gate.leave()
    for thread in threads:
        thread.join(WAIT_S)
    assert order == [0, 1, 2, 3, 4, 5]


@pytest.mark.requirement("company.writers.fair")
def test_the_one_who_left_does_not_get_in_again_before_those_who_waited() -> None:
    gate, order = FairGate(), list[str]()

    def wait() -> None:
        assert gate.enter(timeout_s=WAIT_S)
        order.append("waiter")
        gate.leave()

    assert gate.enter(timeout_s=WAIT_S)
    waiter = threading.Thread(target=wait)
    waiter.start()
    wait_until_waiting(gate, 1)
    gate.leave()
    assert gate.enter(timeout_s=WAIT_S)
    order.append("holder")
    gate.leave()
    waiter.join(WAIT_S)
    assert order == ["waiter", "holder"]


def test_a_wait_that_takes_too_long_ends_and_blocks_nobody_behind_it() -> None:
    gate = FairGate()
    assert gate.enter(timeout_s=WAIT_S)
    assert not gate.enter(timeout_s=0.01)
    assert gate.waiting_count == 0
    gate.leave()
    assert gate.enter(timeout_s=0.01)


# ---------------------------------------------------------------- the backend
sqlite_only = pytest.mark.skipif(connection.vendor != "sqlite", reason="the gate is for SQLite; PostgreSQL locks rows")


def a_session(key: str) -> Session:
    return Session(session_key=key, session_data="x", expire_date=timezone.now())


@contextmanager
def own_timeout(seconds: float) -> Iterator[None]:
    options = connection.settings_dict["OPTIONS"]
    before = options["timeout"]
    options["timeout"] = seconds
    try:
        yield
    finally:
        options["timeout"] = before


def in_thread(work: object) -> list[BaseException]:
    """Run `work` in a thread with a connection of its own; return what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(WAIT_S)
    assert not thread.is_alive()
    return raised


@sqlite_only
@pytest.mark.django_db(transaction=True)
def test_a_single_write_outside_a_transaction_waits_for_the_transaction_in_front() -> None:
    entered, order = threading.Event(), list[str]()

    def write() -> None:
        entered.set()
        a_session("single").save()
        order.append("single")
        connection.close()

    with transaction.atomic():
        a_session("first").save()
        thread = threading.Thread(target=write)
        thread.start()
        assert entered.wait(WAIT_S)
        wait_until_waiting(gate_of(str(connection.settings_dict["NAME"])), 1)
        order.append("transaction")
    thread.join(WAIT_S)
    assert order == ["transaction", "single"]
    assert Session.objects.count() == 2


@sqlite_only
@pytest.mark.django_db(transaction=True)
def test_readers_do_not_wait_for_a_writer() -> None:
    with transaction.atomic():
        a_session("first").save()
        assert in_thread(lambda: Session.objects.count()) == []


@sqlite_only
@pytest.mark.django_db(transaction=True)
def test_a_writer_that_gets_no_turn_says_so_and_the_gate_stays_usable() -> None:
    with own_timeout(0.05), transaction.atomic():
        raised = in_thread(lambda: a_session("late").save())
    assert [type(error) for error in raised] == [OperationalError]
    assert in_thread(lambda: a_session("later").save()) == []


@sqlite_only
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ending", ["commit", "error", "close", "nested error", "manual"])
def test_however_a_transaction_ends_the_gate_is_free(ending: str) -> None:
    def act() -> None:
        if ending == "manual":
            transaction.set_autocommit(False)
            a_session("manual").save()
            transaction.commit()
            transaction.set_autocommit(True)
            return
        with transaction.atomic():
            a_session("one").save()
            if ending == "close":
                connection.close()
                return
            if ending == "nested error":
                with pytest.raises(ZeroDivisionError), transaction.atomic():
                    raise ZeroDivisionError
            if ending == "error":
                raise ZeroDivisionError

    in_thread(act)
    assert in_thread(lambda: a_session("after").save()) == []


@sqlite_only
@pytest.mark.django_db(transaction=True)
def test_hooks_run_after_the_gate_is_free() -> None:
    raised: list[BaseException] = []
    with transaction.atomic():
        a_session("one").save()
        transaction.on_commit(lambda: raised.extend(in_thread(lambda: a_session("hook").save())))
    assert raised == []
    assert Session.objects.count() == 2
