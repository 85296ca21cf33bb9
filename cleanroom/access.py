"""Who may enter which room: the browser's capability cookie, and the one guarded getter.

Absent, retired and not yours are the same 404. Source: reference B section 1.7; 30 days and renewal by the issue.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from capability.http import admission
from cleanroom.limits import Limits
from cleanroom.models import BrowserCapability, ChatSession, Surface
from evidence.record import UnknownSession
from mockcore import rows
from mockcore.text import clean_text

__all__ = [
    "COOKIE_VALUE",
    "UnknownSession",
    "cookie_name",
    "digest_of",
    "held_capability",
    "mint",
    "owned_session",
    "renew",
    "revoke",
]

COOKIES = {Surface.CLEANROOM: "paperclip_capability_chat"}
COOKIE_VALUE = re.compile(r"[A-Za-z0-9_-]{43}")  # 32 bytes, base64url


def cookie_name(surface: Surface) -> str:
    """Return the name of a surface's cookie. The port is in it: browsers send one host's cookies to all its ports."""
    return f"{COOKIES[surface]}_{admission.served_port()}"


def digest_of(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def held_capability(*, surface: str, presented: str | None, now: datetime) -> BrowserCapability | None:
    """Return the live capability of a cookie value that this server issued, else None."""
    if not presented or not COOKIE_VALUE.fullmatch(presented):
        return None
    found = BrowserCapability.objects.filter(
        surface=surface, digest=digest_of(presented), revoked_at__isnull=True, expires_at__gt=now
    ).first()
    return found if found and hmac.compare_digest(found.digest, digest_of(presented)) else None


def renew(capability: BrowserCapability, *, now: datetime, limits: Limits) -> bool:
    """Let a capability live its full time again; every open does. False, and nothing changed, once it is revoked."""
    capability.expires_at = now + timedelta(seconds=limits.cookie_s)
    living = BrowserCapability.objects.filter(pk=capability.pk, revoked_at__isnull=True)
    return living.update(expires_at=capability.expires_at) == 1


def revoke(capability: BrowserCapability, *, now: datetime) -> bool:
    """End a browser's right to its rooms. False when that was done before."""
    living = BrowserCapability.objects.filter(pk=capability.pk, revoked_at__isnull=True)
    return living.update(revoked_at=now) == 1


def mint(*, surface: str, now: datetime, limits: Limits) -> tuple[BrowserCapability, str]:
    """Make a capability for a browser and return it with the cookie value.

    No row and no log has the value; memory has it sealed for ten seconds when it replaces another (`succession`).
    """
    value = secrets.token_urlsafe(32)
    made = BrowserCapability.objects.create(
        surface=surface,
        digest=digest_of(value),
        created_at=now,
        expires_at=now + timedelta(seconds=limits.cookie_s),
    )
    return made, value


def owned_session(*, session_id: str, presented: str | None, now: datetime, lock: bool = False) -> ChatSession:
    """Return the open chat that this browser owns. Raises `UnknownSession`.

    With `lock` (inside a transaction) the row stays locked until the end of it.
    """
    session = rows.fetch(
        ChatSession, "capability", lock=lock, public_id=clean_text(session_id), state=ChatSession.State.OPEN.value
    )
    if session is None or not presented or not COOKIE_VALUE.fullmatch(presented):
        raise UnknownSession
    capability = session.capability
    alive = capability.revoked_at is None and capability.expires_at > now
    if not hmac.compare_digest(capability.digest, digest_of(presented)) or not alive:
        raise UnknownSession
    return session
