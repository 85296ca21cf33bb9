"""Child tasks and the order between tasks."""

from __future__ import annotations

from capability.catalog import schema, wording
from capability.catalog.descriptor import (
    DOING_MODES,
    SHARED,
    Given,
    Group,
    Idempotency,
    Operation,
    Placement,
    SideEffect,
    Write,
)
from mockcore import commands

TASKS_CREATE = "delegation:tasks:create"
DEPENDENCIES_WRITE = "dependencies:write"


def _create_task(given: Given) -> commands.CreateTask:
    blockers = given.get("blockedByTaskIds")
    return commands.CreateTask(
        title=given["title"],
        description=given.get("description"),
        assignee_actor_id=given.get("assigneeActorId"),
        priority=given.get("priority"),
        blocked_by_task_ids=None if blockers is None else tuple(blockers),
    )


OPERATIONS = (
    Operation(
        id="set_dependencies",
        title="Set task dependencies",
        description=(
            "Replace the tasks that block the active task by exactly this list. A list that is not empty blocks the "
            "task; an empty one unblocks it. A cycle is refused. " + wording.KEY
        ),
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.DELEGATION_DEPENDENCIES,
        required_claims=(DEPENDENCIES_WRITE,),
        modes=DOING_MODES,
        side_effect=SideEffect.COMPANY_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"blockedByTaskIds": schema.IDS}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.SetDependencies(blocked_by_task_ids=tuple(given["blockedByTaskIds"]))
        ),
    ),
    Operation(
        id="create_task",
        title="Create child task",
        description=(
            "Create one child of the active task. Give it to an agent with assigneeActorId (list_agents has the ids), "
            "or leave it open. priority is medium when left out; with blockedByTaskIds it starts blocked, otherwise as "
            "todo. The new task's id is in entityRefs. " + wording.KEY
        ),
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.DELEGATION_DEPENDENCIES,
        required_claims=(TASKS_CREATE,),
        modes=DOING_MODES,
        side_effect=SideEffect.COMPANY_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation(
            {"title": schema.text(500)},
            {
                "description": schema.NULLABLE_TEXT,
                "assigneeActorId": schema.NULLABLE_TEXT,
                "priority": schema.one_of(*schema.TASK_PRIORITIES),
                "blockedByTaskIds": schema.IDS,
            },
        ),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(command=_create_task),
    ),
)
