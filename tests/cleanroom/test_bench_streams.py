"""What the bench measures of followers and of a server at rest is measured, and judged by its bars."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.conf import settings

from cleanroom import pages
from cleanroom.bench import followers, standing
from cleanroom.bench.bars import follower_bar, script_bar, server_bar


@pytest.mark.requirement("bench.streams")
@pytest.mark.django_db(transaction=True)
def test_every_event_is_timed_for_every_follower() -> None:
    times = followers.measure_followers(events=5)
    assert (len(times.few_ms), len(times.many_ms)) == (5 * followers.FEW, 5 * followers.MANY)
    assert max(times.few_ms) > 0


@pytest.mark.requirement("bench.standing")
def test_the_memory_of_a_process_and_the_scripts_as_they_are_sent_are_measured(tmp_path: Path) -> None:
    assert 10 < standing.resident_mib(os.getpid()) < 4_000
    names = [address.removeprefix(settings.STATIC_URL) for address in pages.module_addresses()]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * 100)
        (tmp_path / f"{name}.gz").write_bytes(b"x" * 10)
    assert standing.script_bytes(tmp_path) == 10 * len(names)


@pytest.mark.requirement("bench.standing", "bench.streams")
def test_each_of_these_figures_breaks_its_bar_just_above_it() -> None:
    assert follower_bar(few_ms=[3.0], many_ms=[10.0]).holds
    assert not follower_bar(few_ms=[3.1], many_ms=[10.0]).holds
    assert not follower_bar(few_ms=[3.0], many_ms=[10.1]).holds
    assert server_bar(start_s=[2.0], memory_mib=[150.0]).holds
    assert not server_bar(start_s=[2.1], memory_mib=[150.0]).holds
    assert not server_bar(start_s=[2.0], memory_mib=[150.1]).holds
    assert script_bar(script_bytes=150_000).holds
    assert not script_bar(script_bytes=150_001).holds
