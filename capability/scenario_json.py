"""A scenario as JSON: what an operator asks about without registering it. Every name in it must be known here.

{"id": "mild", "claims": ["discovery:agents:read"], "denyOperations": ["report_progress"]}
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from capability.catalog import LIVE_OPERATIONS
from capability.profiles import EVERY_CLAIM
from capability.scenario import Scenario
from mockcore.refusal import Refusal
from mockcore.vocabulary import InteractionKind

MAX_BYTES: Final = 65_536  # of a file; every name of the catalog fits many times
OPERATIONS: Final = frozenset(operation.id for operation in LIVE_OPERATIONS)
KINDS: Final = frozenset(map(str, InteractionKind))


class ScenarioInvalid(Refusal):
    """That is no scenario."""

    code = "scenario_invalid"


def read_scenario(text: str) -> Scenario:
    """Return the scenario of a JSON object. Only `id` is needed. Raises `ScenarioInvalid`, naming the field."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioInvalid("the scenario is no JSON") from error
    if not isinstance(given, dict):
        raise ScenarioInvalid("the scenario is no JSON object")
    unknown = sorted(set(given) - set(FIELDS))
    if unknown:
        raise ScenarioInvalid(f"a scenario has no field {unknown[0]}; it has {', '.join(FIELDS)}")
    if "id" not in given:
        raise ScenarioInvalid("a scenario needs an id")
    return Scenario(**{FIELDS[name][0]: FIELDS[name][1](name, value) for name, value in given.items()})


def read_scenario_file(path: Path) -> Scenario:
    """Return the scenario in a file. Raises `ScenarioInvalid` when it cannot be read or is none."""
    try:
        with path.open("rb") as file:
            held = file.read(MAX_BYTES + 1)
        text = held.decode()
    except (OSError, ValueError) as error:
        raise ScenarioInvalid(f"the scenario file {path} cannot be read") from error
    if len(held) > MAX_BYTES:
        raise ScenarioInvalid(f"the scenario file {path} holds more than {MAX_BYTES:,} bytes")
    return read_scenario(text)


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ScenarioInvalid(f"{name} must be a word")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ScenarioInvalid(f"{name} must be true or false")
    return value


def _among(known: frozenset[str]) -> Callable[[str, Any], frozenset[str]]:
    def read(name: str, value: Any) -> frozenset[str]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ScenarioInvalid(f"{name} must be a list of words")
        unknown = sorted(set(value) - known)
        if unknown:
            raise ScenarioInvalid(
                f"{name} holds {unknown[0]}, which is not known; known are {', '.join(sorted(known))}"
            )
        return frozenset(value)

    return read


# By the name in JSON: the field of `Scenario`, and how its value is read. What may be absent means "no restriction".
FIELDS: Final[dict[str, tuple[str, Callable[[str, Any], Any]]]] = {
    "id": ("id", _word),
    "claims": ("claims", _among(EVERY_CLAIM)),
    "allowOperations": ("allow_operations", _among(OPERATIONS)),
    "denyOperations": ("deny_operations", _among(OPERATIONS)),
    "allowedInteractionKinds": ("allowed_interaction_kinds", _among(KINDS)),
    "enableGenericApiRequest": ("enable_generic_api_request", _flag),
}
