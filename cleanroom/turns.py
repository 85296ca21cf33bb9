"""The life of one turn as a table. Pure: knows no agent, no clock and no row."""

from __future__ import annotations

from enum import StrEnum

from mockcore.refusal import Refusal


class AlreadyTerminal(Refusal):
    """The turn had already ended."""

    code = "already_terminal"


class TurnActive(Refusal):
    """A turn is running; wait for its end, or stop it."""

    code = "turn_active"


class UnexpectedSignal(Exception):
    """A signal that the turn's state does not know: a bug of the caller."""


class Turn(StrEnum):
    STARTING = "starting"  # asked for; the provider has not named the turn yet
    INTERRUPT_QUEUED = "interrupt_queued"  # asked to stop before there was anything to stop
    RUNNING = "running"
    INTERRUPTING = "interrupting"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


TERMINAL = frozenset({Turn.COMPLETED, Turn.INTERRUPTED, Turn.FAILED})

NEXT: dict[Turn, dict[str, Turn]] = {
    Turn.STARTING: {
        "name": Turn.RUNNING,
        "interrupt": Turn.INTERRUPT_QUEUED,
        "stop": Turn.INTERRUPTED,
        "fail": Turn.FAILED,
    },
    Turn.INTERRUPT_QUEUED: {
        "name": Turn.INTERRUPTING,
        "interrupt": Turn.INTERRUPT_QUEUED,
        "stop": Turn.INTERRUPTED,
        "fail": Turn.FAILED,
    },
    Turn.RUNNING: {
        "interrupt": Turn.INTERRUPTING,
        "complete": Turn.COMPLETED,
        "stop": Turn.INTERRUPTED,
        "fail": Turn.FAILED,
    },
    Turn.INTERRUPTING: {
        "interrupt": Turn.INTERRUPTING,
        "complete": Turn.COMPLETED,
        "stop": Turn.INTERRUPTED,
        "fail": Turn.FAILED,
    },
}


def advance(turn: Turn, signal: str) -> Turn:
    """Return the state after `signal`. A terminal turn refuses every signal, so the first ending wins."""
    if turn not in NEXT:
        raise AlreadyTerminal
    if signal not in NEXT[turn]:
        raise UnexpectedSignal(turn, signal)
    return NEXT[turn][signal]
