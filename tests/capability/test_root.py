"""The package root offers the boundary by name, and its example is run."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

import capability
from capability.profiles import known_profiles


@pytest.mark.requirement("boundary.python-example")
@pytest.mark.django_db
def test_the_example_of_the_package_is_true() -> None:
    result = doctest.testmod(capability, raise_on_error=False)
    known_profiles._by_name.pop("example")
    assert result.failed == 0
    assert result.attempted >= 20


@pytest.mark.requirement("boundary.python-example")
def test_every_offered_name_is_there_and_is_that_of_its_home() -> None:
    assert sorted(capability._HOME_OF) == sorted(capability.__all__)
    for name, home in capability._HOME_OF.items():
        assert getattr(capability, name) is getattr(sys.modules[f"capability.{home}"], name)
    with pytest.raises(AttributeError, match="no attribute 'anything_else'"):
        _ = capability.anything_else


def test_importing_the_package_imports_nothing_of_it() -> None:
    """Django imports the root to find the house, long before models can be."""
    program = "import sys, capability; print([m for m in sys.modules if m.startswith(('capability.', 'django'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "[]"
