"""`manage.py bench`: the bars of design section 11, measured beside the raw part in one go, as ratios."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from cleanroom.bench.bars import (
    Bar,
    as_table,
    call_bar,
    copy_bar,
    decision_bar,
    dispatch_bar,
    follower_bar,
    history_bar,
    open_bar,
    page_bar,
    rebuild_bar,
    redactor_bar,
    script_bar,
    server_bar,
    turn_bar,
)
from cleanroom.bench.boundary import BoundaryTimes, measure_boundary
from cleanroom.bench.copying import measure_copies
from cleanroom.bench.followers import measure_followers
from cleanroom.bench.histories import measure_rebuilds
from cleanroom.bench.page import PageTimes, chromium, measure_page
from cleanroom.bench.rounds import BenchBroken, Times, laboratory, measure
from cleanroom.bench.standing import NotMeasured, measure_standing
from cleanroom.bench.toolcall import measure_calls
from cleanroom.rehearsal import MODEL_NAME
from cleanroom.rehearsal.process import RehearsalDidNotStart, rehearsal_process
from cleanroom.smoke.server import ServerDidNotStart, own_database, own_directory, own_server

MAX_ROUNDS = 40
NO_BROWSER = "Left out: the page, for want of a Chromium. `.ci/browser` installs one; CHROMIUM_BIN names another."
CALLS_A_ROUND = 20
CHILD_S = 300
REVISIONS = 10_000
REBUILDS = 40
EVENTS = 200
NOWHERE = {"CAPABILITY_MODEL_URL": "http://127.0.0.1:9/v1", "CAPABILITY_MODEL": MODEL_NAME}  # nobody will ask it


COPIES = 12

# What is timed in a process with a fresh database of its own, so that this one's is not written to.
PARTS: dict[str, Callable[[int], Any]] = {
    "calls": lambda count: measure_calls(calls=count),
    "boundary": lambda count: asdict(measure_boundary(rounds=count)),
    "followers": lambda count: measure_followers(events=count).as_json(),
    "rebuilds": lambda count: measure_rebuilds(revisions=REVISIONS, rounds=count).as_json(),
    "copies": lambda count: measure_copies(rounds=count).as_json(),
}


class Command(BaseCommand):
    help = "Measure opens, turns, tool calls, the boundary, histories and the page against their bars."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py bench --rounds 5"
        parser.add_argument("--rounds", type=int, default=15, help=f"rounds of each, at most {MAX_ROUNDS}")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--strict", action="store_true", help="exit 1 when a bar does not hold")
        parser.add_argument("--part", choices=sorted(PARTS), help="internal: time one part in this process")
        parser.add_argument("--count", type=int, default=100, help="internal: how often")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["part"]:
            call_command("migrate", verbosity=0, interactive=False)
            self.stdout.write(json.dumps(PARTS[options["part"]](options["count"])))
            return
        rounds = min(MAX_ROUNDS, max(1, options["rounds"]))
        try:
            bars = asyncio.run(bench(rounds=rounds))
        except (ServerDidNotStart, RehearsalDidNotStart, BenchBroken, NotMeasured) as error:
            raise CommandError(str(error)) from None
        except asyncio.CancelledError:
            raise CommandError("stopped before the end") from None
        summary: dict[str, Any] = {"rounds": rounds, "load": os.getloadavg()[0], "processors": os.cpu_count()}
        summary |= {"holds": all(bar.holds for bar in bars), "bars": [bar.as_json() for bar in bars]}
        left_out = [] if chromium() else [NO_BROWSER]
        summary["leftOut"] = left_out
        lines = [as_table(bars), "", load_line(), *left_out]
        self.stdout.write(json.dumps(summary, indent=2) if options["json"] else "\n".join(lines))
        if options["strict"] and not summary["holds"]:
            sys.exit(1)


async def bench(*, rounds: int) -> list[Bar]:
    """Measure every bar with directories, a database, a server and a model of our own."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with own_directory("bench") as var:
        times, page = await measure_sides(var, rounds=rounds)
        calls = await asyncio.to_thread(in_a_child, var, "calls", rounds * CALLS_A_ROUND)
        boundary = BoundaryTimes(**await asyncio.to_thread(in_a_child, var, "boundary", rounds * CALLS_A_ROUND))
        rebuilds = await asyncio.to_thread(in_a_child, var, "rebuilds", REBUILDS)
        seen = await asyncio.to_thread(in_a_child, var, "followers", EVENTS)
        standing = await measure_standing(var / "standing", environment=NOWHERE)
        copied = await asyncio.to_thread(in_a_child, var, "copies", COPIES)
    sizes = (copied["small_bytes"], copied["large_bytes"])
    return [
        open_bar(ours_ms=times.ours_open, raw_ms=times.raw_open),
        turn_bar(ours_ms=times.ours_turn, raw_ms=times.raw_turn),
        call_bar(calls_ms=calls),
        dispatch_bar(dispatch_ms=boundary.dispatch_ms, bare_ms=boundary.bare_ms),
        decision_bar(decision_us=boundary.decision_us),
        redactor_bar(
            prose_us=boundary.prose_1k_us,
            dense_us=boundary.dense_1k_us,
            half_us=boundary.dense_64k_us,
            whole_us=boundary.dense_128k_us,
            hostile_ratios=boundary.hostile_ratios,
        ),
        rebuild_bar(name="open a revision", early_ms=rebuilds["early_open"], late_ms=rebuilds["late_open"]),
        rebuild_bar(name="compare two revisions", early_ms=rebuilds["early_diff"], late_ms=rebuilds["late_diff"]),
        history_bar(name="fork a revision", early_ms=rebuilds["early_fork"], late_ms=rebuilds["late_fork"]),
        follower_bar(few_ms=seen["few_ms"], many_ms=seen["many_ms"]),
        server_bar(start_s=standing.start_s, memory_mib=standing.memory_mib),
        script_bar(script_bytes=standing.script_bytes),
        copy_bar(name="serialize", small_ns=copied["small_serialize"], large_ns=copied["large_serialize"], sizes=sizes),
        copy_bar(name="restore", small_ns=copied["small_restore"], large_ns=copied["large_restore"], sizes=sizes),
        *([page_bar(first_ms=page.first, again_ms=page.again)] if page else []),
    ]


async def measure_sides(var: Path, *, rounds: int) -> tuple[Times, PageTimes | None]:
    """Run opens and turns, ours and raw, against one model that answers at once; then visit the page."""
    (var / "raw").mkdir()
    (var / "server").mkdir()
    room_for_all = {"CLEANROOM_MAX_ROOMS": "64", "CLEANROOM_MAX_TURNS": str(rounds + 10)}  # no round pays for eviction
    async with rehearsal_process(pace_ms=0) as model_url:
        environment = {"CAPABILITY_MODEL_URL": model_url, "CAPABILITY_MODEL": MODEL_NAME, **room_for_all}
        async with (
            own_server(var=var / "server", environment=environment, drawn=True) as address,
            laboratory(directory=var / "raw", model_url=model_url) as lab,
        ):
            times = await measure(address=address, lab=lab, rounds=rounds)
            program = chromium()
            return times, await measure_page(address=address, program=program, rounds=rounds) if program else None


def in_a_child(var: Path, part: str, count: int) -> Any:
    """Time one of `PARTS` in a process of its own."""
    own = var / part
    own.mkdir()
    done = subprocess.run(
        [sys.executable, "manage.py", "bench", "--part", part, "--count", str(count)],
        cwd=settings.BASE_DIR,
        env={**os.environ, **own_database(own)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=CHILD_S,
        check=False,
    )
    if done.returncode != 0:
        raise BenchBroken(f"{part} could not be timed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def load_line() -> str:
    """Return how busy the machine was: on a crowded one the ratios grow, too, because our side has more processes."""
    return f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors."
