"""What one host writes, in the order it happened: log events and jobs on the rows, by one writer.

Events that wait together are one transaction, and each job is one with the events it appends itself. A write that the
database refuses for a while (a lock held elsewhere) is tried again: nothing that was said is dropped.

Text deltas are merged: adjacent pieces of one item become one event, and batches of nothing but text are written at
most thirty times a second. Anything else is written at once, after the text before it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import DatabaseError

from cleanroom.hostloop import host_loop
from evidence import record
from evidence.record import Draft

log = logging.getLogger(__name__)
TEXT_PERIOD_S = 1 / 30
RETRY_PAUSES_S = (0.2, 1.0, 3.0)  # on top of the database's own patience


@dataclass(frozen=True)
class Job:
    """Work on the rows that must happen after everything before it."""

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

    async def do_surely(self, work: Callable[[], Any]) -> Any:
        """Run `work`, again if the database refuses it. For work that changes nothing when it fails and must happen."""
        for pause_s in RETRY_PAUSES_S:
            try:
                return await self.do(work)
            except DatabaseError:
                log.warning("a write is tried again in %s s", pause_s, exc_info=True)
                await asyncio.sleep(pause_s)
        return await self.do(work)

    async def flush(self) -> None:
        """Return when everything put so far is written."""
        await self.do(_nothing)

    async def close(self) -> None:
        """Write what waits, then stop."""
        if self._closed:
            return
        try:
            await self.flush()
        finally:
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
        try:
            await self._write_in_order(batch)
        except Exception as error:
            log.exception("the log of a session could not be written; what was to follow is refused")
            for entry in batch:
                if isinstance(entry, Job) and not entry.done.done():
                    entry.done.set_exception(error)

    async def _write_in_order(self, batch: list[Draft | Job]) -> None:
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
        write = partial(record.append, session_id=self._session_id, drafts=merged(drafts))
        for pause_s in (*RETRY_PAUSES_S, None):
            try:
                await host_loop.rows(write)
            except record.UnknownSession:
                return  # the room was retired meanwhile; nobody reads on
            except DatabaseError:
                if pause_s is None:
                    raise
                log.warning("the log is written again in %s s", pause_s, exc_info=True)
                await asyncio.sleep(pause_s)
            else:
                return

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
