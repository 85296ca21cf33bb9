"""What one host writes, in the order it happened: log events and jobs on the rows, one writer, one transaction a batch.

Text deltas are merged: adjacent pieces of one item become one event, and batches of nothing but text are written at
most thirty times a second. Anything else is written at once, after the text before it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cleanroom.hostloop import host_loop
from evidence import record
from evidence.record import Draft

log = logging.getLogger(__name__)
TEXT_PERIOD_S = 1 / 30


@dataclass(frozen=True)
class Job:
    """Work on the rows that must happen after everything before it; its drafts go into the same transaction."""

    work: Callable[[], Any]
    done: asyncio.Future[Any]


class Outbox:
    """The only writer of a live session's log while its host is alive."""

    def __init__(self, *, session_id: str) -> None:
        self._session_id = session_id
        self._waiting: list[Draft | Job] = []
        self._bell = asyncio.Event()
        self._urgent = asyncio.Event()
        self._closed = False
        self._task = asyncio.create_task(self._write())

    def put(self, draft: Draft) -> None:
        """Append one event after everything that waits."""
        if self._closed:
            return
        self._waiting.append(draft)
        if draft.type != "item.delta":
            self._urgent.set()
        self._bell.set()

    async def do(self, work: Callable[[], Any]) -> Any:
        """Run `work` on the rows in its turn and return what it returned."""
        if self._closed:
            raise RuntimeError("the outbox is closed")
        job = Job(work, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._urgent.set()
        self._bell.set()
        return await job.done

    async def flush(self) -> None:
        """Return when everything put so far is written."""
        await self.do(_nothing)

    async def close(self) -> None:
        """Write what waits, then stop."""
        if self._closed:
            return
        await self.flush()
        self._closed = True
        self._bell.set()
        await self._task

    async def _write(self) -> None:
        while True:
            await self._bell.wait()
            if self._closed and not self._waiting:
                return
            if not self._urgent.is_set():
                await self._pause()
            batch, self._waiting = self._waiting, []
            self._bell.clear()
            self._urgent.clear()
            await self._write_batch(batch)
            if self._closed:
                self._bell.set()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(TEXT_PERIOD_S):
                await self._urgent.wait()
        except TimeoutError:
            pass

    async def _write_batch(self, batch: list[Draft | Job]) -> None:
        drafts: list[Draft] = []
        for entry in batch:
            if isinstance(entry, Draft):
                drafts.append(entry)
                continue
            await self._append(drafts)
            drafts = []
            await self._run(entry)
        await self._append(drafts)

    async def _append(self, drafts: list[Draft]) -> None:
        if not drafts:
            return
        try:
            await host_loop.rows(record.append, session_id=self._session_id, drafts=merged(drafts))
        except Exception:
            log.exception("the log of a session could not be written")

    async def _run(self, job: Job) -> None:
        try:
            result = await host_loop.rows(job.work)
        except BaseException as error:
            if not job.done.done():
                job.done.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            if not job.done.done():
                job.done.set_result(result)


def merged(drafts: list[Draft]) -> list[Draft]:
    """Join adjacent text deltas of one item; keep everything else as it is."""
    out: list[Draft] = []
    for draft in drafts:
        last = out[-1] if out else None
        if last and draft.type == last.type == "item.delta" and draft.item_id == last.item_id:
            text = last.payload["text"] + draft.payload["text"]
            out[-1] = replace(last, payload={**last.payload, "text": text})
        else:
            out.append(draft)
    return out


def _nothing() -> None:
    return None
