"""Every promise with its operations, cases and proofs, read from the tests as files: the product imports no test.

`tests/requirements.py` is the one list. `REQUIREMENTS` gives each promise a sentence and a source; `OPERATIONS` and
`CASES` say, for those to which it applies, which operations of the catalog and which files of cases (or folders of
them, with a slash at the end) they are about.
Tests carry the marker `requirement`. There is no orphan on either side: `Promises.orphans` names each.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from capability.catalog import LIVE_OPERATIONS
from capability.contracts.files import DIRECTORY
from capability.contracts.unproved import never_run
from mockcore.refusal import Refusal
from mockcore.text import canonical

TRACEABILITY: Final = "capability-traceability.json"
SCHEMA: Final = "paperclip.capability.traceability.v1"
PROJECT: Final = DIRECTORY.parents[1]
MARKER: Final = "requirement"


class UnreadableTests(Refusal):
    """The list of requirements or a test file cannot be read."""

    code = "traceability_unreadable"


@dataclass(frozen=True, kw_only=True)
class Promises:
    """The list, and what proves it. Paths are relative to the project, with forward slashes."""

    requirements: Mapping[str, tuple[str, str]]
    operations: Mapping[str, tuple[str, ...]]
    cases: Mapping[str, tuple[str, ...]]
    proofs: Mapping[str, tuple[str, ...]]  # by id: `tests/…/test_x.py::test_name`
    case_files: frozenset[str]
    catalog: tuple[str, ...]
    repeated: tuple[str, ...] = ()  # ids that a list holds twice: the second hides the first
    unproved: Mapping[str, str] = field(default_factory=dict)  # by proof: what keeps it from proving anything

    def as_text(self) -> str:
        """Return the file's content: one canonical line, promises by id."""
        return canonical([self._entry(id) for id in sorted(self.requirements)]) + "\n"

    def _entry(self, id: str) -> dict[str, Any]:
        sentence, source = self.requirements[id]
        return {
            "schema": SCHEMA,
            "id": id,
            "sentence": sentence,
            "source": source,
            "operations": list(self.operations.get(id, ())),
            "cases": list(self.cases.get(id, ())),
            "tests": list(self.proofs.get(id, ())),
        }

    def orphans(self) -> list[str]:
        """Return one sentence for each promise, proof, operation or file of cases that hangs on nothing."""
        known = set(self.requirements)
        named_operations, named_cases = _all(self.operations), _all(self.cases)
        return [
            *(f"{id}: no test carries this requirement" for id in sorted(known - set(self.proofs))),
            *(f"{id}: carried by {self.proofs[id][0]} and not in the list" for id in sorted(set(self.proofs) - known)),
            *(f"{id}: in OPERATIONS and not in the list" for id in sorted(set(self.operations) - known)),
            *(f"{id}: in CASES and not in the list" for id in sorted(set(self.cases) - known)),
            *(f"{one}: an operation that no promise names" for one in self.catalog if one not in named_operations),
            *(f"{one}: a promise names it, the catalog does not" for one in sorted(named_operations - {*self.catalog})),
            *(f"{one}: a file of cases that no promise names" for one in _outside(self.case_files, named_cases)),
            *(f"{one}: a promise names it, and there is no such file" for one in self._absent(named_cases)),
            *self.repeated,
            *(
                f"{id}: {one} proves nothing ({self.unproved[one]})"
                for id, one in self._claimed()
                if one in self.unproved
            ),
        ]

    def _claimed(self) -> list[tuple[str, str]]:
        return [(id, one) for id in sorted(self.proofs) for one in self.proofs[id]]

    def _absent(self, named: Iterable[str]) -> list[str]:
        return sorted(one for one in named if not any(path == one or path.startswith(one) for path in self.case_files))


def _outside(files: Iterable[str], named: set[str]) -> list[str]:
    """Return the files that are named neither by themselves nor by a folder above them."""
    folders = tuple(one for one in named if one.endswith("/"))
    return sorted(one for one in files if one not in named and not one.startswith(folders))


def _all(named: Mapping[str, Iterable[str]]) -> set[str]:
    return {one for entries in named.values() for one in entries}


# ---------------------------------------------------------------- reading
def read_promises(project: Path = PROJECT) -> Promises:
    """Read the list, the markers and the files of cases below `tests/`. Raises `UnreadableTests`."""
    tests = project / "tests"
    lists, repeated = _literals(tests / "requirements.py")
    return Promises(
        requirements=lists["REQUIREMENTS"],
        operations=lists.get("OPERATIONS", {}),
        cases=lists.get("CASES", {}),
        proofs=_proofs(project),
        case_files=frozenset(path.relative_to(project).as_posix() for path in tests.rglob("*.jsonl")),
        catalog=tuple(operation.id for operation in LIVE_OPERATIONS),
        repeated=repeated,
        unproved=_unproved(project),
    )


def _literals(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the module's constants that are plain literals, and a sentence for each key that one of them repeats."""
    found: dict[str, Any] = {}
    repeated: list[str] = []
    for node in _parsed(path).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = ast.literal_eval(node.value)
            repeated += [f"{key}: twice in {node.target.id}" for key in _repeated_keys(node.value)]
    if "REQUIREMENTS" not in found:
        raise UnreadableTests(f"{path.name} holds no REQUIREMENTS")
    return found, tuple(repeated)


def _repeated_keys(value: ast.expr) -> list[str]:
    keys = [ast.literal_eval(key) for key in value.keys if key is not None] if isinstance(value, ast.Dict) else []
    return sorted(str(key) for key, times in Counter(keys).items() if times > 1)


def _unproved(project: Path) -> dict[str, str]:
    """Return, by proof as `_proofs` names it, what keeps it from proving anything."""
    found: dict[str, str] = {}
    for where, module in _modules(project):
        never = never_run(module)
        tests = {test for _, test in marked(module)}
        found |= {_proof(where, test): never.get(test) or never[""] for test in tests if never.keys() & {test, ""}}
    return found


def _modules(project: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((project / "tests").rglob("test_*.py")):
        yield path.relative_to(project).as_posix(), _parsed(path)


def _proof(where: str, test: str) -> str:
    return f"{where}::{test}" if test else where


def _proofs(project: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for where, module in _modules(project):
        for id, test in marked(module):
            found.setdefault(id, []).append(_proof(where, test))
    return {id: tuple(dict.fromkeys(tests)) for id, tests in found.items()}


def marked(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each id that a `requirement` marker names, and the test or class it stands on; "" for a whole module."""
    for node in module.body:
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == MARKER:
                for arg in call.args:
                    if isinstance(arg, ast.Constant):
                        yield str(arg.value), node.name if named else ""  # type: ignore[attr-defined]


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text())
    except (OSError, SyntaxError) as error:
        raise UnreadableTests(f"{path.name} cannot be read") from error
