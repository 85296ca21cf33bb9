"""`manage.py explain_authorization`: one record rule by rule, what it would have been, or the grant matrix."""

from __future__ import annotations

import dataclasses
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from capability import whatif
from capability.catalog.descriptor import Mode
from capability.profiles import known_profiles
from capability.scenario import Scenario
from capability.scenario_json import read_scenario, read_scenario_file
from capability.whatif import Change, Explanation, WhatIf
from mockcore.refusal import Refusal

ALLOWED = "yes"  # in a cell of the matrix
INFERRED = (
    "  Nobody registered the scenario here: its rules were read back from the record. What it says behind the rule "
    "that decided, and what was delegated, is not known."
)


class Command(BaseCommand):
    help = (
        "Explain an authorization record rule by rule; with --role, --mode, --claims or --scenario say what it would "
        "have been; with --matrix print what every profile is allowed. Ids of records and companies stand in the admin "
        "under Authorization records, and with each refusal in the chat's evidence."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = (
            "Example: manage.py explain_authorization semantic-auth-000012 --company company-cleanroom-4f9a2c61 "
            "--claims workspace:control"
        )
        parser.add_argument("record", nargs="?", help="the record's id, such as semantic-auth-000012")
        parser.add_argument("--company", help="whose record it is; needed where several companies have that id")
        parser.add_argument("--role", help="what if the agent had this role, such as board")
        parser.add_argument("--mode", choices=[mode.value for mode in Mode], help="what if the task had this mode")
        parser.add_argument("--claims", help="what if these claims were in effect: a list with commas, or none")
        parser.add_argument("--scenario", help="what if the session had this scenario: a known id, JSON, or @FILE")
        parser.add_argument("--matrix", action="store_true", help="print every operation against every profile")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["matrix"] == bool(options["record"]):
            raise CommandError("Name a record, or ask for --matrix.")
        try:
            told = _matrix() if options["matrix"] else _told(options)
        except Refusal as refusal:
            raise CommandError(f"{refusal.code}: {refusal.message}") from refusal
        if options["json"]:
            self.stdout.write(json.dumps(told if isinstance(told, dict) else dataclasses.asdict(told), default=str))
            return
        for line in _lines(told):
            self.stdout.write(line)


def _told(options: dict[str, Any]) -> Explanation | WhatIf:
    change = _change(options)
    company_id = whatif.company_of(options["record"]) if options["company"] is None else options["company"]
    where = {"company_id": company_id, "record_id": options["record"]}
    return whatif.explain(**where) if change == Change() else whatif.what_if(**where, change=change)


def _change(options: dict[str, Any]) -> Change:
    claims = options["claims"]
    return Change(
        role=options["role"],
        mode=None if options["mode"] is None else Mode(options["mode"]),
        claims=None if claims is None else frozenset(filter(None, map(str.strip, claims.split(",")))),
        scenario=None if options["scenario"] is None else _scenario(options["scenario"]),
    )


def _scenario(given: str) -> Scenario:
    """Return the scenario that is named, written out, or in a file."""
    if given.startswith("@"):
        return read_scenario_file(Path(given[1:]))
    return read_scenario(given) if given.lstrip().startswith("{") else known_profiles.of_scenario(given).scenario


def _matrix() -> dict[str, dict[str, str]]:
    return {
        operation: {profile: ALLOWED if code == "allowed" else code.value for profile, code in cells.items()}
        for operation, cells in whatif.grant_matrix().items()
    }


# ---------------------------------------------------------------- in words
def _lines(told: Explanation | WhatIf | dict[str, dict[str, str]]) -> Iterator[str]:
    match told:
        case Explanation():
            return _explanation(told)
        case WhatIf():
            return _what_if(told)
        case _:
            return _table(told)


def _explanation(told: Explanation) -> Iterator[str]:
    record = told.record
    yield f"{record['id']}  {record['phase']} of {record['operationId']}: {record['code']}"
    yield f"  {record['reason']}"
    for name, value in told.facts.items():
        yield f"  {name}: {json.dumps(value)}"
    for number, step in enumerate(told.steps, start=1):
        yield f"  {number}. {step.rule}: {step.said}" + (f" ({step.reason})" if step.reason else "")
    if not told.agrees:
        yield "  The rules of now do not answer as the record does: a rule, or a fact outside the ledger, has changed."
    if told.inferred:
        yield INFERRED


def _what_if(told: WhatIf) -> Iterator[str]:
    yield f"{told.record_id}  {told.phase} of {told.operation_id}: {told.recorded.code}"
    if told.rule is None:
        yield "  The answer would be the same."
    else:
        yield f"  would be {told.changed.code}, changed by the rule {told.rule}"
        yield f"  {told.changed.reason}"
    if not told.agrees:
        yield "  Mind that the rules of now do not answer the record itself as it was answered."
    if told.inferred:
        yield INFERRED


def _table(matrix: dict[str, dict[str, str]]) -> Iterator[str]:
    columns = list(next(iter(matrix.values())))
    first = max(len(operation) for operation in matrix)
    widths = [max(len(column), *(len(cells[column]) for cells in matrix.values())) for column in columns]
    yield "  ".join(["".ljust(first), *(column.ljust(width) for column, width in zip(columns, widths, strict=True))])
    for operation, cells in matrix.items():
        row = [cells[column].ljust(width) for column, width in zip(columns, widths, strict=True)]
        yield "  ".join([operation.ljust(first), *row]).rstrip()
