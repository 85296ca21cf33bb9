"""What is written as a proof and proves nothing: a test that is never run, or is expected to fail. Reads syntax only.

A condition that the machine answers (`skipif` of a missing program) is no objection; one that is true everywhere is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

NEVER: Final = frozenset({"skip", "skipTest"})  # whatever they are given
UNLESS_CONDITION: Final = frozenset({"skipif", "skipIf", "xfail", "expectedFailure"})
ENDS: Final = frozenset({"skip", "xfail", "skipTest"})  # called in a test's own body

Test = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def never_run(module: ast.Module) -> dict[str, str]:
    """Return, by the name of a test or class ("" for the whole module), what keeps it from proving anything."""
    aliases = dict(_assigned(module.body))  # so that a mark with a name of its own is seen
    found = {"": _whole(module, aliases)}
    for node in module.body:
        if isinstance(node, Test):
            found[node.name] = next(_reasons(node, aliases), "")
    return {name: why for name, why in found.items() if why}


def _reasons(node: Test, aliases: dict[str, ast.expr]) -> Iterator[str]:
    """Yield each thing that keeps a test, or a test of a class, from proving anything."""
    yield from _of_marks(node.decorator_list, aliases)
    yield from _of_marks(_pytestmark(node.body), aliases)
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, Test):
                yield from _reasons(inner, aliases)
    else:
        yield from _of_calls(node.body)


def _whole(module: ast.Module, aliases: dict[str, ast.expr]) -> str:
    return next(iter([*_of_marks(_pytestmark(module.body), aliases), *_of_calls(module.body)]), "")


def _of_marks(marks: Iterable[ast.expr], aliases: dict[str, ast.expr]) -> Iterator[str]:
    for mark in marks:
        meant = aliases.get(mark.id, mark) if isinstance(mark, ast.Name) else mark
        call = meant if isinstance(meant, ast.Call) else None
        name = _last_name(call.func if call else meant)
        if name in NEVER or (name in UNLESS_CONDITION and _always(call)):
            yield f"@{ast.unparse(mark)}"


def _always(call: ast.Call | None) -> bool:
    """Say whether a mark holds everywhere: it has no condition, or one that is a plain true value."""
    conditions = [] if call is None else [*call.args, *(one.value for one in call.keywords if one.arg == "condition")]
    return not conditions or any(_is_true(one) for one in conditions)


def _is_true(condition: ast.expr) -> bool:
    if not isinstance(condition, ast.Constant):
        return False
    written = condition.value  # a string is evaluated by pytest
    return written.strip() in ("True", "1") if isinstance(written, str) else bool(written)


def _of_calls(body: Iterable[ast.stmt]) -> Iterator[str]:
    for line in body:
        called = line.value if isinstance(line, ast.Expr) else line.exc if isinstance(line, ast.Raise) else None
        if isinstance(called, ast.Call) and _last_name(called.func) in ENDS:
            yield ast.unparse(line)


def _pytestmark(body: Iterable[ast.stmt]) -> list[ast.expr]:
    values = [value for name, value in _assigned(body) if name == "pytestmark"]
    return [one for value in values for one in (value.elts if isinstance(value, ast.List | ast.Tuple) else [value])]


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for line in body:
        if isinstance(line, ast.Assign):
            for target in line.targets:
                if isinstance(target, ast.Name):
                    yield target.id, line.value


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
