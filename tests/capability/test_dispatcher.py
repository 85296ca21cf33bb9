"""One call is looked up, authorized, screened, validated, carried out, redacted and recorded, in one transaction."""

from __future__ import annotations

import json
import logging

import pytest
from django.db import connection, transaction

from capability.dispatcher import Call, Dispatcher, Scenario, list_authorization_records
from capability.models import AuthorizationRecord
from mockcore.commands import BlockTask, ReportProgress
from mockcore.port import Refused
from tests.capability.memory_port import DocumentMissing, MemoryPort, facts

pytestmark = pytest.mark.django_db

SECRET = "ghp_FAKE0123456789abcdefFAKE0123456789ab"
COMMENT = {"idempotencyKey": "note-1", "body": "Half way through."}


@pytest.fixture
def port():
    return MemoryPort()


@pytest.fixture
def dispatcher(port):
    return Dispatcher(port=port, scenario=Scenario(id="test-room"))


def call(operation_id="report_progress", input=COMMENT, **changes):
    return Call(**{"run_id": "run-1", "call_id": "call-1", "operation_id": operation_id, "input": input, **changes})


def code_of(dispatched):
    return dispatched.envelope["denial"]["code"]


def only_record():
    return AuthorizationRecord.objects.get().as_json()


# ---------------------------------------------------------------- what succeeds
@pytest.mark.requirement("dispatch.envelope")
def test_a_write_answers_with_its_command_and_tells_the_port_why(dispatcher, port):
    done = dispatcher.dispatch(call(turn_id="turn-3", message_id="message-7"))
    assert done.ok
    assert done.envelope == {
        "ok": True,
        "operationId": "report_progress",
        "callId": "call-1",
        "result": {
            "commandId": "command-0001",
            "commandKind": "report_progress",
            "disposition": "applied",
            "stateRevision": 2,
            "entityRefs": ["task:task-1"],
            "scheduledWakeIds": [],
        },
        "stateRevision": 2,
    }
    assert (done.before_revision, done.after_revision) == (1, 2)
    assert done.applied.command_id == "command-0001"
    [envelope] = port.envelopes
    assert (envelope.run_id, envelope.idempotency_key) == ("run-1", "note-1")
    assert envelope.command == ReportProgress(body="Half way through.")
    assert vars(envelope.cause) == {
        "turn_id": "turn-3",
        "call_id": "call-1",
        "message_id": "message-7",
        "authorization_id": done.authorization_id,
    }


@pytest.mark.requirement("dispatch.record")
def test_a_call_leaves_one_record_with_its_cause_input_result_and_revisions(dispatcher):
    done = dispatcher.dispatch(call(turn_id="turn-3", message_id="message-7"))
    record = only_record()
    record.pop("at")
    assert record == {
        "schema": "paperclip.semantic-authorization-record.v1",
        "id": "semantic-auth-000001",
        "phase": "invocation",
        "runId": "run-1",
        "scenarioId": "test-room",
        "actorId": "actor-1",
        "taskId": "task-1",
        "callId": "call-1",
        "turnId": "turn-3",
        "messageId": "message-7",
        "operationId": "report_progress",
        "allowed": True,
        "code": "allowed",
        "controlPlaneCode": "",
        "reason": "Every check passed.",
        "effectiveClaims": [],
        "input": COMMENT,
        "result": done.envelope["result"],
        "beforeRevision": 1,
        "afterRevision": 2,
    }
    assert done.authorization_id == "semantic-auth-000001"


def test_a_read_moves_nothing_and_gets_its_arguments_by_name(dispatcher, port):
    port.answers["get_task_history"] = {"comments": [{"body": "first"}]}
    done = dispatcher.dispatch(call("get_task_history", {"limit": 3.0}))
    assert done.envelope["result"] == {"comments": [{"body": "first"}]}
    assert (done.before_revision, done.after_revision, done.applied) == (1, 1, None)
    assert port.queries == [("get_task_history", {"limit": 3})]
    dispatcher.dispatch(call("get_task_history", {}))
    assert port.queries[1] == ("get_task_history", {"limit": 50})


def test_the_task_context_is_the_ports_context(dispatcher):
    done = dispatcher.dispatch(call("get_task_context", {}))
    assert done.envelope["result"]["activeTask"]["id"] == "task-1"


def test_omitted_blockers_are_left_alone_and_an_empty_list_clears_them(dispatcher, port):
    dispatcher.dispatch(call("block_task", {"idempotencyKey": "b-1", "reason": "Waiting."}))
    dispatcher.dispatch(call("block_task", {"idempotencyKey": "b-2", "reason": "Waiting.", "blockedByTaskIds": []}))
    assert [envelope.command for envelope in port.envelopes] == [
        BlockTask(reason="Waiting.", blocked_by_task_ids=None),
        BlockTask(reason="Waiting.", blocked_by_task_ids=()),
    ]


# ---------------------------------------------------------------- what is denied
@pytest.mark.requirement("dispatch.envelope")
def test_a_denial_is_a_typed_value_that_moves_nothing(dispatcher, port):
    done = dispatcher.dispatch(call("list_agents", {}))
    assert done.envelope == {
        "ok": False,
        "operationId": "list_agents",
        "callId": "call-1",
        "denial": {
            "schema": "paperclip.semantic-denial.v1",
            "code": "required_claim_missing",
            "message": "This run does not hold the claim discovery:agents:read.",
            "retryable": False,
        },
        "stateRevision": 1,
    }
    assert port.queries == []
    assert only_record()["allowed"] is False


@pytest.mark.requirement("dispatch.unknown-operation")
def test_a_call_to_an_unknown_operation_is_denied_and_recorded(dispatcher, port):
    done = dispatcher.dispatch(call("checkout_task", {"idempotencyKey": "x"}))
    assert code_of(done) == "tool_not_exposed"
    record = only_record()
    assert (record["operationId"], record["code"], record["taskId"]) == ("checkout_task", "tool_not_exposed", "task-1")
    assert record["input"] == {"idempotencyKey": "x"}


@pytest.mark.requirement("dispatch.unknown-operation")
def test_a_tool_name_made_of_a_secret_is_neither_stored_nor_repeated(dispatcher):
    done = dispatcher.dispatch(call(SECRET + "\0" + "x" * 1_000, {}))
    assert code_of(done) == "tool_not_exposed"
    assert SECRET not in json.dumps(done.envelope)
    assert SECRET not in json.dumps(only_record())
    assert len(only_record()["operationId"]) <= 240


@pytest.mark.requirement("dispatch.unknown-run")
def test_an_unknown_run_is_a_typed_denial_and_is_recorded_for_the_company_that_was_asked(dispatcher, port):
    done = dispatcher.dispatch(call(run_id="run-9"))
    assert code_of(done) == "operation_unavailable"
    assert done.envelope["stateRevision"] == 1
    record = AuthorizationRecord.objects.get()
    assert (record.company_id, record.run_id, record.actor_id) == ("company-1", "run-9", "")
    assert port.envelopes == []


@pytest.mark.requirement("dispatch.fresh-facts")
def test_what_was_exposed_is_denied_once_a_claim_is_gone(dispatcher, port):
    port.run = facts(capabilities=frozenset({"discovery:agents:read"}))
    held = Dispatcher(port=port, scenario=Scenario(claims=frozenset({"discovery:agents:read"})))
    assert "list_agents" in [tool.name for tool in held.list_tools(run_id="run-1")]
    assert held.dispatch(call("list_agents", {})).ok

    port.run = facts()
    assert "list_agents" not in [tool.name for tool in held.list_tools(run_id="run-1")]
    assert code_of(held.dispatch(call("list_agents", {}))) == "required_claim_missing"


@pytest.mark.requirement("dispatch.protected")
@pytest.mark.parametrize(
    "input",
    [
        {"idempotencyKey": "k", "body": f"the token is {SECRET}"},
        {"idempotencyKey": "k", "body": "fine", "apiKey": "anything"},
        {"idempotencyKey": "k", "body": "fine", "extra": {"deep": [{"password": None}]}},
        {"idempotencyKey": SECRET, "body": "fine"},
    ],
)
def test_protected_data_is_refused_before_the_schema_is_asked_and_stored_masked(dispatcher, port, input):
    done = dispatcher.dispatch(call(input=input))
    assert code_of(done) == "protected_data_denied"
    assert port.envelopes == []
    stored = json.dumps(only_record()) + json.dumps(done.envelope)
    assert SECRET not in stored
    assert "anything" not in stored


@pytest.mark.requirement("dispatch.protected")
def test_authorization_comes_before_the_scan_and_the_record_is_masked_all_the_same(dispatcher):
    done = dispatcher.dispatch(call("get_agent", {"actorId": f"Bearer {SECRET}"}))
    assert code_of(done) == "required_claim_missing"
    assert SECRET not in json.dumps(only_record())
    assert "[REDACTED]" in json.dumps(only_record()["input"])


@pytest.mark.requirement("dispatch.input.message")
@pytest.mark.parametrize("input", [None, [], "text", {}, {"idempotencyKey": "k", "body": ""}, {**COMMENT, "more": 1}])
def test_an_input_that_does_not_fit_is_refused_by_place_and_cause(dispatcher, port, input):
    done = dispatcher.dispatch(call(input=input))
    assert code_of(done) == "input_invalid"
    assert done.envelope["denial"]["message"].startswith("/")
    assert port.envelopes == []


@pytest.mark.requirement("dispatch.input.bounded")
def test_an_input_that_cannot_be_stored_is_refused_and_leaves_a_record_without_it(dispatcher):
    deep = {}
    for _ in range(900):
        deep = {"in": deep}
    done = dispatcher.dispatch(call(input={"idempotencyKey": "k", "body": "x", "payload": deep}))
    assert code_of(done) == "input_invalid"
    assert only_record()["input"] is None


@pytest.mark.requirement("dispatch.control-plane-denied")
def test_a_refusal_of_the_control_plane_carries_its_code_and_may_be_retryable(dispatcher, port):
    port.failure = Refused(
        command_kind="report_progress", state_revision=1, code="patch_lost", message="Try again.", retryable=True
    )
    done = dispatcher.dispatch(call())
    assert done.envelope["denial"] == {
        "schema": "paperclip.semantic-denial.v1",
        "code": "control_plane_denied",
        "controlPlaneCode": "patch_lost",
        "message": "Try again.",
        "retryable": True,
    }
    record = only_record()
    assert (record["code"], record["controlPlaneCode"], record["allowed"]) == (
        "control_plane_denied",
        "patch_lost",
        False,
    )


@pytest.mark.requirement("dispatch.control-plane-denied")
def test_a_refusal_after_the_effect_shows_that_the_state_moved(dispatcher, port):
    port.failure = Refused(
        command_kind="report_progress", state_revision=2, code="ack_lost", message="Try again.", retryable=True
    )
    done = dispatcher.dispatch(call())
    assert (done.before_revision, done.after_revision, done.envelope["stateRevision"]) == (1, 2, 2)


@pytest.mark.requirement("dispatch.unavailable")
def test_something_missing_is_operation_unavailable_with_the_refusals_sentence(dispatcher, port):
    port.failure = DocumentMissing()
    done = dispatcher.dispatch(call("read_document", {"key": "plan"}))
    assert code_of(done) == "operation_unavailable"
    assert done.envelope["denial"]["message"] == "There is no such document."


@pytest.mark.requirement("dispatch.unavailable")
@pytest.mark.parametrize("operation", [("read_document", {"key": "plan"}), ("report_progress", COMMENT)])
def test_a_bug_below_is_logged_and_answered_with_a_fixed_sentence(dispatcher, port, caplog, operation):
    port.failure = KeyError(SECRET)
    with caplog.at_level(logging.ERROR, logger="capability.dispatcher"):
        done = dispatcher.dispatch(call(*operation))
    assert done.envelope["denial"] == {
        "schema": "paperclip.semantic-denial.v1",
        "code": "operation_unavailable",
        "message": "The operation could not be carried out. Nothing was changed.",
        "retryable": False,
    }
    [line] = caplog.records
    assert line.exc_info[0] is KeyError
    assert SECRET not in json.dumps(only_record())


@pytest.mark.requirement("dispatch.unavailable")
def test_a_database_error_below_leaves_nothing_but_the_record_of_the_call(dispatcher, port, caplog):
    def write_then_fail(envelope):
        AuthorizationRecord.objects.create(
            company_id="company-1", number=77, phase="invocation", allowed=True, code="allowed",
            effective_claims_json="[]", before_revision=0, after_revision=0,
        )  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute("SELECT * FROM no_such_table")

    port.apply = write_then_fail
    done = dispatcher.dispatch(call())
    assert code_of(done) == "operation_unavailable"
    assert [record.number for record in AuthorizationRecord.objects.all()] == [1]
    assert port.facts("run-1")  # the caller goes on in the same transaction
    assert dispatcher.dispatch(call("get_task_context", {})).ok


@pytest.mark.requirement("dispatch.redaction")
def test_a_result_is_masked_before_it_is_answered_and_before_it_is_stored(dispatcher, port):
    port.answers["read_document"] = {"document": {"body": f"old {SECRET} and {SECRET}"}, "apiKey": "anything"}
    done = dispatcher.dispatch(call("read_document", {"key": "plan"}))
    assert done.ok
    for text in (json.dumps(done.envelope), json.dumps(only_record())):
        assert SECRET not in text
        assert "anything" not in text
        assert "[REDACTED]" in text


# ---------------------------------------------------------------- the escape hatch
def skill_test(port, **scenario):
    claims = frozenset({"test:generic_api_request"})
    port.run = facts(task={"workMode": "skill_test"}, capabilities=claims)
    return Dispatcher(port=port, scenario=Scenario(claims=claims, **scenario))


@pytest.mark.requirement("escape-hatch.two-paths")
def test_the_escape_hatch_answers_two_paths_and_nothing_else(port):
    dispatcher = skill_test(port, enable_generic_api_request=True)

    def ask(method, path):
        return dispatcher.dispatch(call("generic_api_request", {"method": method, "path": path}))

    assert ask("GET", "/mock/state/revision").envelope["result"] == {"revision": 1}
    assert ask("GET", "/mock/task").envelope["result"]["task"]["id"] == "task-1"
    for method, path in [("POST", "/mock/task"), ("GET", "/mock/task/"), ("GET", "/mock/company")]:
        assert code_of(ask(method, path)) == "operation_unavailable"
    assert code_of(ask("GET", "/api/issues")) == "input_invalid"
    assert port.envelopes == []


@pytest.mark.requirement("escape-hatch.two-paths")
def test_the_escape_hatch_needs_mode_switch_and_claim(port):
    request = call("generic_api_request", {"method": "GET", "path": "/mock/task"})
    assert code_of(skill_test(port).dispatch(request)) == "generic_api_disabled"
    enabled = skill_test(port, enable_generic_api_request=True)
    assert enabled.dispatch(request).ok
    port.run = facts(task={"workMode": "standard"}, capabilities=frozenset({"test:generic_api_request"}))
    assert code_of(enabled.dispatch(request)) == "task_mode_denied"
    port.run = facts(task={"workMode": "skill_test"})
    assert code_of(enabled.dispatch(request)) == "required_claim_missing"


# ---------------------------------------------------------------- records
@pytest.mark.requirement("dispatch.exposure-records")
def test_listing_writes_one_exposure_record_per_catalog_entry(dispatcher):
    tools = dispatcher.list_tools(run_id="run-1")
    records = list_authorization_records(company_id="company-1")
    assert len(records) == 28
    assert [record["id"] for record in records] == [f"semantic-auth-{n:06d}" for n in range(1, 29)]
    assert {record["phase"] for record in records} == {"exposure"}
    assert {(record["callId"], record["input"], record["result"]) for record in records} == {(None, None, None)}
    assert [record["operationId"] for record in records if record["allowed"]] == [tool.name for tool in tools]
    assert len(tools) == 13
    assert dispatcher.dispatch(call()).authorization_id == "semantic-auth-000029"


def test_a_run_that_does_not_exist_is_offered_nothing(dispatcher):
    assert dispatcher.list_tools(run_id="run-9") == []
    assert {record["code"] for record in list_authorization_records(company_id="company-1")} == {
        "operation_unavailable"
    }


def test_each_company_numbers_its_own_records(dispatcher, port):
    dispatcher.dispatch(call())
    port.run = facts(company_id="company-2")
    assert dispatcher.dispatch(call()).authorization_id == "semantic-auth-000001"
    port.run = facts(company_id="company-1")
    assert dispatcher.dispatch(call()).authorization_id == "semantic-auth-000002"
    assert [record["id"] for record in list_authorization_records(company_id="company-1", after=1)] == [
        "semantic-auth-000002"
    ]


@pytest.mark.requirement("dispatch.one-transaction")
def test_a_record_goes_with_the_callers_transaction_and_its_number_comes_back(dispatcher):
    with transaction.atomic():
        dispatcher.dispatch(call())
        transaction.set_rollback(True)  # whatever the caller had to write failed
    assert not AuthorizationRecord.objects.exists()
    assert dispatcher.dispatch(call()).authorization_id == "semantic-auth-000001"
