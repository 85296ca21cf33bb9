"""The services that belong to the active task's workspace."""

from __future__ import annotations

from capability.catalog import schema, wording
from capability.catalog.descriptor import (
    ANY_MODE,
    DOING_MODES,
    SHARED,
    Group,
    Idempotency,
    Operation,
    Placement,
    Query,
    SideEffect,
    Write,
)
from mockcore import commands

WORKSPACE_READ = "workspace:read"
WORKSPACE_CONTROL = "workspace:control"

OPERATIONS = (
    Operation(
        id="get_workspace_runtime",
        title="Get workspace runtime",
        description="Read the services of the active task's workspace: name, status and address.",
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.WORKSPACE_RUNTIME,
        required_claims=(WORKSPACE_READ,),
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.NO_INPUT,
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="get_workspace_runtime"),
    ),
    Operation(
        id="control_workspace_service",
        title="Control workspace service",
        description=(
            "Start, stop or fail one service of the active task's workspace; url is its address once started. "
            + wording.KEY
        ),
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.WORKSPACE_RUNTIME,
        required_claims=(WORKSPACE_CONTROL,),
        modes=DOING_MODES,
        side_effect=SideEffect.WORKSPACE_CONTROL,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation(
            {"serviceId": schema.ID, "action": schema.one_of("start", "stop", "fail")}, {"url": schema.NULLABLE_TEXT}
        ),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.ControlWorkspaceService(
                service_id=given["serviceId"], action=given["action"], url=given.get("url")
            )
        ),
    ),
)
