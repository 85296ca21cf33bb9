"""What a command of the model sees of this machine, with the real Codex and the real sandbox."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from cleanroom.codex import bwrap
from cleanroom.codex.binary import CodexBinary, find
from cleanroom.codex.sandbox import is_allowed
from cleanroom.management.commands.dev import user_warning
from tests.cleanroom.support.model import say
from tests.cleanroom.test_driver_codex import Room, room, shell

pytestmark = pytest.mark.codex

OURS = {"passwd", "group", "nsswitch.conf", "hosts", "clean-room"}
FROM_THE_MACHINE = {"alternatives", "ld.so.cache", "ssl", "pki"}


async def seen(r: Room, script: str) -> str:
    """Run a script as a command of the model and return what it printed, by way of its workspace."""
    await r.turn("look", [shell(f"( {script} ) > seen 2>&1; true")], [say("ok")])
    return (r.request.workspace / "seen").read_text()


@pytest.mark.requirement("driver.sandbox.secrets")
async def test_a_command_sees_an_etc_of_the_rooms_own_and_no_other_settings_of_the_machine() -> None:
    async with room() as r:
        found = set((await seen(r, "ls -A /etc")).split())
        assert OURS <= found <= OURS | FROM_THE_MACHINE
        assert "No such file" in await seen(r, "cat /etc/shadow")
        assert (await seen(r, "cat /etc/passwd")).count("\n") == 1
        for path in bwrap.EMPTIED:
            assert await seen(r, f"ls -A {path} 2>/dev/null") == ""
        certificates = await seen(r, "find /etc/ssl /etc/pki -type f")
        assert "private" not in certificates
        assert ".key" not in certificates


@pytest.mark.requirement("driver.sandbox.secrets")
async def test_a_command_sees_programs_its_workspace_and_nothing_else_of_the_machine() -> None:
    system = [Path(name) for name in ("/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/usr")]
    pruned = " -o ".join(f"-path {path}" for path in system)
    async with room() as r:
        links = r.request.home / "tmp/arg0"  # names under which Codex starts itself again
        own = [r.request.workspace, r.request.home / "memories", links, _codex().parent.parent]
        found = [Path(line) for line in (await seen(r, rf"find / \( {pruned} \) -prune -o -print")).splitlines()]
        assert r.request.workspace / "seen" in found
        for path in found:
            inside = any(path.is_relative_to(place) for place in own)
            on_the_way = any(place.is_relative_to(path) for place in own)  # a mount point needs the directories above
            assert inside or on_the_way or path == Path("/tmp")
        assert (await seen(r, "cat /proc/sys/kernel/hostname")).strip() == "clean-room"
        assert str(os.getpid()) not in (await seen(r, "ls /proc")).split()


@pytest.mark.requirement("driver.sandbox.secrets", "driver.sandbox.environment")
async def test_a_command_is_nobody_of_this_machine_has_no_powers_and_no_id_of_the_provider() -> None:
    async with room() as r:
        assert (await seen(r, "id -u; id -un; id -gn")).split() == ["1000", "agent", "agent"]
        powers = await seen(r, "grep ^Cap /proc/self/status")
        assert {line.split()[1] for line in powers.splitlines()} == {"0" * 16}
        assert "denied" in await seen(r, "umount /etc 2>&1 || echo denied")
        environment = await seen(r, "env")
        thread_id = r.session.ids().driver_session_id
        assert "CODEX_THREAD_ID" not in environment
        assert thread_id not in environment
        assert f"PATH={bwrap.COMMAND_PATH}\n" in environment
        assert "/sandbox" not in environment


async def test_ordinary_programs_work_in_the_sandbox() -> None:
    async with room() as r:
        tried = "awk 'BEGIN { print 6 * 7 }'; sort /dev/null; mkdir -p a/b; touch a/b/c; ls a/b; stat -c %U a; date +%Y"
        output = (await seen(r, f"{tried}; echo 'x' | sed s/x/y/; python3 -c 'print(sum([1, 2]))'")).split()
        assert output[:3] == ["42", "c", "agent"]
        assert output[-2:] == ["y", "3"]


async def test_a_codex_that_does_not_use_the_rooms_bwrap_gets_no_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cleanroom.codex.sandbox._allowed", set())
    async with room() as r:
        helper = r.request.home / bwrap.DIRECTORY / bwrap.PROGRAM
        binary = CodexBinary(path=_codex(), directory=_codex().parent.parent, fingerprint="of this test")
        environment = {"CODEX_HOME": str(r.request.home), "HOME": str(r.request.home)}
        places = {"workspace": r.request.workspace, "home": r.request.home}
        assert await is_allowed(binary=binary, environment=environment, **places)
        monkeypatch.setattr("cleanroom.codex.sandbox._allowed", set())
        helper.unlink()
        assert not await is_allowed(binary=binary, environment=environment, **places)


def test_the_rooms_bwrap_adds_its_mounts_behind_codexs_own_and_leaves_the_command_alone(tmp_path: Path) -> None:
    called = tmp_path / "codex-resources/bwrap"
    called.parent.mkdir()
    called.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    called.chmod(0o700)
    codex = CodexBinary(path=tmp_path / "codex", directory=tmp_path, fingerprint="")
    files = bwrap.files(home=tmp_path / "a home's", workspace=tmp_path, binary=codex)
    script = files["bwrap"].replace("/usr/local/bin/bwrap /usr/bin/bwrap /bin/bwrap", "/nowhere/bwrap")
    command = ["--", "/bin/sh", "-c", "echo 'a  b' -- $HOME", "--", ""]
    ran = subprocess.run(
        ["/bin/sh", "-c", script, "bwrap", "--ro-bind", "/etc", "/etc", *command], capture_output=True, check=True
    )
    told = ran.stdout.decode().splitlines()
    assert told[:6] == ["--ro-bind", "/etc", "/etc", "--perms", "755", "--tmpfs"]
    assert told[-len(command) :] == command
    assert told[-len(command) - 2 : -len(command)] == ["--cap-drop", "ALL"]
    assert str(tmp_path / "a home's/sandbox/passwd") in told
    assert told.count("--cap-drop") == 1


@pytest.mark.parametrize(("user_id", "warned"), [(0, True), (1, False), (1000, False)])
def test_a_server_that_runs_as_root_says_so_as_it_starts(user_id: int, warned: bool) -> None:
    assert ("runs as root" in user_warning(user_id)) is warned


def _codex() -> Path:
    return find(codex_bin=django_settings.CODEX_BIN).path
