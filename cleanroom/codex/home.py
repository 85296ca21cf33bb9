"""The CODEX_HOME of a session: copied from a template, configured, linked to the operator's login, and removed.

A template is made once per Codex and configuration by one clean start, because parallel first starts of one home die
and a copy is as fast as a home in use. The login is a symbolic link: Codex writes a refreshed token through it, and
nothing else of the operator's is read or written. Our own code never follows that link, nor any link below a session's
directories, which the model may have planted. Source: design section 6, architecture note G.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cleanroom.codex import bwrap
from cleanroom.codex import config as codex_config
from cleanroom.codex.binary import CodexBinary
from cleanroom.codex.connection import Connection, initialize
from cleanroom.codex.runner import Runner
from cleanroom.harness import AgentUnavailableError

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600
SCRATCH = "scratch"  # TMPDIR of the Codex process, so that its leavings go away with the session
NOT_COPIED = ("installation_id", "tmp", ".tmp", "shell_snapshots", "sessions", SCRATCH)
LOCK_TRY_S = 0.05
TEMPLATE_TIMEOUT_S = 20.0


def environment(*, home: Path, inherited: dict[str, str]) -> dict[str, str]:
    """Return what the Codex process gets. Its HOME is not the operator's, so nothing of theirs is found there."""
    own = {"CODEX_HOME": str(home), "HOME": str(home), "TMPDIR": str(home / SCRATCH)}
    return inherited | own


async def ensure_template(*, templates_dir: Path, binary: CodexBinary) -> Path:
    """Return the template home for this Codex, making it first when it is missing.

    Several processes may ask at once: one makes it, the others wait. Raises `HarnessUnavailableError`.
    """
    text = codex_config.to_toml(codex_config.BASE | {"permissions": {codex_config.PROFILE: {}}})
    name = hashlib.sha256(f"{binary.fingerprint}\0{text}".encode()).hexdigest()[:16]
    template = templates_dir / name
    if template.is_dir():
        return template
    _make_private(templates_dir)
    async with _lock(templates_dir / f"{name}.lock"):
        if not template.is_dir():
            made = templates_dir / f"{name}.making"
            remove_tree(path=made)
            await _start_once(home=made, binary=binary, text=text)
            made.rename(template)
    return template


@asynccontextmanager
async def _lock(path: Path) -> AsyncIterator[None]:
    """Hold an exclusive lock among processes and tasks. Tried again and again, because a waiting thread can not be
    cancelled; it happens once per installed version."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(LOCK_TRY_S)
        yield
    finally:
        os.close(fd)


async def _start_once(*, home: Path, binary: CodexBinary, text: str) -> None:
    """One clean start and stop: Codex makes its databases, and is gone before anybody copies them."""
    _make_private(home)
    _make_private(home / SCRATCH)
    _write(home / "config.toml", text)
    runner = await Runner.start(
        argv=[str(binary.path), "app-server"], directory=home, environment=environment(home=home, inherited={})
    )
    connection = Connection(runner=runner)
    try:
        await initialize(connection=connection, timeout_s=TEMPLATE_TIMEOUT_S)
    finally:
        await connection.close(timeout_s=TEMPLATE_TIMEOUT_S)
    if runner.exit is None or runner.exit.code != 0:
        raise AgentUnavailableError("Codex did not end its first start cleanly.")
    for name in (*NOT_COPIED, "config.toml"):
        remove_tree(path=home / name)


def prepare(*, home: Path, template: Path, login_home: Path | None, config: dict[str, Any]) -> None:
    """Make a session's home, or make one that exists ready again. Directories are 0700, files 0600.

    `login_home` is None when the model needs no login of Codex. Then none is linked: Codex would send the operator's
    key to whatever model address is configured (0.132.0, tried).
    """
    _make_private(home)
    if not (home / "config.toml").exists():
        shutil.copytree(template, home, symlinks=True, dirs_exist_ok=True)
        home.chmod(PRIVATE_DIR)
    _make_private(home / SCRATCH)
    _write(home / "config.toml", codex_config.to_toml(config))
    link_login(home=home, login_home=login_home)


def put_sandbox(*, home: Path, files: Mapping[str, str]) -> None:
    """Write the room's sandbox helper and the files it shows to commands (`bwrap.py`); the former is a program."""
    directory = home / bwrap.DIRECTORY
    _make_private(directory)
    for name, text in files.items():
        _write(directory / name, text)
    (directory / bwrap.PROGRAM).chmod(PRIVATE_DIR)


def link_login(*, home: Path, login_home: Path | None) -> None:
    """Link the login as it is now; a link that no longer leads to one is removed."""
    link = home / "auth.json"
    if link.is_symlink():
        link.unlink()
    if login_home is not None and (login_home / "auth.json").is_file():
        link.symlink_to((login_home / "auth.json").absolute())


def remove_tree(*, path: Path) -> None:
    """Remove a file or a directory with all that is in it; links are removed, never followed. Absent is fine.

    Directories that a command made unreadable are opened first: they are the session's own.
    """
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    elif path.is_dir():
        path.chmod(PRIVATE_DIR)
        for directory, names, _ in os.walk(path):  # does not follow links, and enters a directory after this body
            for child in (Path(directory, name) for name in names):
                if not child.is_symlink():
                    child.chmod(PRIVATE_DIR)
        shutil.rmtree(path)  # never follows links


def _make_private(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(PRIVATE_DIR)


def _write(path: Path, text: str) -> None:
    """Write a private file in one step; a reader sees the old text or the new."""
    made = path.with_name(f"{path.name}.new")
    fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, PRIVATE_FILE)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    made.rename(path)
