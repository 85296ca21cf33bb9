"""What is no revision of a company is refused by name, wherever a revision is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from mockcore import copies, history, models, past
from mockcore.commands import ReportProgress
from mockcore.handlers.scene import CommandInvalid
from mockcore.port import ReplayEvents
from mockcore.refusal import Refusal
from tests.mockcore.conftest import Desk

NO_REVISIONS = [1.0, 1.5, True, "1", -1, None]


def asking(desk: Desk) -> dict[str, Callable[[Any], Any]]:
    """Return every read and copy that takes a revision, as a function of it."""
    of: dict[str, Any] = {"company_id": desk.company_id}
    task = {**of, "ref": f"task:{desk.task_id}"}
    return {
        "state_at": lambda it: history.state_at(**of, revision=it),
        "world_at": lambda it: history.world_at(**of, revision=it),
        "diff from": lambda it: history.diff(**of, a=it, b=1),
        "diff to": lambda it: history.diff(**of, a=1, b=it),
        "changes": lambda it: history.changes(**of, revision=it),
        "list_revisions": lambda it: history.list_revisions(**of, after=it),
        "list_audit": lambda it: history.list_audit(**of, after=it),
        "list_decisions": lambda it: history.list_decisions(**of, after=it),
        "entity_at": lambda it: past.entity_at(**task, revision=it),
        "blame": lambda it: history.blame(**task, field="status", revision=it),
        "serialize": lambda it: copies.serialize(**of, revision=it),
        "fork": lambda it: copies.fork(**of, revision=it),
    }


@pytest.mark.parametrize("wrong", NO_REVISIONS, ids=repr)
def test_what_is_no_whole_number_is_no_revision(desk: Desk, wrong: Any) -> None:
    desk.do(ReportProgress(body="One"))
    for name, ask in asking(desk).items():
        if wrong is None and name in ("blame", "serialize", "fork"):
            continue  # there it means the newest
        with pytest.raises(history.RevisionMissing):
            ask(wrong)
        assert models.Company.objects.count() == 1, name
    if wrong not in (None, -1):
        with pytest.raises(CommandInvalid):
            desk.send(ReportProgress(body="Two"), expected_revision=wrong)


@pytest.mark.parametrize("beyond", [1, 10**18, 10**30])
def test_what_has_not_been_yet_is_refused_and_not_guessed(desk: Desk, beyond: int) -> None:
    newest = desk.plane.state_revision()
    for name, ask in asking(desk).items():
        if name in ("changes", "list_revisions", "list_audit", "list_decisions"):
            assert ask(newest + beyond) == []
            continue
        with pytest.raises(history.RevisionMissing):
            ask(newest + beyond)
    with pytest.raises(CommandError, match="revision_missing"):
        call_command("blame", desk.company_id, f"task:{desk.task_id}", "status", revision=newest + beyond)


def test_blame_asks_the_parent_of_a_fork_about_what_was_before_it_and_nobody_about_what_is_lost(desk: Desk) -> None:
    desk.do(ReportProgress(body="One"))
    task = {"ref": f"task:{desk.task_id}", "field": "status"}
    child = copies.fork(company_id=desk.company_id)
    found = history.blame(company_id=child, revision=1, **task)
    assert found is not None
    assert (found.company_id, found.number) == (desk.company_id, 1)
    copy = copies.restore(copies.serialize(company_id=desk.company_id).body, company_id="company-restored")
    with pytest.raises(history.RevisionMissing):
        history.blame(company_id=copy, revision=1, **task)


def test_a_cursor_of_events_is_a_whole_number(desk: Desk) -> None:
    for wrong in ({"after": 1.5}, {"after": True}, {"limit": "2"}):
        with pytest.raises(Refusal) as refused:
            desk.plane.replay_events(
                ReplayEvents(run_id="run-1", source_instance_id="capability-live-runnerd", **wrong)  # type: ignore[arg-type]
            )
        assert refused.value.code == "semantic_command_invalid"
