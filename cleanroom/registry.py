"""All hosts of this process, by session. Used on the host loop only.

When hosts come to live in many processes, this is the place that finds the owner of a room.
"""

from __future__ import annotations

import asyncio
import logging

from cleanroom import limits
from cleanroom.host import Host
from cleanroom.rooms import Room
from evidence.record import UnknownSession

log = logging.getLogger(__name__)
REMEMBERED_ENDS = 1024  # only a request that was on its way as its room was closed needs them


class Registry:
    """The hosts of this process by session. Used on the host loop only."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}
        self._ended: dict[str, None] = {}  # the rooms closed for good, newest last
        self._closings: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None

    def get(self, room: Room) -> Host:
        """Return the room's host, made now if there is none. Raises `UnknownSession` once it was closed for good."""
        if room.session_id in self._ended:
            raise UnknownSession
        host = self._hosts.get(room.session_id)
        if host is None:
            host = self._hosts[room.session_id] = Host(room=room)
        if self._watch is None:
            self._watch = asyncio.create_task(self._rest_when_quiet())
        return host

    def find(self, session_id: str) -> Host | None:
        return self._hosts.get(session_id)

    async def close(self, session_id: str, *, reason: str, remove: bool) -> bool:
        """Close a room's host, and say whether it had one. With `remove` the room gets no other."""
        closing = self._begin_closing(session_id, reason=reason, remove=remove)
        if closing is None:
            return False
        await asyncio.shield(closing)  # it is closed to the end, whoever waits for that
        return True

    def _begin_closing(self, session_id: str, *, reason: str, remove: bool) -> asyncio.Task[None] | None:
        if remove:
            self._remember_ended(session_id)
        host = self._hosts.pop(session_id, None)
        if host is None:
            return None
        closing = asyncio.create_task(host.close(reason=reason, remove=remove))
        self._closings.add(closing)
        closing.add_done_callback(self._closings.discard)
        return closing

    async def close_all(self) -> None:
        """Close every host at once, as the server stops; wait also for those that are being closed already."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        while self._hosts or self._closings:  # a command that comes meanwhile may make another
            for one in list(self._hosts):
                self._begin_closing(one, reason="server_shutdown", remove=False)
            for outcome in await asyncio.gather(*self._closings, return_exceptions=True):
                if isinstance(outcome, Exception):
                    log.error("a room could not be closed", exc_info=outcome)

    def _remember_ended(self, session_id: str) -> None:
        self._ended[session_id] = None
        while len(self._ended) > REMEMBERED_ENDS:
            del self._ended[next(iter(self._ended))]

    async def _rest_when_quiet(self) -> None:
        while True:
            await asyncio.sleep(min(30.0, limits.cleanroom().idle_s))
            for host in list(self._hosts.values()):
                try:
                    await host.rest()
                except Exception:
                    log.exception("a quiet room could not be put to rest")


registry = Registry()
