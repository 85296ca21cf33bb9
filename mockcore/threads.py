"""Door: a few named threads for database work. Each keeps its connection, and gives it back at the end.

A thread that ends without closing its connection leaves the server holding it until somebody collects the rubbish.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from django.db import close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")

END_S = 5.0  # a thread that is busy for longer keeps its connection


class RowThreads:
    """`count` threads, started as they are needed. Safe to use from any thread and any loop."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._pool = ThreadPoolExecutor(count, name)

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do database work in one of the threads, from a loop."""
        return await asyncio.get_running_loop().run_in_executor(
            self._pool, lambda: _with_connection(work, args, kwargs)
        )

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do database work in one of the threads, from synchronous code."""
        return self._pool.submit(_with_connection, work, args, kwargs)

    def close_connections(self) -> None:
        """Close the connection of every thread; the next work opens another. The barrier gives each thread one task."""
        together = threading.Barrier(self._count)
        for closing in [self._pool.submit(_close, together) for _ in range(self._count)]:
            closing.result()

    def close(self) -> None:
        """End the threads once their work is done, and their connections with them."""
        self.close_connections()
        self._pool.shutdown(wait=True)


def _with_connection(work: Callable[..., T], args: Any, kwargs: Any) -> T:
    close_old_connections()
    try:
        return work(*args, **kwargs)
    finally:
        close_old_connections()


def _close(together: threading.Barrier) -> None:
    try:
        together.wait(END_S)
    except threading.BrokenBarrierError:
        pass
    connections.close_all()
