"""What a handler is given, and the small checks that handlers share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mockcore.models import Actor, Run, Task
from mockcore.refusal import Refusal
from mockcore.work import UnitOfWork


class CommandInvalid(Refusal):
    """The command's own values are not acceptable."""

    code = "semantic_command_invalid"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One mutation about to happen: the work it writes to, the run it is sent for, its task and who speaks.

    `author` is None when the board or the company itself speaks; `run` is None when only time has passed. `mentioned`
    collects references of entities that the command names but does not change.
    """

    work: UnitOfWork
    task: Task
    author: Actor | None
    run: Run | None = None
    mentioned: set[str] = field(default_factory=set)


def text_in(value: Any, *, name: str, at_most: int | None = None) -> str:
    """Return a text that says something; raises `CommandInvalid` when it is blank, no text, or too long to index."""
    if not isinstance(value, str) or not value.strip():
        raise CommandInvalid(f"{name} must not be blank")
    if at_most is not None and len(value) > at_most:
        raise CommandInvalid(f"{name} must have at most {at_most} characters")
    return value


def object_in(value: Any, *, name: str) -> dict[str, Any]:
    """Return a JSON object, empty when it was omitted; raises `CommandInvalid` for any other value."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise CommandInvalid(f"{name} must be an object")
    return value


def word_in(value: Any, *, known: Any, name: str) -> str:
    """Return a value of the enum `known`; raises `CommandInvalid` for any other."""
    if value not in {str(word) for word in known}:
        raise CommandInvalid(f"{name} must be one of: {', '.join(known)}")
    return str(value)


def whole_number_in(value: Any, *, name: str, at_most: int, refusal: type[Refusal]) -> int:
    """Return a whole number from 0 to `at_most`; raises the given refusal for any other value."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= at_most:
        raise refusal(f"{name} must be a whole number from 0 to {at_most}")
    return value
