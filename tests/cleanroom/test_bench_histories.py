"""What the bench measures of a history is measured, and judged by bars that do not grow with it."""

from __future__ import annotations

import pytest

from cleanroom.bench.bars import REBUILD_MS, rebuild_bar
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
