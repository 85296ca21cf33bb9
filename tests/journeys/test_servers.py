"""Servers beside one another: each needs a directory and a database of its own, and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.journeys import databases
from tests.journeys.support import PROJECT, Server, browser

pytestmark = [pytest.mark.codex]
START_S = 40


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "other").mkdir()
    return tmp_path / "other"


def database_of(server: Server) -> str:
    return databases.address(server.database) or f"sqlite:///{server.var / 'capability.sqlite3'}"


def refused(*, var: Path, database: str) -> str:
    """Start a server that must not come up, and return what it says."""
    done = subprocess.run(
        [sys.executable, "manage.py", "dev", "--port", "0", "--exit-with-parent"],
        cwd=PROJECT,
        env=os.environ | {"CAPABILITY_VAR_DIR": str(var), "DATABASE_URL": database},
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.requirement("server.only-one")
async def test_a_second_server_on_a_database_or_a_directory_is_refused_and_ends_nobodys_turn(
    make_server: Callable[..., Server], directory: Path
) -> None:
    server = make_server()
    async with browser(server) as ada:
        await ada.open()
        message = await ada.send("Count slowly to 40")
        assert "Another server uses the database" in refused(var=directory, database=database_of(server))
        assert "Another server uses" in refused(var=server.var, database=f"sqlite:///{directory / 'own.sqlite3'}")
        frames = await ada.frames_until(message.body["cursor"])
        assert frames[-1]["type"] == "settled"


def test_a_database_that_cannot_be_reached_is_named_without_a_traceback(directory: Path) -> None:
    nowhere = "postgres://nobody:hidden-word@127.0.0.1:9/nothing"
    said = refused(var=directory, database=nowhere)
    assert "The database cannot be used" in said
    assert "hidden-word" not in said
