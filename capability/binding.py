"""Door: the catalog as tool definitions, the same for every provider. It knows contracts, and no provider's wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from capability.catalog import LIVE_OPERATIONS, ToolContract
from mockcore.refusal import Refusal

BINDING_SCHEMA = "paperclip.semantic-binding.v1"
BindingKind = Literal["fake", "live_codex"]
CONTRACTS = tuple(operation.contract() for operation in LIVE_OPERATIONS)


class UnknownBindingKind(Refusal):
    """There are two kinds of binding: `fake` and `live_codex`."""

    code = "binding_kind_unknown"


@dataclass(frozen=True, kw_only=True)
class Binding:
    """A label and the contracts of the whole catalog, in its order. Policy does not filter it."""

    binding_kind: BindingKind
    contracts: tuple[ToolContract, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": BINDING_SCHEMA,
            "bindingKind": self.binding_kind,
            "contracts": [contract.as_json() for contract in self.contracts],
        }


def create_capability_provider_neutral_binding(kind: BindingKind) -> Binding:
    """Return the binding of that kind; contracts are the same for both. Any other kind raises `UnknownBindingKind`."""
    if kind not in get_args(BindingKind):
        raise UnknownBindingKind
    return Binding(binding_kind=kind, contracts=CONTRACTS)


def codex_dynamic_tools(contracts: Sequence[ToolContract]) -> list[dict[str, Any]]:
    """Return Codex's dynamic tool definitions of these visible contracts: same set, same order, same schemas."""
    definitions = (contract.as_json() for contract in contracts)
    return [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in definitions]
