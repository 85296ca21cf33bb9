"""All hosts of this process, by session. Used on the host loop only.

When hosts come to live in many processes, this is the place that finds the owner of a room.
"""

from __future__ import annotations

import asyncio
import logging

from cleanroom import limits
from cleanroom.host import Host
from cleanroom.rooms import Room

log = logging.getLogger(__name__)


class Registry:
    """The hosts of this process by session. Used on the host loop only."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}
        self._watch: asyncio.Task[None] | None = None

    def get(self, room: Room) -> Host:
        """Return the room's host, made now if there is none."""
        host = self._hosts.get(room.session_id)
        if host is None:
            host = self._hosts[room.session_id] = Host(room=room)
        if self._watch is None:
            self._watch = asyncio.create_task(self._rest_when_quiet())
        return host

    def find(self, session_id: str) -> Host | None:
        return self._hosts.get(session_id)

    async def close(self, session_id: str, *, reason: str, remove: bool) -> bool:
        """Close a room's host, and say whether it had one."""
        host = self._hosts.pop(session_id, None)
        if host is None:
            return False
        await host.close(reason=reason, remove=remove)
        return True

    async def close_all(self) -> None:
        """Close every host at once, as the server stops."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        closing = [self.close(one, reason="server_shutdown", remove=False) for one in list(self._hosts)]
        await asyncio.gather(*closing, return_exceptions=True)

    async def _rest_when_quiet(self) -> None:
        while True:
            await asyncio.sleep(min(30.0, limits.cleanroom().idle_s))
            for host in list(self._hosts.values()):
                try:
                    await host.rest()
                except Exception:
                    log.exception("a quiet room could not be put to rest")


registry = Registry()
