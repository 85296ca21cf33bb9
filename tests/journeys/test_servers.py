"""Servers beside one another: each needs a directory and a database of its own, and says so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.journeys import databases
from tests.journeys.support import PROJECT, Browser, Server, browser

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


@pytest.mark.requirement("access.ports")
async def test_two_servers_on_one_host_leave_each_others_cookies_alone(make_server: Callable[..., Server]) -> None:
    here, there = make_server(), make_server()
    async with browser(here) as one:
        room = (await one.open())["sessionId"]
        one.address = there.address  # the same jar, as in a browser with a tab on each
        assert (await one.open())["sessionId"] != room
        await one.new_chat()
        await logged_in(one, there)
        one.address = here.address
        assert (await one.open(room))["sessionId"] == room
        await logged_in(one, here)
        for server in (there, here):
            async with one.http.get(f"{server.address}/admin/") as index:
                assert "Log out" in await index.text()


async def logged_in(one: Browser, server: Server) -> None:
    """Log the operator in, as the form does."""
    address = f"{server.address}/admin/login/"
    async with one.http.get(address) as form:
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', await form.text())
    password = (server.var / "operator-password").read_text().strip()
    fields = {"csrfmiddlewaretoken": token, "username": "operator", "password": password, "next": "/admin/"}
    async with one.http.post(address, data=fields, headers={"Referer": address, "Origin": server.address}) as answer:
        assert answer.url.path == "/admin/"


def test_a_database_that_cannot_be_reached_is_named_without_a_traceback(directory: Path) -> None:
    nowhere = "postgres://nobody:hidden-word@127.0.0.1:9/nothing"
    said = refused(var=directory, database=nowhere)
    assert "The database cannot be used" in said
    assert "hidden-word" not in said
    assert "cannot be written: No such file or directory" in refused(
        var=directory, database=f"sqlite:///{directory / 'absent' / 'own.sqlite3'}"
    )
