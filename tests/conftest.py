"""What every test shares: the check that a promise named by a test is a promise we made."""

from __future__ import annotations

import pytest

from tests.requirements import REQUIREMENTS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that claims to prove something must name a promise of `tests/requirements.py`."""
    unknown = {
        f"{item.nodeid}: {name}"
        for item in items
        for marker in item.iter_markers("requirement")
        for name in marker.args
        if name not in REQUIREMENTS
    }
    if unknown:
        raise pytest.UsageError(
            "tests name promises that are not in tests/requirements.py:\n" + "\n".join(sorted(unknown))
        )
