"""Rooms with agents in memory: the whole way through rows, hosts and log, without a process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from cleanroom import limits, outbox, startup
from cleanroom.limits import Limits
from evidence.follow import hub
from tests.cleanroom.support.chat import Chat
from tests.cleanroom.support.memory_driver import MemoryDriver

PAUSES_S = (0.0, 0.0, 0.0)  # between tries of a write, where production is patient


@pytest.fixture
def agents(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, settings: LazySettings, tmp_path: Path
) -> Iterator[MemoryDriver]:
    """The driver behind every room of this test. Afterwards no agent, no host and no thread is left."""
    settings.RUNS_DIR = tmp_path / "runs"
    driver = MemoryDriver()
    publish = hub.publish

    def announced(*args: Any) -> None:
        publish(*args)
        driver.notify()

    monkeypatch.setattr("cleanroom.agent.make_driver", lambda: driver)
    monkeypatch.setattr(outbox, "RETRY_PAUSES_S", PAUSES_S)
    monkeypatch.setattr(hub, "publish", announced)
    yield driver
    driver.gates.release_all()
    startup.close_all()
    assert driver.living == []
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("host")]


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change bounds of the clean room for one test."""

    def change(**changes: Any) -> None:
        changed: Limits = replace(limits.cleanroom(), **changes)
        monkeypatch.setattr(limits, "cleanroom", lambda: changed)

    return change


@pytest.fixture
def chat(agents: MemoryDriver) -> Chat:
    """Ada's room."""
    return Chat.open(agents)
