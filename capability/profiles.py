"""Door: profiles, the ways in which a run may stand before the boundary: a role, a mode, a scenario and a delegation.

A house that opens runs registers its own, so that a recorded decision can be explained from the scenario's id alone;
for others `standing` reads back what the record proves.
Values only; no rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from capability.catalog import LIVE_OPERATIONS
from capability.catalog.descriptor import Mode
from capability.catalog.governance import DECIDING_ROLES
from capability.scenario import Scenario
from mockcore.refusal import Refusal

EVERY_CLAIM = frozenset(claim for operation in LIVE_OPERATIONS for claim in operation.required_claims)
ENGINEER = "engineer"


class UnknownScenario(Refusal):
    """No profile with that scenario is known here."""

    code = "scenario_unknown"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One standing. `explicit_claims` None means that everything the run holds is delegated."""

    name: str
    scenario: Scenario
    explicit_claims: frozenset[str] | None = None
    role: str = ENGINEER
    mode: Mode = Mode.STANDARD


def _with_every_claim(name: str, *, role: str = ENGINEER, mode: Mode = Mode.STANDARD, hatch: bool = False) -> Profile:
    scenario = Scenario(id=name, claims=EVERY_CLAIM, enable_generic_api_request=hatch)
    return Profile(name=name, scenario=scenario, role=role, mode=mode)


BUILT_IN: tuple[Profile, ...] = (
    Profile(name="no-claims", scenario=Scenario()),
    _with_every_claim("engineer"),
    _with_every_claim("ask", mode=Mode.ASK),
    _with_every_claim("planning", mode=Mode.PLANNING),
    *(_with_every_claim(role, role=role) for role in sorted(DECIDING_ROLES)),
    _with_every_claim("skill-test", mode=Mode.SKILL_TEST, hatch=True),
)


@dataclass(frozen=True)
class Profiles:
    """The profiles of this process, by name. Registering the same value twice is no error; another one is a bug."""

    _by_name: dict[str, Profile] = field(default_factory=dict)

    def register(self, profile: Profile) -> None:
        """Make a profile known. Raises `ValueError` when its name means something else already."""
        if self._by_name.setdefault(profile.name, profile) != profile:
            raise ValueError(f"the profile {profile.name} is registered differently")

    def all(self) -> tuple[Profile, ...]:
        return tuple(self._by_name.values())

    def of_scenario(self, scenario_id: str) -> Profile:
        """Return the first profile with that scenario. Raises `UnknownScenario`."""
        for profile in self._by_name.values():
            if profile.scenario.id == scenario_id:
                return profile
        known = ", ".join(profile.scenario.id for profile in self._by_name.values())
        raise UnknownScenario(f"no profile with the scenario {scenario_id} is known here; known are {known or 'none'}")


known_profiles = Profiles()
for _profile in BUILT_IN:
    known_profiles.register(_profile)
