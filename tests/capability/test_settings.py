"""Settings that cannot be right stop the start and name the variable."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def start_with(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Import the settings in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from capability import settings; print(settings.PORT, settings.CLEANROOM_MAX_TURNS)"],
        cwd=PROJECT,
        env=os.environ | {"CAPABILITY_VAR_DIR": str(tmp_path)} | environment,
        capture_output=True,
        text=True,
        timeout=30,
    )


@pytest.mark.requirement("settings.named")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "abc"),
        ("PORT", "65536"),
        ("HOST", "0.0.0.0"),
        ("HOST", "192.168.1.5"),
        ("HOST", "example.test"),
        ("CLEANROOM_MAX_TURNS", "0"),
        ("CLEANROOM_MAX_TURNS", "1001"),
        ("CLEANROOM_TURN_TIMEOUT_S", "3601"),
        ("CLEANROOM_COOKIE_DAYS", "401"),
        ("CLEANROOM_COOKIE_DAYS", "999999999"),
        ("CLEANROOM_OPEN_TIMEOUT_S", "121"),
        ("CLEANROOM_IDLE_MINUTES", "1441"),
        ("API_MAX_BODY_BYTES", "1048576"),
        ("STREAM_HEARTBEAT_S", "121"),
        ("LOG_LEVEL", "loud"),
        ("DJANGO_DEBUG", "perhaps"),
        ("CAPABILITY_VAR_DIR", "/dev/null/var"),
        ("CAPABILITY_VAR_DIR", " "),
        ("CLEANROOM_MAX_MESSAGE_BYTES", "16385"),
        ("CLEANROOM_MAX_ROOMS", "65"),
        ("CAPABILITY_MODEL_URL", "ftp://127.0.0.1"),
        ("DATABASE_URL", "nonsense"),
        ("DJANGO_SECRET_KEY", "short"),
    ],
)
def test_a_setting_that_cannot_be_right_stops_the_start_and_is_named(tmp_path: Path, name: str, value: str) -> None:
    done = start_with(tmp_path, **{name: value})
    assert done.returncode != 0
    assert name in done.stderr.splitlines()[-1]


@pytest.mark.requirement("settings.bounds")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65535"),
        ("HOST", "::1"),
        ("HOST", "localhost"),
        ("CLEANROOM_MAX_TURNS", "1000"),
        ("CLEANROOM_TURN_TIMEOUT_S", "3600"),
        ("CLEANROOM_COOKIE_DAYS", "400"),
        ("CLEANROOM_OPEN_TIMEOUT_S", "120"),
        ("CLEANROOM_IDLE_MINUTES", "1440"),
        ("API_MAX_BODY_BYTES", "1048575"),
        ("STREAM_HEARTBEAT_S", "120"),
        ("LOG_LEVEL", "debug"),
        ("DJANGO_DEBUG", "off"),
    ],
)
def test_a_setting_at_its_bound_is_taken(tmp_path: Path, name: str, value: str) -> None:
    assert start_with(tmp_path, **{name: value}).returncode == 0


@pytest.mark.requirement("settings.defaults")
def test_the_promised_numbers_are_the_defaults() -> None:
    from django.conf import settings

    assert settings.CLEANROOM_MAX_TURNS == 24
    assert settings.CLEANROOM_MAX_MESSAGE_BYTES == 8192
    assert settings.CLEANROOM_MAX_ROOMS == 4
    assert settings.CLEANROOM_TURN_TIMEOUT_S == 120
    assert settings.CLEANROOM_COOKIE_DAYS == 30
    assert settings.CLEANROOM_OPEN_TIMEOUT_S == 10
    assert settings.API_MAX_BODY_BYTES == 65_536
    assert settings.STREAM_HEARTBEAT_S == 15


def test_the_secret_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    assert start_with(tmp_path).returncode == 0
    key = tmp_path / "secret-key"
    first = key.read_text()
    assert start_with(tmp_path).returncode == 0
    assert key.read_text() == first
    assert len(first.strip()) >= 50
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


@pytest.mark.requirement("settings.one-line")
@pytest.mark.parametrize("command", [["dev"], ["check"], ["migrate"], ["no_such_command"], ["help"], []])
@pytest.mark.parametrize(("name", "value"), [("PORT", "abc"), ("HOST", "0.0.0.0"), ("CLEANROOM_MAX_TURNS", "many")])
def test_a_wrong_setting_is_one_line_for_every_command(
    tmp_path: Path, command: list[str], name: str, value: str
) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        env=os.environ | {"CAPABILITY_VAR_DIR": str(tmp_path), name: value},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    (line,) = (done.stdout + done.stderr).splitlines()
    assert line.startswith(f"Configuration error: {name} must be ")


@pytest.mark.requirement("settings.example")
def test_the_example_file_can_be_used_with_every_line_in_force(tmp_path: Path) -> None:
    """In a project of its own, which holds nothing but the settings and the file."""
    (tmp_path / "capability").mkdir()
    shutil.copy(PROJECT / "capability" / "settings.py", tmp_path / "capability")
    example = (PROJECT / ".env.example").read_text()
    (tmp_path / ".env").write_text(re.sub(r"^# (?=[A-Z_]+=)", "", example, flags=re.MULTILINE))
    assert settings_of(tmp_path) == {
        "PORT": 4184,
        "VAR_DIR": str(tmp_path / "var"),
        "CODEX_BIN": str(tmp_path / "node_modules/.bin/codex"),
        "CODEX_LOGIN_HOME": str(Path("~/.codex").expanduser()),
        "API_MAX_BODY_BYTES": 65_536,
        "MODEL_LABEL": "",
    }


@pytest.mark.requirement("settings.example")
def test_a_comment_behind_a_value_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "capability").mkdir()
    shutil.copy(PROJECT / "capability" / "settings.py", tmp_path / "capability")
    lines = (
        "PORT=4292   # where it listens",
        "CAPABILITY_VAR_DIR=var/three   # databases",
        "CAPABILITY_MODEL_LABEL='Our # model'  # its name",
        "CODEX_BIN=codex#2",
        "CODEX_HOME=/nowhere\t# tab",
    )
    (tmp_path / ".env").write_text("\n".join(lines))
    assert settings_of(tmp_path) == {
        "PORT": 4292,
        "VAR_DIR": str(tmp_path / "var" / "three"),
        "CODEX_BIN": "codex#2",
        "CODEX_LOGIN_HOME": "/nowhere",
        "API_MAX_BODY_BYTES": 65_536,
        "MODEL_LABEL": "Our # model",
    }


@pytest.mark.requirement("settings.example")
def test_what_the_example_file_says_of_comments_is_so(tmp_path: Path) -> None:
    (tmp_path / "capability").mkdir()
    shutil.copy(PROJECT / "capability" / "settings.py", tmp_path / "capability")
    example = (PROJECT / ".env.example").read_text()
    lines = example.splitlines()
    assert all(not line or line.startswith("#") for line in lines), "nothing is in force before somebody chooses it"
    assert not [line for line in lines if re.match(r"# [A-Z_]+=.*\s#", line)], "its own comments have their own lines"
    shown = re.search(r"(PORT=4190  # \w+)", example)
    assert shown is not None
    words = ("(a#b)", '("a # b")')
    assert all(word in example for word in words)
    (tmp_path / ".env").write_text(f'{shown[1]}\nCODEX_BIN=a#b\nCAPABILITY_MODEL_LABEL="a # b"\n')
    read = settings_of(tmp_path)
    assert (read["PORT"], read["CODEX_BIN"], read["MODEL_LABEL"]) == (4190, "a#b", "a # b")


def settings_of(project: Path) -> dict[str, object]:
    """Read the settings of a project with no other environment than what a shell needs."""
    names = ["PORT", "VAR_DIR", "CODEX_BIN", "CODEX_LOGIN_HOME", "API_MAX_BODY_BYTES", "MODEL_LABEL"]
    script = f"import json, settings; print(json.dumps({{n: getattr(settings, n) for n in {names}}}, default=str))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project / "capability",
        env={name: os.environ[name] for name in ("PATH", "HOME")},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    read: dict[str, object] = json.loads(done.stdout)
    return read


def test_every_setting_of_the_environment_is_in_the_example_file() -> None:
    source = (PROJECT / "capability" / "settings.py").read_text()
    named = set(re.findall(r'env(?:_[a-z_]+|\.str)\(\s*"([A-Z_]+)"', source))
    example = (PROJECT / ".env.example").read_text()
    assert {name for name in named if f"{name}=" not in example} == set()
    assert len(named) > 15
