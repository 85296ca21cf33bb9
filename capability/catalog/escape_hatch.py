"""The generic API request of skill tests: off by default, two read-only paths of the mock, never a product capability.

Source: seed "semantic catalog and authorization", last paragraph of "Authorization order".
"""

from __future__ import annotations

from typing import Any

from capability.catalog import schema
from capability.catalog.descriptor import (
    SHARED,
    Given,
    Group,
    Idempotency,
    Mode,
    Operation,
    Placement,
    Read,
    SideEffect,
)
from mockcore.port import ControlPlanePort
from mockcore.refusal import Refusal

ESCAPE_HATCH = "generic_api_request"
CLAIM = "test:generic_api_request"


class PathNotAllowed(Refusal):
    """Only GET /mock/state/revision and GET /mock/task can be asked here."""

    code = "operation_unavailable"


def _revision(port: ControlPlanePort, run_id: str) -> dict[str, Any]:
    return {"revision": port.state_revision()}


def _task(port: ControlPlanePort, run_id: str) -> dict[str, Any]:
    return {"task": dict(port.facts(run_id).task)}


ALLOWED = {("GET", "/mock/state/revision"): _revision, ("GET", "/mock/task"): _task}


def ask(port: ControlPlanePort, run_id: str, given: Given) -> dict[str, Any]:
    """Answer one of the two allowed requests; anything else raises `PathNotAllowed`."""
    answer = ALLOWED.get((given["method"], given["path"]))
    if answer is None:
        raise PathNotAllowed
    return answer(port, run_id)


OPERATIONS = (
    Operation(
        id=ESCAPE_HATCH,
        title="Generic API request",
        description=(
            "For skill tests only: GET /mock/state/revision or GET /mock/task of the mock company. Nothing else is "
            "answered, and nothing can be changed."
        ),
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.TEST_ESCAPE_HATCH,
        required_claims=(CLAIM,),
        modes=frozenset({Mode.SKILL_TEST}),
        side_effect=SideEffect.TEST_ESCAPE_HATCH,
        idempotency=Idempotency.REQUIRED,  # the registry's word; the live input has no key, for nothing is written
        disabled_by_default=True,
        input_schema=schema.closed(
            {
                "method": schema.one_of("GET", "POST", "PATCH"),
                "path": {"type": "string", "pattern": "^/mock/", "maxLength": 500},
            },
            {"body": schema.OPEN_OBJECT},
        ),
        output_schema=schema.READ_OUTPUT,
        handler=Read(answer=ask),
    ),
)
