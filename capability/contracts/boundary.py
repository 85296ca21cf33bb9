"""What must not be in this house: credential fields in tool schemas, and anything of a real control plane.

The seed promises a boundary over a mock: no Paperclip route, no authentication header, no credential, no agent code and
no real binding. Each finding is one sentence that says where. Source files are read as text and never imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from capability.catalog import LIVE_OPERATIONS, Operation
from capability.redaction import redact_text
from capability.redaction.names import kind_of

HOUSE: Final = Path(__file__).resolve().parents[1]

# Routes below /api/ that are ours; every other one would be a route of a control plane.
FOREIGN = (
    ("a Paperclip route", re.compile(r"/api/(?!capability\b)[a-z]")),
    ("a Paperclip header", re.compile(r"x-paperclip-", re.IGNORECASE)),
    ("a Paperclip setting", re.compile(r"\bPAPERCLIP_[A-Z]")),
    ("a Paperclip address", re.compile(r"://[\w.-]*paperclip", re.IGNORECASE)),
    ("an authentication header", re.compile(r"\bauthorization: |\bbearer (?=\S|$)", re.IGNORECASE)),
)
# Modules by which a process reaches another one. Who may use which, and why, stands beside.
OUTWARD = frozenset(
    {"aiohttp", "http.client", "httpx", "requests", "socket", "ssl", "subprocess", "urllib.request", "urllib3"}
    | {"acpx", "websockets", "twisted"}
)
EXEMPT: Final[Mapping[str, frozenset[str]]] = {
    "serve.py": frozenset({"socket", "twisted"}),  # listens; it never connects
    "management/": frozenset({"socket", "subprocess"}),  # the operator's own commands; no request reaches them
}
PATTERNS_ABOUT_SECRETS = ("redaction/", "contracts/boundary.py")  # their texts say what a secret looks like


def credential_fields(operations: Iterable[Operation] = LIVE_OPERATIONS) -> list[str]:
    """Return a sentence for every name in a tool schema, at any depth, that promises a credential."""
    return [
        f"{operation.id}: the {side} schema has the credential field {name}"
        for operation in operations
        for side, schema in (("input", operation.input_schema), ("output", operation.output_schema))
        for name in _names(schema)
        if kind_of(name) is not None
    ]


def _names(schema: Any) -> Iterator[str]:
    """Yield every property name that a schema declares or requires, wherever it stands."""
    if isinstance(schema, Mapping):
        yield from schema.get("properties", {})
        yield from (name for name in schema.get("required", ()) if name not in schema.get("properties", {}))
        for below in schema.values():
            yield from _names(below)
    elif isinstance(schema, list | tuple):
        for below in schema:
            yield from _names(below)


def foreign_parts(house: Path = HOUSE) -> list[str]:
    """Return a sentence for every route, header, credential or way out of the process in the house's source."""
    return [
        f"{path.relative_to(house)}:{line}: {what}"
        for path in sorted(house.rglob("*.py"))
        for line, what in _foreign_in(path, path.relative_to(house).as_posix())
    ]


def _foreign_in(path: Path, name: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text())
    exempt = frozenset().union(*(modules for place, modules in EXEMPT.items() if name.startswith(place)))
    readable = not name.startswith(PATTERNS_ABOUT_SECRETS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            reached = {module for module in _imported(node) if module in OUTWARD} - exempt
            yield from ((node.lineno, f"reaches out through {module}") for module in sorted(reached))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and readable:
            yield from ((node.lineno, what) for what in _foreign_text(node.value))


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield what an import names, with every package above it."""
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[: count + 1]) for count in range(len(parts)))


def _foreign_text(text: str) -> Iterator[str]:
    yield from (f"holds {what}" for what, pattern in FOREIGN if pattern.search(text))
    if redact_text(text) != text:
        yield "holds something that looks like a credential"
