"""The smoke run: what it judges, that each judgement can fail, and one real run with real Codex."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

from capability.models import AuthorizationRecord
from cleanroom.bench.bars import (
    call_bar,
    decision_bar,
    dispatch_bar,
    open_bar,
    page_bar,
    percentile,
    redactor_bar,
    turn_bar,
)
from cleanroom.bench.boundary import HOSTILE, WARM_UPS, measure_boundary
from cleanroom.smoke.client import Answer, TurnSeen
from cleanroom.smoke.journey import Journey
from cleanroom.smoke.judge import ASSERTIONS, EXPECTED_ROUTES, as_table, judge, summarize

NAMES = {
    *("cleanRoomOpened", "blankThread", "noCannedEvidence", "liveIdentity", "freshMockTenant", "streamedIncrementally"),
    *("realCodexTurn", "semanticToolCalled", "mockStateMutated", "authorizationRecorded", "multiTurnSameSession"),
    *("composerReady", "realApiBlocked", "noCredentialInView", "newChatRotatesIdentity", "priorAuthorityRetired"),
    *("crossSessionDenied", "capabilityBound"),
}
LABELS = {"agentLabel": "Real Codex", "runnerLabel": "Real runnerd", "controlPlaneLabel": "Mock Paperclip"}


def payload(token: str, *, turns: list[dict[str, Any]], evidence: dict[str, Any]) -> dict[str, Any]:
    identity = {"token": token, "identifier": f"MCK-{token}"}
    identity |= {name: f"{name}-{token}" for name in ("companyId", "taskId", "actorId")}
    view = {
        "mode": "live",
        "identity": {**LABELS, "modelLabel": "Some model"},
        "issue": {"identifier": f"MCK-{token}"},
        "turns": turns,
        "evidence": {"calls": [], "authorization": [], "controlPlane": [], **evidence},
        "replay": None,
        "composer": {"state": "ready"},
    }
    started = len([turn for turn in turns if turn["id"] != "turn-0"])
    return {
        "sessionId": f"session-{token}",
        "surface": "cleanroom",
        "identity": identity,
        "turns": started,
        "cursor": 3,
        "view": view,
    }


def turn(number: int, *items: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"turn-{number}", "state": "completed", "items": list(items)}


def good_journey() -> Journey:
    """A journey on which every assertion holds; each test below spoils one thing."""
    start = {"id": "turn-0", "state": "completed", "items": [{"id": "n", "kind": "system_notice", "text": "ready"}]}
    said = {"id": "item-1", "kind": "agent_message", "body": "I read it and said so."}
    comment = {"id": "call-2:c", "kind": "durable_comment", "body": "read"}
    calls = [
        {"id": f"call-{n}", "operationId": name, "outcome": "ok"}
        for n, name in ((1, "get_task_context"), (2, "report_progress"))
    ]
    evidence = {
        "calls": calls,
        "authorization": [{"id": f"auth-{n}", "callId": f"call-{n}", "allowed": True} for n in (1, 2)],
        "controlPlane": [{"id": "network-guard-s", "outcome": "no_real_paperclip_request"}],
    }
    frames = (
        {
            "type": "frame",
            "seq": 4,
            "ops": [{"op": "item", "item": {"id": "item-1", "kind": "agent_message", "body": ""}}],
        },
        {"type": "frame", "seq": 5, "ops": [{"op": "text", "id": "item-1", "text": "I read it"}]},
        {"type": "frame", "seq": 6, "ops": [{"op": "text", "id": "item-1", "text": " and said so."}]},
        {"type": "settled", "seq": 7, "ops": []},
    )
    addresses = ("message", "interrupt", "reconnect", "reset", "interaction", "stream")
    opened = payload("1234", turns=[start], evidence={})
    return Journey(
        opened=Answer(status=200, body=opened),
        first=TurnSeen(answer=Answer(status=202, body={}), frames=frames),
        after_first=payload("1234", turns=[start, turn(1, said, comment)], evidence=evidence),
        second=TurnSeen(answer=Answer(status=202, body={}), frames=({"type": "settled", "seq": 12, "ops": []},)),
        settled=payload("1234", turns=[start, turn(1, said, comment), turn(2, said)], evidence=evidence),
        new_chat=Answer(status=201, body=payload("5678", turns=[start], evidence={})),
        retired=dict.fromkeys(addresses, 404),
        stranger=dict.fromkeys((*addresses, "cleanroom/session"), 404),
        routes=dict(EXPECTED_ROUTES),
        cookies=["paperclip_capability_chat_4184"],
        received=['{"id": "task-cleanroom-12345678", "text": "Bearer [REDACTED]"}'],
    )


def spoil(path: str, value: Any) -> Callable[[Journey], None]:
    """Return a change of one value, by a path such as `settled.view.composer.state`."""

    def change(journey: Journey) -> None:
        *steps, last = path.split(".")
        at: Any = journey
        for step in steps:
            at = (
                at[int(step)]
                if isinstance(at, list | tuple)
                else at[step]
                if isinstance(at, dict)
                else getattr(at, step)
            )
        if isinstance(at, dict):
            at[last] = value
        else:
            setattr(at, last, value)

    return change


SPOILED: list[tuple[str, Callable[[Journey], None]]] = [
    ("cleanRoomOpened", spoil("opened.body.surface", "issue")),
    ("blankThread", spoil("opened.body.view.turns", [turn(1)])),
    ("noCannedEvidence", spoil("opened.body.view.replay", {"ordinal": 1})),
    ("noCannedEvidence", spoil("opened.body.view.evidence.calls", [{"id": "call-1"}])),
    ("liveIdentity", spoil("opened.body.view.identity.runnerLabel", "In-process runner")),
    ("liveIdentity", spoil("opened.body.view.mode", "replay")),
    ("freshMockTenant", spoil("opened.body.view.issue.identifier", "MCK-9")),
    ("streamedIncrementally", spoil("first", TurnSeen(answer=Answer(status=202, body={}), frames=()))),
    ("streamedIncrementally", spoil("after_first.view.turns.1.items.0.body", "Something else.")),
    ("realCodexTurn", spoil("after_first.view.turns.1.state", "failed")),
    ("semanticToolCalled", spoil("after_first.view.evidence.calls.1.outcome", "denied")),
    ("mockStateMutated", spoil("after_first.view.turns.1.items", [])),
    ("authorizationRecorded", spoil("after_first.view.evidence.authorization", [])),
    ("multiTurnSameSession", spoil("settled.sessionId", "session-other")),
    ("multiTurnSameSession", spoil("settled.turns", 1)),
    ("composerReady", spoil("settled.view.composer.state", "waiting")),
    ("realApiBlocked", spoil("settled.view.evidence.controlPlane", [])),
    ("realApiBlocked", spoil("settled.view.evidence.controlPlane.0.outcome", "real_paperclip_request")),
    ("newChatRotatesIdentity", spoil("new_chat.body.identity.taskId", "taskId-1234")),
    ("priorAuthorityRetired", spoil("retired.reset", 200)),
    ("priorAuthorityRetired", spoil("retired", {})),
    ("crossSessionDenied", spoil("stranger.cleanroom/session", 200)),
    ("capabilityBound", spoil("cookies", ["other"])),
]


@pytest.mark.requirement("smoke.assertions")
def test_every_named_assertion_is_judged_and_holds_on_a_good_journey() -> None:
    assert set(ASSERTIONS) == NAMES
    assert [name for name, held in judge(good_journey()).items() if not held] == []
    assert summarize(good_journey())["passed"] is True


@pytest.mark.requirement("smoke.assertions")
@pytest.mark.parametrize(("name", "change"), SPOILED, ids=[f"{n}-{i}" for i, (n, _) in enumerate(SPOILED)])
def test_an_assertion_fails_when_its_fact_is_spoiled(name: str, change: Callable[[Journey], None]) -> None:
    journey = copy.deepcopy(good_journey())
    change(journey)
    assert judge(journey)[name] is False
    assert summarize(journey)["passed"] is False


@pytest.mark.parametrize(
    "leak",
    [
        "Authorization: Bearer abcdefgh12345678",
        '"text": "sk-live-abcdefgh12345678"',
        '{"x-api-key": "abcd"}',
        "PAPERCLIP_API_KEY",
        "OPENAI_API_KEY",
    ],
)
def test_a_credential_in_anything_received_is_found(leak: str) -> None:
    journey = good_journey()
    journey.received.append(leak)
    assert judge(journey)["noCredentialInView"] is False


def test_a_journey_that_broke_off_is_judged_and_says_why() -> None:
    journey = Journey(opened=Answer(status=503, body={"error": "codex_unavailable"}), trouble="the room did not open")
    summary = summarize(journey)
    assert set(summary["assertions"].values()) == {False}
    assert "the room did not open" in as_table(summary)


@pytest.mark.codex
@pytest.mark.requirement("smoke.assertions")
def test_the_smoke_command_passes_with_real_codex_and_leaves_nothing_behind() -> None:
    command = [sys.executable, "manage.py", "smoke_cleanroom", "--json"]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=dict(os.environ), capture_output=True, text=True, timeout=240, check=False
    )
    summary = json.loads(done.stdout)
    assert [name for name, held in summary["assertions"].items() if not held] == [], done.stderr
    assert (summary["schema"], summary["turns"]) == ("paperclip.capability.clean-room-smoke.v1", 2)
    assert "Rehearsal model" in summary["model"]
    assert summary["routes"] == EXPECTED_ROUTES
    assert done.returncode == 0
    left = settings.VAR_DIR / "smoke"
    assert not left.exists() or list(left.iterdir()) == []


@pytest.mark.requirement("bench.bars")
def test_a_bar_is_a_ratio_of_medians_and_says_when_it_does_not_hold() -> None:
    held = open_bar(ours_ms=[150, 100, 900], raw_ms=[100, 90, 400])
    assert (held.limits[0].value, held.holds) == (1.5, True)
    assert open_bar(ours_ms=[1100], raw_ms=[1000]).holds is False  # within the ratio, but not within a second
    assert turn_bar(ours_ms=[115.0], raw_ms=[100.0]).holds is True
    assert turn_bar(ours_ms=[116.0], raw_ms=[100.0]).holds is False
    assert call_bar(calls_ms=[4.0] * 98 + [26.0] * 2).holds is False
    assert call_bar(calls_ms=[4.0] * 99 + [26.0]).holds is True
    assert page_bar(first_ms=[900.0, 950.0, 4000.0], again_ms=[300.0]).holds is True
    assert page_bar(first_ms=[1001.0], again_ms=[300.0]).holds is False
    assert page_bar(first_ms=[900.0], again_ms=[1001.0]).holds is False
    assert [percentile([3, 1, 2, 4], p) for p in (50, 99, 25)] == [2, 4, 1]


@pytest.mark.requirement("bench.boundary")
def test_the_bars_of_the_boundary_hold_up_to_their_limits_and_no_further() -> None:
    assert dispatch_bar(dispatch_ms=[4.0, 4.0, 90.0], bare_ms=[2.0, 2.0, 2.0]).holds
    assert not dispatch_bar(dispatch_ms=[4.1], bare_ms=[2.0]).holds
    assert decision_bar(decision_us=[50.0]).holds
    assert not decision_bar(decision_us=[50.1]).holds
    redaction = {
        "dense_us": [900.0],
        "prose_us": [100.0],
        "half_us": [10.0],
        "whole_us": [25.0],
        "hostile_ratios": [2.5],
    }
    assert redactor_bar(**redaction).holds
    assert not redactor_bar(**{**redaction, "prose_us": [100.1]}).holds
    assert not redactor_bar(**{**redaction, "whole_us": [25.1]}).holds
    assert not redactor_bar(**{**redaction, "hostile_ratios": [2.0, 2.51]}).holds


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("bench.boundary")
def test_the_boundary_is_really_measured() -> None:
    times = measure_boundary(rounds=2)
    found = dataclasses.asdict(times)
    assert len(found.pop("hostile_ratios")) == len(HOSTILE)
    assert min(times.hostile_ratios) > 0
    assert all(len(values) == 2 and min(values) > 0 for values in found.values())
    assert AuthorizationRecord.objects.filter(operation_id="report_progress", allowed=True).count() == 2 * (
        2 + WARM_UPS
    )
