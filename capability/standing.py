"""The standing that a recorded decision was made under: the registered profile, or what the record itself proves.

A scenario is handed to a dispatcher and never stored. So where nobody registered it, its rules are read back from the
answer: what passed must have been allowed, what objected must have been forbidden. Knows no rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from capability.catalog.escape_hatch import ESCAPE_HATCH
from capability.policy import CHECKS, Code
from capability.profiles import Profile, UnknownScenario, known_profiles
from capability.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A profile. `inferred` when it was read back from the record, so rules behind the one that decided may differ."""

    profile: Profile
    inferred: bool = False


def of_record(record: dict[str, Any]) -> Standing:
    """Return the standing of an authorization record, as `list_authorization_records` returns it. Refuses none."""
    try:
        return Standing(profile=known_profiles.of_scenario(record["scenarioId"]))
    except UnknownScenario:
        return Standing(profile=_inferred(record), inferred=True)


def _inferred(record: dict[str, Any]) -> Profile:
    """Return the profile that answers this one operation as it was answered.

    Its claims are those that were in effect, and the delegation is taken to be all that the run holds. The escape hatch
    is on only if the record got past the check of it.
    """
    operation_id, code = record["operationId"], Code(record["code"])
    scenario = Scenario(
        id=record["scenarioId"],
        claims=frozenset(record["effectiveClaims"]),
        deny_operations=frozenset([operation_id] if code is Code.SCENARIO_DENIED else []),
        allowed_interaction_kinds=frozenset() if code is Code.INTERACTION_KIND_DENIED else None,
        enable_generic_api_request=operation_id == ESCAPE_HATCH and _place(code) > _place(Code.GENERIC_API_DISABLED),
    )
    return Profile(name=scenario.id, scenario=scenario)


def _place(code: Code) -> int:
    """Return the place of the check that says this; behind the last one for what no check says."""
    return next((place for place, check in enumerate(CHECKS) if check.code is code), len(CHECKS))
