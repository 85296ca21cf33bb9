"""`manage.py advance_clock`: move a mock company's time on, as a test clock, and deliver what became due."""

from __future__ import annotations

import json
import uuid
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mockcore import askable, history
from mockcore.models import Company
from mockcore.plane import MockControlPlane
from mockcore.port import AdvanceClock, Refused
from mockcore.refusal import Refusal
from mockcore.text import iso


class Command(BaseCommand):
    help = (
        "Move a company's clock on, expire the questions whose time has come and deliver the wakes that became due, "
        "each as a revision of its own. A chat that is open does not draw what came of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py advance_clock company-cleanroom-4f9a2c61 3600"
        parser.add_argument("company", help="the company's id: the admin's list of Companies, or of Chat sessions")
        parser.add_argument("seconds", type=int, help="of company time, at least 1 and at most a leap year")
        parser.add_argument("--key", help="an idempotency key: the same move again changes nothing more")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        company_id, key = options["company"], options["key"] or f"operator:{uuid.uuid4()}"
        plane = MockControlPlane(company_id=company_id)
        try:
            outcome = plane.advance_clock(AdvanceClock(ticks=options["seconds"], idempotency_key=key))
            if isinstance(outcome, Refused):
                raise CommandError(f"{outcome.code}: {outcome.message}")
            made = history.list_revisions(company_id=company_id, after=outcome.state_revision - 1)
            facts = {
                "companyId": company_id,
                "disposition": outcome.disposition,
                "companyTime": iso(Company.objects.get(pk=company_id).now()),
                "stateRevision": made[-1].number,
                "revisions": [one.operation for one in made],
                "deliveredWakeIds": list(outcome.delivered_wake_ids),
            }
        except Refusal as no:
            raise CommandError(f"{no.code}: {no.message}\n{askable.sentence(company_id=company_id, ref='')}") from no
        if options["json"]:
            self.stdout.write(json.dumps(facts, indent=2))
            return
        for name, value in facts.items():
            told = ", ".join(value) if isinstance(value, list) else value
            self.stdout.write(f"{name:<17} {told or '(none)'}")
