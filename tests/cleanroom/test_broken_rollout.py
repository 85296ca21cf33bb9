"""The real Codex with a record of the thread that is gone or damaged: the chat goes on, on a new thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cleanroom.support.model import say
from tests.cleanroom.test_driver_codex import Room, room

pytestmark = pytest.mark.codex


def emptied(rollout: Path) -> None:
    rollout.write_bytes(b"")


def garbled(rollout: Path) -> None:
    rollout.write_bytes(b"\x00\xffnot a record\n" * 40)


def headless(rollout: Path) -> None:
    rollout.write_bytes(b"".join(rollout.read_bytes().splitlines(keepends=True)[1:]))


def rollout_of(opened: Room) -> Path:
    [found] = (opened.request.home / "sessions").rglob("rollout-*.jsonl")
    return found


@pytest.mark.requirement("driver.record.broken")
@pytest.mark.parametrize("damage", [Path.unlink, emptied, garbled, headless])
async def test_a_thread_whose_record_is_unusable_is_replaced_by_a_new_one(damage: Callable[[Path], None]) -> None:
    async with room() as opened:
        await opened.turn("Hello", [say("Hello.")])
        left = opened.session.snapshot()
        await opened.session.close(reason="it broke")
        damage(rollout_of(opened))
        await opened.recover()
        assert opened.session.snapshot().driver_session_id != left.driver_session_id
