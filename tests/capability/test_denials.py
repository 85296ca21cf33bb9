"""Every denial code in every phase, from the smallest set-up that causes it, on the real mock company.

Each row is asked twice: as it stands, which is allowed, and after one spoiling change, which is denied by the code. A
code that cannot occur in a phase says why instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.db import transaction

from capability.authorizations import list_authorization_records
from capability.dispatcher import Scenario
from capability.policy import Code, Phase
from mockcore import history, models
from mockcore.commands import CreateTask, DecideApproval, ReportProgress, SetDependencies
from mockcore.port import Envelope, Refused
from tests.capability.company import RUN, Company, code_of, control_plane_code
from tests.factories import ApprovalFactory, TaskFactory

pytestmark = pytest.mark.django_db

Spoil = Callable[[Company], object]
SECRET = "ghp_FAKE0123456789abcdefFAKE0123456789ab"
NOTE = {"idempotencyKey": "note", "body": "Half way through."}
FINISH = {"idempotencyKey": "end", "summary": "Done."}
CONFIRM = {
    "idempotencyKey": "ask",
    "interactionKind": "confirmation",
    "title": "Go on?",
    "prompt": "Shall I?",
    "payload": {"targetSummary": "The plan."},
    "continuationPolicy": "none",
}
DOCUMENT = {"idempotencyKey": "doc", "key": "plan", "title": "Plan", "body": "One.", "baseRevisionId": None}
AGENTS = "discovery:agents:read"
DECIDE = "governance:approvals:decide"
HATCH = "test:generic_api_request"


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is asked, of which company, and the one change that makes it refused."""

    ask: str
    given: Any
    spoil: Spoil
    company: dict[str, Any] = field(default_factory=dict)


def scenario(**changes: Any) -> Spoil:
    def spoil(company: Company) -> None:
        company.scenario = replace(company.scenario, **changes)

    return spoil


def rewrite(**columns: Any) -> Spoil:
    """Change the given of the row: the spoiled question is another one."""

    def spoil(company: Company) -> None:
        company.asked = {**columns}  # type: ignore[attr-defined]

    return spoil


def claiming(*claims: str, **scenario: Any) -> dict[str, Any]:
    return {"run_claims": claims, "scenario": Scenario(id="table", claims=frozenset(claims), **scenario)}


PAUSED = Row(ask="report_progress", given=NOTE, spoil=lambda company: company.actor(status="paused"))
LOST = Row(ask="report_progress", given=NOTE, spoil=lambda company: company.task(checkout_run=None))
MODE = Row(ask="finish_task", given=FINISH, spoil=lambda company: company.task(work_mode="ask"))
REVOKED = Row(ask="list_agents", given={}, company=claiming(AGENTS), spoil=lambda company: company.run(capabilities=[]))
ROLE = Row(
    ask="decide_approval",
    given={"idempotencyKey": "yes", "approvalId": "board-1", "decision": "approved", "note": "Fine."},
    company={"role": "approver", **claiming(DECIDE)},
    spoil=lambda company: company.actor(role="engineer"),
)
DENIED = Row(ask="report_progress", given=NOTE, spoil=scenario(deny_operations=frozenset({"report_progress"})))
DISABLED = Row(
    ask="generic_api_request",
    given={"method": "GET", "path": "/mock/task"},
    company={"mode": "skill_test", **claiming(HATCH, enable_generic_api_request=True)},
    spoil=scenario(enable_generic_api_request=False),
)
E, I = Phase.EXPOSURE, Phase.INVOCATION  # noqa: E741

ROWS: dict[tuple[Code, Phase], Row] = {
    (Code.ACTOR_INACTIVE, E): PAUSED,
    (Code.ACTOR_INACTIVE, I): PAUSED,
    (Code.TASK_OWNERSHIP_DENIED, E): LOST,
    (Code.TASK_OWNERSHIP_DENIED, I): LOST,
    (Code.TASK_MODE_DENIED, E): MODE,
    (Code.TASK_MODE_DENIED, I): MODE,
    (Code.SCENARIO_DENIED, E): DENIED,
    (Code.SCENARIO_DENIED, I): DENIED,
    (Code.GENERIC_API_DISABLED, E): DISABLED,
    (Code.GENERIC_API_DISABLED, I): DISABLED,
    (Code.ACTOR_ROLE_DENIED, E): ROLE,
    (Code.ACTOR_ROLE_DENIED, I): ROLE,
    (Code.REQUIRED_CLAIM_MISSING, E): REVOKED,
    (Code.REQUIRED_CLAIM_MISSING, I): REVOKED,
    (Code.OPERATION_UNAVAILABLE, E): Row(
        ask="get_task_context", given={}, spoil=lambda company: setattr(company, "asking_run", "run-nobody")
    ),
    (Code.OPERATION_UNAVAILABLE, I): Row(
        ask="read_document", given={"key": "plan"}, spoil=rewrite(given={"key": "nothing"})
    ),
    (Code.TOOL_NOT_EXPOSED, I): Row(ask="report_progress", given=NOTE, spoil=rewrite(ask="checkout_task")),
    (Code.TASK_STATE_DENIED, I): Row(
        ask="report_progress", given=NOTE, spoil=lambda company: company.call("finish_task", FINISH)
    ),
    (Code.INTERACTION_KIND_DENIED, I): Row(
        ask="request_human_input", given=CONFIRM, spoil=scenario(allowed_interaction_kinds=frozenset({"questions"}))
    ),
    (Code.INPUT_INVALID, I): Row(ask="report_progress", given=NOTE, spoil=rewrite(given={**NOTE, "body": ""})),
    (Code.PROTECTED_DATA_DENIED, I): Row(
        ask="report_progress", given=NOTE, spoil=rewrite(given={**NOTE, "body": f"use {SECRET}"})
    ),
    (Code.CONTROL_PLANE_DENIED, I): Row(
        ask="write_document", given=DOCUMENT, spoil=rewrite(given={**DOCUMENT, "baseRevisionId": "stale"})
    ),
}  # fmt: skip

CANNOT: dict[tuple[Code, Phase], str] = {
    (Code.TOOL_NOT_EXPOSED, E): "listing walks the catalog, so an id outside it is never asked about",
    (Code.TASK_STATE_DENIED, E): "a list is about the session; a finished task still lists what writes (decision 1)",
    (Code.INTERACTION_KIND_DENIED, E): "the kind is a field of an input, and listing has none",
    (Code.INPUT_INVALID, E): "listing has no input",
    (Code.PROTECTED_DATA_DENIED, E): "listing has no input",
    (Code.CONTROL_PLANE_DENIED, E): "listing sends no command",
}
DENIALS = [code for code in Code if code is not Code.ALLOWED]


@pytest.mark.requirement("denials.table")
def test_every_denial_code_has_a_row_or_a_reason_in_each_phase():
    assert len(DENIALS) == 14
    assert set(ROWS) | set(CANNOT) == {(code, phase) for code in DENIALS for phase in Phase}
    assert set(ROWS) & set(CANNOT) == set()
    assert all(any((code, phase) in ROWS for phase in Phase) for code in DENIALS)


def answer(row: Row, phase: Phase, company: Company) -> str:
    """Ask in the phase and return the code that was answered and recorded, then undo what the asking did."""
    asked = {"ask": row.ask, "given": row.given, **getattr(company, "asked", {})}
    run_id = getattr(company, "asking_run", RUN)
    with transaction.atomic():
        if phase is Phase.EXPOSURE:
            listed = company.listed(run_id)
        else:
            told = code_of(company.call(asked["ask"], asked["given"], run_id=run_id))
        records = list_authorization_records(company_id=company.id)
        [record] = [one for one in records if one["operationId"] == asked["ask"]]
        transaction.set_rollback(True)
    assert record["phase"] == phase
    assert record["allowed"] == (record["code"] == "allowed")
    if phase is Phase.EXPOSURE:
        assert (asked["ask"] in listed) == record["allowed"]
    else:
        assert record["code"] == told
    return record["code"]


@pytest.mark.requirement("denials.table")
@pytest.mark.parametrize(("code", "phase"), ROWS, ids=lambda part: str(part))
def test_one_change_makes_what_was_allowed_denied_by_its_code_and_moves_no_entity(code, phase):
    row = ROWS[code, phase]
    company = Company(**row.company)
    board = models.Company.objects.get(pk=company.id)
    ApprovalFactory(company=board, public_id="board-1", task_ids=[company.identity.task_id])
    if row.ask == "read_document":
        assert company.call("write_document", DOCUMENT).ok
    if row.ask == "decide_approval":
        company.task(status="in_review")

    assert answer(row, phase, company) == "allowed"
    row.spoil(company)
    before = company.entities()
    assert answer(row, phase, company) == code
    assert company.entities() == before


# ---------------------------------------------------------------- around the catalog
@pytest.mark.requirement("denials.bypass")
@pytest.mark.parametrize(
    ("command", "spoil", "code", "reason"),
    [
        (CreateTask(title="t"), lambda c: c.run(capabilities=[]), "operation_not_authorized", "required_claim_missing"),
        (ReportProgress(body="b", task_id="other"), None, "task_scope_violation", "active_task_scope_required"),
        (
            ReportProgress(body="b"), lambda c: c.task(execution_run=None), "task_ownership_violation",
            "run_does_not_own_task",
        ),
        (
            DecideApproval(approval_id="board-1", decision="approved", note="n"), None, "operation_not_authorized",
            "actor_role_not_authorized",
        ),
        (
            DecideApproval(approval_id="mine", decision="approved", note="n"), lambda c: c.actor(role="board"),
            "self_approval_forbidden", "self_approval_forbidden",
        ),
        (
            SetDependencies(blocked_by_task_ids=()), lambda c: c.run(capabilities=[DECIDE]),
            "operation_not_authorized", "required_claim_missing",
        ),
    ],
)  # fmt: skip
def test_a_command_sent_past_the_catalog_is_refused_by_the_command_boundary_with_its_own_code(
    command, spoil, code, reason
):
    claims = ("delegation:tasks:create", "dependencies:write", DECIDE, "governance:approvals:request")
    company = Company(run_claims=claims)
    board = models.Company.objects.get(pk=company.id)
    TaskFactory(company=board, public_id="other")
    mine = models.Actor.objects.get(company=board)
    for public_id, asker in (("board-1", None), ("mine", mine)):
        ApprovalFactory(
            company=board, public_id=public_id, requested_by_actor=asker, task_ids=[company.identity.task_id]
        )
    if spoil is not None:
        spoil(company)
    before = company.entities()
    refused = company.plane.apply(Envelope(run_id=RUN, idempotency_key="past", command=command))
    assert isinstance(refused, Refused)
    assert refused.code == code
    assert history.list_decisions(company_id=company.id)[-1]["reason"] == reason
    assert company.entities() == before
    assert list_authorization_records(company_id=company.id) == []


@pytest.mark.requirement("denials.bypass")
def test_what_the_catalog_withholds_the_command_boundary_withholds_by_itself():
    """The run of a clean room holds wide claims, so that the board can answer through it; its role still stands."""
    company = Company(run_claims=(DECIDE,), scenario=Scenario(id="table"))
    assert code_of(company.call("decide_approval", ROLE.given)) == "actor_role_denied"
    past = Envelope(
        run_id=RUN,
        idempotency_key="past",
        command=DecideApproval(approval_id="board-1", decision="approved", note="n"),
    )
    assert company.plane.apply(past).code == "operation_not_authorized"


@pytest.mark.requirement("denials.self-approval")
def test_nobody_decides_what_they_asked_for_and_anybody_else_with_the_role_may():
    company = Company(role="approver", **claiming(DECIDE, "governance:approvals:request"))
    company.call("request_approval", {"idempotencyKey": "a", "approvalType": "spend", "payload": {}})
    [mine] = company.plane.state()["approvals"]
    decide = {"idempotencyKey": "yes", "approvalId": mine["id"], "decision": "approved", "note": "Fine."}
    before = company.entities()
    refused = company.call("decide_approval", decide)
    assert (code_of(refused), control_plane_code(refused)) == ("control_plane_denied", "self_approval_forbidden")
    assert company.entities() == before

    models.Approval.objects.update(requested_by_actor=None)  # the board asked for it
    assert company.call("decide_approval", decide).ok


# ---------------------------------------------------------------- fresh rows
@pytest.mark.requirement("dispatch.fresh-facts")
@pytest.mark.parametrize(
    "revoke",
    [
        lambda c: c.run(capabilities=[]),
        lambda c: setattr(c, "scenario", Scenario(id="table")),
        lambda c: setattr(c, "explicit", frozenset()),
    ],
    ids=["from the run", "from the scenario", "from the explicit claims"],
)
def test_a_claim_revoked_between_listing_and_call_bites(revoke):
    company = Company(
        **claiming(AGENTS, "delegation:tasks:create"), explicit=frozenset({AGENTS, "delegation:tasks:create"})
    )
    assert {"list_agents", "create_task"} <= set(company.listed())
    revoke(company)
    before = company.entities()
    assert code_of(company.call("list_agents", {})) == "required_claim_missing"
    assert code_of(company.call("create_task", {"idempotencyKey": "t", "title": "T"})) == "required_claim_missing"
    assert company.entities() == before
    assert not {"list_agents", "create_task"} & set(company.listed())


@pytest.mark.requirement("policy.grants-fill")
def test_an_actors_own_grants_fill_the_claims_of_a_run_that_opens_without_any_and_of_no_other():
    filled = Company(grants=(AGENTS,))
    assert filled.plane.facts(RUN).capabilities == {AGENTS}
    assert "list_agents" in filled.listed()

    opened_with_some = Company(grants=(AGENTS,), run_claims=("workspace:read",))
    assert opened_with_some.plane.facts(RUN).capabilities == {"workspace:read"}
    assert code_of(opened_with_some.call("list_agents", {})) == "required_claim_missing"
    opened_with_some.actor(capability_grants=[AGENTS, "workspace:control"])
    assert code_of(opened_with_some.call("list_agents", {})) == "required_claim_missing"


@pytest.mark.requirement("escape-hatch.two-paths")
def test_the_escape_hatch_reads_the_real_company_and_nothing_else_of_it():
    company = Company(**DISABLED.company)
    before = company.entities()
    revision = company.call("generic_api_request", {"method": "GET", "path": "/mock/state/revision"})
    assert revision.envelope["result"] == {"revision": 1}
    task = company.call("generic_api_request", {"method": "GET", "path": "/mock/task"})
    assert task.envelope["result"]["task"]["id"] == company.identity.task_id
    for method, path in [("POST", "/mock/task"), ("PATCH", "/mock/task"), ("GET", "/mock/tasks"), ("GET", "/mock/")]:
        assert code_of(company.call("generic_api_request", {"method": method, "path": path})) == "operation_unavailable"
    assert company.entities() == before
