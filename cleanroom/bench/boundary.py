"""The semantic boundary alone, in this process: dispatch beside the bare rows it writes, the decision, the redactor."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction

from capability.authorizations import reserve_numbers
from capability.catalog import LIVE_OPERATIONS
from capability.dispatcher import Call
from capability.models import AuthorizationRecord
from capability.policy import Phase, Question, effective_claims, evaluate
from capability.redaction import redact
from cleanroom.bench.toolcall import blank_room
from cleanroom.rooms import Room
from mockcore import models
from mockcore.models.base import uid_of
from mockcore.plane import MockControlPlane
from mockcore.text import canonical

WARM_UPS = 20
DECISIONS = 200  # in one measurement: one alone is shorter than the clock is exact
BODY = "A sentence of the bench that says nothing else happened."
PROSE = "I read the issue and compared the plan with what was asked for. Two steps are done, one waits for an answer. "
# As bad as harmless text gets: every few words look a little like a secret, and none is one.
DENSE = (
    "Ran task-cleanroom-0042 for the secretary: tokenCount 12, see https://example.test/issues?state=open and 3 more. "
)
# Names, brackets and beginnings on every few characters: what costs more than its length would hold up every company.
HOSTILE = (
    '{"token":"abc"} ', 'password=hunter2 {"a":"b"}\n', 'password=hunter2,{"api_key":"x"} ', '["token",',
    "token=[", '{"token":', 'token={"', "Bearer+Qz7", "password=a[", 'password="""', "password: |\n  x\n", "<token>",
    "pass%77ord=",
)  # fmt: skip
HOSTILE_CHARS = 16_384
HOSTILE_ROUNDS = 3


@dataclass(frozen=True, kw_only=True)
class BoundaryTimes:
    """What was measured, one value a round (of hostile texts, one each): `_ms` are milliseconds, `_us` microseconds."""

    dispatch_ms: list[float]
    bare_ms: list[float]
    decision_us: list[float]
    prose_1k_us: list[float]
    dense_1k_us: list[float]
    dense_64k_us: list[float]
    dense_128k_us: list[float]
    hostile_ratios: list[float]


def measure_boundary(*, rounds: int) -> BoundaryTimes:
    """Measure `rounds` of each, the two sides of the dispatch taking turns, warm-ups left out."""
    room, bare_room = blank_room(), blank_room()
    dispatch_ms, bare_ms = [], []
    for number in range(rounds + WARM_UPS):
        pair = timed(partial(dispatch_one, room, number)), timed(partial(write_bare, bare_room, number))
        if number >= WARM_UPS:
            dispatch_ms.append(pair[0] / 1000)
            bare_ms.append(pair[1] / 1000)
    texts = [long(PROSE, 1024), *(long(DENSE, size) for size in (1024, 65_536, 131_072))]
    redactions = [[worked(partial(redact, text)) for _ in range(rounds)] for text in texts]
    decide = decide_many(room)
    return BoundaryTimes(
        dispatch_ms=dispatch_ms,
        bare_ms=bare_ms,
        decision_us=[worked(decide) / DECISIONS for _ in range(rounds)],
        prose_1k_us=redactions[0],
        dense_1k_us=redactions[1],
        dense_64k_us=redactions[2],
        dense_128k_us=redactions[3],
        hostile_ratios=[twice_over_once(piece) for piece in HOSTILE],
    )


def long(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def twice_over_once(piece: str) -> float:
    """Return how much more twice a hostile text costs than the text, least against least, measured in turns."""
    once = long(piece, HOSTILE_CHARS)
    pairs = [(worked(partial(redact, once)), worked(partial(redact, once + once))) for _ in range(HOSTILE_ROUNDS)]
    return min(two for _, two in pairs) / min(one for one, _ in pairs)


def timed(work: Callable[[], Any], *, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how many microseconds a piece of work took by a clock."""
    started = clock()
    work()
    return (clock() - started) * 1_000_000


def worked(work: Callable[[], Any]) -> float:
    """Return how many microseconds of processor time a piece of work took: the bars of pure work are set in these."""
    return timed(work, clock=time.thread_time)


# ---------------------------------------------------------------- a call, and the same rows without one
def dispatch_one(room: Room, number: int) -> None:
    given = {"idempotencyKey": f"bench-{number}", "body": BODY}
    call = Call(run_id=room.run_id, call_id=f"call-{number}", operation_id="report_progress", input=given)
    done = room.dispatcher().dispatch(call)
    if not done.ok:
        raise RuntimeError(str(done.envelope))


def write_bare(room: Room, number: int) -> None:
    """Write a comment, a revision, an audit record and an authorization record by the ORM, as a plain program would."""
    company, at = room.company_id, models.Company.objects.get(pk=room.company_id).now()
    with transaction.atomic():
        place = reserve_numbers(company_id=company)
        models.Comment.objects.create(
            uid=uid_of(company, f"bare-{number}"),
            company_id=company,
            public_id=f"bare-{number}",
            position=1_000_000 + number,
            task_id=uid_of(company, room.task_id),
            body=BODY,
            created_at=at,
        )
        models.StateRevision.objects.create(
            company_id=company, number=1_000 + number, operation="bare", principal="run", run_id=room.run_id,
            command_id=f"bare-{number}", at=at, clock_tick=number, counters={},
        )  # fmt: skip
        models.AuditRecord.objects.create(
            company_id=company, number=1_000 + number, at=at, action="bare", entity_type="task",
            entity_id=room.task_id, details={"kind": "bare"},
        )  # fmt: skip
        AuthorizationRecord.objects.create(
            company_id=company, number=place.first, phase="invocation", run_id=room.run_id, scenario_id="bare",
            operation_id="report_progress", allowed=True, code="allowed", reason="bare", before_revision=number,
            after_revision=number, effective_claims_json="[]", input_json=canonical({"body": BODY}),
        )  # fmt: skip


# ---------------------------------------------------------------- the decision
def decide_many(room: Room) -> Callable[[], None]:
    """Return a piece of work that decides `DECISIONS` questions about the live catalog, over facts read once."""
    facts = MockControlPlane(company_id=room.company_id).facts(room.run_id)
    dispatcher = room.dispatcher()
    scenario, explicit = dispatcher.scenario, dispatcher.explicit_claims
    claims = effective_claims(facts=facts, scenario=scenario, explicit=explicit)
    asked = [
        Question(operation=operation, facts=facts, scenario=scenario, claims=claims, phase=Phase.INVOCATION, given={})
        for operation in LIVE_OPERATIONS
    ]

    def decide() -> None:
        for number in range(DECISIONS):
            evaluate(asked[number % len(asked)])

    return decide
