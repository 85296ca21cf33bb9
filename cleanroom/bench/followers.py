"""How soon an event is seen by those who follow its session, in this process alone: from its commit to each of them."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing
from dataclasses import asdict, dataclass

from cleanroom.bench.toolcall import blank_room
from evidence import record
from evidence.follow import follow
from evidence.record import Draft
from mockcore.threads import RowThreads

WARM_UPS = 20
FEW, MANY = 4, 16
QUIET_PERIOD_S, BUSY_PERIOD_S = 1 / 50, 1 / 200  # between two events; source of the busy one: design section 11


class EventLost(Exception):
    """A follower did not get every event once, in order."""


@dataclass(frozen=True, kw_only=True)
class FollowerTimes:
    """Milliseconds from an event's commit until a follower has its frame, one for each event and follower."""

    few_ms: list[float]
    many_ms: list[float]

    def as_json(self) -> dict[str, list[float]]:
        return asdict(self)


def measure_followers(*, events: int) -> FollowerTimes:
    """Append `events` for a few followers, then as many for many followers and quickly. Raises `EventLost`."""
    return FollowerTimes(
        few_ms=asyncio.run(followed(followers=FEW, events=events, period_s=QUIET_PERIOD_S)),
        many_ms=asyncio.run(followed(followers=MANY, events=events, period_s=BUSY_PERIOD_S)),
    )


async def followed(*, followers: int, events: int, period_s: float) -> list[float]:
    """Return how long each event took to each follower, in milliseconds, warm-ups left out."""
    writer = RowThreads(1, "bench-writer")
    session_id = (await writer.do(blank_room)).session_id
    appended: dict[int, float] = {}
    last = events + WARM_UPS
    following = [asyncio.create_task(seen(session_id, last)) for _ in range(followers)]
    await writer.do(append, session_id, appended, last, period_s)
    times = await asyncio.gather(*following)
    writer.close()
    return [max(0.0, at[number] - appended[number]) * 1000 for at in times for number in range(WARM_UPS + 1, last + 1)]


def append(session_id: str, appended: dict[int, float], last: int, period_s: float) -> None:
    started = time.perf_counter()
    for number in range(1, last + 1):
        time.sleep(max(0.0, started + number * period_s - time.perf_counter()))
        draft = Draft(type="harness.diagnostic", payload={"code": "bench", "message": f"Event {number}."})
        record.append(session_id=session_id, drafts=[draft])
        appended[number] = time.perf_counter()


async def seen(session_id: str, last: int) -> dict[int, float]:
    """Follow until event `last`; return when each event came. A frame may bring several."""
    at: dict[int, float] = {}
    async with aclosing(follow(session_id=session_id, after=0)) as frames:
        async for frame in frames:
            if frame.type == "heartbeat":
                continue
            now, after = time.perf_counter(), json.loads(frame.text)["after"]
            if after != len(at):
                raise EventLost(f"a frame after {after} came to a follower that held {len(at)}")
            at |= dict.fromkeys(range(after + 1, frame.seq + 1), now)
            if frame.seq >= last:
                return at
    raise EventLost("the log was closed too soon")
