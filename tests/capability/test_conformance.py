"""The eleven vectors mean the same on every implementation of the port, and a difference is blamed on its source."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from capability.conformance import kit, observation
from capability.conformance.kit import ConformanceMismatch, Kind, Opened, Source, TooFewAdapters
from capability.conformance.vectors import PLANTED, VECTORS
from capability.models import AuthorizationRecord
from mockcore.text import canonical
from tests.capability.rows_adapter import RowsAdapter
from tests.capability.twin import Twin, TwinAdapter

pytestmark = pytest.mark.django_db

# What the rows showed on SQLite; the run on PostgreSQL meets the same file, so the two are compared as well.
RECORDED = Path(__file__).parent / "data" / "conformance.json"
ADAPTERS = [RowsAdapter, TwinAdapter]
THE_ELEVEN = [
    "governed-action-without-claim",
    "protected-input-redaction",
    "cross-company-dependency-denial",
    "progress-applied",
    "progress-duplicate-retry",
    "progress-idempotency-conflict",
    "document-create",
    "document-stale-revision",
    "continuation-request",
    "terminal-with-dependency",
    "terminal-finish",
]


def recorded() -> dict[str, Any]:
    """Return the recorded observations. Delete the file to record anew: the next run writes it and fails once."""
    if not RECORDED.exists():
        observed = {vector.id: kit.observe_vector(RowsAdapter(), vector) for vector in VECTORS}
        RECORDED.write_text(json.dumps(observed, indent=1, sort_keys=True) + "\n")
        pytest.fail(f"{RECORDED.name} was recorded anew; read it before you keep it")
    return json.loads(RECORDED.read_text())


def test_the_vectors_are_the_eleven():
    assert [vector.id for vector in VECTORS] == THE_ELEVEN


@pytest.mark.requirement("conformance.equal")
def test_rows_and_the_twin_in_memory_observe_the_same_and_the_report_says_so():
    report = kit.run([RowsAdapter(), TwinAdapter()])
    assert (report["schema"], report["ok"]) == ("paperclip.semantic-conformance-report.v1", True)
    assert [one["id"] for one in report["vectors"]] == THE_ELEVEN
    assert [one["kind"] for one in report["adapters"]] == ["mock", "mock"]
    assert set(report["vectors"][0]["observation"]) == {"authorization", "state", "effects", "audit", "receipt"}
    assert PLANTED not in json.dumps(report)
    duplicate = report["vectors"][THE_ELEVEN.index("progress-duplicate-retry")]["observation"]
    assert (duplicate["effects"]["disposition"], duplicate["audit"]["actions"]) == ("duplicate", [])


@pytest.mark.requirement("conformance.equal")
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.id)
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.__name__)
def test_every_adapter_observes_what_was_recorded_on_whatever_database(adapter, vector):
    assert canonical(kit.observe_vector(adapter(), vector)) == canonical(recorded()[vector.id])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.id)
def test_a_vector_leaves_nothing_behind_for_the_next(vector):
    before = AuthorizationRecord.objects.filter(company_id__startswith="company-cleanroom").count()
    kit.observe_vector(RowsAdapter(), vector)
    assert AuthorizationRecord.objects.filter(company_id__startswith="company-cleanroom").count() == before == 0


# ---------------------------------------------------------------- blame
class Deviant(TwinAdapter):
    """A twin that gets one thing wrong."""

    def __init__(self, id: str, kind: Kind, spoil: Any) -> None:
        self.id, self.kind, self.spoil = id, kind, spoil

    @contextmanager
    def open(self, world):
        twin = Twin(world)
        self.spoil(twin)
        yield Opened(port=twin, run_id="run", task_id="task")


def no_blockers(twin: Twin) -> None:
    twin.root["blockers"] = []


def unfinished(twin: Twin) -> None:
    twin.root["tasks"][0]["priority"] = "low"


def honest(twin: Twin) -> None:
    pass


REAL = Kind.PRODUCTION_BINDING


@pytest.mark.requirement("conformance.blame")
@pytest.mark.parametrize(
    ("adapters", "source"),
    [
        ([("a", Kind.MOCK, no_blockers), ("b", REAL, honest)], Source.MOCK),
        ([("a", Kind.MOCK, honest), ("b", REAL, no_blockers)], Source.PRODUCTION_BINDING),
        ([("a", Kind.MOCK, no_blockers), ("b", REAL, no_blockers), ("c", REAL, honest)], Source.MULTIPLE),
        ([("a", Kind.MOCK, no_blockers), ("b", REAL, no_blockers)], Source.CONTRACT),
        ([("a", Kind.MOCK, honest), ("b", Kind.MOCK, honest), ("c", REAL, unfinished)], Source.PRODUCTION_BINDING),
        ([("a", Kind.MOCK, unfinished), ("b", REAL, honest)], Source.CONTRACT),
    ],
)
def test_a_mismatch_names_the_vector_and_the_suspected_source(adapters, source):
    blocked = [vector for vector in VECTORS if vector.id == "terminal-with-dependency"]
    with pytest.raises(ConformanceMismatch) as found:
        kit.run([Deviant(*adapter) for adapter in adapters], vectors=blocked)
    assert (found.value.source, found.value.vector) == (source, "terminal-with-dependency")
    assert f"suspected source {source}" in found.value.message
    assert found.value.differences


@pytest.mark.requirement("conformance.blame")
@pytest.mark.parametrize("adapters", [[], [TwinAdapter()], [TwinAdapter(), TwinAdapter()]])
def test_fewer_than_two_different_adapters_are_no_comparison(adapters):
    with pytest.raises(TooFewAdapters):
        kit.run(adapters)


@pytest.mark.requirement("conformance.blame")
@pytest.mark.parametrize(
    ("code", "boundary"),
    [
        ("company_scope_violation", "company"),
        ("actor_role_denied", "actor"),
        ("required_claim_missing", "grant"),
        ("tool_not_exposed", "grant"),
        ("document_revision_conflict", "revision"),
        ("idempotency_conflict", "revision"),
        ("task_ownership_denied", "lock"),
        ("self_approval_forbidden", "governed_action"),
        ("interaction_kind_denied", "governed_action"),
        ("task_mode_denied", "active_task"),
    ],
)
def test_a_code_speaks_of_the_first_boundary_that_fits(code, boundary):
    assert observation.boundary_of(code) == boundary
