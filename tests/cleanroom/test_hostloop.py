"""The loop of the hosts: callable from any thread, bounded, and gone when it is closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from cleanroom.hostloop import HostLoop
from cleanroom.models import ChatSession
from tests.cleanroom.support.chat import at_once


@pytest.fixture
def loop() -> Iterator[HostLoop]:
    own = HostLoop()
    yield own
    own.close()


async def here() -> tuple[str, int]:
    return threading.current_thread().name, id(asyncio.get_running_loop())


def test_many_first_callers_meet_one_loop(loop: HostLoop) -> None:
    seen = at_once(*[lambda: loop.call(here(), timeout_s=5)] * 6)
    assert len(set(seen)) == 1
    assert seen[0][0] == "hosts"


@pytest.mark.requirement("hostloop.bounded")
def test_a_call_that_takes_too_long_is_cancelled(loop: HostLoop) -> None:
    cancelled = threading.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(TimeoutError):
        loop.call(forever(), timeout_s=0.05)
    assert cancelled.wait(5)


def test_what_a_coroutine_raises_reaches_its_caller(loop: HostLoop) -> None:
    async def broken() -> None:
        raise LookupError("as planned")

    with pytest.raises(LookupError, match="as planned"):
        loop.call(broken(), timeout_s=5)


@pytest.mark.django_db(transaction=True)
def test_rows_are_read_in_a_thread_of_the_pool(loop: HostLoop) -> None:
    async def read() -> tuple[int, str]:
        count = await loop.rows(ChatSession.objects.count)
        return count, await loop.rows(lambda: threading.current_thread().name)

    count, thread = loop.call(read(), timeout_s=5)
    assert count == 0
    assert thread.startswith("host-rows")


@pytest.mark.requirement("hostloop.closed")
def test_a_closed_loop_leaves_no_thread_cancels_its_work_and_starts_again_when_used(loop: HostLoop) -> None:
    cleaned = threading.Event()

    async def working(started: threading.Event) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # clearing away may take a while
            cleaned.set()

    started = threading.Event()
    future = loop.submit(working(started))
    assert started.wait(5)
    loop.close()
    assert cleaned.is_set()
    assert future.cancelled()
    assert not [one for one in threading.enumerate() if one.name.startswith("host")]
    assert loop.call(here(), timeout_s=5)[0] == "hosts"
