"""What the model may answer with, as values: calls, text, or a refusal to answer. Shapes only."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cleanroom.rehearsal.conversation import Exchange, Result


@dataclass(frozen=True, kw_only=True)
class Call:
    """One tool call. `patch` is the free text of a custom tool, which takes no JSON."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    patch: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One model response. `failure` is an HTTP status to fail with instead; `seconds_a_word` slows the text down."""

    thinking: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()
    seconds_a_word: float | None = None
    failure: int | None = None


@dataclass(frozen=True, kw_only=True)
class Said:
    """How a plan ends: the paragraph it adds to the answer. `exact` words are never rewritten."""

    text: str
    exact: bool = False
    seconds_a_word: float | None = None
    failure: int | None = None


@dataclass(kw_only=True)
class Memory:
    """What the plans of one message have learnt so far, in order. Made anew for every request."""

    tools: Mapping[str, Mapping[str, Any]]
    earlier: Sequence[Exchange] = ()
    answer: str = ""  # the board's answer in words, when the message is one
    question: str = ""
    task: Mapping[str, Any] | None = None
    approval_id: str = ""
    document_title: str = ""  # of the document written last
    command_output: str | None = None
    postponed: tuple[str, ...] = ()  # titles of what waits for the board's answer


# A plan yields the calls of one model response, gets their results, and returns what to say.
Plan = Generator[tuple[Call, ...], tuple[Result, ...], Said]


def one(call: Call) -> Generator[tuple[Call, ...], tuple[Result, ...], Result]:
    """Make a single call and return its result."""
    results = yield (call,)
    return results[0]
