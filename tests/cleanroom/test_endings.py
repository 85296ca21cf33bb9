"""How a turn ended, in the words of the log."""

from __future__ import annotations

import pytest

from cleanroom.endings import ending, guard_facts
from cleanroom.guard import Reading
from cleanroom.turns import Turn


@pytest.mark.requirement("host.stop.clock")
@pytest.mark.parametrize("state", [Turn.INTERRUPTED, Turn.FAILED])
def test_a_turn_that_ran_out_of_time_has_failed_whatever_the_agent_called_it(state: Turn) -> None:
    end = ending(state=state, by_user=False, timed_out=True, payload={"durationMs": 5})
    assert (end.state, end.type, end.payload["code"]) == (Turn.FAILED, "turn.failed", "turn_timeout")


def test_a_turn_that_was_done_as_its_time_ran_out_is_completed() -> None:
    end = ending(state=Turn.COMPLETED, by_user=False, timed_out=True, payload={"durationMs": 5})
    assert (end.state, end.type, end.payload) == (Turn.COMPLETED, "turn.completed", {"durationMs": 5})


@pytest.mark.parametrize("by_user", [True, False])
def test_a_stopped_turn_says_who_stopped_it_whatever_the_agent_says(by_user: bool) -> None:
    end = ending(state=Turn.INTERRUPTED, by_user=by_user, timed_out=False, payload={"byUser": not by_user})
    assert (end.type, end.payload) == ("turn.interrupted", {"byUser": by_user})


def test_a_failure_always_has_a_code_and_a_sentence() -> None:
    end = ending(state=Turn.FAILED, by_user=False, timed_out=False, payload={})
    assert end.payload == {"code": "provider_error", "message": "The turn failed."}


@pytest.mark.parametrize(
    ("reading", "keys", "outcome"),
    [
        (Reading(installed=True, requests=0), ("HOME", "PATH"), "no_real_paperclip_request"),
        (Reading(installed=True, requests=1), ("HOME", "PATH"), "real_paperclip_request"),
        (Reading(installed=True, requests=0), ("HOME", "PAPERCLIP_API_KEY"), "real_paperclip_request"),
        (Reading(installed=False, requests=0), ("HOME", "PATH"), "not_measured"),
    ],
)
def test_the_network_guard_claims_only_what_was_measured(reading: Reading, keys: tuple[str, ...], outcome: str) -> None:
    assert guard_facts("session-1", reading, keys)["outcome"] == outcome
