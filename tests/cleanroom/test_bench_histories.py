"""What the bench measures of a history is measured, and judged by bars that do not grow with it."""

from __future__ import annotations

import pytest

from cleanroom.bench import copying
from cleanroom.bench.bars import COPY_RATIO, REBUILD_MS, copy_bar, rebuild_bar
from cleanroom.bench.histories import measure_rebuilds


@pytest.mark.requirement("bench.history")
@pytest.mark.django_db
def test_early_and_late_rebuilds_are_measured_in_turn() -> None:
    times = measure_rebuilds(revisions=130, rounds=2).as_json()
    assert {name: len(found) for name, found in times.items()} == {
        "early_open": 2,
        "late_open": 2,
        "early_fork": 2,
        "late_fork": 2,
        "early_diff": 2,
        "late_diff": 2,
    }
    assert all(one > 0 for found in times.values() for one in found)


@pytest.mark.requirement("bench.history")
def test_a_history_that_grows_slower_or_is_slow_breaks_the_bar() -> None:
    assert rebuild_bar(name="open", early_ms=[10, 10, 11], late_ms=[11, 12, 11]).holds
    assert not rebuild_bar(name="open", early_ms=[10, 10, 10], late_ms=[16, 16, 16]).holds
    assert not rebuild_bar(name="open", early_ms=[50], late_ms=[REBUILD_MS + 1]).holds


@pytest.mark.requirement("bench.history")
@pytest.mark.django_db
def test_serializing_and_restoring_are_measured_by_the_byte_at_two_sizes(monkeypatch) -> None:
    monkeypatch.setattr(copying, "LARGE_BYTES", 200_000)
    times = copying.measure_copies(rounds=2)
    assert 100_000 < times.small_bytes < 200_000 < times.large_bytes < 400_000
    found = (times.small_serialize, times.large_serialize, times.small_restore, times.large_restore)
    assert [len(one) for one in found] == [2] * 4
    assert all(value > 0 for one in found for value in one)


def test_a_copy_that_takes_longer_a_byte_when_the_state_is_larger_breaks_the_bar() -> None:
    bar = {"name": "restore", "small_ns": [10, 10, 11], "sizes": (100_000, 1_000_000)}
    held = copy_bar(**bar, large_ns=[10 * COPY_RATIO] * 3)
    assert held.holds
    assert held.facts == {"100,000 bytes": 1.0, "1,000,000 bytes": 15.0}
    assert not copy_bar(**bar, large_ns=[10 * COPY_RATIO + 0.1] * 3).holds
