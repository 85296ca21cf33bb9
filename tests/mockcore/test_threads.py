"""Threads that do database work give their connections back."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connections

from mockcore.threads import RowThreads

COUNT = 3
pytestmark = pytest.mark.django_db(transaction=True)


def used_connections(threads: RowThreads) -> list[Any]:
    """Make each thread use its connection once, and return them."""
    together = threading.Barrier(COUNT)

    def work() -> Any:
        together.wait(5)
        assert Session.objects.count() == 0
        connections["default"].ensure_connection()  # where connections are given back after each piece of work
        return connections["default"]

    return [one.result(5) for one in [threads.submit(work) for _ in range(COUNT)]]


@pytest.mark.requirement("databases.threads")
def test_every_thread_of_a_closed_pool_has_closed_its_connection() -> None:
    threads = RowThreads(COUNT, "test-rows")
    used = used_connections(threads)
    assert len({id(one) for one in used}) == COUNT
    threads.close()
    assert [one.connection for one in used] == [None] * COUNT


@pytest.mark.requirement("databases.threads")
def test_a_pool_whose_connections_were_closed_goes_on() -> None:
    threads = RowThreads(COUNT, "test-rows")
    used_connections(threads)
    threads.close_connections()
    assert len(used_connections(threads)) == COUNT
    threads.close()
