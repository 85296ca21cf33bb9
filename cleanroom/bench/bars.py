"""Bars: what was measured, what it may be at most, and whether it is. Pure. Source: design section 11."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

OPEN_RATIO = 2.0
OPEN_MS = 1000.0
TURN_RATIO = 1.15
CALL_P50_MS = 5.0
CALL_P99_MS = 25.0
PAGE_MS = 1000.0
SCRIPT_KB = 150.0
START_S = 2.0
MEMORY_MIB = 150.0
SEEN_FEW_MS, SEEN_MANY_MS = 3.0, 10.0
REBUILD_MS = 50.0
REBUILD_RATIO = 1.5  # late against early: what does not grow stays at 1, and a busy machine is not blamed for 1.2
COPY_RATIO = 1.5  # a byte of a state ten times as large may take this much longer, if time grows with its bytes
DISPATCH_RATIO = 2.0  # of the same four rows written by the ORM: the boundary may cost as much again as it writes
DECISION_US = 50.0
REDACT_1K_US = 100.0
REDACT_TWICE_RATIO = 2.5  # twice the text may take this much longer; source: issue semantic catalog


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One number with its bar; `unit` is `x` for a ratio, `ms` for milliseconds, `µs` for microseconds, and so on."""

    name: str
    value: float
    at_most: float
    unit: str

    @property
    def holds(self) -> bool:
        return self.value <= self.at_most


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One row of the bench: the medians behind it, and its limits."""

    name: str
    rounds: int
    limits: tuple[Limit, ...]
    facts: Mapping[str, float] = field(default_factory=dict)  # milliseconds by name

    @property
    def holds(self) -> bool:
        return all(limit.holds for limit in self.limits)

    def as_json(self) -> dict[str, Any]:
        limits = [
            {
                "name": one.name,
                "value": round(one.value, 3),
                "atMost": one.at_most,
                "unit": one.unit,
                "holds": one.holds,
            }
            for one in self.limits
        ]
        facts = {name: round(value, 2) for name, value in self.facts.items()}
        return {"name": self.name, "rounds": self.rounds, "holds": self.holds, "limits": limits, "medianMs": facts}


def open_bar(*, ours_ms: Sequence[float], raw_ms: Sequence[float]) -> Bar:
    """Judge the opening of a room against raw Codex start plus thread start."""
    ours, raw = statistics.median(ours_ms), statistics.median(raw_ms)
    limits = (
        Limit(name="ratio of medians", value=ours / raw, at_most=OPEN_RATIO, unit="x"),
        Limit(name="median", value=ours, at_most=OPEN_MS, unit="ms"),
    )
    return Bar(name="open a clean room", rounds=len(ours_ms), limits=limits, facts={"ours": ours, "raw Codex": raw})


def turn_bar(*, ours_ms: Sequence[float], raw_ms: Sequence[float]) -> Bar:
    """Judge a turn with one tool call against the same turn driven raw."""
    ours, raw = statistics.median(ours_ms), statistics.median(raw_ms)
    limit = Limit(name="ratio of medians", value=ours / raw, at_most=TURN_RATIO, unit="x")
    return Bar(
        name="turn with one tool call", rounds=len(ours_ms), limits=(limit,), facts={"ours": ours, "raw Codex": raw}
    )


def call_bar(*, calls_ms: Sequence[float]) -> Bar:
    """Judge our share of one tool call: look up, authorize, validate, write, journal."""
    p50, p99 = percentile(calls_ms, 50), percentile(calls_ms, 99)
    limits = (
        Limit(name="p50", value=p50, at_most=CALL_P50_MS, unit="ms"),
        Limit(name="p99", value=p99, at_most=CALL_P99_MS, unit="ms"),
    )
    return Bar(name="our share of a tool call", rounds=len(calls_ms), limits=limits, facts={"p50": p50, "p99": p99})


def page_bar(*, first_ms: Sequence[float], again_ms: Sequence[float]) -> Bar:
    """Judge how soon the page is usable: on a first visit, which opens a room too, and on a refresh."""
    first, again = statistics.median(first_ms), statistics.median(again_ms)
    limits = (
        Limit(name="first visit", value=first, at_most=PAGE_MS, unit="ms"),
        Limit(name="refresh", value=again, at_most=PAGE_MS, unit="ms"),
    )
    return Bar(name="page usable", rounds=len(first_ms), limits=limits, facts={"first visit": first, "refresh": again})


def server_bar(*, start_s: Sequence[float], memory_mib: Sequence[float]) -> Bar:
    """Judge the server before anybody has come: how soon it can be asked, and the memory it holds then."""
    limits = (
        Limit(name="start", value=statistics.median(start_s), at_most=START_S, unit="s"),
        Limit(name="memory", value=statistics.median(memory_mib), at_most=MEMORY_MIB, unit="MiB"),
    )
    return Bar(name="server without Codex", rounds=len(start_s), limits=limits)


def script_bar(*, script_bytes: int) -> Bar:
    """Judge how much script the page loads, compressed."""
    limit = Limit(name="compressed", value=script_bytes / 1000, at_most=SCRIPT_KB, unit="KB")
    return Bar(name="script of the page", rounds=1, limits=(limit,))


def follower_bar(*, few_ms: Sequence[float], many_ms: Sequence[float]) -> Bar:
    """Judge how soon an appended event is seen: by 4 followers, and by 16 at 200 events a second."""
    limits = (
        Limit(name="p50, 4 followers", value=percentile(few_ms, 50), at_most=SEEN_FEW_MS, unit="ms"),
        Limit(name="p50, 16 followers", value=percentile(many_ms, 50), at_most=SEEN_MANY_MS, unit="ms"),
    )
    facts = {"p99, 4": percentile(few_ms, 99), "p99, 16": percentile(many_ms, 99)}
    return Bar(name="event until seen", rounds=len(few_ms), limits=limits, facts=facts)


def rebuild_bar(*, name: str, early_ms: Sequence[float], late_ms: Sequence[float]) -> Bar:
    """Judge what is read late in a long history: by itself, and against the same read early in it."""
    late = statistics.median(late_ms)
    bar = history_bar(name=name, early_ms=early_ms, late_ms=late_ms)
    return replace(bar, limits=(Limit(name="median late", value=late, at_most=REBUILD_MS, unit="ms"), *bar.limits))


def history_bar(*, name: str, early_ms: Sequence[float], late_ms: Sequence[float]) -> Bar:
    """Judge what is done late in a long history against the same done early in it."""
    early, late = statistics.median(early_ms), statistics.median(late_ms)
    limits = (Limit(name="late to early", value=late / early, at_most=REBUILD_RATIO, unit="x"),)
    return Bar(name=name, rounds=len(late_ms), limits=limits, facts={"at 100": early, "at 10,000": late})


def copy_bar(*, name: str, small_ns: Sequence[float], large_ns: Sequence[float], sizes: tuple[int, int]) -> Bar:
    """Judge what a byte of a state costs: as much in a large one as in a small one. `sizes` are those of the states."""
    small, large = statistics.median(small_ns), statistics.median(large_ns)
    limits = (Limit(name="a byte, large to small", value=large / small, at_most=COPY_RATIO, unit="x"),)
    facts = {f"{size:,} bytes": one * size / 1_000_000 for size, one in zip(sizes, (small, large), strict=True)}
    return Bar(name=name, rounds=len(large_ns), limits=limits, facts=facts)


def dispatch_bar(*, dispatch_ms: Sequence[float], bare_ms: Sequence[float]) -> Bar:
    """Judge a dispatched write against a bare transaction of the same four rows."""
    ours, bare = statistics.median(dispatch_ms), statistics.median(bare_ms)
    limit = Limit(name="ratio of medians", value=ours / bare, at_most=DISPATCH_RATIO, unit="x")
    facts = {"dispatch": ours, "bare rows": bare}
    return Bar(name="dispatch of a write", rounds=len(dispatch_ms), limits=(limit,), facts=facts)


def decision_bar(*, decision_us: Sequence[float]) -> Bar:
    """Judge one authorization decision."""
    limit = Limit(name="median", value=statistics.median(decision_us), at_most=DECISION_US, unit="µs")
    return Bar(name="authorization decision", rounds=len(decision_us), limits=(limit,))


def redactor_bar(
    *,
    prose_us: Sequence[float],
    dense_us: Sequence[float],
    half_us: Sequence[float],
    whole_us: Sequence[float],
    hostile_ratios: Sequence[float],
) -> Bar:
    """Judge the redactor: the time of one kilobyte of prose, and that twice a text takes about twice as long.

    So it must with every hostile text; the worst of them is told.

    Text full of near-secrets has no bar; what a kilobyte of it takes is told beside.
    """
    half, whole = statistics.median(half_us), statistics.median(whole_us)
    limits = (
        Limit(name="1 KB of prose", value=statistics.median(prose_us), at_most=REDACT_1K_US, unit="µs"),
        Limit(name="128 KB over 64 KB", value=whole / half, at_most=REDACT_TWICE_RATIO, unit="x"),
        Limit(name="worst hostile text", value=max(hostile_ratios), at_most=REDACT_TWICE_RATIO, unit="x"),
    )
    facts = {"1 KB of near-secrets": statistics.median(dense_us) / 1000, "64 KB": half / 1000, "128 KB": whole / 1000}
    return Bar(name="redactor", rounds=len(prose_us), limits=limits, facts=facts)


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def as_table(bars: Sequence[Bar]) -> str:
    """Return the bars as a table for a person."""
    rows = [("", "measured", "", "value", "bar", "")]
    for bar in bars:
        facts = ", ".join(f"{name} {value:.1f} ms" for name, value in bar.facts.items())
        for index, limit in enumerate(bar.limits):
            first = (bar.name, facts) if index == 0 else ("", "")
            unit = "×" if limit.unit == "x" else limit.unit
            value = f"{limit.value:.{2 if limit.unit == 'x' else 1}f} {unit}"
            at_most = f"≤ {limit.at_most:g} {unit}"
            rows.append((*first, limit.name, value, at_most, "ok" if limit.holds else "OVER"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)
