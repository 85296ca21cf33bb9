"""The documents are read by tests: what the code has, they mention."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from capability.http.errors import STATUS
from cleanroom.api_urls import urlpatterns

PROJECT = Path(__file__).resolve().parents[1]
ARCHITECTURE = (PROJECT / "ARCHITECTURE.md").read_text()
README = (PROJECT / "README.md").read_text()
HOUSES = ("mockcore", "capability", "evidence", "cleanroom")
MEASURING = PROJECT / "cleanroom" / "bench"
COMPOSITION_ROOT = PROJECT / "capability" / "asgi.py"
COMMANDS = sorted(path.stem for path in PROJECT.glob("*/management/commands/[a-z]*.py"))


def test_every_route_is_described() -> None:
    routes = [str(pattern.pattern) for pattern in urlpatterns if not str(pattern.pattern).startswith("^")]
    assert len(routes) == 6
    assert [route for route in routes if f"`{route}" not in ARCHITECTURE] == []


def test_every_error_code_is_in_the_table_with_its_status() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d{3}) \|", ARCHITECTURE, flags=re.MULTILINE))
    assert {code: str(status) for code, status in STATUS.items()} == rows


def test_every_command_is_mentioned() -> None:
    text = README + ARCHITECTURE
    assert [command for command in COMMANDS if f"manage.py {command}" not in text] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_ends_with_an_example_that_it_takes(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    parser = command.create_parser("manage.py", name)
    program, asked, *given = shlex.split(str(parser.epilog).removeprefix("Example: "))
    assert (program, asked) == ("manage.py", name)
    assert parser.parse_args(given)


def test_every_make_target_a_person_needs_is_in_the_readme() -> None:
    for target in ("make demo", "make chat", "make test", "make smoke", "make bench"):
        assert target in README


def test_the_readme_stays_two_screens() -> None:
    assert len(README.splitlines()) <= 90


# ---------------------------------------------------------------- the house plan
def doors() -> dict[str, set[str]]:
    """Return what the table of doors says, house by house."""
    rows = re.findall(rf"^\| `({'|'.join(HOUSES)})` \| ([^|;]+)", ARCHITECTURE, flags=re.MULTILINE)
    return {house: set(re.findall(r"`(\w+)`", names)) for house, names in rows}


def imported_by_others() -> Iterator[tuple[str, str, str]]:
    """Yield house, module and importing file, for each import from another house."""
    for home in HOUSES:
        for file in sorted((PROJECT / home).rglob("*.py")):
            if file == COMPOSITION_ROOT or MEASURING in file.parents:
                continue
            for house, module in imports(ast.parse(file.read_text())):
                if house in HOUSES and house != home:
                    yield house, module, str(file.relative_to(PROJECT))


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            house, _, module = node.module.partition(".")
            yield from [(house, module.split(".")[0])] if module else [(house, name.name) for name in node.names]
        elif isinstance(node, ast.Import):
            yield from [
                (house, rest.split(".")[0]) for house, _, rest in (one.name.partition(".") for one in node.names)
            ]


@pytest.mark.requirement("house-plan.doors")
def test_houses_are_entered_by_their_doors_alone() -> None:
    assert set(doors()) == set(HOUSES)
    past_the_door = [found for found in imported_by_others() if found[1] not in doors()[found[0]]]
    assert past_the_door == []


@pytest.mark.requirement("house-plan.doors")
def test_every_door_is_there_and_those_of_the_middle_are_used() -> None:
    used = {(house, module) for house, module, _ in imported_by_others()}
    for house, names in doors().items():
        for name in names:
            assert list((PROJECT / house).glob(f"{name}.py")) + list((PROJECT / house).glob(f"{name}/__init__.py")), (
                name
            )
    assert {("mockcore", "port"), ("capability", "dispatcher"), ("evidence", "record")} <= used
