"""`manage.py check_capability_contract`: every promise has its proof, and the stored traceability says so."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from capability.contracts import drift, files, traceability
from mockcore.refusal import Refusal


class Command(BaseCommand):
    help = "Tie every promise of tests/requirements.py to its operations, cases and tests; fail for an orphan or drift."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py check_capability_contract --write"
        parser.add_argument("--write", action="store_true", help="write the file instead of comparing it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            promises = traceability.read_promises()
        except Refusal as refusal:
            raise CommandError(f"{refusal.code}: {refusal.message}") from refusal
        path = files.DIRECTORY / traceability.TRACEABILITY
        fresh = promises.as_text()
        if options["write"]:
            path.write_text(fresh)
        found = promises.orphans()
        stored = path.read_text() if path.exists() else None
        drifted = drift.differences(name=path.name, stored=stored, fresh=fresh)
        if drifted:
            drifted.append("Run `manage.py check_capability_contract --write` and read the difference.")
        if found or drifted:
            raise CommandError("\n".join(["The capability contract does not hold:", *found, *drifted]))
        tests = {test for proofs in promises.proofs.values() for test in proofs}
        self.stdout.write(f"{len(promises.requirements)} promises, {len(tests)} tests that prove them, no orphan.")
