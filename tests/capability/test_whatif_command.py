"""What an operator asks by command: records, changes and scenarios by name, and a clear no for what is not known."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from capability import whatif
from capability.dispatcher import Scenario
from capability.scenario_json import FIELDS, MAX_BYTES, ScenarioInvalid, read_scenario, read_scenario_file
from capability.whatif import AmbiguousRecord, NothingToExplain, explain
from cleanroom.exposure import PROFILE as CLEAN_ROOM
from tests.capability.company import Company, company_of, last_record

AGENTS, DECIDE = "discovery:agents:read", "governance:approvals:decide"
NOTE = {"idempotencyKey": "note", "body": "Half way through."}
STRICT = Scenario(id="strict", deny_operations=frozenset({"report_progress"}))


@pytest.mark.requirement("whatif.command")
@pytest.mark.django_db
def test_the_operator_asks_by_command(capsys):
    company = Company(
        scenario=CLEAN_ROOM.scenario, explicit=CLEAN_ROOM.explicit_claims, run_claims=tuple(CLEAN_ROOM.scenario.claims)
    )
    company.call("control_workspace_service", {"idempotencyKey": "k", "serviceId": "web", "action": "start"})
    asked = ("explain_authorization", last_record(company), "--company", company.id)

    call_command(*asked)
    out = capsys.readouterr().out
    assert "invocation of control_workspace_service: required_claim_missing" in out
    assert "7. required_claim_missing: objected (This run does not hold the claim workspace:control.)" in out

    call_command(*asked, "--claims", "workspace:control")
    out = capsys.readouterr().out
    assert "would be allowed, changed by the rule required_claim_missing" in out

    call_command(*asked, "--role", "board")
    assert "The answer would be the same." in capsys.readouterr().out

    call_command(*asked, "--mode", "ask", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["rule"], told["changed"]["code"]) == ("task_mode_denied", "task_mode_denied")

    call_command("explain_authorization", "--matrix")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 29
    assert "clean-room" in lines[0]


@pytest.mark.requirement("whatif.command")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Name a record"),
        (["semantic-auth-000001", "--matrix"], "Name a record"),
        (["semantic-auth-000001", "--company", "nobody"], "authorization_record_unknown"),
        (
            ["semantic-auth-000001", "--company", "nobody", "--scenario", "no-such"],
            "scenario_unknown.*known are capability-default",
        ),
        (["semantic-auth-000001", "--scenario", "{"], "scenario_invalid"),
        (["semantic-auth-000001", "--scenario", "@nowhere.json"], "scenario_invalid.*nowhere.json cannot be read"),
        (["semantic-auth-000001"], "authorization_record_unknown: no company has"),
        (["the-first"], "authorization_record_unknown: the-first is no id of an authorization record, such as"),
    ],
)
def test_a_command_that_cannot_be_answered_says_why(arguments, says):
    with pytest.raises(CommandError, match=says):
        call_command("explain_authorization", *arguments)


# ---------------------------------------------------------------- names that are not known
@pytest.mark.requirement("whatif.command")
@pytest.mark.django_db
def test_a_record_is_found_without_its_company_and_the_companies_are_named_when_several_have_it(capsys):
    first = Company(scenario=Scenario())
    first.call("report_progress", NOTE)
    record = last_record(first)
    call_command("explain_authorization", record)
    assert f"{record}  invocation of report_progress: allowed" in capsys.readouterr().out
    second = Company(scenario=Scenario())
    second.call("report_progress", NOTE)
    both = ", ".join(sorted([first.id, second.id]))
    with pytest.raises(
        CommandError, match=f"authorization_record_ambiguous: {record} exists in several companies: {both}"
    ):
        call_command("explain_authorization", record)
    with pytest.raises(CommandError, match=f"nobody has no authorization record {record}; it exists in {both}"):
        call_command("explain_authorization", record, "--company", "nobody")
    call_command("explain_authorization", record, "--company", second.id)


@pytest.mark.requirement("whatif.command")
@pytest.mark.django_db
def test_no_sentence_names_more_companies_than_one_reads(monkeypatch):
    monkeypatch.setattr(whatif, "NAMED_COMPANIES", 2)
    for count in (1, 2, 3):
        Company(scenario=Scenario()).call("report_progress", NOTE)
        if count > 1:
            with pytest.raises(AmbiguousRecord) as told:
                whatif.company_of("semantic-auth-000001")
            assert (" and more" in str(told.value)) == (count == 3)


@pytest.mark.django_db
def test_a_call_of_an_unknown_operation_and_one_of_an_unknown_run_are_told_apart(known):
    company = company_of(known, scenario=Scenario(id="base"))
    company.call("no_such_tool", {})
    with pytest.raises(NothingToExplain, match="the catalog has no operation no_such_tool") as told:
        explain(company_id=company.id, record_id=last_record(company))
    assert told.value.code == "authorization_operation_unknown"
    company.call("get_task_context", {}, run_id="run-nobody")
    with pytest.raises(NothingToExplain, match="there was no run run-nobody") as told:
        explain(company_id=company.id, record_id=last_record(company))
    assert told.value.code == "authorization_run_unknown"


@pytest.mark.requirement("whatif.command")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--role", "emperor"], "role_unknown: no rule knows the role emperor; known are .*board.*engineer"),
        (
            ["--claims", "discovery:agents:reed"],
            "claim_unknown: .*discovery:agents:reed; known are .*discovery:agents:read",
        ),
        (["--claims", "workspace:read,*"], "claim_unknown: .*claim \\*"),
    ],
)
def test_a_role_or_claim_that_nothing_knows_is_refused_by_name(change, says):
    company = Company(scenario=Scenario())
    company.call("report_progress", NOTE)
    with pytest.raises(CommandError, match=says):
        call_command("explain_authorization", last_record(company), *change)


@pytest.mark.requirement("whatif.command")
@pytest.mark.django_db
def test_a_scenario_is_asked_about_as_json_or_as_a_file_without_being_registered(tmp_path, capsys):
    company = Company(scenario=Scenario())
    company.call("report_progress", NOTE)
    strict = json.dumps({"id": "strict", "denyOperations": ["report_progress"]})
    (tmp_path / "strict.json").write_text(strict)
    for scenario in (strict, f"@{tmp_path / 'strict.json'}"):
        call_command("explain_authorization", last_record(company), "--scenario", scenario)
        assert "would be scenario_denied, changed by the rule scenario_denied" in capsys.readouterr().out


def test_every_field_of_a_scenario_is_read_from_json():
    given = {
        "id": "all", "claims": [AGENTS], "allowOperations": ["list_agents"], "denyOperations": ["finish_task"],
        "allowedInteractionKinds": ["questions"], "enableGenericApiRequest": True,
    }  # fmt: skip
    assert set(FIELDS) == set(given)
    assert read_scenario(json.dumps(given)) == Scenario(
        id="all",
        claims=frozenset({AGENTS}),
        allow_operations=frozenset({"list_agents"}),
        deny_operations=frozenset({"finish_task"}),
        allowed_interaction_kinds=frozenset({"questions"}),
        enable_generic_api_request=True,
    )
    assert read_scenario('{"id": "bare"}') == Scenario(id="bare")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"), ("[" * 100_000, "no JSON"), ("[]", "no JSON object"), ("{}", "needs an id"),
        ('{"id": " "}', "id must be a word"), ('{"id": 1}', "id must be a word"),
        ('{"id": "x", "claim": []}', "no field claim; it has id, claims"),
        ('{"id": "x", "claims": "all"}', "claims must be a list of words"),
        ('{"id": "x", "claims": ["none:such"]}', "claims holds none:such, which is not known; known are"),
        ('{"id": "x", "denyOperations": ["no_such"]}', "denyOperations holds no_such"),
        ('{"id": "x", "allowedInteractionKinds": ["smalltalk"]}', "allowedInteractionKinds holds smalltalk"),
        ('{"id": "x", "enableGenericApiRequest": 1}', "enableGenericApiRequest must be true or false"),
    ],
)  # fmt: skip
def test_what_is_no_scenario_is_refused_by_its_field(text, says):
    with pytest.raises(ScenarioInvalid, match=says):
        read_scenario(text)


def test_a_file_that_holds_more_than_a_scenario_can_is_refused(tmp_path):
    file = tmp_path / "scenario.json"
    file.write_text('{"id": "x"}'.ljust(MAX_BYTES))
    assert read_scenario_file(file).id == "x"
    file.write_text('{"id": "x"}'.ljust(MAX_BYTES + 1))
    with pytest.raises(ScenarioInvalid, match="more than 65,536 bytes"):
        read_scenario_file(file)
