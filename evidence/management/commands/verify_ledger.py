"""`manage.py verify_ledger`: prove that no row of any ledger was changed, removed, added or moved."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evidence.ledger import chains
from mockcore.chain import first_flaw


class Command(BaseCommand):
    help = "Prove the hash chains of every ledger; name the first bad row of each table and exit 1 if there is one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py verify_ledger --company company-cleanroom-4f9a2c61"
        parser.add_argument(
            "--company",
            help="only this company and its sessions: an id of the admin's list of Companies",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        walked, rows, older, flaws = 0, 0, 0, 0
        for chain in chains(company_id=options["company"]):
            walked, rows = walked + 1, rows + chain.count - chain.after
            older += chain.rows.filter(number__lte=chain.after).count() if chain.after else 0
            if flaw := first_flaw(chain):
                flaws += 1
                self.stdout.write(str(flaw))
        if not walked and options["company"]:
            raise CommandError(f"there is no ledger of {options['company']}")
        if older:
            self.stdout.write(f"{older:,} rows are older than their chain: not proved here.")
        if flaws:
            self.stdout.write(f"{flaws} of {walked:,} chains are broken.")
            sys.exit(1)
        self.stdout.write(f"OK: {rows:,} rows in {walked:,} chains.")
