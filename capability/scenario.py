"""What a session's scenario grants and forbids: a value handed to the dispatcher, never stored here."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_SCENARIO_ID = "capability-default"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Policy of one scenario. `None` means "no restriction".

    `allow_operations` restricts optional operations only; an always-operation is taken away by `deny_operations` or
    by the task's mode. `enable_generic_api_request` is one of the three keys of the escape hatch.
    """

    id: str = DEFAULT_SCENARIO_ID
    claims: frozenset[str] = frozenset()
    allow_operations: frozenset[str] | None = None
    deny_operations: frozenset[str] = frozenset()
    allowed_interaction_kinds: frozenset[str] | None = None
    enable_generic_api_request: bool = False

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise ValueError("a scenario needs an id")
