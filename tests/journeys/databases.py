"""A database for each server that a journey starts, on whichever database the suite runs.

On SQLite it is a file in the server's own directory. On PostgreSQL it is made from one migrated template.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import environ
import psycopg

from capability.management.postgres import is_postgres

SUITE_URL = os.environ.get("DATABASE_URL", "")
ON_POSTGRES = is_postgres(SUITE_URL)
TEMPLATE = f"journey_template_{os.getpid()}"


def address(name: str) -> str:
    """Return the `DATABASE_URL` of a database beside the suite's own; nothing on SQLite."""
    return f"{SUITE_URL.rsplit('/', 1)[0]}/{name}" if ON_POSTGRES else ""


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    config = environ.Env.db_url_config(url)
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    given: dict[str, Any] = {ours: config[theirs] for theirs, ours in names.items() if config.get(theirs)}
    with psycopg.connect(**given, autocommit=True) as connection:
        yield connection


def make(name: str, *, template: str = "template1") -> None:
    """Make a database on PostgreSQL. On SQLite a server makes its own file."""
    if ON_POSTGRES:
        with connected(SUITE_URL) as server:
            server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')


def remove(name: str) -> None:
    if ON_POSTGRES:
        with connected(SUITE_URL) as server:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@cache
def template() -> str:
    """Return the name of a database that is removed when the tests end. Whoever asks first migrates it."""
    make(TEMPLATE)
    atexit.register(remove, TEMPLATE)
    return TEMPLATE


def all_rows(name: str, directory: Path) -> str:
    """Return every text of every row of a server's database as one string."""
    if ON_POSTGRES:
        with connected(address(name)) as database:
            return texts(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    with closing(sqlite3.connect(directory / "capability.sqlite3")) as database:
        return texts(database, "SELECT name FROM sqlite_master WHERE type = 'table'")


def texts(database: Any, tables: str) -> str:
    found = [row for (table,) in database.execute(tables) for row in database.execute(f'SELECT * FROM "{table}"')]
    return "\n".join(str(row) for row in found)
