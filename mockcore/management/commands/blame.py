"""`manage.py blame`: who last wrote a field of an entity of a mock company."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mockcore import askable, history
from mockcore.history import Revision
from mockcore.refusal import Refusal

SEEDED = "as seeded: no revision wrote it"
INHERITED = (
    "written in {ancestor} before {company} was forked from it: every id above stands in the ledger of {ancestor}"
)


class Command(BaseCommand):
    help = (
        "Name the revision, operation, call, turn, authorization record and message that last wrote a field. Ids of "
        "companies and entities stand in the admin, and an unknown one is answered with those that are there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = "Example: manage.py blame company-cleanroom-4f9a2c61 task:task-cleanroom-4f9a2c61 status"
        parser.add_argument("company", help="the company's id: the admin's list of Companies, or of Chat sessions")
        parser.add_argument("entity", help="kind:id: the admin's list of that kind, such as Tasks, or of Changes")
        parser.add_argument("field", help="a field of the entity's JSON, such as status, or a path into it")
        parser.add_argument("--revision", type=int, help="as of this revision")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = history.blame(
                company_id=options["company"],
                ref=options["entity"],
                field=options["field"],
                revision=options["revision"],
            )
        except Refusal as no:
            could = askable.sentence(company_id=options["company"], ref=options["entity"])
            raise CommandError(f"{no.code}: {no.message}\n{could}") from no
        if options["json"]:
            self.stdout.write(json.dumps(facts(found) if found else None, indent=2))
            return
        for name, value in facts(found).items() if found else ():
            self.stdout.write(f"{name:<20} {value or '(none given)'}")
        if found is None:
            self.stdout.write(SEEDED)
        elif found.company_id != options["company"]:
            self.stdout.write(INHERITED.format(ancestor=found.company_id, company=options["company"]))


def facts(found: Revision) -> dict[str, Any]:
    """Return what blame says, by the contract's spelling."""
    cause = asdict(found.cause)
    return {
        "companyId": found.company_id,
        "revision": found.number,
        "operation": found.operation,
        "principal": found.principal.value,
        "runId": found.run_id,
        "commandId": found.command_id,
        "at": found.at,
        "callId": cause["call_id"],
        "turnId": cause["turn_id"],
        "authorizationId": cause["authorization_id"],
        "authorizationLedger": found.authorization_ledger,
        "messageId": cause["message_id"],
    }
