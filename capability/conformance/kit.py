"""Run the vectors on every adapter, compare what was observed, and say where a difference most likely comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from capability.conformance.observation import observe
from capability.conformance.vectors import VECTORS, Asked, Vector, World
from capability.dispatcher import Call, Dispatched, Dispatcher
from capability.scenario import Scenario
from mockcore.port import ControlPlanePort
from mockcore.refusal import Refusal
from mockcore.text import canonical

JSON = dict[str, Any]
REPORT_SCHEMA: Final = "paperclip.semantic-conformance-report.v1"
LEAST_ADAPTERS: Final = 2


class Kind(StrEnum):
    """What stands behind an adapter, as a mismatch names it."""

    MOCK = "mock"
    PRODUCTION_BINDING = "production_binding"


class Source(StrEnum):
    """Where a mismatch most likely comes from."""

    MOCK = "mock"
    PRODUCTION_BINDING = "production_binding"
    CONTRACT = "contract"  # all agree, and not with the vector; or they differ where the vector says nothing
    MULTIPLE = "multiple"


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A world on one implementation: its port, and the run that has checked the task out."""

    port: ControlPlanePort
    run_id: str
    task_id: str


class Adapter(Protocol):
    """How to open a world on one implementation of the port.

    Above it is the kit, below it whatever keeps the company. It must not know vectors or dispatchers. What it opens
    may be forgotten when the context ends.
    """

    id: str
    kind: Kind

    def open(self, world: World) -> AbstractContextManager[Opened]:
        """Open a fresh company in this world; nothing of another vector is left in it."""


class TooFewAdapters(Refusal):
    """Conformance compares at least two adapters with different ids."""

    code = "conformance_adapters"


class ConformanceMismatch(Refusal):
    """Implementations of the port do not mean the same."""

    code = "conformance_mismatch"

    def __init__(self, *, vector: str, source: Source, differences: Sequence[str]) -> None:
        super().__init__(f"{vector}: suspected source {source}: {'; '.join(differences)}")
        self.vector, self.source, self.differences = vector, source, tuple(differences)


def run(adapters: Sequence[Adapter], *, vectors: Sequence[Vector] = VECTORS) -> JSON:
    """Run every vector on every adapter and return the report. Raises `TooFewAdapters` and `ConformanceMismatch`."""
    ids = [adapter.id for adapter in adapters]
    if len(set(ids)) < max(LEAST_ADAPTERS, len(ids)):
        raise TooFewAdapters
    return {
        "schema": REPORT_SCHEMA,
        "ok": True,
        "adapters": [{"id": adapter.id, "kind": adapter.kind.value} for adapter in adapters],
        "vectors": [_compared(vector, adapters) for vector in vectors],
    }


def observe_vector(adapter: Adapter, vector: Vector) -> JSON:
    """Return what one adapter shows for one vector."""
    with adapter.open(vector.world) as opened:
        for number, asked in enumerate(vector.before, start=1):
            _dispatch(opened, vector.world, asked, f"before-{number}")
        before = opened.port.state()
        answered = _dispatch(opened, vector.world, vector.call, "observed")
        return observe(answered=answered, task_id=opened.task_id, before=before, after=opened.port.state())


def _dispatch(opened: Opened, world: World, asked: Asked, call_id: str) -> Dispatched:
    scenario = Scenario(id=f"conformance-{world.name}", claims=world.claims)
    dispatcher = Dispatcher(port=opened.port, scenario=scenario, explicit_claims=world.claims)
    call = Call(run_id=opened.run_id, call_id=call_id, operation_id=asked.operation, input=asked.input)
    return dispatcher.dispatch(call)


# ---------------------------------------------------------------- comparing
def _compared(vector: Vector, adapters: Sequence[Adapter]) -> JSON:
    observed = {adapter.id: observe_vector(adapter, vector) for adapter in adapters}
    wrong = {id: faults for id, one in observed.items() if (faults := contradictions(vector, one))}
    texts = {id: canonical(one) for id, one in observed.items()}
    if wrong or len(set(texts.values())) > 1:
        raise ConformanceMismatch(
            vector=vector.id,
            source=suspect({adapter.id: adapter.kind for adapter in adapters}, texts, wrong),
            differences=_differences(observed, wrong),
        )
    text = next(iter(texts.values()))
    return {
        "id": vector.id,
        "world": vector.world.name,
        "observation": next(iter(observed.values())),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
    }


def contradictions(vector: Vector, observed: JSON) -> list[str]:
    """Return how an observation contradicts what the vector says is right."""
    right, authorization, receipt = vector.right, observed["authorization"], observed["receipt"]
    pairs = {
        "code": (right.code, authorization["code"]),
        "controlPlaneCode": (right.control_plane_code, authorization["controlPlaneCode"]),
        "outcome": (right.outcome, receipt["outcome"]),
        "boundary": (right.boundary, receipt["boundary"]),
        "task status": (right.task_status, observed["state"]["task"]["status"]),
    }
    return [f"{name} is {got}, not {wanted}" for name, (wanted, got) in pairs.items() if wanted != got]


def suspect(kinds: Mapping[str, Kind], texts: Mapping[str, str], wrong: Mapping[str, Sequence[str]]) -> Source:
    """Return the likeliest source of a mismatch: who contradicts the vector, else who stands alone."""
    blamed = set(wrong)
    if blamed == set(kinds) and len(set(texts.values())) == 1:
        return Source.CONTRACT
    if not blamed:
        alone = [id for id, text in texts.items() if list(texts.values()).count(text) == 1]
        if len(alone) != 1:
            return Source.CONTRACT
        blamed = set(alone)
    found = {kinds[id] for id in blamed}
    return Source(found.pop().value) if len(found) == 1 else Source.MULTIPLE


def _differences(observed: Mapping[str, JSON], wrong: Mapping[str, Sequence[str]]) -> list[str]:
    told = [f"{id}: {fault}" for id, faults in wrong.items() for fault in faults]
    first_id, first = next(iter(observed.items()))
    for id, other in observed.items():
        told += [f"{id} and {first_id} differ in {part}" for part in first if first[part] != other[part]]
    return told
