"""A conformance adapter over the rows of the configured database: SQLite in one run, PostgreSQL in another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from capability.conformance.kit import Kind, Opened
from capability.conformance.vectors import World
from mockcore import models
from mockcore.tenants import CleanRoomIdentity
from tests.capability.company import RUN, Company
from tests.factories import BlockerFactory, TaskFactory

IDENTITY = CleanRoomIdentity(token="c0ffee00", sequence=1000)


class RowsAdapter:
    kind = Kind.MOCK

    def __init__(self) -> None:
        self.id = f"rows-{connection.vendor}"

    @contextmanager
    def open(self, world: World) -> Iterator[Opened]:
        with transaction.atomic():
            company = Company(role=world.role, run_claims=tuple(world.claims) or ("none",), identity=IDENTITY)
            row = models.Company.objects.get(pk=company.id)
            if world.foreign_task:
                models.Company.objects.filter(pk=company.id).update(out_of_scope_task_ids=[world.foreign_task])
            if world.blocked_by:
                blocking = TaskFactory(company=row, public_id=world.blocked_by, status="todo")
                active = models.Task.objects.get(company=row, public_id=IDENTITY.task_id)
                BlockerFactory(company=row, task=active, blocked_by_task=blocking)
            yield Opened(port=company.plane, run_id=RUN, task_id=IDENTITY.task_id)
            transaction.set_rollback(True)
