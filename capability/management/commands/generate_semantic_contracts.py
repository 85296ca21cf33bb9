"""`manage.py generate_semantic_contracts`: write the contract files and the page of operations from the registry."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from capability.contracts import files


class Command(BaseCommand):
    help = "Write capability/generated from the catalog: tool contracts, tool facts and the page of operations."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py generate_semantic_contracts"

    def handle(self, *args: Any, **options: Any) -> None:
        files.DIRECTORY.mkdir(exist_ok=True)
        for name, text in files.render().items():
            path = files.DIRECTORY / name
            changed = not path.exists() or path.read_text() != text
            path.write_text(text)
            self.stdout.write(f"{name}: {'written' if changed else 'unchanged'}")
