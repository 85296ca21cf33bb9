"""What one host writes, in the order it happened: log events and jobs on the rows, by one writer.

What waits together is one transaction: a commit costs more than anything in it, and each one wakes whoever follows.
Each job stands in a savepoint of its own, so that one which fails takes nothing else with it. A write that the database
refuses for a while (a lock held elsewhere) is tried again as a whole: nothing that was said is dropped, and nothing is
done twice.

Everything is written at its time, with all that was said before it. What a person acts on is written at once; progress
that a person only watches (streamed text, items that start and end, the name of a turn) soon after a pause and thirty
times a second from then on, adjacent pieces of one item joined; what merely keeps the books (tokens used) ten times a
second. Decision 0003.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from django.db import DatabaseError, DataError, OperationalError, transaction

from cleanroom.hostloop import host_loop
from evidence import record
from evidence.record import Draft

log = logging.getLogger(__name__)
PROGRESS = frozenset({"item.delta", "item.started", "item.completed", "item.failed"})
AT_ONCE_S, PROGRESS_S, BOOKS_S = 0.0, 1 / 30, 1 / 10  # how long an entry may wait for company
GATHER_S = 0.010  # what a person watches waits this long after a pause: it comes in bursts, often with its end
WAITING_MAX = 1024  # entries, beyond which an agent is made to wait
RETRY_PAUSES_S = (0.2, 1.0, 3.0)  # on top of the database's own patience
KEPT_S = 5.0  # after the last of these, until what could not be written is tried anew
NO_EVENT = (record.UnknownEventType, ValueError, TypeError, DataError)  # what is wrong with a draft, not with the rows
UNRECORDED = {"code": "event_unrecorded", "message": "Something that the agent said or did could not be recorded."}


@dataclass(frozen=True, eq=False)
class Job:
    """Work on the rows that must happen after everything before it; `surely`, if need be more than once."""

    work: Callable[[], Any]
    done: asyncio.Future[Any]
    surely: bool


Entry = Job | list[Draft]
Outcome = tuple[Any, BaseException | None]  # what a job returned, or why it failed


class Outbox:
    """The only writer of a live session's log while its host is alive.

    `lock` takes whatever lock must come before the log's own, where the database has row locks: it is called first in
    a transaction that writes events before a job.
    """

    def __init__(self, *, session_id: str, lock: Callable[[], None] | None = None) -> None:
        self._session_id = session_id
        self._lock = lock or _nothing
        self._waiting: list[Draft | Job] = []
        self._due = inf  # when what waits is written, by the loop's clock
        self._wrote_at = -inf  # when anything was written last, by the same clock
        self._bell = asyncio.Event()  # something waits, or the end has come
        self._sooner = asyncio.Event()  # it is due earlier than it was
        self._closed = False
        self._written = asyncio.Event()
        self._task = asyncio.create_task(self._write())

    def put(self, draft: Draft) -> None:
        """Append one event after everything that waits."""
        if not self._closed:
            self._add(draft, within_s=self._patience_s(draft))

    async def has_room(self) -> None:
        """Return when less than `WAITING_MAX` entries wait, so that what is fast to speak cannot fill the memory."""
        while len(self._waiting) >= WAITING_MAX and not self._closed:
            self._written.clear()
            await self._written.wait()

    def do_soon(self, work: Callable[[], Any], *, within_s: float | None = None) -> None:
        """Run `work` in its turn, with whatever is written next but in time, and as surely as `do_surely`.

        Its time is that of progress, unless another is given. That it failed all the same is logged, and stops nothing.
        """
        if not self._closed:
            job = self._job(work, surely=True)
            job.done.add_done_callback(_log_failure)
            self._add(job, within_s=self._progress_s() if within_s is None else within_s)

    async def do(self, work: Callable[[], Any]) -> Any:
        """Run `work` on the rows in its turn and return what it returned."""
        return await self._done(self._job(work, surely=False))

    async def do_surely(self, work: Callable[[], Any]) -> Any:
        """Run `work`, again if the database refuses it. For work that changes nothing when it fails and must happen."""
        return await self._done(self._job(work, surely=True))

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
            self._sooner.set()
            await self._task

    def _job(self, work: Callable[[], Any], *, surely: bool) -> Job:
        return Job(work, asyncio.get_running_loop().create_future(), surely)

    async def _done(self, job: Job) -> Any:
        if self._closed:
            raise RuntimeError("the outbox is closed")
        self._add(job, within_s=AT_ONCE_S)
        return await job.done

    def _patience_s(self, draft: Draft) -> float:
        """Return how long an event may wait for company, in seconds."""
        if draft.type not in PROGRESS:
            return AT_ONCE_S
        return BOOKS_S if draft.payload.get("kind") == "usage" else self._progress_s()

    def _progress_s(self) -> float:
        quiet_s = asyncio.get_running_loop().time() - self._wrote_at
        return max(GATHER_S, PROGRESS_S - quiet_s)

    def _add(self, entry: Draft | Job, *, within_s: float) -> None:
        self._waiting.append(entry)
        due = asyncio.get_running_loop().time() + within_s
        if due < self._due:
            self._due = due
            self._sooner.set()
        self._bell.set()

    # ------------------------------------------------------------ the writer
    async def _write(self) -> None:
        while True:
            await self._bell.wait()
            if self._closed and not self._waiting:
                return
            await self._until_due()
            batch, self._waiting = self._waiting, []
            self._due = inf
            self._bell.clear()
            self._wrote_at = asyncio.get_running_loop().time()
            await self._write_batch(batch)
            self._written.set()
            if self._closed:
                self._bell.set()

    async def _until_due(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._closed and loop.time() < self._due:
            self._sooner.clear()
            try:
                async with asyncio.timeout_at(self._due):
                    await self._sooner.wait()
            except TimeoutError:
                return

    async def _write_batch(self, batch: list[Draft | Job]) -> None:
        jobs = [entry for entry in batch if isinstance(entry, Job)]
        try:
            outcomes = await self._committed(list(grouped(batch)))
        except Exception as error:
            log.exception("the log of a session could not be written; its events wait, its jobs are refused")
            outcomes = [(None, error)] * len(jobs)
            if isinstance(error, OperationalError):
                self._keep([entry for entry in batch if isinstance(entry, Draft)])
        for job, (result, failure) in zip(jobs, outcomes, strict=True):
            if not job.done.done():
                job.done.set_exception(failure) if failure else job.done.set_result(result)

    def _keep(self, drafts: list[Draft]) -> None:
        """Let unwritten events go first in the next batch, which comes by itself after a while.

        An outbox that is being closed has no other.
        """
        if drafts and not self._closed:
            self._waiting[:0] = drafts
            self._due = min(self._due, asyncio.get_running_loop().time() + KEPT_S)
            self._bell.set()

    async def _committed(self, entries: list[Entry]) -> list[Outcome]:
        """Write the entries and return the outcome of each job. Raises the `DatabaseError` that does not go away."""
        for pause_s in RETRY_PAUSES_S:
            try:
                return await host_loop.rows(self._commit, entries, may_fail=False)
            except DatabaseError:
                log.warning("the log is written again in %s s", pause_s, exc_info=True)
                await asyncio.sleep(pause_s)
        return await host_loop.rows(self._commit, entries, may_fail=True)

    def _commit(self, entries: list[Entry], *, may_fail: bool) -> list[Outcome]:
        """Write the entries. Unless jobs `may_fail`, one that must happen and cannot undoes it all, for another try."""
        if len(entries) == 1:  # it is its own transaction, if it needs one at all
            return list(self._outcomes(entries, may_fail=may_fail))
        with transaction.atomic():
            self._lock()
            return list(self._outcomes(entries, may_fail=may_fail))

    def _outcomes(self, entries: Sequence[Entry], *, may_fail: bool) -> Iterator[Outcome]:
        for entry in entries:
            if isinstance(entry, Job):
                result, failure = _run(entry, apart=len(entries) > 1)
                if isinstance(failure, DatabaseError) and entry.surely and not may_fail:
                    raise failure
                yield result, failure
            else:
                self._append(entry)

    def _append(self, drafts: list[Draft]) -> None:
        try:
            self._record(drafts)
        except NO_EVENT:
            for draft in drafts:
                self._append_alone(draft)

    def _append_alone(self, draft: Draft) -> None:
        """Append an event, or say in its place that there was one which cannot be kept. It takes no other with it."""
        try:
            self._record([draft])
        except NO_EVENT:
            log.exception("an event of type %s cannot be recorded", draft.type)
            self._record([Draft(type="harness.diagnostic", payload=UNRECORDED, turn_id=draft.turn_id)])

    def _record(self, drafts: list[Draft]) -> None:
        try:
            with transaction.atomic():
                record.append(session_id=self._session_id, drafts=drafts)
        except record.UnknownSession:
            pass  # the room was retired meanwhile; nobody reads on


def _run(job: Job, *, apart: bool) -> Outcome:
    """Do a job's work; with `apart` in a savepoint, so that a failure leaves what else is in the transaction."""
    try:
        if not apart:
            return job.work(), None
        with transaction.atomic():
            return job.work(), None
    except Exception as failure:
        return None, failure


def grouped(batch: list[Draft | Job]) -> Iterator[Entry]:
    """Yield jobs and, between them, the drafts that can be appended at once."""
    drafts: list[Draft] = []
    for entry in batch:
        if isinstance(entry, Draft):
            drafts.append(entry)
            continue
        if drafts:
            yield merged(drafts)
            drafts = []
        yield entry
    if drafts:
        yield merged(drafts)


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


def _log_failure(done: asyncio.Future[Any]) -> None:
    if not done.cancelled() and (failure := done.exception()):
        log.error("what was to be written soon could not be", exc_info=failure)


def _nothing() -> None:
    return None
