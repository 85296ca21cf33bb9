"""Eight calls at once leave exactly what some serial order of them leaves, on both databases.

The order is read from the record: calls of one company are numbered under one lock. The same calls, made one after the
other in that order in a second company, must then give the same answers, records, history and state, byte for byte. So
eight calls are judged with one replay and not with 40,320.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from capability.catalog import LIVE_OPERATIONS
from capability.dispatcher import Call, Dispatched, Dispatcher, Scenario, list_authorization_records
from capability.models import AuthorizationCounter, AuthorizationRecord
from mockcore import history
from mockcore.plane import MockControlPlane
from mockcore.port import Applied, OpenRun
from mockcore.sqlite.gate import gate_of
from mockcore.tenants import CleanRoomIdentity, seed_clean_room
from mockcore.text import canonical

CALLS = 8
WAIT_S = 30.0
RUN = "run-1"
CLAIMS = frozenset(claim for operation in LIVE_OPERATIONS for claim in operation.required_claims)
KEYS = st.sampled_from(["k1", "k2", "k3"])
RACES = settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # a race that was lost once is not lost again for the asking: no shrinking
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def operation(name: str, **fields: Any) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Draw the input of one operation: values as they are, strategies drawn."""
    drawn = {key: value if isinstance(value, st.SearchStrategy) else st.just(value) for key, value in fields.items()}
    return st.fixed_dictionaries(drawn).map(lambda chosen: (name, chosen))


BODIES = st.sampled_from(["one", "two"])
ASKED = st.one_of(
    operation("report_progress", idempotencyKey=KEYS, body=BODIES),
    operation("answer_status_question", idempotencyKey=KEYS, body=BODIES),
    operation(
        "write_document",
        idempotencyKey=KEYS,
        key="plan",
        title="Plan",
        body=BODIES,
        baseRevisionId=st.sampled_from([None, "revision-0001", "revision-0002"]),
    ),
    operation("create_task", idempotencyKey=KEYS, title=BODIES),
    operation("request_approval", idempotencyKey=KEYS, approvalType="spend", payload={"cents": 1}),
    operation("schedule_wake", idempotencyKey=KEYS, reason="manual", delayTicks=5, payload={}),
    operation("set_dependencies", idempotencyKey=KEYS, blockedByTaskIds=st.sampled_from([[], ["task-0001"]])),
    operation("block_task", idempotencyKey=KEYS, reason=BODIES),
    operation("request_review", idempotencyKey=KEYS, summary=BODIES),
    operation("finish_task", idempotencyKey=KEYS, summary=BODIES),
    operation("decide_approval", idempotencyKey=KEYS, approvalId="approval-0001", decision="approved", note="yes"),
    operation("get_task_context"),
    operation("get_task_history", limit=10),
    operation("no_such_tool"),
)


@dataclass(frozen=True, kw_only=True)
class Office:
    """One seeded company with an open run that holds every claim."""

    identity: CleanRoomIdentity

    @classmethod
    def opened(cls) -> Office:
        office = cls(identity=seed_clean_room(identity=CleanRoomIdentity.mint(sequence=1000)))
        wanted = OpenRun(
            run_id=RUN,
            session_id="session-1",
            actor_id=office.identity.actor_id,
            task_id=office.identity.task_id,
            capabilities=tuple(sorted(CLAIMS)),
        )
        assert isinstance(office.plane.open_run(wanted), Applied)
        office.dispatcher.list_tools(run_id=RUN)
        return office

    @property
    def company_id(self) -> str:
        return self.identity.company_id

    @property
    def plane(self) -> MockControlPlane:
        return MockControlPlane(company_id=self.company_id)

    @property
    def dispatcher(self) -> Dispatcher:
        return Dispatcher(port=self.plane, scenario=Scenario(id="all", claims=CLAIMS))

    def call(self, number: int, asked: tuple[str, dict[str, Any]]) -> Dispatched:
        name, given_ = asked
        return self.dispatcher.dispatch(Call(run_id=RUN, call_id=f"call-{number}", operation_id=name, input=given_))

    def everything(self) -> str:
        """Return state, history and records as canonical text, without the wall clock and the company's own name."""
        records = list_authorization_records(company_id=self.company_id)
        revisions = history.list_revisions(company_id=self.company_id)
        facts = {
            "state": self.plane.state(),
            "revisions": [str(revision) for revision in revisions],
            "changes": [str(history.changes(company_id=self.company_id, revision=r.number)) for r in revisions],
            "records": [{**record, "at": ""} for record in records],
        }
        return self.unnamed(canonical(facts))

    def unnamed(self, text: str) -> str:
        return text.replace(self.identity.token, "TOKEN")

    def said(self, dispatched: Dispatched) -> str:
        """Return all that a caller was told."""
        numbers = [dispatched.authorization_id, dispatched.before_revision, dispatched.after_revision]
        return self.unnamed(canonical([dispatched.envelope, *numbers]))

    def order(self) -> list[int]:
        """Return the numbers of the calls in the order of their records."""
        calls = AuthorizationRecord.objects.filter(company_id=self.company_id, phase="invocation")
        listed = calls.order_by("number")
        return [int(str(call_id).removeprefix("call-")) for call_id in listed.values_list("call_id", flat=True)]


# ---------------------------------------------------------------- together
def waiting_count() -> int:
    """Return how many writers wait for the one in front."""
    if connection.vendor == "sqlite":
        return gate_of(str(connection.settings_dict["NAME"])).waiting_count
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # inside a transaction the answer would stay the first one
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


@contextmanager
def door_held(office: Office) -> Iterator[Callable[[int], None]]:
    """Hold what a call waits for first, so that calls line up behind it; yields what waits for so many of them."""
    pause = threading.Event()

    def lined_up(count: int) -> None:
        for _ in range(int(WAIT_S / 0.005)):
            if waiting_count() == count:
                return
            pause.wait(0.005)
        raise AssertionError(f"{waiting_count()} calls wait, not {count}")

    with transaction.atomic():
        AuthorizationCounter.objects.select_for_update().get(company_id=office.company_id)
        yield lined_up


def at_once(office: Office, asked: Sequence[tuple[str, dict[str, Any]]], *, lined_up: bool) -> list[Dispatched]:
    """Make all calls from threads and connections of their own: all started together, or all lined up at the door."""
    together = threading.Barrier(len(asked))

    def one(number: int) -> Dispatched:
        try:
            together.wait(WAIT_S)
            return office.call(number, asked[number])
        finally:
            connection.close()

    with ThreadPoolExecutor(len(asked)) as pool:
        if not lined_up:
            return list(pool.map(one, range(len(asked))))
        with door_held(office) as wait_for:
            futures = [pool.submit(one, number) for number in range(len(asked))]
            wait_for(len(asked))
        return [future.result(WAIT_S) for future in futures]


def dispositions(answers: Sequence[Dispatched]) -> list[tuple[str, str, str]]:
    """Return what became of each call: its disposition, or the codes of its denial."""
    told = []
    for answer in answers:
        denial = answer.envelope.get("denial", {})
        disposition = (answer.envelope.get("result") or {}).get("disposition", "")
        told.append((disposition, denial.get("code", ""), denial.get("controlPlaneCode") or ""))
    return told


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("dispatch.serial")
@given(asked=st.lists(ASKED, min_size=CALLS, max_size=CALLS), lined_up=st.booleans())
@RACES
def test_any_interleaving_of_eight_calls_is_some_serial_order(
    asked: list[tuple[str, dict[str, Any]]], lined_up: bool
) -> None:
    crowd, queue = Office.opened(), Office.opened()
    answers = at_once(crowd, asked, lined_up=lined_up)
    order = crowd.order()
    assert sorted(order) == list(range(CALLS))
    replayed = {number: queue.call(number, asked[number]) for number in order}
    assert {n: crowd.said(answers[n]) for n in order} == {n: queue.said(replayed[n]) for n in order}
    assert crowd.everything() == queue.everything()
    applied = [
        answer.after_revision for answer in answers if answer.applied and answer.applied.disposition == "applied"
    ]
    assert sorted(applied) == [revision.number for revision in history.list_revisions(company_id=crowd.company_id)][1:]


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("dispatch.serial")
@given(bodies=st.lists(BODIES, min_size=CALLS, max_size=CALLS), lined_up=st.booleans())
@RACES
def test_of_eight_calls_with_one_key_one_is_applied_and_the_others_are_duplicates_or_conflicts(
    bodies: list[str], lined_up: bool
) -> None:
    office = Office.opened()
    asked = [("report_progress", {"idempotencyKey": "k", "body": body}) for body in bodies]
    told = dispositions(at_once(office, asked, lined_up=lined_up))
    first = [body for body, (disposition, _, _) in zip(bodies, told, strict=True) if disposition == "applied"]
    assert len(first) == 1
    for body, outcome in zip(bodies, told, strict=True):
        alike = {("applied", "", ""), ("duplicate", "", "")}
        conflict = ("", "control_plane_denied", "idempotency_conflict")
        assert outcome in (alike if body == first[0] else {conflict})
    assert [comment["body"] for comment in office.plane.state()["comments"]] == first


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("dispatch.serial")
def test_a_call_that_waited_is_judged_by_what_the_call_in_front_left() -> None:
    office = Office.opened()
    asked: list[tuple[str, dict[str, Any]]] = [
        ("finish_task", {"idempotencyKey": "finish", "summary": "done"}),
        *(("report_progress", {"idempotencyKey": f"k{n}", "body": "late"}) for n in range(CALLS - 1)),
    ]
    told = dispositions(at_once(office, asked, lined_up=True))
    place = office.order().index(0)
    late = [told[number] for number in office.order()[place + 1 :]]
    assert told[0] == ("applied", "", "")
    assert late == [("", "task_state_denied", "")] * len(late)
    finished = json.loads(AuthorizationRecord.objects.get(company_id=office.company_id, call_id="call-0").result_json)
    assert finished["disposition"] == "applied"


@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("dispatch.serial")
def test_a_listing_that_waited_is_decided_by_what_the_call_in_front_left() -> None:
    office = Office.opened()

    def of_its_own(work: Callable[[], Any]) -> Any:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        with door_held(office) as lined_up:
            finished = pool.submit(
                of_its_own, lambda: office.call(1, ("finish_task", {"idempotencyKey": "f", "summary": "done"}))
            )
            lined_up(1)
            listed = pool.submit(of_its_own, lambda: office.dispatcher.list_tools(run_id=RUN))
            lined_up(2)
        assert finished.result(WAIT_S).ok
        assert "get_task_context" in {tool.name for tool in listed.result(WAIT_S)}
    records = AuthorizationRecord.objects.filter(company_id=office.company_id).order_by("number")
    last = list(records)[-len(LIVE_OPERATIONS) :]
    assert {record.phase for record in last} == {"exposure"}
    assert {record.before_revision for record in last} == {office.plane.state_revision()}
