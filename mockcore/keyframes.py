"""Keyframes: the whole world every 64 revisions, so that reading any revision costs the same in a long history.

They are written after the commit, by one thread of the process that owns nothing but this: no command waits for one,
and none fails because of one. A keyframe is a copy; a missing or damaged one costs only time. Decision:
`mockcore/decisions/0005-histories-and-chains.md`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.db import IntegrityError, connection, transaction

from mockcore import world
from mockcore.models import Company, Keyframe
from mockcore.text import canonical
from mockcore.world import World

INTERVAL = 64  # revisions between two keyframes
COMPRESSION = 1  # 250 KB in about 3 ms; higher levels cost more than they save

logger = logging.getLogger(__name__)


# ---------------------------------------------------------------- reading
def world_at(company: Company, *, revision: int) -> World:
    """Return the world at a kept revision, from whatever is nearest: a keyframe below, one above, or the rows.

    At most `INTERVAL` change sets are read while the keyframes are there. The caller checked that the revision is kept.
    """
    for number in _nearest(company, revision):
        found = _load(company.pk, number)
        if found is not None:
            return _moved(company.pk, found, start=number, end=revision)
    number, found = world.present(company.pk)
    return _moved(company.pk, found, start=number, end=revision)


def worlds_at(company: Company, *, a: int, b: int) -> tuple[World, World]:
    """Return the worlds at two kept revisions; when they are near each other, the second comes from the first."""
    first = world_at(company, revision=a)
    if abs(a - b) > INTERVAL:
        return first, world_at(company, revision=b)
    return first, _moved(company.pk, first.copy(), start=a, end=b)


def _nearest(company: Company, revision: int) -> list[int]:
    """Return the nearest keyframes on both sides, nearest first, that are not farther away than the rows.

    The rows cost more to read than a keyframe, so they count as one interval farther away.
    """
    kept = Keyframe.objects.filter(company_id=company.pk).values_list("revision", flat=True)
    below = kept.filter(revision__lte=revision).order_by("-revision").first()
    above = kept.filter(revision__gt=revision).order_by("revision").first()
    found = sorted((one for one in (below, above) if one is not None), key=lambda one: abs(one - revision))
    return [one for one in found if abs(one - revision) <= company.revision - revision + INTERVAL]


def _load(company_id: str, revision: int) -> World | None:
    """Return a keyframe's world, or None when it is damaged or gone."""
    row = Keyframe.objects.filter(company_id=company_id, revision=revision).first()
    if row is None:
        return None
    try:
        text = zlib.decompress(bytes(row.body))
    except zlib.error:
        text = b""
    if hashlib.sha256(text).hexdigest() != row.digest:
        logger.warning("keyframe %d of %s is damaged and not used", revision, company_id)
        return None
    return World.from_json(json.loads(text))


def _moved(company_id: str, found: World, *, start: int, end: int) -> World:
    if start <= end:
        found.redo(world.moves(company_id, after=start, upto=end))
    else:
        found.undo(world.moves(company_id, after=end, upto=start, newest_first=True))
    return found


# ---------------------------------------------------------------- writing
def fill(*, company_id: str) -> int:
    """Write every keyframe that is missing up to the newest revision; returns how many. Safe to call at any time.

    From the newest down: each comes from the one above it, so even a long history without any takes one pass.
    """
    company = Company.objects.filter(pk=company_id).first()
    if company is None:
        return 0
    kept = set(Keyframe.objects.filter(company_id=company_id).values_list("revision", flat=True))
    due = range(company.base_revision // INTERVAL * INTERVAL + INTERVAL, company.revision + 1, INTERVAL)
    missing = [number for number in reversed(due) if number not in kept]
    for number in missing:
        _write(company, number)
    return len(missing)


def _write(company: Company, number: int) -> None:
    text = canonical(world_at(company, revision=number).as_json()).encode()
    row = Keyframe(
        company_id=company.pk,
        revision=number,
        digest=hashlib.sha256(text).hexdigest(),
        body=zlib.compress(text, COMPRESSION),
    )
    Keyframe.objects.bulk_create([row], ignore_conflicts=True)  # another process may have been first


class _Writer:
    """One thread that fills in keyframes, one company after the other. A company waits in the queue at most once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[str] = set()
        self._pool: ThreadPoolExecutor | None = None

    def ask(self, company_id: str) -> None:
        with self._lock:
            if company_id in self._waiting:
                return
            self._waiting.add(company_id)
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keyframes")
            self._pool.submit(self._work, company_id)

    def finish(self) -> None:
        """Wait until nothing is queued, and end the thread; the next request starts a new one."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)

    def _work(self, company_id: str) -> None:
        with self._lock:
            self._waiting.discard(company_id)
        try:
            fill(company_id=company_id)
        except IntegrityError:
            logger.info("company %s went away before its keyframe was written", company_id)
        except Exception:
            logger.warning("a keyframe of %s was not written; reading it only takes longer", company_id, exc_info=True)
        finally:
            connection.close()


writer = _Writer()


def after_commit(company: Company) -> None:
    """Ask for a keyframe once this transaction is committed, when its revision is one that should have one."""
    if company.revision % INTERVAL == 0:
        transaction.on_commit(partial(writer.ask, company.pk), robust=True)
