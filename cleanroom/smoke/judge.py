"""The judgement of a journey: the named assertions and the summary. Pure. Source: reference B section 1.13."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from cleanroom.smoke.client import TurnSeen
from cleanroom.smoke.journey import Journey

SCHEMA = "paperclip.capability.clean-room-smoke.v1"
LABELS = {"agentLabel": "Real Codex", "runnerLabel": "Real runnerd", "controlPlaneLabel": "Mock Paperclip"}
CHAT_COOKIE = "paperclip_capability_chat_"  # and the port
PREFIXES_SHOWN = 3
EXPECTED_ROUTES = {"interrupt": 409, "interaction": 404, "reconnect": 200, "reset": 200}
CREDENTIALS = (
    re.compile(r"bearer\s+(?!\[REDACTED\])[A-Za-z0-9._~+/-]{8,}", re.IGNORECASE),
    re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{8,}"),  # not inside `task-…`
    re.compile(r"\"[\w-]*api[_-]?key\"\s*:\s*\"(?!\[REDACTED\])[^\"]+\"", re.IGNORECASE),
    re.compile(r"PAPERCLIP_API_KEY|OPENAI_API_KEY"),
)
Json = Mapping[str, Any]


def summarize(journey: Journey) -> dict[str, Any]:
    """Return the whole result as JSON. `passed` is true when every assertion and every route is as promised."""
    assertions = judge(journey)
    first, new = opened_body(journey), new_body(journey)
    states = list(prose_states(journey.first))
    evidence = view_of(journey.settled).get("evidence", {})
    return {
        "schema": SCHEMA,
        "passed": all(assertions.values()) and journey.routes == EXPECTED_ROUTES,
        "model": view_of(first).get("identity", {}).get("modelLabel", ""),
        "assertions": assertions,
        "firstSessionId": first.get("sessionId"),
        "firstIssue": first.get("identity", {}).get("identifier"),
        "newChatSessionId": new.get("sessionId"),
        "newChatIssue": new.get("identity", {}).get("identifier"),
        "turns": journey.settled.get("turns", 0),
        "streamedStates": len(states),
        "streamedPrefixes": [state[:80] for state in states[:PREFIXES_SHOWN]],
        "toolCalls": [
            {"operationId": row.get("operationId"), "outcome": row.get("outcome")} for row in evidence.get("calls", [])
        ],
        "authorizationRecords": len(evidence.get("authorization", [])),
        "assistantReply": settled_prose(journey.settled),
        "routes": journey.routes,
        "retired": journey.retired,
        "stranger": journey.stranger,
        "trouble": journey.trouble,
    }


def judge(journey: Journey) -> dict[str, bool]:
    """Return every assertion by its name. What was never reached is false."""
    return {name: holds(check, journey) for name, check in ASSERTIONS.items()}


def holds(check: Callable[[Journey], bool], journey: Journey) -> bool:
    try:
        return bool(check(journey))
    except (AttributeError, KeyError, IndexError, TypeError):
        return False  # the shape was not as promised, or the journey broke off before


# ---------------------------------------------------------------- readings
def opened_body(journey: Journey) -> Json:
    return journey.opened.body if journey.opened else {}


def new_body(journey: Journey) -> Json:
    return journey.new_chat.body if journey.new_chat else {}


def view_of(payload: Json) -> Json:
    view = payload.get("view", {})
    return view if isinstance(view, Mapping) else {}


def spoken_turns(payload: Json) -> list[Json]:
    """Return the turns that a message began, without `turn-0`, where facts outside any turn stand."""
    return [turn for turn in view_of(payload).get("turns", []) if turn.get("id") != "turn-0"]


def items(payload: Json, kind: str) -> list[Json]:
    return [item for turn in spoken_turns(payload) for item in turn["items"] if item["kind"] == kind]


def prose_states(turn: TurnSeen | None) -> Iterator[str]:
    """Yield what the last agent message of a turn read after each frame that changed it."""
    body: dict[str, str] = {}
    states: list[tuple[str, str]] = []
    for frame in turn.frames if turn else ():
        changed = None
        for op in frame.get("ops", []):
            if op["op"] == "item" and op["item"]["kind"] == "agent_message":
                changed = op["item"]["id"]
                body[changed] = op["item"].get("body", "")
            elif op["op"] == "text" and op["id"] in body:
                changed = op["id"]
                body[changed] += op["text"]
        if changed is not None:
            states.append((changed, body[changed]))
    last = states[-1][0] if states else ""
    yield from dict.fromkeys(text for item, text in states if item == last and text)


def settled_prose(payload: Json) -> str:
    """Return the last agent message of the first turn, as a fresh snapshot has it."""
    first: Json = next(iter(spoken_turns(payload)), {})
    bodies = [item.get("body", "") for item in first.get("items", []) if item["kind"] == "agent_message"]
    return str(bodies[-1]) if bodies else ""


# ---------------------------------------------------------------- the assertions
def blank(payload: Json) -> bool:
    return spoken_turns(payload) == [] and payload["turns"] == 0


def no_canned_evidence(journey: Journey) -> bool:
    view = view_of(opened_body(journey))
    return view["evidence"]["calls"] == [] and "parity" not in view["evidence"] and view["replay"] is None


def live_identity(journey: Journey) -> bool:
    view = view_of(opened_body(journey))
    return view["mode"] == "live" and all(view["identity"][name] == label for name, label in LABELS.items())


def fresh_tenant(journey: Journey) -> bool:
    body = opened_body(journey)
    identifier = body["identity"]["identifier"]
    token = body["identity"]["token"]
    return bool(isinstance(token, str) and token and identifier.startswith("MCK-")) and (
        view_of(body)["issue"]["identifier"] == identifier
    )


def streamed(journey: Journey) -> bool:
    states = list(prose_states(journey.first))
    grown = all(after.startswith(before) for before, after in pairwise(states))
    return len(states) >= 2 and grown and states[-1] == settled_prose(journey.after_first)


def codex_turn(journey: Journey) -> bool:
    turn = spoken_turns(journey.after_first)[0]
    return journey.first is not None and journey.first.ended == "settled" and turn["state"] == "completed"


def called(journey: Journey) -> bool:
    done = {row["operationId"] for row in view_of(journey.after_first)["evidence"]["calls"] if row["outcome"] == "ok"}
    return {"get_task_context", "report_progress"} <= done


def authorized(journey: Journey) -> bool:
    evidence = view_of(journey.after_first)["evidence"]
    proven = {row["callId"] for row in evidence["authorization"] if row["allowed"] and row["id"]}
    return bool(evidence["calls"]) and {row["id"] for row in evidence["calls"] if row["outcome"] == "ok"} <= proven


def one_session(journey: Journey) -> bool:
    states = [turn["state"] for turn in spoken_turns(journey.settled)]
    same = journey.settled["sessionId"] == opened_body(journey)["sessionId"]
    second = journey.second is not None and journey.second.ended == "settled"
    return same and second and states == ["completed", "completed"] and journey.settled["turns"] == 2


def guarded(journey: Journey) -> bool:
    rows = [r for r in view_of(journey.settled)["evidence"]["controlPlane"] if r["id"].startswith("network-guard-")]
    return bool(rows) and all(row["outcome"] == "no_real_paperclip_request" for row in rows)


def no_credential(journey: Journey) -> bool:
    text = "\n".join(journey.received)
    return bool(text) and not any(pattern.search(text) for pattern in CREDENTIALS)


def rotated(journey: Journey) -> bool:
    old, new = opened_body(journey), new_body(journey)
    ids = [(old["sessionId"], new["sessionId"])]
    ids += [(old["identity"][name], new["identity"][name]) for name in ("companyId", "taskId", "actorId", "token")]
    return (
        journey.new_chat is not None and journey.new_chat.status == 201 and all(a != b for a, b in ids) and blank(new)
    )


ASSERTIONS: dict[str, Callable[[Journey], bool]] = {
    "cleanRoomOpened": lambda j: (
        j.opened is not None and j.opened.status == 200 and j.opened.body["surface"] == "cleanroom"
    ),
    "blankThread": lambda j: blank(opened_body(j)),
    "noCannedEvidence": no_canned_evidence,
    "liveIdentity": live_identity,
    "freshMockTenant": fresh_tenant,
    "streamedIncrementally": streamed,
    "realCodexTurn": codex_turn,
    "semanticToolCalled": called,
    "mockStateMutated": lambda j: bool(items(j.after_first, "durable_comment")),
    "authorizationRecorded": authorized,
    "multiTurnSameSession": one_session,
    "composerReady": lambda j: view_of(j.settled)["composer"]["state"] == "ready",
    "realApiBlocked": guarded,
    "noCredentialInView": no_credential,
    "newChatRotatesIdentity": rotated,
    "priorAuthorityRetired": lambda j: len(j.retired) == 6 and set(j.retired.values()) == {404},
    "crossSessionDenied": lambda j: len(j.stranger) == 7 and set(j.stranger.values()) == {404},
    "capabilityBound": lambda j: any(name.startswith(CHAT_COOKIE) for name in j.cookies),
}


def as_table(summary: Json) -> str:
    """Return the result for a person: one line per assertion, then the facts."""
    lines = [f"{'ok  ' if held else 'FAIL'}  {name}" for name, held in summary["assertions"].items()]
    lines += ["", f"Model     {summary['model']}", f"Issues    {summary['firstIssue']}, then {summary['newChatIssue']}"]
    calls = ", ".join(f"{call['operationId']} ({call['outcome']})" for call in summary["toolCalls"])
    lines += [f"Calls     {calls or 'none'}", f"Routes    {json.dumps(summary['routes'])}"]
    lines += [f"Answer    {' '.join(summary['assistantReply'].split())[:200]}"]
    if summary["trouble"]:
        lines.append(f"Trouble   {summary['trouble']}")
    return "\n".join(lines)
