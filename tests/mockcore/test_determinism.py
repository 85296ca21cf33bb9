"""The same script gives the same bytes, on SQLite and on PostgreSQL: both are compared with one stored file.

The file holds a digest for each section of the state, so that a failure names what differs. When the company's rules
change on purpose, `WRITE_DIGESTS=1 pytest tests/mockcore/test_determinism.py` writes it anew; the other database then
proves it.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from mockcore.handlers import HANDLERS
from mockcore.port import Principal
from mockcore.tenants import seed_clean_room
from tests.mockcore import scripted_day
from tests.mockcore.conftest import Desk

STORED = Path(__file__).parent / "data" / "canonical-digests.json"

pytestmark = pytest.mark.django_db


def digests(desk: Desk) -> dict[str, str]:
    found = scripted_day.sections(desk)
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(found.items())}


def compare(name: str, found: dict[str, str]) -> None:
    """Compare with the stored digests, or store them when asked to."""
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    if os.environ.get("WRITE_DIGESTS"):
        STORED.write_text(json.dumps({**stored, name: found}, indent=2, sort_keys=True) + "\n")
        return
    assert {section: digest for section, digest in found.items() if stored[name].get(section) != digest} == {}
    assert found.keys() == stored[name].keys()


@pytest.mark.requirement("company.determinism")
def test_a_seeded_clean_room_is_the_same_bytes_on_both_databases() -> None:
    compare("seed", digests(Desk(identity=seed_clean_room(identity=scripted_day.IDENTITY))))


@pytest.mark.requirement("company.determinism")
def test_a_day_with_every_command_is_the_same_bytes_on_both_databases() -> None:
    desk = scripted_day.whole_day()
    assert {command.kind for command in HANDLERS} - scripted_day.kinds_applied(desk) == set()
    assert scripted_day.is_principal_used(desk, Principal.BOARD)
    assert desk.status == "done"
    compare("day", digests(desk))
