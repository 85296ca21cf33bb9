"""The network guard: what this process really connected to, measured by the interpreter itself.

An audit hook sees every `socket.connect` of the process, whoever makes it. Loopback addresses and Unix sockets are
the server's own business (runner pipes, databases, the loopback model); anything else is counted. That no request can
reach a Paperclip is prevented elsewhere (no address, no key, no client); this module only says what was seen.
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from dataclasses import dataclass
from typing import Any

from django.conf import settings


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the guard saw so far. `installed` is false when nobody watched, and then nothing is claimed."""

    installed: bool
    requests: int


class Guard:
    """Counts connections that leave this machine, except those to the operator's own database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._installed = False
        self._count = 0

    def install(self) -> None:
        """Start watching. An audit hook cannot be removed, so it is added once."""
        with self._lock:
            if self._installed:
                return
            self._installed = True
        sys.addaudithook(self._hook)

    def reading(self) -> Reading:
        return Reading(installed=self._installed, requests=self._count)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and leaves_the_machine(arguments[1]):
            with self._lock:
                self._count += 1


def leaves_the_machine(address: Any) -> bool:
    """Say whether a socket address is neither local nor the database of the settings."""
    if not isinstance(address, tuple) or len(address) < 2:
        return False  # a Unix socket
    host = str(address[0])
    if host in {"localhost", ""} or host == settings.DATABASES["default"].get("HOST"):
        return False
    try:
        parsed = ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return True
    mapped = getattr(parsed, "ipv4_mapped", None) or parsed
    return not (mapped.is_loopback or mapped.is_unspecified)


guard = Guard()
