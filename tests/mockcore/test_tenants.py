from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db.utils import IntegrityError

from mockcore import models, tenants
from mockcore.commands import ReportProgress
from mockcore.plane import CompanyMissing
from mockcore.port import Refused
from tests import factories as make
from tests.mockcore.conftest import Desk


@pytest.mark.requirement("company.seed.identity")
def test_an_identity_is_drawn_within_its_bounds() -> None:
    for identity in (tenants.CleanRoomIdentity.mint() for _ in range(200)):
        assert re.fullmatch(r"[0-9a-f]{8}", identity.token)
        assert 1000 <= identity.sequence <= 9999
    assert tenants.CleanRoomIdentity.mint(token="ABCDEF01").token == "abcdef01"


@pytest.mark.requirement("company.seed.blank")
def test_a_clean_room_is_one_company_one_actor_and_one_blank_issue(db: None) -> None:
    who = tenants.CleanRoomIdentity(token="0a1b2c3d", sequence=4821)
    assert tenants.seed_clean_room(identity=who) == who
    state = Desk(identity=who).plane.state()
    assert state["company"] == {
        "id": "company-cleanroom-0a1b2c3d",
        "name": "Mock Paperclip (clean room)",
        "issuePrefix": "MCK",
        "status": "active",
        "budgetId": "budget-company-cleanroom-0a1b2c3d",
    }
    assert state["actors"] == [
        {
            "id": "actor-cleanroom-0a1b2c3d",
            "companyId": "company-cleanroom-0a1b2c3d",
            "name": "Mock Agent",
            "role": "engineer",
            "status": "active",
            "budgetId": "budget-actor-cleanroom-0a1b2c3d",
            "capabilityGrants": [],
        }
    ]
    (task,) = state["tasks"]
    assert (task["id"], task["identifier"], task["title"]) == ("task-cleanroom-0a1b2c3d", "MCK-4821", "Clean-room chat")
    assert (task["status"], task["priority"], task["workMode"]) == ("todo", "medium", "standard")
    assert task["assigneeActorId"] == who.actor_id
    empty = ("description", "parentId", "checkoutRunId", "executionRunId", "startedAt", "completedAt")
    assert {name: task[name] for name in empty} == dict.fromkeys(empty)
    assert [(b["scope"], b["limitCents"], b["spentCents"], b["hardStop"]) for b in state["budgets"]] == [
        ("company", 10_000, 0, True),
        ("actor", 1_000, 0, True),
    ]
    assert (state["revision"], state["clock"]["tick"], state["lifecycle"]) == (0, 0, "running")
    assert [name for name in ("audit", "decisions", "idempotency", "runs") if state[name]] == []
    tenants.assert_blank(company_id=who.company_id)


def test_the_same_identity_cannot_be_seeded_twice(blank: Desk) -> None:
    with pytest.raises(IntegrityError):
        tenants.seed_clean_room(identity=blank.identity)


Soil = Callable[[models.Company, models.Task, models.Actor], Any]
SOILED: dict[str, Soil] = {
    "comments": lambda c, t, a: make.CommentFactory(company=c, task=t),
    "documents": lambda c, t, a: make.DocumentFactory(company=c, task=t),
    "interactions": lambda c, t, a: make.InteractionFactory(company=c, task=t),
    "approvals": lambda c, t, a: make.ApprovalFactory(company=c),
    "artifacts": lambda c, t, a: make.ArtifactFactory(company=c, task=t),
    "workProducts": lambda c, t, a: make.WorkProductFactory(company=c, task=t),
    "workspaceServices": lambda c, t, a: make.WorkspaceServiceFactory(company=c, task=t),
    "wakes": lambda c, t, a: make.WakeFactory(company=c, task=t, actor=a),
    "faults": lambda c, t, a: make.FaultFactory(company=c),
    "tasks": lambda c, t, a: make.TaskFactory(company=c),
    "actors": lambda c, t, a: make.ActorFactory(company=c),
}


@pytest.mark.requirement("company.seed.not-blank")
@pytest.mark.parametrize("name", SOILED)
def test_a_room_that_is_not_blank_is_refused_and_named(blank: Desk, name: str) -> None:
    task, actor = models.Task.objects.get(), models.Actor.objects.get()
    SOILED[name](blank.company(), task, actor)
    with pytest.raises(tenants.SeedNotBlank) as refused:
        tenants.assert_blank(company_id=blank.company_id)
    assert refused.value.code == "seed_not_blank"
    assert refused.value.found == (name,)
    assert name in refused.value.message


@pytest.mark.requirement("company.seed.not-blank")
def test_everything_that_is_not_blank_is_named(blank: Desk) -> None:
    company = blank.company()
    other = make.TaskFactory(company=company)
    make.BlockerFactory(company=company, task=other, blocked_by_task=models.Task.objects.get(public_id=blank.task_id))
    make.CommentFactory(company=company, task=other)
    make.CommentFactory()  # of another company, which is no concern of this one
    with pytest.raises(tenants.SeedNotBlank) as refused:
        tenants.assert_blank(company_id=blank.company_id)
    assert refused.value.found == ("comments", "blockers", "tasks")


def test_a_room_without_a_task_or_actor_is_not_blank_either(db: None) -> None:
    with pytest.raises(tenants.SeedNotBlank) as refused:
        tenants.assert_blank(company_id="nowhere")
    assert refused.value.found == ("tasks", "actors")


@pytest.mark.requirement("company.retired.read-only")
def test_a_retired_company_can_be_read_and_never_changes_again(desk: Desk) -> None:
    desk.do(ReportProgress(body="before"))
    tenants.retire(company_id=desk.company_id)
    first = desk.company().retired_at
    before = desk.plane.state()
    for outcome in (desk.send(ReportProgress(body="after")), desk.open(run_id="run-2"), desk.open()):
        assert isinstance(outcome, Refused)
        assert outcome.code == "mock_not_running"
    tenants.retire(company_id=desk.company_id)
    assert desk.company().retired_at == first
    assert desk.plane.state() == before
    assert desk.plane.query("run-1", "get_task_history")["comments"][0]["body"] == "before"


def test_a_room_that_failed_to_open_is_removed_without_a_trace_and_without_its_neighbours(desk: Desk) -> None:
    neighbour = make.ActorFactory().company
    tenants.discard(company_id=desk.company_id)
    with pytest.raises(CompanyMissing):
        desk.plane.state_revision()
    for model in (models.Task, models.Run, models.StateRevision, models.Change, models.DecisionRecord):
        assert not model.objects.filter(company_id=desk.company_id).exists()
    assert models.Actor.objects.filter(company=neighbour).count() == 1
    tenants.discard(company_id=desk.company_id)


def test_a_company_with_a_history_is_not_removed(desk: Desk) -> None:
    desk.do(ReportProgress(body="evidence"))
    with pytest.raises(tenants.TenantInUse):
        tenants.discard(company_id=desk.company_id)
    assert desk.plane.state_revision() == 2
