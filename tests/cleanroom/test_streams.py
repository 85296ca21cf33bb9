"""The socket of the chat: who may open it, what it sends, and how it ends."""

import asyncio
import contextlib
import json
import threading
from datetime import timedelta

import pytest
from autobahn.exception import Disconnected
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.db import connection
from django.utils import timezone

from capability.http import admission
from cleanroom import limits, streams
from cleanroom.access import cookie_name, mint
from cleanroom.models import BrowserCapability, ChatSession, Surface
from evidence import record
from evidence.follow import hub
from evidence.record import Draft
from evidence.views.thread import snapshot

pytestmark = pytest.mark.django_db(transaction=True)

HOST = "127.0.0.1:4184"
SUBMITTED = Draft("turn.submitted", {"ordinal": 1, "messageId": "message-1", "text": "Hello"}, turn_id="turn-1")
STARTED = Draft("turn.started", {}, turn_id="turn-1", source_kind="runner")
COMPLETED = Draft("turn.completed", {"durationMs": 5}, turn_id="turn-1", source_kind="runner")


@pytest.fixture(autouse=True)
def our_address(monkeypatch):
    monkeypatch.setattr(admission, "allowed_hosts", lambda: frozenset({HOST}))


async def rows(work, *args, **kwargs):
    """Do database work in a thread of its own, as hosts and requests do."""

    def closing():
        try:
            return work(*args, **kwargs)
        finally:
            connection.close()

    return await asyncio.to_thread(closing)


def make_room(name: str) -> tuple[str, str]:
    """Return the id of an open room of Ada's, and the cookie of her browser."""
    now = timezone.now()
    capability, cookie = mint(surface=Surface.CLEANROOM, now=now, limits=limits.cleanroom())
    ChatSession.objects.create(
        public_id=f"session-{name}",
        capability=capability,
        state=ChatSession.State.OPEN,
        token=name[:8],
        sequence=1,
        identifier="MCK-1",
        company_id="company-1",
        actor_id="actor-1",
        task_id="task-1",
        run_id=f"run-{name}",
        opened_at=now,
    )
    record.open_log(session_id=f"session-{name}", run_id=f"run-{name}")
    return f"session-{name}", cookie


@pytest.fixture
async def room():
    return await rows(make_room, "ada")


def headers(
    cookie: str | None, *, host: str = HOST, origin: str | None = f"http://{HOST}"
) -> list[tuple[bytes, bytes]]:
    found = [(b"host", host.encode())]
    if origin is not None:
        found.append((b"origin", origin.encode()))
    if cookie is not None:
        found.append((b"cookie", f"other=1; {cookie_name(Surface.CLEANROOM)}={cookie}".encode()))
    return found


class Socket(WebsocketCommunicator):
    """A browser's end of the stream."""

    def __init__(self, query: str, sent_headers: list[tuple[bytes, bytes]]) -> None:
        super().__init__(URLRouter(streams.socket_urls), f"api/capability/ui/stream?{query}", sent_headers)

    async def frame(self) -> dict:
        return json.loads(await self.receive_from(timeout=5))

    async def close_code(self) -> int:
        """Return the code it is closed with, skipping frames that were on their way."""
        while True:
            output = await self.receive_output(timeout=5)
            if output["type"] == "websocket.close":
                return output["code"]


@contextlib.asynccontextmanager
async def socket(room, *, after: str | int = 0, cookie: str | None = None, **changes):
    session_id, own = room
    opened = Socket(f"sessionId={session_id}&after={after}", headers(own if cookie is None else cookie, **changes))
    connected, _ = await opened.connect(timeout=5)
    assert connected
    try:
        yield opened
    finally:
        await opened.disconnect(timeout=5)


async def append(room, *drafts: Draft) -> int:
    return await rows(record.append, session_id=room[0], drafts=drafts)


async def test_frames_follow_the_cursor_while_the_log_grows(room):
    await append(room, SUBMITTED)
    async with socket(room, after=1) as browser:
        await append(room, STARTED)
        running = await browser.frame()
        assert (running["type"], running["after"], running["seq"], running["working"]) == ("frame", 1, 2, True)
        await append(room, COMPLETED)
        assert (await browser.frame())["type"] == "settled"


async def test_two_tabs_see_the_same_and_a_snapshot_agrees(room):
    async with socket(room) as one, socket(room) as two:
        await append(room, SUBMITTED, STARTED, COMPLETED)
        assert await one.frame() == await two.frame()
    view, cursor = await rows(snapshot, session_id=room[0])
    assert (cursor, view["turns"][0]["state"]) == (3, "completed")


@pytest.mark.requirement("stream.admission")
@pytest.mark.parametrize(
    "changes",
    [
        {"host": "evil.test:4184"},
        {"host": "127.0.0.1:4185", "origin": "http://127.0.0.1:4185"},
        {"origin": None},
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
    ],
    ids=str,
)
async def test_a_handshake_from_elsewhere_is_refused_before_it_is_accepted(room, changes):
    opened = Socket(f"sessionId={room[0]}&after=0", headers(room[1], **changes))
    connected, _ = await opened.connect(timeout=5)
    assert not connected
    assert hub.followers(room[0]) == 0


@pytest.mark.requirement("stream.admission")
async def test_a_stranger_a_browser_without_a_cookie_and_an_unknown_id_are_answered_alike(room):
    _, cleos = await rows(make_room, "cleo")
    answers = []
    for session_id, cookie in [(room[0], cleos), (room[0], None), (room[0], "x" * 43), ("session-nowhere", room[1])]:
        opened = Socket(f"sessionId={session_id}&after=0", headers(cookie))
        await opened.connect(timeout=5)
        answers.append((await opened.frame(), await opened.close_code()))
        await opened.disconnect(timeout=5)
    assert answers == [({"type": "closed", "seq": 0, "code": "unknown_session"}, 4404)] * 4


@pytest.mark.parametrize("change", [{"expires_at": timezone.now() - timedelta(days=1)}, {"revoked_at": timezone.now()}])
async def test_a_cookie_that_has_ended_opens_nothing(room, change):
    await rows(BrowserCapability.objects.update, **change)
    async with socket(room) as browser:
        assert await browser.close_code() == 4404


async def test_a_retired_room_is_unknown(room):
    await rows(ChatSession.objects.update, state=ChatSession.State.RETIRED, retired_at=timezone.now())
    async with socket(room) as browser:
        assert await browser.close_code() == 4404


@pytest.mark.parametrize(
    "query",
    ["", "after=-1", "after=1.0", "after=+1", "after=٣", "after=01", "after=", "after=0&after=1", "after=" + "9" * 17],
)
async def test_a_cursor_that_is_no_whole_number_is_refused(room, query):
    opened = Socket(f"sessionId={room[0]}&{query}", headers(room[1]))
    await opened.connect(timeout=5)
    assert await opened.close_code() == 4400
    await opened.disconnect(timeout=5)


async def test_a_cursor_beyond_the_log_asks_the_page_to_open_again(room):
    async with socket(room, after=7) as browser:
        assert await browser.close_code() == 4400


@pytest.mark.requirement("stream.closed")
@pytest.mark.parametrize(
    ("reason", "code"), [("reset", 4404), ("new_chat", 4404), ("room_yielded", 4409), ("server_shutdown", 4404)]
)
async def test_a_room_that_ends_says_why_and_closes_the_socket(room, reason, code):
    async with socket(room) as browser:
        await append(room, SUBMITTED)
        said = [await browser.frame()]  # from here on it follows; a log closed before that is unknown to it
        await append(room, Draft("session.closed", {"code": reason, "reason": reason}))
        await rows(record.close_log, session_id=room[0])
        while said[-1]["type"] != "closed":
            said.append(await browser.frame())
        assert said[-1] == {"type": "closed", "seq": 2, "code": reason}
        assert await browser.close_code() == code
    assert hub.followers(room[0]) == 0


@pytest.mark.requirement("stream.heartbeat")
async def test_a_quiet_socket_hears_a_heartbeat(room, settings):
    settings.STREAM_HEARTBEAT_S = 0.02
    await append(room, SUBMITTED)
    async with socket(room, after=1) as browser:
        assert await browser.frame() == {"type": "heartbeat", "seq": 1}


async def test_what_the_page_sends_is_ignored_up_to_a_bound(room):
    async with socket(room) as browser:
        await browser.send_to(text_data="hello?")
        await append(room, SUBMITTED)
        assert (await browser.frame())["seq"] == 1
        await browser.send_to(text_data="x" * streams.MAX_INPUT_CHARS)
        assert await browser.close_code() == 4413


async def test_a_page_that_leaves_leaves_no_follower_behind(room):
    async with socket(room) as browser:
        await append(room, SUBMITTED)
        await browser.frame()
        assert hub.followers(room[0]) == 1
    assert hub.followers(room[0]) == 0


async def test_a_connection_that_the_server_gives_up_leaves_no_follower_behind(room):
    opened = Socket(f"sessionId={room[0]}&after=0", headers(room[1]))
    await opened.connect(timeout=5)
    await append(room, SUBMITTED)
    await opened.frame()
    opened.future.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opened.future
    assert hub.followers(room[0]) == 0


async def test_too_many_pages_of_one_chat_are_refused_by_name(room, monkeypatch):
    monkeypatch.setattr(streams, "MAX_FOLLOWERS", 1)
    await append(room, SUBMITTED)
    async with socket(room) as first:
        await first.frame()
        async with socket(room) as second:
            assert await second.close_code() == 4429


@pytest.mark.requirement("stream.bounded-followers")
async def test_of_pages_that_come_together_only_as_many_as_may_follow_are_served(room, monkeypatch):
    monkeypatch.setattr(streams, "MAX_FOLLOWERS", 2)
    allow, together = streams.sessions.authorize_stream, threading.Barrier(4)

    def all_at_once(**asked):
        allow(**asked)
        together.wait(5)

    monkeypatch.setattr(streams.sessions, "authorize_stream", all_at_once)
    await append(room, SUBMITTED)
    async with contextlib.AsyncExitStack() as sockets:
        pages = [await sockets.enter_async_context(socket(room)) for _ in range(4)]
        said = await asyncio.gather(*(page.receive_output(timeout=5) for page in pages))
        assert sorted(one.get("code", 0) for one in said) == [0, 0, 4429, 4429]
        assert hub.followers(room[0]) == 2


async def test_a_stream_that_breaks_closes_its_socket_and_is_logged(room, monkeypatch, caplog):
    def broken(**_):
        raise RuntimeError("the view could not be drawn")

    monkeypatch.setattr(streams, "follow", broken)
    async with socket(room) as browser:
        assert await browser.close_code() == 4500
    assert "the view could not be drawn" in caplog.text


@pytest.mark.requirement("stream.slow-follower")
async def test_a_page_that_does_not_read_is_dropped_with_a_code_and_a_reader_is_not(room, monkeypatch):
    """The server's `send` waits while a client does not read; here it waits for good."""
    monkeypatch.setattr(streams, "SEND_TIMEOUT_S", 0.05)
    session_id, cookie = room
    await append(room, SUBMITTED)
    closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    inbox: asyncio.Queue[dict] = asyncio.Queue()

    async def send(message):
        if message["type"] == "websocket.send":
            await asyncio.Event().wait()
        if message["type"] == "websocket.close":
            closed.set_result(message["code"])

    scope = {
        "type": "websocket",
        "path": "/api/capability/ui/stream",
        "query_string": f"sessionId={session_id}&after=0".encode(),
        "headers": headers(cookie),
    }
    async with socket(room) as reader:
        stuck = asyncio.create_task(streams.ThreadStream.as_asgi()(scope, inbox.get, send))
        await inbox.put({"type": "websocket.connect"})
        async with asyncio.timeout(5):
            assert await closed == 4408
        await append(room, STARTED)
        seen = await reader.frame()
        if seen["seq"] == 1:
            seen = await reader.frame()
        assert seen["seq"] == 2
        await inbox.put({"type": "websocket.disconnect", "code": 4408})
        async with asyncio.timeout(5):
            await stuck


@pytest.mark.requirement("stream.left")
async def test_a_page_that_leaves_while_it_is_sent_something_is_no_error(room, caplog):
    """The server's `send` refuses once the client is gone, a little before anybody is told so."""
    session_id, cookie = room
    await append(room, SUBMITTED)
    tried: asyncio.Queue[str] = asyncio.Queue()
    inbox: asyncio.Queue[dict] = asyncio.Queue()

    async def send(message):
        if message["type"] != "websocket.accept":
            tried.put_nowait(message["type"])
            raise Disconnected("Attempt to send on a closed protocol")

    scope = {
        "type": "websocket",
        "path": "/api/capability/ui/stream",
        "query_string": f"sessionId={session_id}&after=0".encode(),
        "headers": headers(cookie),
    }
    connection = asyncio.create_task(streams.ThreadStream.as_asgi()(scope, inbox.get, send))
    await inbox.put({"type": "websocket.connect"})
    async with asyncio.timeout(5):
        assert await tried.get() == "websocket.send"
        await inbox.put({"type": "websocket.disconnect", "code": 1006})
        await connection
    assert tried.empty()
    assert hub.followers(session_id) == 0
    assert caplog.records == []
