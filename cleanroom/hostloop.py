"""The one asyncio loop, in a thread of its own, that every host of this process lives on.

Not the web server's loop: there, one round trip over a host's pipe took thirteen times as long under load, and a view
that is cut off would cancel the host's work with it. Rows are read and written in a small named pool of threads.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from mockcore.threads import RowThreads

T = TypeVar("T")
P = ParamSpec("P")

DATABASE_THREADS = 8


class HostLoop:
    """Safe to call from any thread and from any test client. Started at first use, ended by `close`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pool: RowThreads | None = None

    def submit(self, coro: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run a coroutine on the loop; the caller may wait for it, or not."""
        return asyncio.run_coroutine_threadsafe(coro, self._started())

    def call(self, coro: Coroutine[Any, Any, T], *, timeout_s: float) -> T:
        """Run a coroutine from synchronous code. Raises `TimeoutError`; the coroutine is then cancelled."""
        future = self.submit(coro)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise TimeoutError from None

    async def rows(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do database work in the pool, from the loop."""
        if self._pool is None:
            raise RuntimeError("the host loop has been closed")
        return await self._pool.do(work, *args, **kwargs)

    def close(self) -> None:
        """Stop the loop and its pool. The owner of the hosts closes them first."""
        with self._lock:
            loop, thread, pool = self._loop, self._thread, self._pool
            self._loop = self._thread = self._pool = None
        if loop is None or thread is None or pool is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        pool.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._pool = RowThreads(DATABASE_THREADS, "host-rows")
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="hosts", daemon=True)
                self._thread.start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


host_loop = HostLoop()
