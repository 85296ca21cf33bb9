"""Opening, comparing and forking revisions early and late in a long history, alone in this process.

The history is made by the ledger itself, without commands and in one transaction: half a millisecond a revision.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from django.db import transaction

from cleanroom.bench.toolcall import blank_room
from mockcore import copies, history, keyframes, ledger, models
from mockcore.port import Applied, Cause
from mockcore.text import canonical
from mockcore.work import UnitOfWork

STATE_BYTES = 250_000
COMMENTS = 100
EARLY = 100


@dataclass(kw_only=True)
class Rebuilds:
    """Milliseconds of each opening, comparison and fork, near revision 100 and near the newest."""

    early_open: list[float] = field(default_factory=list)
    late_open: list[float] = field(default_factory=list)
    early_diff: list[float] = field(default_factory=list)
    late_diff: list[float] = field(default_factory=list)
    early_fork: list[float] = field(default_factory=list)
    late_fork: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, list[float]]:
        return asdict(self)


def measure_rebuilds(*, revisions: int, rounds: int) -> Rebuilds:
    """Build a history and open, compare and fork revisions of 250 KB in it, early and late ones in turn."""
    company_id = long_history(revisions=revisions)
    keyframes.fill(company_id=company_id)
    chance, times = random.Random(1), Rebuilds()  # noqa: S311 - places in a history, not secrets
    for _ in range(rounds):
        for newest, opened, compared, forked in (
            (EARLY, times.early_open, times.early_diff, times.early_fork),
            (revisions, times.late_open, times.late_diff, times.late_fork),
        ):
            a, b = (chance.randrange(newest - 60, newest + 1) for _ in range(2))
            opened.append(timed(lambda a=a: canonical(history.world_at(company_id=company_id, revision=a))))  # type: ignore[misc]
            compared.append(timed(lambda a=a, b=b: history.diff(company_id=company_id, a=a, b=b).as_json()))  # type: ignore[misc]
            forked.append(timed(lambda a=a: copies.fork(company_id=company_id, revision=a)))  # type: ignore[misc]
    return times


def timed(work: Callable[[], object]) -> float:
    """Return the milliseconds that it takes."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def long_history(*, revisions: int, comments: int = COMMENTS, comment_bytes: int = STATE_BYTES // COMMENTS) -> str:
    """Make a company with so many comments, of 250 KB in all, and revisions of its task; returns its id."""
    room = blank_room()
    with transaction.atomic():
        company = models.Company.objects.get(pk=room.company_id)
        task = models.Task.objects.get(company=company, public_id=room.task_id)
        while company.revision < revisions:
            work = UnitOfWork(company=company)
            work.keep(task)
            if company.revision == 1:
                _say_much(work, task, comments, comment_bytes)
            task.title = f"Clean-room chat, as of {company.revision + 1}"
            _commit(work, task)
    return room.company_id


def _say_much(work: UnitOfWork, task: models.Task, comments: int, comment_bytes: int) -> None:
    body = "x" * comment_bytes
    for _ in range(comments):
        work.add(models.Comment(public_id=work.next_id("comment"), task=task, body=body, created_at=work.now))


def _commit(work: UnitOfWork, task: models.Task) -> None:
    number = work.company.revision + 1
    act = ledger.Act(operation="bench", run_id="run-bench", cause=Cause(call_id=f"call-{number}"))
    note = ledger.Note(
        command_id=f"bench-{number}",
        reason="bench",
        action="bench",
        entity=("task", task.public_id),
        actor_id=None,
        details={},
    )
    changes = work.flush()
    remember = models.IdempotencyRecord(
        company_id=work.company.pk,
        scope="bench",
        key=str(number),
        input_canonical="{}",
        result=_remembered(number),
    )
    ledger.commit(work=work, act=act, note=note, changes=changes, refs=(task.ref,), remember=remember)


def _remembered(number: int) -> dict[str, object]:
    applied = Applied(
        command_id=f"bench-{number}",
        command_kind="bench",
        disposition="applied",
        state_revision=number,
        entity_refs=(),
        scheduled_wake_ids=(),
    )
    return applied.as_json()
