"""Every bound of a live conversation as data. Defaults stand in `capability/settings.py`, overridable there."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The bounds of the clean room. Source: clean-room seed, "Bounds", and design section 12."""

    turns: int
    message_bytes: int
    rooms: int
    turn_timeout_s: float
    open_timeout_s: float
    idle_s: float
    cookie_s: int
    settle_s: float = 5.0  # how long an interrupted agent may take before its runner is replaced
    retire_wait_s: float = 2.0  # how long a reset waits for the old processes before it goes on without them


def cleanroom() -> Limits:
    """Return the bounds in force, read from the settings each time so that a test may change one."""
    return Limits(
        turns=settings.CLEANROOM_MAX_TURNS,
        message_bytes=settings.CLEANROOM_MAX_MESSAGE_BYTES,
        rooms=settings.CLEANROOM_MAX_ROOMS,
        turn_timeout_s=settings.CLEANROOM_TURN_TIMEOUT_S,
        open_timeout_s=settings.CLEANROOM_OPEN_TIMEOUT_S,
        idle_s=settings.CLEANROOM_IDLE_MINUTES * 60,
        cookie_s=settings.CLEANROOM_COOKIE_DAYS * 86_400,
    )
