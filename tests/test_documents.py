"""The documents are read by tests: what the code has, they mention."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from capability.http.errors import STATUS
from cleanroom.api_urls import urlpatterns

PROJECT = Path(__file__).resolve().parents[1]
ARCHITECTURE = (PROJECT / "ARCHITECTURE.md").read_text()
README = (PROJECT / "README.md").read_text()
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
