"""`manage.py verify`: all of CI as named, timed steps. The first line of a failure names the step."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

PYTHON = sys.executable
HOUSES = ("mockcore", "capability", "evidence", "cleanroom")


@dataclass(frozen=True)
class Step:
    """One check: what it is called, and the command that fails when it fails."""

    name: str
    command: tuple[str, ...]


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
    Step("python tests", (PYTHON, "-m", "pytest", "-q", "-m", "not soak", "--ignore=tests/browser")),
    # A process of its own: while Playwright's synchronous API is in use, no other event loop runs in its thread.
    Step("browser tests", (PYTHON, "-m", "pytest", "-q", "-m", "not soak", "tests/browser")),
)
SOAK = (Step("soak", (PYTHON, "-m", "pytest", "-q", "-m", "soak")),)
LEFT_OUT = "Left out of this run, see `make soak`: tests marked soak. With the next issues: the PostgreSQL run."


class Command(BaseCommand):
    help = "Run every check that CI runs and say how long each took."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--soak", action="store_true", help="run what takes longer than CI may")
        parser.add_argument("--only", help="run the steps whose name contains this")

    def handle(self, *args: Any, **options: Any) -> None:
        steps = SOAK if options["soak"] else STEPS
        failed = [step.name for step in steps if (options["only"] or "") in step.name and not self._run(step)]
        if not options["soak"]:
            self.stdout.write(LEFT_OUT)
        if failed:
            raise CommandError(f"failed: {', '.join(failed)}")

    def _run(self, step: Step) -> bool:
        started = time.monotonic()
        self.stdout.write(f"── {step.name}")
        self.stdout.flush()
        code = subprocess.run(
            step.command, cwd=settings.BASE_DIR, env=os.environ | {"PYTHONWARNINGS": "default"}
        ).returncode
        self.stdout.write(
            f"── {step.name}: {'ok' if code == 0 else f'FAILED ({code})'} in {time.monotonic() - started:.1f} s"
        )
        self.stdout.flush()
        return code == 0
