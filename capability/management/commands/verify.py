"""`manage.py verify`: all of CI as named, timed steps. The first line of a failure names the step.

The tests that meet a database run twice: on SQLite, and on the PostgreSQL that `capability.management.postgres` finds
or starts. Without one the run says at its end what it did not run; with `VERIFY_REQUIRE_POSTGRES=1`, as in CI, it is a
failure.
Decision: `mockcore/decisions/0006-two-databases-one-suite.md`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from capability.management.postgres import NoPostgres, is_postgres, postgres_for_tests

PYTHON = sys.executable
HOUSES = ("mockcore", "capability", "evidence", "cleanroom")
PYTEST = (PYTHON, "-m", "pytest", "-q", "-m")
TESTS = (*PYTEST, "not soak", "-n", "2", "--dist", "loadfile", "--ignore=tests/browser", "--ignore=tests/journeys")
JOURNEYS = (*PYTEST, "not soak", "tests/journeys")  # each has a whole server of its own: one at a time


@dataclass(frozen=True)
class Step:
    """One check: what it is called, and the command that fails when it fails."""

    name: str
    command: tuple[str, ...]
    on_postgres: bool = False


STEPS = (
    Step("format", (PYTHON, "-m", "ruff", "format", "--check", "--quiet", ".")),
    Step("lint", (PYTHON, "-m", "ruff", "check", "--quiet", ".")),
    Step("types", (PYTHON, "-m", "mypy", *HOUSES)),
    Step("house plan", (PYTHON, "-c", "from importlinter.cli import lint_imports_command as run; run()")),
    Step("migrations", (PYTHON, "manage.py", "makemigrations", "--check", "--dry-run")),
    Step("system checks", (PYTHON, "manage.py", "check", "--fail-level", "WARNING")),
    Step("semantic contracts", (PYTHON, "manage.py", "check_semantic_contracts")),
    Step("traceability", (PYTHON, "manage.py", "check_capability_contract")),
    Step("browser modules", ("npm", "test", "--silent")),
    Step("python tests", TESTS),
    Step("journeys", JOURNEYS),
    Step("python tests on PostgreSQL", TESTS, on_postgres=True),
    Step("journeys on PostgreSQL", JOURNEYS, on_postgres=True),
    # A process of its own: while Playwright's synchronous API is in use, no other event loop runs in its thread.
    Step("browser tests", (*PYTEST, "not soak", "tests/browser")),
)
SOAK = (
    Step("soak", (*PYTEST, "soak")),
    Step("soak on PostgreSQL", (*PYTEST, "soak", "--ignore=tests/browser"), on_postgres=True),
)
LEFT_OUT = "Left out of this run, see `make soak`: tests marked soak."
REQUIRE = "VERIFY_REQUIRE_POSTGRES"


class Command(BaseCommand):
    help = "Run every check that CI runs and say how long each took."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py verify --only types"
        parser.add_argument("--soak", action="store_true", help="run what takes longer than CI may")
        parser.add_argument("--only", help="run the steps whose name contains this")

    def handle(self, *args: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a PostgreSQL of our own is ended and removed
        self.not_run: dict[str, str] = {}  # step, and why
        steps = SOAK if options["soak"] else STEPS
        failed = [step.name for step in steps if (options["only"] or "") in step.name and not self._run(step)]
        if not options["soak"]:
            self.stdout.write(LEFT_OUT)
        for line in not_run_lines(self.not_run):
            self.stdout.write(line)
        if self.not_run and is_required(os.environ):
            failed += self.not_run
        if failed:
            raise CommandError(f"failed: {', '.join(failed)}")

    def _run(self, step: Step) -> bool:
        """Run one step and return whether it succeeded; one that could not run is noted, and no failure by itself."""
        self.stdout.write(f"── {step.name}")
        started = time.monotonic()
        if not step.on_postgres:
            return self._judge(step, self._call(step, DATABASE_URL=""), started)
        try:
            with postgres_for_tests(named=named_postgres(os.environ)) as found:
                self.stdout.write(f"   with {found.label}")
                return self._judge(step, self._call(step, DATABASE_URL=found.url), started)
        except NoPostgres as why:
            self.not_run[step.name] = str(why)
            self.stdout.write(f"── {step.name}: NOT RUN")
            return True

    def _call(self, step: Step, **environment: str) -> int:
        self.stdout.flush()
        given = os.environ | {"PYTHONWARNINGS": "default"} | environment
        return subprocess.run(step.command, cwd=settings.BASE_DIR, env=given).returncode

    def _judge(self, step: Step, code: int, started: float) -> bool:
        outcome = "ok" if code == 0 else f"FAILED ({code})"
        self.stdout.write(f"── {step.name}: {outcome} in {time.monotonic() - started:.1f} s")
        self.stdout.flush()
        return code == 0


def named_postgres(environment: Mapping[str, str]) -> str:
    """Return the PostgreSQL that the caller's own `DATABASE_URL` names, or nothing."""
    url = environment.get("DATABASE_URL", "")
    return url if is_postgres(url) else ""


def is_required(environment: Mapping[str, str]) -> bool:
    """Say whether a run without PostgreSQL is a failure, as it is in CI."""
    return environment.get(REQUIRE, "") not in {"", "0"}


def not_run_lines(not_run: Mapping[str, str]) -> Sequence[str]:
    """Return what a person must not overlook: each step that did not run, why, and what to do about it."""
    if not not_run:
        return []
    bar = "=" * 100
    named = [f"NOT RUN: {name}: {why}" for name, why in not_run.items()]
    return [bar, *named, "Install PostgreSQL, or name one: DATABASE_URL=postgres://user@host:5432/postgres", bar]
