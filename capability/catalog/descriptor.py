"""What an operation is: one frozen value that says who may call it, with what, and what it becomes.

It knows no company and no provider. Everything else about operations (live catalog, policy, contracts, tool
definitions, evidence) is projected from these values. Vocabulary: reference "canonical registry".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from capability.catalog.schema import Schema, frozen, plain
from mockcore.commands import Command
from mockcore.port import ControlPlanePort

CONTRACT_SCHEMA = "paperclip.semantic-tool.v1"

Given = Mapping[str, Any]  # an input that has passed its schema


class Placement(StrEnum):
    ALWAYS = "always_agent_tool"
    OPTIONAL = "optional_agent_tool"


class Group(StrEnum):
    """What an optional operation belongs to; the scenario catalog names its groups by these."""

    DISCOVERY = "discovery"
    DELEGATION_DEPENDENCIES = "delegation_dependencies"
    GOVERNANCE = "governance"
    WORKSPACE_RUNTIME = "workspace_runtime"
    TEST_ESCAPE_HATCH = "test_escape_hatch"


class Mode(StrEnum):
    """The work mode of a task."""

    STANDARD = "standard"
    ASK = "ask"
    PLANNING = "planning"
    SKILL_TEST = "skill_test"


class SideEffect(StrEnum):
    READ = "read"
    TASK_WRITE = "task_write"
    COMPANY_WRITE = "company_write"
    GOVERNANCE = "governance"
    WORKSPACE_CONTROL = "workspace_control"
    TEST_ESCAPE_HATCH = "test_escape_hatch"


class Idempotency(StrEnum):
    NONE = "none"
    REQUIRED = "required"


class Surface(StrEnum):
    """Which catalog lists the operation."""

    LIVE = "live"
    SCENARIO = "scenario"


ANY_MODE = frozenset(Mode)
WORKING_MODES = frozenset({Mode.STANDARD, Mode.PLANNING, Mode.SKILL_TEST})
DOING_MODES = frozenset({Mode.STANDARD, Mode.SKILL_TEST})
SHARED = frozenset(Surface)
LIVE_ONLY = frozenset({Surface.LIVE})


# ---------------------------------------------------------------- handlers
@dataclass(frozen=True, kw_only=True)
class Query:
    """A named read of the port; `arguments` turns the input into the query's keyword arguments."""

    name: str
    arguments: Callable[[Given], dict[str, Any]] = lambda given: {}


@dataclass(frozen=True, kw_only=True)
class Read:
    """A read that is no named query: called with the port, the run id and the input."""

    answer: Callable[[ControlPlanePort, str, Given], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Write:
    """A mutation: the input becomes one command of the mock company."""

    command: Callable[[Given], Command]


Handler = Query | Read | Write


# ---------------------------------------------------------------- values
@dataclass(frozen=True, kw_only=True)
class ToolContract:
    """One operation as an agent may see it: no titles, modes, roles or handlers."""

    name: str
    description: str
    input_schema: Schema
    output_schema: Schema
    annotations: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": plain(self.input_schema),
            "outputSchema": plain(self.output_schema),
            "annotations": plain(self.annotations),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """One entry of the catalog. Schemas are deep-frozen on construction; two operations are equal only when identical.

    `roles` empty means any role. `required_claims` are sorted. `group` is None for what belongs to no optional group.
    `surfaces` names the catalogs that list it; there is no default, so that nobody lists an operation by accident.
    """

    id: str
    title: str
    description: str
    placement: Placement
    modes: frozenset[Mode]
    side_effect: SideEffect
    input_schema: Schema
    output_schema: Schema
    handler: Handler = field(repr=False)
    surfaces: frozenset[Surface]
    group: Group | None = None
    required_claims: tuple[str, ...] = ()
    roles: frozenset[str] = frozenset()
    idempotency: Idempotency = Idempotency.NONE
    disabled_by_default: bool = False
    version: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_schema", frozen(self.input_schema))
        object.__setattr__(self, "output_schema", frozen(self.output_schema))

    @property
    def exposure(self) -> str:
        """`always` or `optional`."""
        return "always" if self.placement is Placement.ALWAYS else "optional"

    @property
    def is_read(self) -> bool:
        """Whether a finished task may still be asked this."""
        return self.side_effect is SideEffect.READ

    @property
    def field_names(self) -> tuple[str, ...]:
        """The declared input names, in order: the only names of an input that a view may repeat."""
        return tuple(self.input_schema["properties"])

    def contract(self) -> ToolContract:
        """Return what an agent may see of this operation."""
        annotations = {
            "semanticContract": CONTRACT_SCHEMA,
            "operationId": self.id,
            "version": self.version,
            "exposure": self.exposure,
            "requiredClaims": list(self.required_claims),
        }
        return ToolContract(
            name=self.id,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            annotations=frozen(annotations),
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything a catalog inspector shows: title, placement, claims, modes, roles and both schemas."""
        return {
            "schema": CONTRACT_SCHEMA,
            "operationId": self.id,
            "version": self.version,
            "title": self.title,
            "description": self.description,
            "exposure": self.exposure,
            "group": self.group,
            "surfaces": sorted(self.surfaces),
            "requiredClaims": list(self.required_claims),
            "allowedModes": [mode.value for mode in Mode if mode in self.modes],
            "allowedRoles": sorted(self.roles) or None,
            "sideEffect": self.side_effect.value,
            "idempotency": self.idempotency.value,
            "disabledByDefault": self.disabled_by_default,
            "inputSchema": plain(self.input_schema),
            "outputSchema": plain(self.output_schema),
        }
