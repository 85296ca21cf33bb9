"""`manage.py check_semantic_contracts`: the stored contracts are those of the registry, and hold no credential."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from capability.contracts import boundary, drift, files


def _stored(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


class Command(BaseCommand):
    help = "Fail when capability/generated differs from the catalog, or when this house holds what it must not."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py check_semantic_contracts"

    def handle(self, *args: Any, **options: Any) -> None:
        fresh = files.render()
        found = [
            line
            for name, text in fresh.items()
            for line in drift.differences(name=name, stored=_stored(files.DIRECTORY / name), fresh=text)
        ]
        if found:
            found.append("Run `manage.py generate_semantic_contracts` and read the difference before you commit it.")
        found += boundary.credential_fields() + boundary.foreign_parts()
        if found:
            raise CommandError("\n".join(["The semantic contracts do not hold:", *found]))
        self.stdout.write(f"{len(fresh)} files agree with the catalog; no credential field, nothing of a real binding.")
