"""The journey of the smoke run: open, two turns on one thread, every other route, New chat, a stranger."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from cleanroom.smoke.client import Answer, Browser, TurnSeen

FIRST = (
    "Use get_task_context to read this issue, then use report_progress to record one sentence of status on it. "
    "Answer in two or three sentences."
)
SECOND = "What did you record? Answer in one or two sentences."
JOURNEY_S = 420


@dataclass(kw_only=True)
class Journey:
    """What was seen, as far as the journey came. `trouble` says in one sentence why it went no further."""

    opened: Answer | None = None
    first: TurnSeen | None = None
    after_first: Mapping[str, Any] = field(default_factory=dict)
    second: TurnSeen | None = None
    settled: Mapping[str, Any] = field(default_factory=dict)
    new_chat: Answer | None = None
    retired: dict[str, int] = field(default_factory=dict)  # status of each address for the old id
    stranger: dict[str, int] = field(default_factory=dict)  # the same for the new id in another browser
    routes: dict[str, int] = field(default_factory=dict)  # what the other routes answered
    cookies: list[str] = field(default_factory=list)
    received: list[str] = field(default_factory=list)
    trouble: str = ""


async def travel(address: str) -> Journey:
    """Drive the whole journey. Returns what was seen also when it broke off; never raises for what a server does."""
    journey = Journey()
    try:
        async with asyncio.timeout(JOURNEY_S), Browser.at(address) as ours, Browser.at(address) as theirs:
            try:
                await drive(journey, ours, theirs)
            finally:
                journey.cookies = ours.cookies()
                journey.received = ours.received + theirs.received
    except (aiohttp.ClientError, TimeoutError, OSError, KeyError) as error:
        journey.trouble = f"{type(error).__name__}: {error}"
    return journey


async def drive(journey: Journey, ours: Browser, theirs: Browser) -> None:
    journey.opened = await ours.get("cleanroom/session")
    if journey.opened.status != 200:
        journey.trouble = f"the room did not open: {journey.opened.code} {journey.opened.body.get('message', '')}"
        return
    session_id = str(journey.opened.body["sessionId"])

    journey.first = await ours.turn(session_id=session_id, cursor=int(journey.opened.body["cursor"]), text=FIRST)
    journey.after_first = (await ours.get(f"cleanroom/session?sessionId={session_id}")).body
    cursor = int(journey.after_first["cursor"])
    journey.second = await ours.turn(session_id=session_id, cursor=cursor, text=SECOND)
    journey.settled = (await ours.get(f"cleanroom/session?sessionId={session_id}")).body

    await ask_the_other_routes(journey, ours, session_id)
    journey.new_chat = await ours.post("cleanroom/session", sessionId=session_id)
    new_id = str(journey.new_chat.body["sessionId"])
    journey.retired = await statuses(ours, session_id)
    journey.stranger = await statuses(theirs, new_id)
    opened = await theirs.get(f"cleanroom/session?sessionId={new_id}")
    journey.stranger["cleanroom/session"] = opened.status
    journey.routes["reset"] = (await ours.post("reset", sessionId=new_id)).status


async def ask_the_other_routes(journey: Journey, ours: Browser, session_id: str) -> None:
    """Ask what is left of the seven routes at rest: nothing to stop, no such card, and a new runner on one thread."""
    card = {"interactionId": "interaction-none", "outcome": "answered", "result": None}
    journey.routes["interrupt"] = (await ours.post("interrupt", sessionId=session_id)).status
    journey.routes["interaction"] = (await ours.post("interaction", sessionId=session_id, **card)).status
    journey.routes["reconnect"] = (await ours.post("reconnect", sessionId=session_id)).status


async def statuses(browser: Browser, session_id: str) -> dict[str, int]:
    """Return what every address of a session answers this browser: the five routes and the socket."""
    card = {"interactionId": "interaction-0001", "outcome": "answered", "result": None}
    bodies: dict[str, dict[str, Any]] = {"message": {"message": "hello"}, "interrupt": {}, "reconnect": {}, "reset": {}}
    bodies["interaction"] = card
    found = {}
    for route, body in bodies.items():
        found[route] = (await browser.post(route, sessionId=session_id, **body)).status
    found["stream"] = await browser.socket_status(session_id=session_id)
    return found
