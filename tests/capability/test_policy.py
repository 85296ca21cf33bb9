"""One ordered list of checks decides exposure and invocation."""

from __future__ import annotations

import pytest
from hypothesis import given as randomly
from hypothesis import strategies as st

from capability.catalog import LIVE_OPERATIONS, get_operation
from capability.policy import (
    CHECKS,
    Code,
    Phase,
    Question,
    effective_claims,
    evaluate,
    fixture_run_capabilities,
)
from capability.scenario import Scenario
from tests.capability.memory_port import facts

LOST = {"task": {"checkoutRunId": "run-2", "executionRunId": "run-2"}}
TERMINAL_READS = {
    "get_task_context",
    "get_task_history",
    "list_documents",
    "read_document",
    "list_document_revisions",
    "list_agents",
    "get_agent",
    "search_tasks",
    "list_approvals",
    "get_approval",
    "get_approval_context",
    "get_workspace_runtime",
}


def decide(operation, phase, *, run=None, claims=(), given=None, **scenario):
    """Return the code for one operation; by default an active engineer holding a standard task."""
    question = Question(
        operation=get_operation(operation),
        facts=facts(**run or {}),
        scenario=Scenario(**scenario),
        claims=frozenset(claims),
        phase=Phase(phase),
        given=given,
    )
    return evaluate(question).code


@pytest.mark.requirement("policy.order")
def test_the_checks_stand_in_the_promised_order():
    assert [check.code for check in CHECKS] == [
        "actor_inactive",
        "task_ownership_denied",
        "task_mode_denied",
        "scenario_denied",
        "generic_api_disabled",
        "actor_role_denied",
        "required_claim_missing",
        "task_state_denied",
        "interaction_kind_denied",
    ]
    only_on_call = {check.code for check in CHECKS if Phase.EXPOSURE not in check.phases}
    assert only_on_call == {"task_state_denied", "interaction_kind_denied"}


def asking(operation, **circumstances):
    return {"operation": operation, **circumstances}


# what is asked, and the codes while listing and on the call
CASES = {
    "an active agent with its task": (asking("finish_task"), "allowed", "allowed"),
    "a paused agent": (
        asking("get_task_context", run={"actor": {"status": "paused"}}), "actor_inactive", "actor_inactive",
    ),
    "a task that another run holds": (
        asking("get_task_context", run=LOST), "task_ownership_denied", "task_ownership_denied",
    ),
    "a task of another agent": (
        asking("report_progress", run={"task": {"assigneeActorId": "actor-2"}}), "task_ownership_denied",
        "task_ownership_denied",
    ),
    "a task checked out but not executed": (
        asking("report_progress", run={"task": {"executionRunId": None}}), "task_ownership_denied",
        "task_ownership_denied",
    ),
    "finishing in ask mode": (
        asking("finish_task", run={"task": {"workMode": "ask"}}), "task_mode_denied", "task_mode_denied",
    ),
    "an operation the scenario denies": (
        asking("finish_task", deny_operations=frozenset({"finish_task"})), "scenario_denied", "scenario_denied",
    ),
    "an optional operation outside the allowed ones": (
        asking("list_agents", claims=["discovery:agents:read"], allow_operations=frozenset()),
        "scenario_denied", "scenario_denied",
    ),
    "an always-operation outside the allowed ones": (
        asking("report_progress", allow_operations=frozenset()), "allowed", "allowed",
    ),
    "the escape hatch that nobody enabled": (
        asking("generic_api_request", run={"task": {"workMode": "skill_test"}},
             claims=["test:generic_api_request"]),
        "generic_api_disabled", "generic_api_disabled",
    ),
    "the escape hatch with all three keys": (
        asking("generic_api_request", run={"task": {"workMode": "skill_test"}},
             claims=["test:generic_api_request"], enable_generic_api_request=True),
        "allowed", "allowed",
    ),
    "deciding as an engineer": (
        asking("decide_approval", claims=["governance:approvals:decide"]), "actor_role_denied",
        "actor_role_denied",
    ),
    "deciding as a board member, however it is written": (
        asking("decide_approval", claims=["governance:approvals:decide"], run={"actor": {"role": " Board "}}),
        "allowed", "allowed",
    ),
    "an optional operation without its claim": (
        asking("list_agents"), "required_claim_missing", "required_claim_missing",
    ),
    "writing to a finished task": (
        asking("report_progress", run={"task": {"status": "done"}}), "allowed", "task_state_denied",
    ),
    "writing to a cancelled task": (
        asking("report_progress", run={"task": {"status": "cancelled"}}), "allowed", "task_state_denied",
    ),
    "an interaction kind that is not allowed": (
        asking("request_human_input", given={"interactionKind": "questions"},
             allowed_interaction_kinds=frozenset({"confirmation"})),
        "allowed", "interaction_kind_denied",
    ),
    "an interaction kind that is allowed": (
        asking("request_human_input", given={"interactionKind": "confirmation"},
             allowed_interaction_kinds=frozenset({"confirmation"})),
        "allowed", "allowed",
    ),
    "an interaction kind that is no text is left to the schema": (
        asking("request_human_input", given={"interactionKind": 7}, allowed_interaction_kinds=frozenset()),
        "allowed", "allowed",
    ),
}  # fmt: skip


@pytest.mark.requirement("policy.codes")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("phase", ["exposure", "invocation"])
def test_each_rule_answers_with_its_code_in_the_phases_it_belongs_to(case, phase):
    asked, listed, called = CASES[case]
    assert decide(phase=phase, **asked) == (listed if phase == "exposure" else called)


def test_the_table_above_reaches_every_code_that_the_policy_can_give():
    reached = {called for _, _, called in CASES.values()}
    assert reached == {check.code for check in CHECKS} | {Code.ALLOWED}


@pytest.mark.requirement("policy.order")
def test_when_everything_is_wrong_each_repair_uncovers_the_next_code_in_order():
    wrong = {
        "run": {
            "actor": {"status": "paused"},
            "task": {"workMode": "ask", "status": "done", "assigneeActorId": "actor-2"},
        },
        "deny_operations": frozenset({"decide_approval"}),
    }
    seen = [decide("decide_approval", "invocation", **wrong)]
    wrong["run"]["actor"]["status"] = "active"
    seen.append(decide("decide_approval", "invocation", **wrong))
    wrong["run"]["task"]["assigneeActorId"] = "actor-1"
    seen.append(decide("decide_approval", "invocation", **wrong))
    wrong["run"]["task"]["workMode"] = "standard"
    seen.append(decide("decide_approval", "invocation", **wrong))
    wrong["deny_operations"] = frozenset()
    seen.append(decide("decide_approval", "invocation", **wrong))
    wrong["run"]["actor"]["role"] = "approver"
    seen.append(decide("decide_approval", "invocation", **wrong))
    wrong["claims"] = ["governance:approvals:decide"]
    seen.append(decide("decide_approval", "invocation", **wrong))
    wrong["run"]["task"]["status"] = "in_review"
    seen.append(decide("decide_approval", "invocation", **wrong))
    assert seen == [
        "actor_inactive",
        "task_ownership_denied",
        "task_mode_denied",
        "scenario_denied",
        "actor_role_denied",
        "required_claim_missing",
        "task_state_denied",
        "allowed",
    ]


@pytest.mark.requirement("policy.finished-task")
@pytest.mark.parametrize("checkout", [None, "run-1"])
@pytest.mark.parametrize("operation", LIVE_OPERATIONS, ids=lambda operation: operation.id)
def test_the_run_that_finished_its_task_still_reads_it_and_no_longer_writes(operation, checkout):
    mode = "skill_test" if operation.id == "generic_api_request" else "standard"
    code = decide(
        operation.id,
        "invocation",
        run={
            "actor": {"role": "board"},
            "task": {"status": "done", "workMode": mode, "checkoutRunId": checkout},
        },
        claims=operation.required_claims,
        enable_generic_api_request=True,
    )
    assert code == ("allowed" if operation.id in TERMINAL_READS else "task_state_denied")


@pytest.mark.requirement("policy.finished-task")
@pytest.mark.parametrize(
    "task",
    [
        {"status": "done", "checkoutRunId": None, "executionRunId": "run-2"},
        {"status": "done", "checkoutRunId": None, "executionRunId": None},
        {"status": "in_progress", "checkoutRunId": "run-2", "executionRunId": "run-2"},
        {"status": "done", "checkoutRunId": None, "assigneeActorId": "actor-2"},
        {"status": "todo", "checkoutRunId": None},
    ],
    ids=["finished by another run", "finished by none", "taken up again", "given to another agent", "only released"],
)
def test_only_the_run_that_finished_a_task_goes_on_reading_it(task):
    assert decide("get_task_context", "invocation", run={"task": task}) == "task_ownership_denied"


claim_sets = st.frozensets(st.sampled_from(["a:read", "b:write", "c:decide", "d:wake"]))


@pytest.mark.requirement("policy.effective-claims")
@randomly(run=claim_sets, grants=claim_sets, scenario=claim_sets, explicit=st.none() | claim_sets)
def test_effective_claims_are_run_and_granted_and_explicit(run, grants, scenario, explicit):
    effective = effective_claims(
        facts=facts(capabilities=run, actor={"capabilityGrants": sorted(grants)}),
        scenario=Scenario(claims=scenario),
        explicit=explicit,
    )
    for claim in ["a:read", "b:write", "c:decide", "d:wake"]:
        expected = claim in run and (claim in grants or claim in scenario) and (explicit is None or claim in explicit)
        assert (claim in effective) == expected


def test_a_fixture_run_holds_every_claim_of_the_command_boundary_and_the_given_ones():
    capabilities = fixture_run_capabilities(["workspace:read", "control_plane:wakes"])
    assert list(capabilities) == sorted(set(capabilities))
    assert set(capabilities) == {
        "control_plane:budget",
        "control_plane:interactions",
        "control_plane:release",
        "control_plane:wakes",
        "delegation:tasks:create",
        "dependencies:write",
        "governance:approvals:comment",
        "governance:approvals:decide",
        "governance:approvals:request",
        "workspace:control",
        "workspace:read",
    }


def test_a_scenario_without_an_id_is_refused():
    with pytest.raises(ValueError, match="id"):
        Scenario(id=" ")
