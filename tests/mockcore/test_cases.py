"""The hostile cases `data/idempotency.jsonl` and `data/revisions.jsonl`, run as they are written."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from mockcore import models
from mockcore.commands import Command, ReportProgress, SetDependencies, WriteDocument
from mockcore.port import Applied, Envelope, Outcome, Refused
from tests.factories import FaultFactory, TaskFactory
from tests.mockcore.conftest import Desk, seated

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[Any]:
    lines = [json.loads(line) for line in (DATA / name).read_text().splitlines() if line]
    return [pytest.param(case, id=case["id"]) for case in lines]


@dataclass
class Ran:
    """What came of a case: the outcomes in order, the desk, and the revision it began at."""

    desk: Desk
    began: int
    outcomes: list[Outcome] = field(default_factory=list)

    def bodies(self) -> list[str]:
        return list(models.Comment.objects.order_by("position").values_list("body", flat=True))

    def applied(self) -> list[Applied]:
        return [one for one in self.outcomes if isinstance(one, Applied)]

    def second_is_refused_as(self, code: str) -> bool:
        second = self.outcomes[1]
        return isinstance(second, Refused) and second.code == code


# ---------------------------------------------------------------- steps
def command_of(step: dict[str, Any]) -> Command:
    given = json.loads(step["raw"]) if "raw" in step else step["input"]
    match step["op"]:
        case "comment":
            return ReportProgress(body="" if step.get("refused_by_schema") else given["body"])
        case "document":
            return WriteDocument(key=given["documentKey"], title="Plan", body=given["body"], base_revision_id=None)
        case "dependencies":
            return SetDependencies(blocked_by_task_ids=tuple(given["blockedByTaskIds"]))
    raise AssertionError(f"no such step: {step}")


def envelope(desk: Desk, step: dict[str, Any]) -> Envelope:
    return Envelope(run_id=desk.run_id, idempotency_key=step["key"] or "", command=command_of(step))


def run(desk: Desk, step: dict[str, Any]) -> list[Outcome]:
    if "parallel" in step:
        return at_once(desk, [envelope(desk, one) for one in step["parallel"] * step.get("times", 1)])
    if step.get("drop_reply"):
        FaultFactory(company=desk.company(), effect="lost_ack", code="reply_dropped")
    return [desk.plane.apply(envelope(desk, step))]


def at_once(desk: Desk, envelopes: list[Envelope]) -> list[Outcome]:
    return in_threads([lambda one=one: desk.plane.apply(one) for one in envelopes])


def in_threads(works: list[Callable[[], Any]]) -> list[Any]:
    """Run every work in a thread of its own, all starting together."""
    together = threading.Barrier(len(works))

    def begin(work: Callable[[], Any]) -> Any:
        try:
            together.wait(10)
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(begin, works))


# ---------------------------------------------------------------- expectations
EXPECT: dict[str, Callable[[Ran], bool]] = {
    "1 comment": lambda ran: len(ran.bodies()) == 1,
    "1 comment (one)": lambda ran: ran.bodies() == ["one"],
    "1 comment, 0 documents": lambda ran: len(ran.bodies()) == 1 and not models.Document.objects.exists(),
    "revision +1": lambda ran: ran.desk.plane.state_revision() == ran.began + 1,
    "no 5xx": lambda ran: all(isinstance(one, Applied | Refused) for one in ran.outcomes),
    "answers: ok and (same ok or named in-progress)": lambda ran: len({one.command_id for one in ran.applied()}) == 1,
    "second is a named conflict": lambda ran: ran.second_is_refused_as("idempotency_conflict"),
    "second replays": lambda ran: [one.disposition for one in ran.applied()] == ["applied", "duplicate"],
    "second returns the first answer, marked as replay": lambda ran: (
        [(one.disposition, one.state_revision) for one in ran.applied()] == [("duplicate", ran.began + 1)]
    ),
    "a refusal before execution leaves no record: the corrected call runs": lambda ran: (
        ran.bodies() == ["hello fixed"] and isinstance(ran.outcomes[0], Refused)
    ),
    "documented: refused by name, or two comments": lambda ran: (
        {getattr(one, "code", "") for one in ran.outcomes} == {"idempotency_key_required"} and ran.bodies() == []
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("company.idempotency.cases")
@pytest.mark.parametrize("case", cases("idempotency.jsonl"))
def test_one_key_has_one_effect_whatever_happens_on_the_way(case: dict[str, Any]) -> None:
    desk = seated()
    for public_id in ("task-2", "task-3"):
        TaskFactory(company=desk.company(), public_id=public_id)
    ran = Ran(desk=desk, began=desk.plane.state_revision())
    for step in case["steps"]:
        ran.outcomes += run(desk, step)
    assert case["expect"]
    assert [sentence for sentence in case["expect"] if not EXPECT[sentence](ran)] == [], ran.outcomes


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("company.revision.cases")
@pytest.mark.parametrize("case", cases("revisions.jsonl"))
def test_writers_that_read_first_meet_conflicts_and_nothing_else(case: dict[str, Any]) -> None:
    [step] = case["steps"]
    assert step["each"] == "read document revision, write with that base"
    desk = seated()
    desk.do(WriteDocument(key="plan", title="Plan", body="0", base_revision_id=None))

    def work(worker: int) -> list[Outcome]:
        return [write(desk, f"{worker}-{turn}") for turn in range(step["rounds"])]

    outcomes = [one for did in in_threads([lambda n=n: work(n) for n in range(step["workers"])]) for one in did]
    refused = [one for one in outcomes if isinstance(one, Refused)]
    assert len(outcomes) == step["workers"] * step["rounds"]
    assert {one.code for one in refused} <= {"document_revision_conflict"}
    assert models.DocumentRevision.objects.count() == 1 + len(outcomes) - len(refused)
    assert desk.plane.state_revision() == 2 + len(outcomes) - len(refused)


def write(desk: Desk, body: str) -> Outcome:
    read = desk.plane.query(desk.run_id, "read_document", key="plan")
    command = WriteDocument(key="plan", title="Plan", body=body, base_revision_id=read["revision"]["id"])
    return desk.plane.apply(Envelope(run_id=desk.run_id, idempotency_key=body, command=command))
