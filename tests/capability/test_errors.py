"""A database that is busy because of others is said to be so; any other failure of it is a bug."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest
from django.db import DatabaseError, IntegrityError, OperationalError

from capability.http.errors import answer


def wrapped(error: DatabaseError, cause: Exception) -> DatabaseError:
    """Return the error as Django raises it, from the driver's own."""
    error.__cause__ = cause
    return error


def sqlite_error(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("as planned")
    error.sqlite_errorname = name
    return error


@pytest.mark.requirement("api.database-busy")
@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database is locked: no turn to write within 5 s"),  # our own gate
        wrapped(OperationalError(), sqlite_error("SQLITE_BUSY")),
        wrapped(OperationalError(), sqlite_error("SQLITE_BUSY_SNAPSHOT")),
        wrapped(OperationalError(), psycopg.errors.DeadlockDetected("as planned")),
        wrapped(OperationalError(), psycopg.errors.LockNotAvailable("as planned")),
        wrapped(OperationalError(), psycopg.errors.SerializationFailure("as planned")),
    ],
)
def test_a_database_that_others_hold_is_answered_503_and_may_be_tried_again(error: DatabaseError) -> None:
    answered = answer(error, {})
    assert (answered.status_code, answered.data["error"]) == (503, "database_busy")
    assert "Nothing was changed" in answered.data["message"]


@pytest.mark.requirement("api.database-busy")
@pytest.mark.parametrize(
    "error",
    [
        OperationalError("no such table"),
        wrapped(OperationalError("the account is locked"), psycopg.OperationalError("as planned")),
        wrapped(OperationalError(), sqlite_error("SQLITE_FULL")),
        wrapped(IntegrityError(), psycopg.errors.UniqueViolation("as planned")),
        RuntimeError("database is locked"),
    ],
)
def test_any_other_failure_is_a_bug_under_a_reference(error: Exception) -> None:
    answered = answer(error, {})
    assert (answered.status_code, answered.data["error"]) == (500, "internal_error")
    assert "Nothing was changed" not in answered.data["message"]
