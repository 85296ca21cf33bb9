"""The turn table, walked whole."""

from __future__ import annotations

import itertools

import pytest

from cleanroom.turns import NEXT, TERMINAL, AlreadyTerminal, Turn, UnexpectedSignal, advance

SIGNALS = ("name", "interrupt", "complete", "stop", "fail")


@pytest.mark.requirement("turn.one-ending")
@pytest.mark.parametrize(("turn", "signal"), itertools.product(sorted(TERMINAL), SIGNALS))
def test_a_turn_that_has_ended_refuses_every_signal(turn: Turn, signal: str) -> None:
    with pytest.raises(AlreadyTerminal):
        advance(turn, signal)


@pytest.mark.parametrize(("turn", "signal"), itertools.product(NEXT, SIGNALS))
def test_a_living_turn_moves_as_the_table_says_and_refuses_the_rest(turn: Turn, signal: str) -> None:
    if signal in NEXT[turn]:
        assert advance(turn, signal) is NEXT[turn][signal]
    else:
        with pytest.raises(UnexpectedSignal):
            advance(turn, signal)


def test_every_living_turn_can_end_by_stopping_and_by_failing() -> None:
    for turn in NEXT:
        assert advance(turn, "stop") is Turn.INTERRUPTED
        assert advance(turn, "fail") is Turn.FAILED


def test_a_turn_without_a_name_cannot_complete() -> None:
    for turn in (Turn.STARTING, Turn.INTERRUPT_QUEUED):
        with pytest.raises(UnexpectedSignal):
            advance(turn, "complete")


def test_an_interrupt_before_the_name_is_kept_until_the_name_comes() -> None:
    queued = advance(Turn.STARTING, "interrupt")
    assert queued is Turn.INTERRUPT_QUEUED
    assert advance(queued, "name") is Turn.INTERRUPTING
