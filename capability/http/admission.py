"""Who may knock: exact Host, our own Origin, Fetch Metadata that describes a fetch of our own page, and JSON.

An ordered list of small checks; the first that fails wins. The checks see plain facts, so a view and a socket share
them. The chat accepts a request without Fetch Metadata and refuses a wrong one, on reads too: opening a room evicts
another. Sources: design section 12, seed "Remote preview gateway", cases T20 to T22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from mockcore.refusal import Refusal

JSON = "application/json"


class HostRefused(Refusal):
    """This server answers only under the exact address it listens on."""

    code = "host_refused"


class OriginRefused(Refusal):
    """Requests are accepted from this server's own pages only."""

    code = "origin_refused"


class FetchMetadataRefused(Refusal):
    """The browser says that this request does not come from a fetch of our own page."""

    code = "fetch_metadata_refused"


class JsonRequired(Refusal):
    """The body must be sent as application/json."""

    code = "unsupported_media_type"


@dataclass(frozen=True, kw_only=True)
class Knock:
    """What admission looks at. Every value of a repeated header is kept, so that a second one cannot hide."""

    method: str
    hosts: tuple[str, ...]
    origins: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    dests: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    socket: bool = False


# ---------------------------------------------------------------- our own addresses
_serving: frozenset[str] = frozenset()
_port: int | None = None


def serving(host: str, port: int) -> None:
    """Tell admission the address that is really listened on: a port of 0 was a wish. The last call wins."""
    global _serving, _port
    _serving, _port = _addresses(host, port), port


def served_port() -> int:
    """Return the port that is listened on, or is to be."""
    return settings.PORT if _port is None else _port


def allowed_hosts() -> frozenset[str]:
    """Return the values of `Host` that are ours: the bound address and `localhost`, with the port as served."""
    return _serving or _addresses(settings.HOST, settings.PORT)


def _addresses(host: str, port: int) -> frozenset[str]:
    names = {f"[{host}]" if ":" in host else host, "localhost"}
    if host == "localhost":
        names.add("127.0.0.1")
    ours = {f"{name}:{port}" for name in names}
    return frozenset(ours | names if port == 80 else ours)  # clients leave out the port that http implies


# ---------------------------------------------------------------- admission
def admit(knock: Knock, *, hosts: frozenset[str] | None = None) -> None:
    """Raise the first refusal that applies: `HostRefused`, `OriginRefused`, `FetchMetadataRefused`, `JsonRequired`."""
    ours = allowed_hosts() if hosts is None else hosts
    for check in CHECKS:
        check(knock, ours)


def admit_request(request: HttpRequest) -> None:
    """Admit an HTTP request of the API. Raises as `admit` does."""
    admit(knock_of(_header_pairs(request), method=request.method or "GET"))


def knock_of(headers: Iterable[tuple[bytes, bytes]], *, method: str = "GET", socket: bool = False) -> Knock:
    """Return the facts of raw header pairs, names in any case. For a socket, those of its handshake's scope."""
    found: dict[bytes, list[str]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value.decode("latin-1"))

    def values(name: bytes) -> tuple[str, ...]:
        return tuple(found.get(name, ()))

    return Knock(
        method=method,
        hosts=values(b"host"),
        origins=values(b"origin"),
        sites=values(b"sec-fetch-site"),
        modes=values(b"sec-fetch-mode"),
        dests=values(b"sec-fetch-dest"),
        media=values(b"content-type"),
        socket=socket,
    )


def _header_pairs(request: HttpRequest) -> Iterable[tuple[bytes, bytes]]:
    scope: dict[str, Any] | None = getattr(request, "scope", None)
    if scope is not None:
        return scope["headers"]  # type: ignore[no-any-return]
    # Without a server (Django's test client) the pairs are rebuilt; repeated headers were joined by then.
    return [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in request.headers.items()]


def _exact_host(knock: Knock, ours: frozenset[str]) -> None:
    if len(knock.hosts) != 1 or knock.hosts[0] not in ours:
        raise HostRefused


def _own_origin(knock: Knock, ours: frozenset[str]) -> None:
    """A page of ours names the address it came from. Only a browser's socket must name one at all."""
    if not knock.origins and not knock.socket:
        return
    if len(knock.origins) != 1 or knock.origins[0] != f"http://{knock.hosts[0]}":
        raise OriginRefused


FETCH_METADATA = (frozenset({"same-origin"}), frozenset({"cors", "same-origin"}), frozenset({"empty"}))
SOCKET_METADATA = (frozenset({"same-origin"}), frozenset({"websocket"}), frozenset({"empty", "websocket"}))


def _own_fetch(knock: Knock, ours: frozenset[str]) -> None:
    wanted = SOCKET_METADATA if knock.socket else FETCH_METADATA
    for values, accepted in zip((knock.sites, knock.modes, knock.dests), wanted, strict=True):
        if any(value not in accepted for value in values):
            raise FetchMetadataRefused


def _json_body(knock: Knock, ours: frozenset[str]) -> None:
    """A form of another site can send any type but this one without asking first. Every change here is a POST."""
    if knock.method != "POST":
        return
    if len(knock.media) != 1 or knock.media[0].partition(";")[0].strip().lower() != JSON:
        raise JsonRequired


CHECKS: tuple[Callable[[Knock, frozenset[str]], None], ...] = (_exact_host, _own_origin, _own_fetch, _json_body)
