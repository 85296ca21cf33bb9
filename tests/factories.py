"""Factories for the rows of the mock company. A company comes with its budget; everything else hangs on it."""

from __future__ import annotations

from typing import Any

import factory

from mockcore import models
from mockcore.models.base import uid_of


class CompanyFactory(factory.django.DjangoModelFactory):
    """A company with its budget."""

    class Meta:
        model = models.Company
        skip_postgeneration_save = True

    public_id = factory.Sequence(lambda n: f"company-{n}")
    name = "Acme"
    issue_prefix = "ACM"
    budget_id = factory.LazyAttribute(lambda o: uid_of(o.public_id, f"budget-{o.public_id}"))
    counters = factory.LazyFunction(dict)

    @factory.post_generation
    def budget(self, create: bool, extracted: Any, **limits: Any) -> None:
        BudgetFactory(company=self, scope="company", scope_id=self.public_id, **{"limit_cents": 10_000, **limits})


class EntityFactory(factory.django.DjangoModelFactory):
    """An entity of a company, numbered in the order of creation by the company's own counter."""

    class Meta:
        abstract = True

    company = factory.SubFactory(CompanyFactory)

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **kwargs: Any) -> Any:
        company = kwargs["company"]
        company.refresh_from_db(fields=["counters"])
        company.counters = {**company.counters, "position": company.counters.get("position", 0) + 1}
        company.save(update_fields=["counters"])
        return super()._create(model_class, *args, **{"position": company.counters["position"], **kwargs})


class BudgetFactory(EntityFactory):
    class Meta:
        model = models.Budget

    public_id = factory.LazyAttribute(lambda o: f"budget-{o.scope_id}")
    scope = "actor"
    scope_id = factory.Sequence(lambda n: f"nobody-{n}")
    limit_cents = 1_000


class ActorFactory(EntityFactory):
    class Meta:
        model = models.Actor
        skip_postgeneration_save = True

    public_id = factory.Sequence(lambda n: f"actor-{n}")
    name = "Ada"
    role = "engineer"
    budget_id = factory.LazyAttribute(lambda o: uid_of(o.company.public_id, f"budget-{o.public_id}"))

    @factory.post_generation
    def budget(self, create: bool, extracted: Any, **limits: Any) -> None:
        BudgetFactory(company=self.company, scope="actor", scope_id=self.public_id, **limits)


class TaskFactory(EntityFactory):
    class Meta:
        model = models.Task

    public_id = factory.Sequence(lambda n: f"seeded-task-{n}")
    identifier = factory.Sequence(lambda n: f"SEED-{n}")
    title = "A task"


class OfTaskFactory(EntityFactory):
    """An entity of a task."""

    class Meta:
        abstract = True

    task = factory.SubFactory(TaskFactory, company=factory.SelfAttribute("..company"))


class AtFactory(EntityFactory):
    """An entity that remembers when it was made."""

    class Meta:
        abstract = True

    created_at = factory.LazyAttribute(lambda o: o.company.now())


class CommentFactory(AtFactory, OfTaskFactory):
    class Meta:
        model = models.Comment

    public_id = factory.Sequence(lambda n: f"seeded-comment-{n}")
    body = "Hello"


class BlockerFactory(AtFactory, OfTaskFactory):
    class Meta:
        model = models.Blocker

    public_id = factory.Sequence(lambda n: f"seeded-blocker-{n}")


class DocumentFactory(OfTaskFactory):
    """A document with its first revision."""

    class Meta:
        model = models.Document
        skip_postgeneration_save = True

    public_id = factory.Sequence(lambda n: f"seeded-document-{n}")
    key = "plan"
    title = "Plan"
    latest_revision_id = factory.LazyAttribute(lambda o: uid_of(o.company.public_id, f"{o.public_id}-r1"))

    @factory.post_generation
    def first_revision(self, create: bool, extracted: Any, **facts: Any) -> None:
        RevisionFactory(company=self.company, document=self, public_id=f"{self.public_id}-r1", **facts)


class RevisionFactory(AtFactory):
    class Meta:
        model = models.DocumentRevision

    revision = 1
    body = "First"


class InteractionFactory(AtFactory, OfTaskFactory):
    class Meta:
        model = models.Interaction

    public_id = factory.Sequence(lambda n: f"seeded-interaction-{n}")
    kind = "confirmation"
    title = "May I?"
    prompt = "Please confirm."
    continuation_policy = "none"


class ApprovalFactory(AtFactory):
    class Meta:
        model = models.Approval

    public_id = factory.Sequence(lambda n: f"seeded-approval-{n}")
    type = "spend"


class ArtifactFactory(AtFactory, OfTaskFactory):
    class Meta:
        model = models.Artifact

    public_id = factory.Sequence(lambda n: f"seeded-artifact-{n}")
    filename = "report.pdf"
    content_type = "application/pdf"
    byte_size = 12
    sha256 = "0" * 64
    content_ref = "store://report"


class WorkProductFactory(AtFactory, OfTaskFactory):
    class Meta:
        model = models.WorkProduct

    public_id = factory.Sequence(lambda n: f"seeded-work-product-{n}")
    type = "artifact"
    title = "Report"


class WorkspaceServiceFactory(OfTaskFactory):
    class Meta:
        model = models.WorkspaceService

    public_id = factory.Sequence(lambda n: f"seeded-service-{n}")
    name = "web"
    last_transition_at = factory.LazyAttribute(lambda o: o.company.now())


class WakeFactory(AtFactory, OfTaskFactory):
    class Meta:
        model = models.Wake

    public_id = factory.Sequence(lambda n: f"seeded-wake-{n}")
    reason = "manual"
    due_at = factory.LazyAttribute(lambda o: o.company.now())


class FaultFactory(EntityFactory):
    class Meta:
        model = models.Fault

    public_id = factory.Sequence(lambda n: f"fault-{n}")
    operation = "apply_command"
    effect = "retryable_error"
    code = "control_plane_unavailable"
