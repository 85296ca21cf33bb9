"""What `manage.py verify` runs on PostgreSQL, and what it says when there is none."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.core.management import CommandError, call_command

from capability.management import postgres
from capability.management.commands import verify
from capability.management.postgres import Found, NoPostgres, find_programs, postgres_for_tests

NOWHERE = "postgres://nobody@127.0.0.1:1/nothing"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What verify would have run: each step and its database. Nothing is really run, and every step succeeds."""
    made: list[tuple[str, str]] = []

    def call(self: verify.Command, step: verify.Step, **environment: str) -> int:
        made.append((step.name, environment["DATABASE_URL"]))
        return 0

    monkeypatch.setattr(verify.Command, "_call", call)
    monkeypatch.setattr(verify.signal, "signal", lambda *_: None)
    monkeypatch.delenv(verify.REQUIRE, raising=False)
    return made


def without_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def none(*, named: str) -> Iterator[Found]:
        raise NoPostgres("it was looked for")
        yield

    monkeypatch.setattr(verify, "postgres_for_tests", none)


def with_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def found(*, named: str) -> Iterator[Found]:
        yield Found(url="postgres://found/x", label="a PostgreSQL")

    monkeypatch.setattr(verify, "postgres_for_tests", found)


@pytest.mark.requirement("databases.one-suite")
def test_the_same_tests_run_on_both_databases(calls: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    with_postgres(monkeypatch)
    said = io.StringIO()
    call_command("verify", only="python tests", stdout=said)
    assert calls == [("python tests", ""), ("python tests on PostgreSQL", "postgres://found/x")]
    commands = {step.name: step.command for step in verify.STEPS}
    assert commands["python tests"] == commands["python tests on PostgreSQL"]
    assert "NOT RUN" not in said.getvalue()


@pytest.mark.requirement("databases.one-suite")
def test_a_run_without_postgresql_says_at_its_end_what_it_did_not_run(
    calls: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_postgres(monkeypatch)
    said = io.StringIO()
    call_command("verify", only="python tests", stdout=said)
    assert calls == [("python tests", "")]
    end = said.getvalue().splitlines()[-4:]
    assert end[1] == "NOT RUN: python tests on PostgreSQL: it was looked for"


@pytest.mark.requirement("databases.one-suite")
def test_in_ci_a_run_without_postgresql_fails(calls: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    without_postgres(monkeypatch)
    monkeypatch.setenv(verify.REQUIRE, "1")
    with pytest.raises(CommandError, match="python tests on PostgreSQL"):
        call_command("verify", only="python tests", stdout=io.StringIO())


@pytest.mark.requirement("databases.one-suite")
def test_ci_requires_postgresql() -> None:
    script = (verify.settings.BASE_DIR / ".ci" / "run").read_text()
    assert f"{verify.REQUIRE}=1 make test" in script


@pytest.mark.parametrize(("url", "named"), [("", ""), ("sqlite:///x", ""), (NOWHERE, NOWHERE)])
def test_the_callers_own_postgresql_is_used_and_no_other_database(url: str, named: str) -> None:
    assert verify.named_postgres({"DATABASE_URL": url}) == named


def test_a_named_server_that_does_not_answer_is_an_error_and_no_reason_to_take_another() -> None:
    with pytest.raises(NoPostgres, match="of DATABASE_URL is of no use"), postgres_for_tests(named=NOWHERE):
        pass


def test_without_programs_and_server_the_reasons_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "find_programs", lambda: None)
    monkeypatch.setattr(postgres, "LOCAL_SERVER", "127.0.0.1:1")
    with pytest.raises(NoPostgres, match=r"not installed, and none at 127\.0\.0\.1:1"), postgres_for_tests(named=""):
        pass


@pytest.mark.skipif(find_programs() is None, reason="PostgreSQL's programs are not installed here")
def test_a_server_of_our_own_answers_and_is_gone_afterwards() -> None:
    with postgres_for_tests(named="") as found:
        host = found.url.split("@/")[1].rsplit("/", 1)[0]
        with psycopg.connect(host=host, user=postgres.OWNER, dbname="postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE mine")
        assert postgres.why_not(found.url) == ""
    assert postgres.why_not(found.url) != ""
    assert not postgres.Path(host).exists()
