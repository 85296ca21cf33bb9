"""What took a rotated cookie's place, for the few seconds in which its browser may still send the old one.

A browser learns its new cookie only from an answer that another of its tabs may have asked for, or that was lost. The
new value is kept in memory alone, and not in the clear: it is sealed with the old one, so only who presents the old
cookie can read it. Entries go when their time is over, and the oldest goes when there are too many.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from cleanroom.access import digest_of

SUCCESSION = timedelta(seconds=10)  # how long two tabs of one browser may be apart and still mean the same room
REMEMBERED = 256  # rotations within that time; each opens a room, one after the other, so this is never reached


@dataclass(frozen=True, kw_only=True)
class _Sealed:
    value: bytes
    until: datetime


class Successions:
    """Rotated cookies by digest. Safe to use from any thread."""

    def __init__(self) -> None:
        self._sealed: dict[str, _Sealed] = {}
        self._lock = threading.Lock()

    def remember(self, *, old: str, new: str, now: datetime) -> None:
        """Keep what took the place of a cookie value that is in use no more."""
        with self._lock:
            self._forget_expired(now)
            self._sealed[digest_of(old)] = _Sealed(value=_masked(new.encode(), key=old), until=now + SUCCESSION)
            while len(self._sealed) > REMEMBERED:
                del self._sealed[next(iter(self._sealed))]

    def successor_of(self, value: str, *, now: datetime) -> str | None:
        """Return what took the place of a cookie value a moment ago, None if nothing did."""
        with self._lock:
            self._forget_expired(now)
            found = self._sealed.get(digest_of(value))
        return _masked(found.value, key=value).decode() if found else None

    def __len__(self) -> int:
        return len(self._sealed)

    def _forget_expired(self, now: datetime) -> None:
        for digest in [digest for digest, sealed in self._sealed.items() if sealed.until < now]:
            del self._sealed[digest]


def _masked(text: bytes, *, key: str) -> bytes:
    """Return `text` under a mask that only `key` makes; the same again takes it off. A key masks one text ever."""
    mask = hashlib.shake_256(b"successor of " + key.encode()).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, mask, strict=True))
