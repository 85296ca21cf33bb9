"""What every test shares. Promises and proofs are compared in `tests/test_requirements.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from evidence import follow


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The test database.

    A server keeps its threads and their connections; here loops and their threads come and go with each test, so on
    PostgreSQL a connection is given back after each piece of work, or the test database could not be removed.
    """
    if connection.vendor == "postgresql":
        connection.settings_dict["CONN_MAX_AGE"] = 0
    yield
    follow.threads.close_connections()
