"""A recorded decision is explained rule by rule, and what it would have been agrees with really running the call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capability import standing
from capability.authorizations import list_authorization_records
from capability.catalog import LIVE_OPERATIONS, get_operation
from capability.catalog.descriptor import Mode
from capability.dispatcher import Scenario
from capability.policy import CHECKS, Code
from capability.profiles import EVERY_CLAIM, Profiles, known_profiles
from capability.whatif import Change, NothingToExplain, UnknownRecord, explain, grant_matrix, what_if
from cleanroom.exposure import PROFILE as CLEAN_ROOM
from tests.capability.company import Company, code_of, company_of, last_record

AGENTS, DECIDE = "discovery:agents:read", "governance:approvals:decide"
NOTE = {"idempotencyKey": "note", "body": "Half way through."}
STRICT = Scenario(id="strict", deny_operations=frozenset({"report_progress"}))


# ---------------------------------------------------------------- one change at a time
@pytest.mark.requirement("whatif.first-rule")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("operation", "input", "change", "before", "after", "rule"),
    [
        ("list_agents", {}, Change(claims=frozenset()), "allowed", "required_claim_missing", "required_claim_missing"),
        ("list_agents", {}, Change(mode=Mode.ASK), "allowed", "allowed", None),
        ("report_progress", NOTE, Change(role="board"), "allowed", "allowed", None),
        ("report_progress", NOTE, Change(claims=frozenset()), "allowed", "allowed", None),
        ("finish_task", {"idempotencyKey": "k", "summary": "x"}, Change(mode=Mode.PLANNING), "allowed",
         "task_mode_denied", "task_mode_denied"),
        ("report_progress", NOTE, Change(scenario=STRICT), "allowed", "scenario_denied", "scenario_denied"),
        ("list_agents", {}, Change(scenario=Scenario(id="poor")), "allowed", "required_claim_missing",
         "required_claim_missing"),
        ("decide_approval", {}, Change(role="board"), "actor_role_denied", "required_claim_missing",
         "actor_role_denied"),
        ("decide_approval", {}, Change(role="board", claims=frozenset({DECIDE})), "actor_role_denied", "input_invalid",
         "actor_role_denied"),
        ("decide_approval", {}, Change(mode=Mode.ASK), "actor_role_denied", "task_mode_denied", "task_mode_denied"),
        ("decide_approval", {}, Change(claims=frozenset({DECIDE})), "actor_role_denied", "actor_role_denied", None),
        ("get_approval", {"approvalId": "ghp_FAKE0123456789abcdefFAKE0123456789ab"},
         Change(claims=frozenset({"governance:approvals:read"})), "required_claim_missing", "protected_data_denied",
         "required_claim_missing"),
        ("report_progress", {"idempotencyKey": "k"}, Change(role="board"), "input_invalid", "input_invalid", None),
        ("read_document", {"key": "none"}, Change(mode=Mode.ASK), "operation_unavailable", "operation_unavailable",
         None),
    ],
)  # fmt: skip
def test_the_first_rule_that_changes_an_answer_is_named(known, operation, input, change, before, after, rule):
    company = company_of(known, scenario=Scenario(id="base", claims=frozenset({AGENTS})), run_claims=(AGENTS,))
    assert code_of(company.call(operation, input)) == before
    told = what_if(company_id=company.id, record_id=last_record(company), change=change)
    assert (told.recorded.code, told.changed.code, told.rule) == (before, after, rule)
    assert told.agrees
    assert told.stays == (rule is None)


@pytest.mark.requirement("whatif.first-rule")
@pytest.mark.django_db
def test_an_exposure_is_asked_like_a_call_and_its_delegation_holds_for_another_scenario(known):
    base = Scenario(id="base", claims=frozenset({AGENTS}))
    company = company_of(known, scenario=base, explicit=frozenset({AGENTS}), run_claims=(AGENTS, "workspace:read"))
    company.listed()
    records = {one["operationId"]: one["id"] for one in list_authorization_records(company_id=company.id)}
    wide = Change(scenario=replace(base, id="wide", claims=EVERY_CLAIM))
    asked = what_if(company_id=company.id, record_id=records["get_workspace_runtime"], change=wide)
    assert (asked.phase, asked.changed.code, asked.rule) == ("exposure", "required_claim_missing", None)
    given = Change(claims=frozenset({"workspace:read"}))
    assert (
        what_if(company_id=company.id, record_id=records["get_workspace_runtime"], change=given).changed.code
        == "allowed"
    )


@pytest.mark.requirement("whatif.past-facts")
@pytest.mark.django_db
def test_a_record_is_judged_by_the_facts_of_its_own_revision(known):
    company = company_of(known, scenario=Scenario(id="base"))
    company.call("report_progress", NOTE)
    record = last_record(company)
    company.call("finish_task", {"idempotencyKey": "end", "summary": "Done."})
    told = explain(company_id=company.id, record_id=record)
    assert (told.agrees, told.facts["stateRevision"], told.facts["task"]["status"]) == (True, 1, "in_progress")
    assert what_if(company_id=company.id, record_id=record, change=Change(role="board")).stays
    late = company.call("report_progress", {**NOTE, "idempotencyKey": "late"})
    assert code_of(late) == "task_state_denied"
    told = explain(company_id=company.id, record_id=last_record(company))
    assert {step.rule: step.said for step in told.steps}["task_state_denied"] == "objected"
    assert told.agrees


@pytest.mark.requirement("whatif.past-facts")
@pytest.mark.django_db
def test_a_fact_that_moved_outside_the_ledger_is_not_papered_over(known):
    company = company_of(known, scenario=Scenario(id="base"))
    company.call("report_progress", NOTE)
    company.actor(status="paused")
    assert not explain(company_id=company.id, record_id=last_record(company)).agrees
    assert not what_if(company_id=company.id, record_id=last_record(company), change=Change(role="board")).agrees


@pytest.mark.requirement("whatif.explain")
@pytest.mark.django_db
def test_an_explanation_goes_through_the_whole_list_and_says_what_each_rule_says(known):
    company = company_of(known, scenario=Scenario(id="base"), mode="ask")
    company.call("decide_approval", {})
    told = explain(company_id=company.id, record_id=last_record(company))
    assert [step.rule for step in told.steps] == [check.code for check in CHECKS]
    said = {step.rule: step.said for step in told.steps}
    assert said["task_mode_denied"] == "objected"
    assert said["actor_role_denied"] == said["required_claim_missing"] == "would object"
    assert said["actor_inactive"] == "passed"
    company.listed()
    told = explain(company_id=company.id, record_id=last_record(company))
    assert {step.rule for step in told.steps if step.said == "not asked"} == {
        "task_state_denied", "interaction_kind_denied",
    }  # fmt: skip


@pytest.mark.django_db
def test_what_cannot_be_explained_is_refused_by_name(known):
    company = company_of(known, scenario=Scenario(id="base"))
    company.call("no_such_tool", {})
    with pytest.raises(NothingToExplain):
        explain(company_id=company.id, record_id=last_record(company))
    company.call("get_task_context", {}, run_id="run-nobody")
    with pytest.raises(NothingToExplain):
        explain(company_id=company.id, record_id=last_record(company))
    for record_id in ("semantic-auth-000099", "semantic-auth-x", "", "semantic-auth-000000"):
        with pytest.raises(UnknownRecord):
            explain(company_id=company.id, record_id=record_id)


@pytest.mark.requirement("whatif.first-rule")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("scenario", "operation", "input", "change", "before", "after", "rule"),
    [
        (Scenario(), "report_progress", NOTE, Change(mode=Mode.PLANNING), "allowed", "allowed", None),
        (Scenario(), "finish_task", {"idempotencyKey": "k", "summary": "x"}, Change(mode=Mode.ASK), "allowed",
         "task_mode_denied", "task_mode_denied"),
        (Scenario(claims=frozenset({AGENTS})), "list_agents", {}, Change(claims=frozenset()), "allowed",
         "required_claim_missing", "required_claim_missing"),
        (Scenario(), "list_agents", {}, Change(claims=frozenset({AGENTS})), "required_claim_missing", "allowed",
         "required_claim_missing"),
        (STRICT, "report_progress", NOTE, Change(role="board"), "scenario_denied", "scenario_denied", None),
        (STRICT, "report_progress", NOTE, Change(scenario=Scenario(id="mild")), "scenario_denied", "allowed",
         "scenario_denied"),
        (Scenario(), "generic_api_request", {}, Change(role="board"), "generic_api_disabled", "generic_api_disabled",
         None),
        (Scenario(enable_generic_api_request=True), "generic_api_request", {}, Change(role="board"),
         "required_claim_missing", "required_claim_missing", None),
    ],
)  # fmt: skip
def test_a_call_under_a_scenario_that_nobody_registered_is_asked_all_the_same(
    known, scenario, operation, input, change, before, after, rule
):
    mode = Mode.SKILL_TEST if operation == "generic_api_request" else Mode.STANDARD
    company = Company(scenario=replace(scenario, id="unheard-of"), mode=mode, run_claims=(AGENTS,))
    company.call(operation, input)
    told = what_if(company_id=company.id, record_id=last_record(company), change=change)
    assert (told.recorded.code, told.changed.code, told.rule) == (before, after, rule)
    assert (told.agrees, told.inferred) == (True, True)
    told = explain(company_id=company.id, record_id=last_record(company))
    assert (told.agrees, told.inferred) == (True, True)


@pytest.mark.requirement("whatif.first-rule")
@pytest.mark.django_db
def test_a_kind_of_question_that_an_unregistered_scenario_refused_stays_refused(known):
    asks = {"idempotencyKey": "k", "interactionKind": "questions"}
    company = Company(scenario=Scenario(id="unheard-of", allowed_interaction_kinds=frozenset()))
    assert code_of(company.call("request_human_input", asks)) == "interaction_kind_denied"
    told = what_if(company_id=company.id, record_id=last_record(company), change=Change(role="board"))
    assert (told.changed.code, told.rule, told.agrees) == ("interaction_kind_denied", None, True)


@pytest.mark.requirement("whatif.command")
@pytest.mark.django_db
def test_the_command_says_that_a_scenario_was_read_back_from_the_record(known, capsys):
    company = Company(scenario=Scenario(id="unheard-of"))
    company.call("report_progress", NOTE)
    for changes in ([], ["--mode", "planning"]):
        call_command("explain_authorization", last_record(company), "--company", company.id, *changes)
        assert "Nobody registered the scenario here" in capsys.readouterr().out


# ---------------------------------------------------------------- agreement with the real thing
def smallest(schema: Any) -> Any:
    """Return a small value that fits a schema of the catalog."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"]
    match kind:
        case "object":
            return {name: smallest(schema["properties"][name]) for name in schema.get("required", ())}
        case "array":
            return []
        case "integer":
            return schema["minimum"]
        case "string":
            return {"^/mock/": "/mock/task"}.get(schema.get("pattern", ""), "a" * 64)
        case _:
            return None


claim_sets = st.sets(st.sampled_from(sorted(EVERY_CLAIM)), max_size=3).map(frozenset) | st.just(EVERY_CLAIM)
roles = st.sampled_from(["engineer", "board", " Approver "])
modes = st.sampled_from(list(Mode))
operations = st.sampled_from([operation.id for operation in LIVE_OPERATIONS])


@st.composite
def scenarios(draw: st.DrawFn, claims: frozenset[str], name: str) -> Scenario:
    return Scenario(
        id=name,
        claims=claims,
        allow_operations=draw(st.none() | st.just(frozenset({"list_agents", "decide_approval"}))),
        deny_operations=draw(st.just(frozenset()) | operations.map(lambda one: frozenset({one}))),
        allowed_interaction_kinds=draw(st.none() | st.just(frozenset({"questions"}))),
        enable_generic_api_request=draw(st.booleans()),
    )


@pytest.mark.requirement("whatif.agrees")
@pytest.mark.django_db
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), operation=operations, role=roles, mode=modes, claims=claim_sets)
def test_what_if_agrees_with_running_the_call_on_a_second_company_with_those_facts(
    monkeypatch, data, operation, role, mode, claims
):
    known = Profiles()
    monkeypatch.setattr(standing, "known_profiles", known)
    input = data.draw(st.just(smallest(get_operation(operation).contract().as_json()["inputSchema"])) | st.just({}))
    base = data.draw(scenarios(claims, "base"))
    first = company_of(
        known, scenario=base, explicit=claims, role=role, mode=mode, run_claims=tuple(claims) or ("none",)
    )
    recorded = code_of(first.call(operation, input))

    changed_claims = data.draw(st.none() | claim_sets)
    changed_scenario = data.draw(st.none() | scenarios(claims if changed_claims is None else changed_claims, "other"))
    change = Change(
        role=data.draw(st.none() | roles),
        mode=data.draw(st.none() | modes),
        claims=changed_claims,
        scenario=changed_scenario,
    )
    told = what_if(company_id=first.id, record_id=last_record(first), change=change)
    assert (told.recorded.code, told.agrees) == (recorded, True)

    held = claims if changed_claims is None else changed_claims
    second = Company(
        role=change.role or role,
        mode=change.mode or mode,
        run_claims=tuple(held) or ("none",),
        scenario=replace(changed_scenario or base, claims=held),
        explicit=held,
    )
    really = code_of(second.call(operation, input))
    if told.changed.open:
        assert really in {"allowed", "control_plane_denied", "operation_unavailable"}
    else:
        assert really == told.changed.code
    if told.rule is not None:
        assert really != recorded or told.changed.open


# ---------------------------------------------------------------- the matrix and the command
@pytest.mark.requirement("whatif.matrix")
def test_the_matrix_answers_every_operation_for_every_profile():
    matrix = grant_matrix()
    assert list(matrix) == [operation.id for operation in LIVE_OPERATIONS]
    names = [profile.name for profile in known_profiles.all()]
    assert all(list(cells) == names for cells in matrix.values())
    clean = {operation: cells["clean-room"] for operation, cells in matrix.items()}
    assert {operation for operation, code in clean.items() if code is not Code.ALLOWED} == {
        "control_workspace_service", "decide_approval", "generic_api_request",
    }  # fmt: skip
    assert matrix["decide_approval"]["board"] is Code.ALLOWED
    assert matrix["decide_approval"]["engineer"] is Code.ACTOR_ROLE_DENIED
    assert matrix["generic_api_request"]["skill-test"] is Code.ALLOWED
    assert matrix["finish_task"]["planning"] is Code.TASK_MODE_DENIED


@pytest.mark.requirement("whatif.matrix")
@pytest.mark.django_db
@pytest.mark.parametrize("profile", known_profiles.all(), ids=lambda profile: profile.name)
def test_the_matrix_agrees_with_what_a_real_run_of_that_profile_is_answered(profile):
    company = Company(
        role=profile.role,
        mode=profile.mode,
        run_claims=tuple(profile.scenario.claims) or ("none",),
        scenario=profile.scenario,
        explicit=profile.explicit_claims,
    )
    listed = company.listed()
    offered = [operation for operation, cells in grant_matrix([profile]).items() if cells[profile.name] == "allowed"]
    assert listed == offered


def test_a_profile_is_registered_once_and_found_by_its_scenario():
    assert known_profiles.of_scenario("capability-clean-room") == CLEAN_ROOM
    known_profiles.register(CLEAN_ROOM)
    with pytest.raises(ValueError, match="registered differently"):
        known_profiles.register(replace(CLEAN_ROOM, role="board"))
