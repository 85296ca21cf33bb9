"""Every promise has a proof, and every proof names a promise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).parent


def named_in(path: Path) -> Iterator[str]:
    """Yield the ids that a test file's `requirement` markers name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant))


def proofs() -> dict[str, list[str]]:
    """Return which files prove each id."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for name in named_in(path):
            found.setdefault(name, []).append(path.name)
    return found


def test_every_promise_has_a_proof() -> None:
    assert sorted(set(REQUIREMENTS) - set(proofs())) == []


def test_every_proof_names_a_promise() -> None:
    assert {name: files for name, files in proofs().items() if name not in REQUIREMENTS} == {}


def test_every_promise_says_what_and_where_from() -> None:
    for name, (sentence, source) in REQUIREMENTS.items():
        assert name == name.lower(), name
        assert sentence.endswith("."), name
        assert source, name
