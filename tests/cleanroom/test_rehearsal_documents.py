"""Which document the rehearsal model takes a person to mean; one that is named and absent is never another."""

from __future__ import annotations

from typing import Any

import pytest

from cleanroom.rehearsal.documents import choose
from cleanroom.rehearsal.steps import find_steps
from tests.cleanroom.support.rehearsal import PLAN, Thread, read

pytestmark = pytest.mark.requirement("rehearsal.rules")

LAUNCH = PLAN | {"key": "launch-plan", "title": "Launch plan"}
BUDGET = PLAN | {"key": "budget", "title": "Budget"}
RISKS = PLAN | {"key": "risk-report", "title": "Risk report"}
PLAIN = PLAN | {"key": "ideas", "title": "Ideas"}


def meant(words: str, *known: dict[str, Any]) -> list[str]:
    (step,) = find_steps(words)
    return [document["key"] for document in choose(step.clause, known)]


@pytest.mark.parametrize(
    "words",
    [
        "Revise the budget plan: and test it",
        "Revise the Budget document: and test it",
        "Read the document called Budget",
        "Read the budget report",
        'Show me the document "Budget"',
        'Update the document "Budget": more money',
        "Open the report",
        "Add a section about costs to the budget plan",
        "Please update our hiring plan with the new dates",
        "Rewrite the notes: all new",
    ],
)
def test_a_document_that_is_named_and_absent_is_not_taken_for_the_only_one(words: str) -> None:
    thread = Thread(list_documents=read(documents=[LAUNCH]), read_document=read(revision={"body": "old"}))
    answer = thread.ask(words)
    assert thread.names == ["list_documents"]
    assert "There is no such document as" in answer
    assert "“Launch plan” (`launch-plan`)" in answer


@pytest.mark.parametrize(
    ("words", "known", "expected"),
    [
        ("Revise the plan: x", [LAUNCH], ["launch-plan"]),
        ("Revise the launch plan: x", [LAUNCH, BUDGET], ["launch-plan"]),
        ("Revise the Launch document: x", [LAUNCH, BUDGET], ["launch-plan"]),
        ("Read me the current plan", [LAUNCH, BUDGET, RISKS], ["launch-plan"]),
        ("Read the document called Launch plan", [LAUNCH, BUDGET], ["launch-plan"]),
        ("Read the document launch-plan", [LAUNCH, BUDGET], ["launch-plan"]),
        ("Revise the document: x", [LAUNCH], ["launch-plan"]),
        ("Revise the text of the document: the budget plan is late", [LAUNCH], ["launch-plan"]),
        ('Revise the plan with "the budget plan is late"', [LAUNCH], ["launch-plan"]),
        ("Revise the Budget plan: x", [LAUNCH, BUDGET], ["budget"]),
        ("Read the notes", [PLAIN], ["ideas"]),
        ("Read the report", [LAUNCH, BUDGET, RISKS], ["risk-report"]),
        ("Read the document", [LAUNCH, BUDGET], ["launch-plan", "budget"]),
        ("Read the hiring plan", [LAUNCH, BUDGET], []),
        ("Read the specification", [PLAN | {"key": "spec", "title": "Spec"}, LAUNCH], ["spec"]),
        ("Read the plan", [], []),
    ],
)
def test_the_document_meant_is_the_one_that_the_words_fit(
    words: str, known: list[dict[str, Any]], expected: list[str]
) -> None:
    assert meant(words, *known) == expected


def test_a_document_that_is_to_be_written_is_made_beside_the_one_there_is() -> None:
    thread = Thread(list_documents=read(documents=[LAUNCH]))
    thread.ask("Write a document called Budget: ask for 100")
    name, sent = thread.calls[-1]
    assert (name, sent["key"], sent["title"], sent["baseRevisionId"]) == ("write_document", "budget", "Budget", None)


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("Write a plan", 4),
        ("Write a document called plan with three steps", 3),
        ("Write a plan with 1 step", 1),
        ("Write a two-step plan", 2),
        ("Draft a plan of seven small steps", 7),
        ("Write a plan with 20 steps", 20),
        ("Write a plan with 999 steps", 20),
        ("Write a plan with 0 steps", 4),
        ('Write a plan called "Six steps"', 4),
    ],
)
def test_a_plan_has_as_many_steps_as_were_asked_for(words: str, count: int) -> None:
    thread = Thread()
    thread.ask(words)
    [body] = [given["body"] for name, given in thread.calls if name == "write_document"]
    steps = [line for line in body.splitlines() if line[:1].isdigit()]
    assert [step.partition(".")[0] for step in steps] == [str(number) for number in range(1, count + 1)]
