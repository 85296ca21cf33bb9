"""Tenants: seed a clean room, prove it blank, retire or discard it. One company is one tenant.

Source: reference B sections 1.5 and 1.12, seed "What clean room means".
"""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass

from django.apps import apps
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from mockcore import models
from mockcore.models import Actor, Budget, Company, Entity, Task
from mockcore.models.base import uid_of
from mockcore.refusal import Refusal
from mockcore.vocabulary import BudgetScope, Lifecycle

COMPANY_NAME = "Mock Paperclip (clean room)"
ACTOR_NAME = "Mock Agent"
TASK_TITLE = "Clean-room chat"
ISSUE_PREFIX = "MCK"
COMPANY_LIMIT_CENTS = 10_000
ACTOR_LIMIT_CENTS = 1_000
OPENING_REVISION = 1  # what opening the run leaves behind

BLANK_COLLECTIONS: dict[str, type[Entity]] = {
    "comments": models.Comment,
    "documents": models.Document,
    "interactions": models.Interaction,
    "approvals": models.Approval,
    "artifacts": models.Artifact,
    "workProducts": models.WorkProduct,
    "blockers": models.Blocker,
    "workspaceServices": models.WorkspaceService,
    "wakes": models.Wake,
    "faults": models.Fault,
}
EXACTLY_ONE: dict[str, type[Entity]] = {"tasks": Task, "actors": Actor}


class SeedNotBlank(Refusal):
    """The clean room is not blank."""

    code = "seed_not_blank"

    def __init__(self, found: tuple[str, ...]) -> None:
        super().__init__(f"the clean room is not blank: {', '.join(found)}")
        self.found = found


class TenantInUse(Refusal):
    """The company has a history, which stays."""

    code = "tenant_in_use"


@dataclass(frozen=True, kw_only=True)
class CleanRoomIdentity:
    """Who a clean room is: `token` is 8 lower-case hex characters, `sequence` a number from 1000 to 9999.

    Only the token makes rooms differ; two of them may share an `MCK-` number.
    """

    token: str
    sequence: int

    @classmethod
    def mint(cls, *, token: str | None = None, sequence: int | None = None) -> CleanRoomIdentity:
        """Return a new identity; what is not given is drawn at random."""
        return cls(
            token=(token or uuid.uuid4().hex[:8]).lower(),
            sequence=secrets.randbelow(9000) + 1000 if sequence is None else sequence,
        )

    @property
    def company_id(self) -> str:
        return f"company-cleanroom-{self.token}"

    @property
    def actor_id(self) -> str:
        return f"actor-cleanroom-{self.token}"

    @property
    def task_id(self) -> str:
        return f"task-cleanroom-{self.token}"

    @property
    def identifier(self) -> str:
        return f"{ISSUE_PREFIX}-{self.sequence}"


def seed_clean_room(*, identity: CleanRoomIdentity | None = None) -> CleanRoomIdentity:
    """Create one company, one actor and one blank issue in one transaction; everything else is empty.

    Children continue the issue's number, so theirs never collide with it. The seed is state revision 0.
    """
    who = identity or CleanRoomIdentity.mint()
    company = Company(
        public_id=who.company_id,
        name=COMPANY_NAME,
        issue_prefix=ISSUE_PREFIX,
        budget_id=uid_of(who.company_id, f"budget-{who.company_id}"),
        counters={"position": 4, "issue-number": who.sequence},
    )
    company_budget = _budget(company, BudgetScope.COMPANY, who.company_id, COMPANY_LIMIT_CENTS, position=1)
    actor_budget = _budget(company, BudgetScope.ACTOR, who.actor_id, ACTOR_LIMIT_CENTS, position=2)
    actor = Actor(company=company, public_id=who.actor_id, position=3, name=ACTOR_NAME, role="engineer")
    actor.budget_id = uid_of(who.company_id, actor_budget.public_id)
    task = Task(company=company, public_id=who.task_id, position=4, identifier=who.identifier, title=TASK_TITLE)
    task.assignee_actor_id = uid_of(who.company_id, who.actor_id)
    with transaction.atomic():
        for row in (company, company_budget, actor_budget, actor, task):
            row.save(force_insert=True)
    return who


def _budget(company: Company, scope: BudgetScope, scope_id: str, limit_cents: int, *, position: int) -> Budget:
    return Budget(
        company=company,
        public_id=f"budget-{scope_id}",
        position=position,
        scope=scope.value,
        scope_id=scope_id,
        limit_cents=limit_cents,
        hard_stop=True,
    )


def assert_blank(*, company_id: str) -> None:
    """Prove that a clean room is blank before a session is created on it.

    Raises `SeedNotBlank`, naming every collection that is not empty, and tasks or actors when there is not exactly one.
    """
    found = [name for name, model in BLANK_COLLECTIONS.items() if _of(model, company_id).exists()]
    found += [name for name, model in EXACTLY_ONE.items() if _of(model, company_id).count() != 1]
    if found:
        raise SeedNotBlank(tuple(found))


def _of(model: type[Entity], company_id: str) -> QuerySet[Entity]:
    return model.objects.filter(company_id=company_id)  # type: ignore[attr-defined,no-any-return]


def retire(*, company_id: str) -> None:
    """Make a company read-only for good. Its rows stay as evidence; every later mutation answers `mock_not_running`.

    Safe to call twice; the first moment counts. Not a mutation of the state: the revision does not move.
    """
    living = Company.objects.filter(pk=company_id, retired_at=None)
    living.update(lifecycle=Lifecycle.STOPPED.value, retired_at=timezone.now())


def discard(*, company_id: str) -> None:
    """Remove a company whose room failed to open, with every row of it. Unknown companies are no error.

    Raises `TenantInUse` once anything but the opening of the run has happened: from then on the rows are evidence. So
    are those of a company that was forked.
    """
    with transaction.atomic():
        company = Company.objects.select_for_update().filter(pk=company_id).first()
        if company is None:
            return
        if company.revision > OPENING_REVISION or Company.objects.filter(parent=company).exists():
            raise TenantInUse
        for model in apps.get_app_config("mockcore").get_models():
            if model is not Company:
                everything = model._default_manager.filter(company_id=company_id)
                everything._raw_delete(everything.db)  # the rows refer to each other; the keys are checked at commit
        Company.objects.filter(pk=company_id)._raw_delete(company._state.db)
