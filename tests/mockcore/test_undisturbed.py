"""What several statements read is of one revision, although a mutation comes in between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from mockcore.commands import ReportProgress
from mockcore.port import Applied
from mockcore.text import canonical
from mockcore.world import READS
from tests.mockcore.conftest import Desk

WAIT_S = 30.0
pytestmark = pytest.mark.django_db(transaction=True)


def said(desk: Desk, body: str) -> None:
    """Say something from another thread, whose connection is its own, and wait until it is written."""

    def say() -> Any:
        try:
            return desk.send(ReportProgress(body=body), key=body)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        assert isinstance(pool.submit(say).result(WAIT_S), Applied)


@contextmanager
def disturbed(desk: Desk, *, before: str, times: int) -> Iterator[list[str]]:
    """Say something each time that rows of a kind are about to be read, so many times; yields what was said."""
    done: list[str] = []

    def watch(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if len(done) < times and sql.startswith("SELECT") and f' FROM "mockcore_{before}"' in sql:
            done.append(f"between {len(done)}")
            said(desk, done[-1])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield done


@pytest.mark.requirement("company.reads.whole")
@pytest.mark.parametrize("times", [1, READS - 1, READS])
def test_the_state_is_of_one_revision_although_commands_come_in_between(desk: Desk, times: int) -> None:
    with disturbed(desk, before="comment", times=times) as done:
        state = desk.plane.state()
    assert len(done) == times
    assert canonical(state) == canonical(desk.plane.state())
    assert [comment["body"] for comment in state["comments"]] == done


@pytest.mark.requirement("company.reads.whole")
@pytest.mark.parametrize("times", [1, READS])
@pytest.mark.parametrize(
    ("before", "read"),
    [
        ("interaction", lambda desk: desk.plane.context("run-1")),
        ("comment", lambda desk: desk.plane.query("run-1", "get_task_history", limit=10)),
    ],
    ids=["context", "history"],
)
def test_a_read_is_of_one_revision_although_commands_come_in_between(
    desk: Desk, before: str, read: Callable[[Desk], Any], times: int
) -> None:
    with disturbed(desk, before=before, times=times) as done:
        found = read(desk)
    assert len(done) == times
    assert canonical(found) == canonical(read(desk))
