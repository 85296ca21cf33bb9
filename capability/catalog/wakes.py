"""Continuations: an agent asks to be woken again later."""

from __future__ import annotations

from capability.catalog import schema, wording
from capability.catalog.descriptor import (
    DOING_MODES,
    LIVE_ONLY,
    Idempotency,
    Operation,
    Placement,
    SideEffect,
    Write,
)
from mockcore import commands

WAKES = "control_plane:wakes"

OPERATIONS = (
    Operation(
        id="schedule_wake",
        title="Schedule bounded wake",
        description=(
            "Ask to be woken on the active task delayTicks seconds of company time from now (1 to 10,000), for one of "
            "the known reasons; payload is handed to you then. Use it instead of waiting or polling. " + wording.KEY
        ),
        placement=Placement.OPTIONAL,
        surfaces=LIVE_ONLY,
        required_claims=(WAKES,),
        modes=DOING_MODES,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation(
            {"reason": schema.one_of(*schema.WAKE_REASONS), "delayTicks": schema.whole(1, 10_000)},
            {"payload": schema.OPEN_OBJECT},
        ),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.ScheduleWake(
                reason=given["reason"], delay_ticks=given["delayTicks"], payload_json=given.get("payload")
            )
        ),
    ),
)
