"""With the ten clean-room claims the agent is offered 25 tools, and each withheld one is denied for its own reason."""

from __future__ import annotations

import pytest

from capability.catalog import LIVE_OPERATIONS
from capability.dispatcher import Call, Dispatcher, Scenario
from capability.policy import fixture_run_capabilities
from tests.capability.memory_port import MemoryPort, facts

TEN_CLAIMS = frozenset(
    {
        "control_plane:interactions",
        "control_plane:wakes",
        "delegation:tasks:create",
        "dependencies:write",
        "discovery:agents:read",
        "discovery:tasks:read",
        "governance:approvals:comment",
        "governance:approvals:read",
        "governance:approvals:request",
        "workspace:read",
    }
)
WITHHELD = {
    "control_workspace_service": (
        "required_claim_missing",
        {"idempotencyKey": "k-1", "serviceId": "web", "action": "start"},
    ),
    "decide_approval": (
        "actor_role_denied",
        {"idempotencyKey": "k-2", "approvalId": "approval-1", "decision": "approved", "note": "Fine."},
    ),
    "generic_api_request": ("task_mode_denied", {"method": "GET", "path": "/mock/task"}),
}


@pytest.fixture
def port():
    return MemoryPort(run=facts(capabilities=frozenset(fixture_run_capabilities(TEN_CLAIMS))))


@pytest.fixture
def dispatcher(port):
    scenario = Scenario(id="capability-clean-room", claims=TEN_CLAIMS)
    return Dispatcher(port=port, scenario=scenario, explicit_claims=TEN_CLAIMS)


@pytest.mark.requirement("cleanroom.exposure")
@pytest.mark.django_db
def test_twenty_five_tools_are_exposed_and_three_withheld(dispatcher):
    exposed = [tool.name for tool in dispatcher.list_tools(run_id="run-1")]
    assert len(exposed) == 25
    assert exposed == [operation.id for operation in LIVE_OPERATIONS if operation.id not in WITHHELD]


@pytest.mark.requirement("cleanroom.exposure")
@pytest.mark.django_db
@pytest.mark.parametrize("operation_id", WITHHELD)
def test_a_withheld_tool_called_all_the_same_is_denied_with_its_own_code_and_moves_nothing(
    dispatcher, port, operation_id
):
    code, given = WITHHELD[operation_id]
    done = dispatcher.dispatch(Call(run_id="run-1", call_id="call-1", operation_id=operation_id, input=given))
    assert done.envelope["denial"]["code"] == code
    assert (done.before_revision, done.after_revision) == (1, 1)
    assert port.envelopes == []


@pytest.mark.requirement("cleanroom.exposure")
@pytest.mark.django_db
def test_the_wider_claims_of_the_run_never_reach_the_tools(dispatcher, port):
    assert "workspace:control" in port.run.capabilities
    assert "workspace:control" not in str(dispatcher.list_tools(run_id="run-1"))
