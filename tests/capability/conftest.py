"""Profiles of a test's own."""

from __future__ import annotations

import pytest

from capability import standing
from capability.profiles import Profiles


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Profiles:
    fresh = Profiles()
    monkeypatch.setattr(standing, "known_profiles", fresh)
    return fresh
