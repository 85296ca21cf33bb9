"""Settings that cannot be right stop the start and name the variable."""

from __future__ import annotations

import os
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


@pytest.mark.parametrize(("name", "value"), [("PORT", "0"), ("PORT", "65535"), ("HOST", "::1"), ("HOST", "localhost")])
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


def test_every_setting_of_the_environment_is_in_the_example_file() -> None:
    import re

    source = (PROJECT / "capability" / "settings.py").read_text()
    named = set(re.findall(r'env(?:_int|_path|_url|_loopback|\.str|\.bool)\(\s*"([A-Z_]+)"', source))
    example = (PROJECT / ".env.example").read_text()
    assert {name for name in named if f"{name}=" not in example} == set()
    assert len(named) > 15
