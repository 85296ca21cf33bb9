"""A call whose answer was lost: sent again it is answered as before, for its own run and for nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import QuerySet

from capability.authorizations import list_authorization_records
from capability.dispatcher import Call, Dispatched, Dispatcher
from capability.models import AuthorizationRecord
from capability.policy import Code
from capability.whatif import explain
from evidence.ledger import chains
from mockcore import models
from mockcore.chain import first_flaw
from mockcore.plane import MockControlPlane
from mockcore.port import Envelope, Outcome
from tests.capability.company import Company, code_of, control_plane_code
from tests.factories import FaultFactory

pytestmark = pytest.mark.django_db

FINISH = {"idempotencyKey": "end", "summary": "All done."}
CALLS: dict[str, dict[str, Any]] = {
    "finish_task": FINISH,
    "block_task": {"idempotencyKey": "end", "reason": "Waiting."},
    "request_review": {"idempotencyKey": "end", "summary": "Look."},
    "report_progress": {"idempotencyKey": "end", "body": "Half way."},
}


def lost(company: Company) -> None:
    """Let the answer to the next command be lost."""
    FaultFactory(company=models.Company.objects.get(pk=company.id), effect="lost_ack", code="lost")


def disposition(answered: Dispatched) -> str:
    return str(answered.envelope["result"]["disposition"])


@pytest.mark.requirement("company.idempotency.before-writability")
@pytest.mark.parametrize("operation", CALLS)
def test_a_call_whose_answer_was_lost_is_answered_again_whatever_it_did_to_the_task(operation: str) -> None:
    company = Company()
    lost(company)
    first = company.call(operation, CALLS[operation])
    assert (control_plane_code(first), first.envelope["denial"]["retryable"]) == ("lost", True)
    before = company.entities()
    again = company.call(operation, CALLS[operation])
    assert (code_of(again), disposition(again)) == ("allowed", "duplicate")
    assert again.envelope["result"]["stateRevision"] == first.envelope["stateRevision"]
    assert company.entities() == before


def test_the_same_key_for_something_else_is_a_conflict_also_when_the_task_is_finished() -> None:
    company = Company()
    company.call("finish_task", FINISH)
    before = company.entities()
    other = company.call("finish_task", {**FINISH, "summary": "Otherwise."})
    assert (code_of(other), control_plane_code(other)) == ("control_plane_denied", "idempotency_conflict")
    assert code_of(company.call("finish_task", {**FINISH, "idempotencyKey": "new"})) == "task_state_denied"
    assert code_of(company.call("finish_task", {**FINISH, "idempotencyKey": 7})) == "task_state_denied"
    assert company.entities() == before


def test_another_run_of_the_task_is_told_nothing_of_the_key() -> None:
    company = Company()
    company.call("finish_task", FINISH)
    run = models.Run.objects.get(company_id=company.id)
    models.Run.objects.create(
        company_id=company.id,
        public_id="run-2",
        position=99,
        session_id="session-2",
        **{name: getattr(run, name) for name in ("actor", "task", "backend_kind", "source_instance_id", "opened_at")},
    )
    for given in (FINISH, {**FINISH, "summary": "Otherwise."}, {**FINISH, "idempotencyKey": "new"}):
        assert code_of(company.call("finish_task", given, run_id="run-2")) == "task_ownership_denied"


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda company: company.actor(status="paused"), Code.ACTOR_INACTIVE),
        (lambda company: company.task(work_mode="ask"), Code.TASK_MODE_DENIED),
    ],
)
def test_a_run_that_is_denied_for_more_than_its_own_command_is_told_the_same_with_and_without_the_key(
    spoil: Any, code: Code
) -> None:
    company = Company()
    company.call("finish_task", FINISH)
    spoil(company)
    told = {code_of(company.call("finish_task", {**FINISH, "idempotencyKey": key})) for key in ("end", "new")}
    assert told == {code.value}


def test_a_run_that_a_budget_stopped_still_learns_what_it_did() -> None:
    company = Company()
    note = CALLS["report_progress"]
    company.call("report_progress", note)
    company.actor(status="paused")
    company.run(status="budget_stopped", finished_at=models.Company.objects.get(pk=company.id).now())
    company.task(status="blocked", checkout_run=None, execution_run=None)
    assert disposition(company.call("report_progress", note)) == "duplicate"
    assert code_of(company.call("report_progress", {**note, "idempotencyKey": "new"})) == "actor_inactive"


def test_a_repeated_call_is_explained_by_the_rules_that_let_it_through() -> None:
    company = Company()
    company.call("finish_task", FINISH)
    for given in (FINISH, {**FINISH, "summary": "Otherwise."}):
        company.call("finish_task", given)
        newest = list_authorization_records(company_id=company.id)[-1]["id"]
        assert explain(company_id=company.id, record_id=newest).agrees


# ---------------------------------------------------------------- fresh rows
class Between(MockControlPlane):
    """A company whose run is ended by somebody else, without a revision, after the boundary has read its facts."""

    def apply(self, envelope: Envelope) -> Outcome:
        run = models.Run.objects.filter(company_id=self.company_id)
        run.update(status="cancelled", finished_at=models.Company.objects.get(pk=self.company_id).now())
        return super().apply(envelope)


def test_a_row_that_changed_after_the_facts_were_read_counts_as_it_is_now() -> None:
    company = Company()
    dispatcher = Dispatcher(port=Between(company_id=company.id), scenario=company.scenario)
    before = company.entities()["comments"]
    call = Call(run_id="run-1", call_id="call-1", operation_id="report_progress", input=CALLS["report_progress"])
    assert control_plane_code(dispatcher.dispatch(call)) == "run_not_writable"
    assert company.entities()["comments"] == before


# ---------------------------------------------------------------- runs that nobody knows
def test_what_is_asked_for_unknown_runs_is_recorded_in_the_series_of_each_company() -> None:
    companies = [Company(), Company()]
    for company in companies:
        company.call("get_task_context", {})
        assert code_of(company.call("get_task_context", {}, run_id="nobody")) == "operation_unavailable"
        assert company.listed("nobody") == []
        assert code_of(company.call("no_such_tool", {}, run_id="nobody")) == "tool_not_exposed"
        company.call("get_task_context", {})
    assert not AuthorizationRecord.objects.filter(company_id="").exists()
    for company in companies:
        assert [first_flaw(one) for one in chains(company_id=company.id)] == [None] * 6
        numbers = QuerySet(AuthorizationRecord).filter(company_id=company.id).order_by("number")
        assert [row.number for row in numbers] == list(range(1, 33))
