"""One server to a directory and to a database: a second one would end the first one's turns as it starts.

Both locks go with the process, however that ends. Hosts in several processes come with scale-out.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

LOCK_NUMBER = int.from_bytes(b"Capablty")  # of PostgreSQL's advisory lock, which counts for one database
PATIENCE_S = 3.0  # a database takes a moment to see that a killed server is gone
PAUSE_S = 0.1


class NoPlace(Exception):
    """A server cannot run here; the message says why, for a person."""


class ServerPresent(NoPlace):
    """Another server runs on the same directory or database. `what` names it for a person."""

    def __init__(self, what: str) -> None:
        super().__init__(f"Another server uses {what}.")


@contextmanager
def only_server_of(directory: Path) -> Iterator[None]:
    """Hold a directory and the database for as long as a server runs. Raises `ServerPresent`, `NoPlace`."""
    with _file_lock(directory / "server.lock", shown(directory)), _database_lock():
        yield


@contextmanager
def _file_lock(path: Path, what: str) -> Iterator[None]:
    try:
        file = path.open("w")
    except OSError as error:
        raise NoPlace(f"{shown(path)} cannot be written: {error.strerror}.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ServerPresent(what) from None
        yield


@contextmanager
def _database_lock() -> Iterator[None]:
    if connection.vendor == "sqlite":
        name = str(settings.DATABASES["default"]["NAME"])
        if ":memory:" in name or "mode=memory" in name:
            yield  # nobody else can reach it
            return
        database = Path(name).resolve()
        with _file_lock(database.with_name(f"{database.name}.server-lock"), f"the database {shown(database)}"):
            yield
        return
    own = connection.copy()  # the lock lives as long as this connection, which nothing else uses
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not _locked(own):
            if time.monotonic() >= deadline:
                raise ServerPresent(f"the database {own.settings_dict['NAME']}")
            time.sleep(PAUSE_S)
        yield
    finally:
        own.close()


def _locked(own: Any) -> bool:
    with own.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK_NUMBER])
        return bool(cursor.fetchone()[0])


def shown(path: Path) -> str:
    """Return a path as a person in the project would write it."""
    try:
        return str(path.relative_to(settings.BASE_DIR))
    except ValueError:
        return str(path)
