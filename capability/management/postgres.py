"""A PostgreSQL for one run of the tests: the one that is named, one of our own, or the one this machine serves.

Our own lives in a directory that is removed with it, listens on a socket file only, and syncs nothing to the disk. It
knows programs, processes and addresses; it must not know tests or models.
"""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import environ
import psycopg

OWNER = "capability"  # the superuser inside a server of our own
UNPRIVILEGED = ("postgres", "nobody")  # who runs it when we are root: PostgreSQL refuses to be root
START_S = 60
CONNECT_S = 3
LOCAL_SERVER = "127.0.0.1:5432"
PROGRAMS = Path("/usr/lib/postgresql")  # where Debian keeps them, by version and out of the path
# Nothing of these databases outlives the run, so a crash of the machine may lose them.
OPTIONS = (
    *("-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off"),
    *("-c listen_addresses=''", "-c max_connections=200", "-c unix_socket_permissions=0700"),
)


class NoPostgres(Exception):
    """No PostgreSQL could be reached or started; the message says what was tried."""


class NotStarted(Exception):
    """A server of our own did not start."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A PostgreSQL that answers: its address as `DATABASE_URL` takes it, and what a person calls it."""

    url: str
    label: str


@contextmanager
def postgres_for_tests(*, named: str) -> Iterator[Found]:
    """Yield a PostgreSQL that lets us make databases. An address that is `named` is the only one tried.

    Raises `NoPostgres`.
    """
    if named:
        yield named_server(named)
        return
    programs = find_programs()
    tried = "initdb and pg_ctl are not installed"
    if programs is not None:
        try:
            with own_server(programs) as found:
                yield found
                return
        except NotStarted as error:
            tried = f"a server of our own did not start ({error})"
    yield local_server(tried)


def is_postgres(url: str) -> bool:
    """Say whether a `DATABASE_URL` names a PostgreSQL."""
    return url.split(":", 1)[0] in {"postgres", "postgresql", "psql", "pgsql"}


# ---------------------------------------------------------------- servers that run already
def named_server(url: str) -> Found:
    """Return the server of `url`. Raises `NoPostgres` when it does not answer or lets us make no databases."""
    refusal = why_not(url)
    if refusal:
        raise NoPostgres(f"the PostgreSQL of DATABASE_URL is of no use: {refusal}")
    return Found(url=url, label="the PostgreSQL of DATABASE_URL")


def local_server(tried: str) -> Found:
    """Return the server at the usual local address, as whoever may make databases there. Raises `NoPostgres`."""
    for user in dict.fromkeys((getpass.getuser(), "postgres")):
        url = f"postgres://{user}@{LOCAL_SERVER}/postgres"
        if not why_not(url):
            return Found(url=url, label=f"the PostgreSQL at {LOCAL_SERVER}")
    raise NoPostgres(f"{tried}, and none at {LOCAL_SERVER} lets us in without a password")


def why_not(url: str) -> str:
    """Return why a server cannot be used, or nothing."""
    config = environ.Env.db_url_config(url)
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    given = {ours: str(config[theirs]) for theirs, ours in names.items() if config.get(theirs)}
    try:
        with psycopg.connect(**given, connect_timeout=CONNECT_S) as connection:  # type: ignore[arg-type]
            asked = connection.execute(
                "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
    except psycopg.Error as error:
        return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return "" if asked and asked[0] else "it lets us make no databases"


# ---------------------------------------------------------------- a server of our own
def find_programs() -> Path | None:
    """Return the directory of `initdb` and `pg_ctl`, the newest version that Debian has first; None without them."""
    versions = sorted(PROGRAMS.glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    for directory in [*versions, *([Path(on_path).resolve().parent] if on_path else [])]:
        if (directory / "initdb").exists() and (directory / "pg_ctl").exists():
            return directory
    return None


@contextmanager
def own_server(programs: Path) -> Iterator[Found]:
    """Start a server in a new directory, and end and remove it afterwards. Raises `NotStarted`."""
    directory = Path(tempfile.mkdtemp(prefix="capability-postgres-"))  # short: a socket's path holds 107 characters
    user = server_user()
    try:
        if user is not None:
            os.chown(directory, user.pw_uid, user.pw_gid)
        begin(programs, directory, user)
        try:
            yield Found(url=f"postgres://{OWNER}@/{directory}/postgres", label="a PostgreSQL of our own")
        finally:
            with suppress(NotStarted):  # it ended by itself
                control(programs, directory, user, "stop", "-m", "immediate")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def server_user() -> pwd.struct_passwd | None:
    """Return whom the server must run as, None for ourselves. Raises `NotStarted` when there is nobody."""
    if os.geteuid() != 0:
        return None
    for name in UNPRIVILEGED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NotStarted("we are root, and there is no user to run it as")


def begin(programs: Path, directory: Path, user: pwd.struct_passwd | None) -> None:
    """Make the data directory and start the server. Raises `NotStarted`."""
    made = ("-D", str(directory / "data"), "-U", OWNER, "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
    run(programs / "initdb", *made, user=user)
    options = " ".join((*OPTIONS, f"-c unix_socket_directories='{directory}'"))
    control(programs, directory, user, "start", "-o", options, "-l", str(directory / "log"), "-t", str(START_S))


def control(programs: Path, directory: Path, user: pwd.struct_passwd | None, verb: str, *options: str) -> None:
    run(programs / "pg_ctl", "-D", str(directory / "data"), "-w", "-s", *options, verb, user=user)


def run(*command: str | Path, user: pwd.struct_passwd | None) -> None:
    """Run one program to its end. Raises `NotStarted` with its last words."""
    who = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": list[int]()}
    with tempfile.TemporaryFile() as said:  # no pipe: what a started server inherits would keep it open
        done = subprocess.run(
            [str(part) for part in command],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            timeout=2 * START_S,
            check=False,
            **who,  # type: ignore[call-overload]
        )
        said.seek(0)
        last = said.read().decode(errors="replace").strip().splitlines()[-1:]
    if done.returncode != 0:
        raise NotStarted(f"{Path(command[0]).name} ended with {done.returncode}: {' '.join(last)}")
