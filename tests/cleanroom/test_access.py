"""The browser's capability: issued by this server, kept as a digest, renewed on open, compared in constant time."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from cleanroom import limits
from cleanroom.access import UnknownSession, held_capability, mint, owned_session, renew
from cleanroom.models import BrowserCapability, ChatSession, Surface

NOW = datetime(2026, 1, 1, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def room(capability: BrowserCapability, state: str = ChatSession.State.OPEN) -> ChatSession:
    return ChatSession.objects.create(
        public_id="session-1",
        capability=capability,
        state=state,
        token="0123abcd",
        sequence=1042,
        identifier="MCK-1042",
        company_id="company-1",
        actor_id="actor-1",
        task_id="task-1",
        run_id="run-1",
        opened_at=NOW,
        retired_at=NOW if state == ChatSession.State.RETIRED else None,
    )


@pytest.mark.requirement("access.digest")
def test_only_the_digest_of_the_cookie_is_kept() -> None:
    capability, value = mint(surface=Surface.CLEANROOM, now=NOW, limits=limits.cleanroom())
    assert len(value) == 43
    assert capability.digest == hashlib.sha256(value.encode()).hexdigest()
    assert value not in str(BrowserCapability.objects.values().get())


@pytest.mark.requirement("access.known-only")
@pytest.mark.parametrize("presented", [None, "", "x", "a" * 43, "a" * 44, "ü" * 43, "../../../etc/passwd"])
def test_a_value_that_this_server_never_issued_is_no_capability(presented: str | None) -> None:
    mint(surface=Surface.CLEANROOM, now=NOW, limits=limits.cleanroom())
    assert held_capability(surface=Surface.CLEANROOM, presented=presented, now=NOW) is None


@pytest.mark.requirement("access.expiry")
def test_a_capability_ends_after_thirty_days_unless_it_is_renewed() -> None:
    capability, value = mint(surface=Surface.CLEANROOM, now=NOW, limits=limits.cleanroom())
    month = timedelta(days=30)
    assert held_capability(surface=Surface.CLEANROOM, presented=value, now=NOW + month - timedelta(seconds=1))
    assert held_capability(surface=Surface.CLEANROOM, presented=value, now=NOW + month) is None
    renew(capability, now=NOW + timedelta(days=1), limits=limits.cleanroom())
    assert held_capability(surface=Surface.CLEANROOM, presented=value, now=NOW + month)


def test_the_owner_enters_and_everybody_else_meets_the_same_refusal() -> None:
    ada, adas = mint(surface=Surface.CLEANROOM, now=NOW, limits=limits.cleanroom())
    _, cleos = mint(surface=Surface.CLEANROOM, now=NOW, limits=limits.cleanroom())
    mine = room(ada)
    assert owned_session(session_id=mine.public_id, presented=adas, now=NOW) == mine
    for session_id, presented in ((mine.public_id, cleos), (mine.public_id, None), ("session-2", adas), ("", adas)):
        with pytest.raises(UnknownSession):
            owned_session(session_id=session_id, presented=presented, now=NOW)


def test_a_revoked_capability_and_a_retired_room_open_nothing() -> None:
    ada, adas = mint(surface=Surface.CLEANROOM, now=NOW, limits=limits.cleanroom())
    mine = room(ada)
    BrowserCapability.objects.update(revoked_at=NOW)
    with pytest.raises(UnknownSession):
        owned_session(session_id=mine.public_id, presented=adas, now=NOW)
    BrowserCapability.objects.update(revoked_at=None)
    ChatSession.objects.update(state=ChatSession.State.RETIRED, retired_at=NOW)
    with pytest.raises(UnknownSession):
        owned_session(session_id=mine.public_id, presented=adas, now=NOW)
