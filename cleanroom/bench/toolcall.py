"""Our share of one tool call, alone in this process: from the call to the committed journal."""

from __future__ import annotations

import time
import uuid

from capability.policy import fixture_run_capabilities
from cleanroom import exposure
from cleanroom.harness import ToolCall
from cleanroom.rooms import Room
from cleanroom.toolcalls import perform
from evidence import record
from mockcore import tenants
from mockcore.plane import MockControlPlane
from mockcore.port import OpenRun

WARM_UPS = 20


def measure_calls(*, calls: int) -> list[float]:
    """Return the milliseconds of each of `calls` writes on one blank issue, warm-ups left out."""
    room, times = blank_room(), []
    for number in range(calls + WARM_UPS):
        arguments = {"idempotencyKey": f"bench-{number}", "body": f"Call {number} of the bench: nothing else happened."}
        call = ToolCall(turn_id="turn-1", call_id=f"call-{number}", operation_id="report_progress", arguments=arguments)
        started = time.perf_counter()
        performed = perform(
            room=room, call=call, turn="turn-1", call_id=call.call_id, message_id="message-1", pending=frozenset()
        )
        took = (time.perf_counter() - started) * 1000
        if not performed.answer.success:
            raise RuntimeError(performed.answer.text)
        if number >= WARM_UPS:
            times.append(took)
    return times


def blank_room() -> Room:
    """Seed a tenant with a run and a log, as an open does, but without an agent."""
    identity = tenants.seed_clean_room()
    session_id, run_id = str(uuid.uuid4()), f"run-{uuid.uuid4()}"
    room = Room(
        session_id=session_id,
        run_id=run_id,
        company_id=identity.company_id,
        actor_id=identity.actor_id,
        task_id=identity.task_id,
        identifier=identity.identifier,
        model_label="",
        rehearsal=False,
    )
    capabilities = tuple(fixture_run_capabilities(exposure.CLEAN_ROOM_CLAIMS))
    MockControlPlane(company_id=identity.company_id).open_run(
        OpenRun(
            run_id=run_id,
            session_id=session_id,
            actor_id=identity.actor_id,
            task_id=identity.task_id,
            capabilities=capabilities,
        )
    )
    record.open_log(session_id=session_id, run_id=run_id)
    return room
