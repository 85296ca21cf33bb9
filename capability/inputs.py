"""What a tool input must be before anyone looks inside it, and whether it fits its operation's schema.

An agent may send anything that its JSON library can write. Here it becomes plain, bounded JSON that both databases can
hold, or a sentence that says why not. No message repeats a value of the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from capability.catalog import LIVE_OPERATIONS, Operation
from capability.catalog.schema import plain
from capability.policy import Code
from capability.redaction import find_protected, redact
from mockcore.refusal import Refusal
from mockcore.text import clean_text

# Within the bounds of the scan for protected data, which takes whatever is out of bounds for protected: an input that
# is merely too large is told so.
DEPTH_LIMIT = 16  # levels of objects and arrays
VALUE_LIMIT = 10_000  # values of one input, names included
TEXT_LIMIT = 200_000  # characters of one text
TOTAL_LIMIT = 2_000_000  # characters of all texts together
WHOLE_LIMIT = 2**63  # no larger number is held exactly by every part of the path
UNDECLARED = "Additional properties are not allowed"  # how the validator begins
MESSAGE_LIMIT = 300  # characters of one issue
PROTECTED = "The input holds a protected field or something that looks like a credential. Leave it out and call again."

VALIDATORS = {
    operation.id: jsonschema_rs.Draft202012Validator(plain(operation.input_schema), mask="the value")
    for operation in LIVE_OPERATIONS
}


class NotPlainJson(Refusal):
    """The input is not JSON that can be stored."""

    code = "input_invalid"


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """Why an authorized input goes no further. The message repeats no value of it."""

    code: Code
    message: str


class _Budget:
    """What is left of an input's allowance while it is walked."""

    def __init__(self) -> None:
        self.values, self.characters = VALUE_LIMIT, TOTAL_LIMIT

    def spend(self, characters: int = 0) -> None:
        self.values -= 1
        self.characters -= characters
        if self.values < 0 or self.characters < 0:
            raise NotPlainJson("The input is too large.")


def clean(value: Any) -> Any:
    """Return `value` as fresh plain JSON with clean texts; whole floats such as 5.0 become integers.

    Raises `NotPlainJson` when it nests deeper than 16 levels, holds more than 10,000 values, a text of more than
    200,000 characters or 2,000,000 in all, a number that is not finite or not below 2**63, or what is no JSON at all.
    """
    return _clean(value, DEPTH_LIMIT, _Budget())


def _clean(value: Any, depth: int, budget: _Budget) -> Any:
    if isinstance(value, str):
        if len(value) > TEXT_LIMIT:
            raise NotPlainJson(f"The input holds a text of more than {TEXT_LIMIT:,} characters.")
        budget.spend(len(value))
        return clean_text(value)
    budget.spend()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if depth == 0:
        raise NotPlainJson("The input nests too deeply.")
    if isinstance(value, list):
        return [_clean(part, depth - 1, budget) for part in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {_clean(name, 0, budget): _clean(part, depth - 1, budget) for name, part in value.items()}
    raise NotPlainJson


def _number(value: float) -> float:
    if abs(value) < WHOLE_LIMIT:  # false for NaN and infinity too
        return int(value) if value == int(value) else value
    raise NotPlainJson("The input holds a number that is too large.")


def screen(*, operation: Operation, given: Any, unreadable: str = "") -> Flaw | None:
    """Return why clean input `given` goes no further, or None; `unreadable` says why there is no clean input.

    Plain JSON first, then protected data, then the schema. Source: reference A 2.4.
    """
    if unreadable:
        return Flaw(code=Code.INPUT_INVALID, message=unreadable)
    if find_protected(given) is not None:
        return Flaw(code=Code.PROTECTED_DATA_DENIED, message=PROTECTED)
    issue = first_issue(operation=operation, given=given)
    return None if issue is None else Flaw(code=Code.INPUT_INVALID, message=issue)


def first_issue(*, operation: Operation, given: Any) -> str | None:
    """Return where (a JSON pointer, `/` for the whole) and why clean input `given` does not fit; None if it does."""
    validator = VALIDATORS[operation.id]
    if validator.is_valid(given):
        return None
    issue = next(validator.iter_errors(given))
    where = "/" + "/".join(str(step) for step in issue.instance_path)
    return str(redact(f"{where}: {_cause(issue.message, operation)}"))[:MESSAGE_LIMIT]


def _cause(message: str, operation: Operation) -> str:
    """Return the validator's words; the names of undeclared fields are the caller's own and are not repeated."""
    if not message.startswith(UNDECLARED):
        return message
    return f"a field is not declared; this operation takes {', '.join(operation.field_names) or 'no fields'}"
