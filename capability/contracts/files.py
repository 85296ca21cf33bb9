"""The generated contract files, drawn from the registry. Pure: operations in, text out.

`semantic-tool-contracts.json` is what an agent may see of each live operation. That format hides titles, modes, roles
and effects, so a change of them would go unnoticed; `semantic-tool-facts.json` holds these. Source: reference A 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from capability.catalog import LIVE_OPERATIONS, Operation
from capability.catalog.descriptor import Query
from capability.contracts.page import operations_page
from mockcore.text import canonical

DIRECTORY: Final = Path(__file__).resolve().parents[1] / "generated"
CONTRACTS: Final = "semantic-tool-contracts.json"
FACTS: Final = "semantic-tool-facts.json"
PAGE: Final = "operations.md"

SEEN_BY_AGENTS = ("description", "inputSchema", "outputSchema")  # of `Operation.as_json`; they stand in the contract

# What becomes of protected data in each channel of a call: the same for every operation that has no rule of its own.
REDACTION: Final = {"input": "refused", "output": "masked", "error": "masked", "authorization_record": "masked"}


def render(operations: Sequence[Operation] = LIVE_OPERATIONS) -> dict[str, str]:
    """Return every generated file by its name. Equal registries give equal bytes."""
    return {
        CONTRACTS: _line(operation.contract().as_json() for operation in operations),
        FACTS: _line(facts(operation) for operation in operations),
        PAGE: operations_page(operations),
    }


def facts(operation: Operation) -> dict[str, Any]:
    """Return what the contract of an operation does not say."""
    told = {name: value for name, value in operation.as_json().items() if name not in SEEN_BY_AGENTS}
    return {**told, "redaction": REDACTION, "carriedOutBy": _carrier(operation)}


def _carrier(operation: Operation) -> str:
    """Return what carries the operation out: a named query of the port, another read of it, or a command to it."""
    handler = operation.handler
    return f"query {handler.name}" if isinstance(handler, Query) else type(handler).__name__.lower()


def _line(entries: Iterable[dict[str, Any]]) -> str:
    """Return canonical JSON on one line, in the order of the catalog."""
    return canonical(list(entries)) + "\n"
