"""The whole state of a company as one value: `paperclip.capability.mock-state.v1`. Source: reference A 3.2.

`LISTS` says which entity is shown where; the present, a past revision and a restored file all read it from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from mockcore import lineage, models, world
from mockcore.models import Company, DecisionRecord, LedgerRow
from mockcore.models.base import shown_facts
from mockcore.vocabulary import Decided, Lifecycle
from mockcore.world import Facts, World

SCHEMA = "paperclip.capability.mock-state.v1"


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One list of the state root: its entity, and those drawn inside it with the fact that names the outer one."""

    model: type[models.Entity]
    inside: Mapping[str, tuple[type[models.Entity], str]] = field(default_factory=dict)


LISTS: dict[str, Listing] = {
    "actors": Listing(model=models.Actor),
    "tasks": Listing(model=models.Task),
    "comments": Listing(model=models.Comment),
    "documents": Listing(model=models.Document, inside={"revisions": (models.DocumentRevision, "documentId")}),
    "interactions": Listing(model=models.Interaction),
    "approvals": Listing(model=models.Approval, inside={"comments": (models.ApprovalComment, "@approvalId")}),
    "artifacts": Listing(model=models.Artifact),
    "workProducts": Listing(model=models.WorkProduct),
    "blockers": Listing(model=models.Blocker),
    "workspaceServices": Listing(model=models.WorkspaceService),
    "budgets": Listing(model=models.Budget),
    "runs": Listing(model=models.Run, inside={"events": (models.RunEvent, "runId")}),
    "wakes": Listing(model=models.Wake),
    "faults": Listing(model=models.Fault),
}
LEDGER: dict[str, tuple[type[LedgerRow], str]] = {  # list, model, and the column that says up to which revision
    "audit": (models.AuditRecord, "number"),
    "decisions": (models.DecisionRecord, "state_revision"),
    "idempotency": (models.IdempotencyRecord, "revision"),
}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What a company's row said at one revision."""

    company: Company
    revision: int
    standing: Facts  # clock tick, counters, active run
    lifecycle: str


def now(company: Company) -> Moment:
    """Return the moment that the company's row shows."""
    return Moment(company=company, revision=company.revision, standing=company.standing(), lifecycle=company.lifecycle)


def then(company: Company, *, revision: int) -> Moment:
    """Return the moment of a kept revision. A mutation needs a running company, so whoever had a successor was running.

    Raises `StateRevision.DoesNotExist` for a revision that is not kept.
    """
    if revision == company.revision:
        return now(company)
    if revision == company.base_revision:
        return Moment(
            company=company, revision=revision, standing=company.base or {}, lifecycle=Lifecycle.RUNNING.value
        )
    row = models.StateRevision.objects.get(company_id=company.pk, number=revision)
    standing = {"tick": row.clock_tick, "counters": row.counters, "activeRunId": row.active_run_id}
    return Moment(company=company, revision=revision, standing=standing, lifecycle=Lifecycle.RUNNING.value)


# ---------------------------------------------------------------- drawing
def state_root(company: Company) -> Facts:
    """Return the present state root; lists are in order of creation, so equal scripts give equal bytes."""
    return {**world_root(now(company), world.read(company)), **ledger_lists(company, revision=company.revision)}


def world_root(moment: Moment, world: World) -> Facts:
    """Return the state root without the three lists of the ledger, which alone grow with the history."""
    company, standing = moment.company, moment.standing
    return {
        "schema": SCHEMA,
        "revision": moment.revision,
        "clock": {"epochMs": company.epoch_ms, "tick": standing["tick"]},
        "counters": standing["counters"],
        "lifecycle": moment.lifecycle,
        "activeRunId": standing["activeRunId"],
        "company": world.company,
        "outOfScopeTaskIds": list(company.out_of_scope_task_ids),
        **{name: _drawn(world, listing) for name, listing in LISTS.items()},
        "faults": _faults(moment, world),
    }


def ledger_lists(company: Company, *, revision: int) -> Facts:
    """Return audit, decisions and idempotency records as they stood when `revision` was left."""
    return {
        name: [row.as_json() for row in lineage.rows_of(company, model, **{f"{column}__lte": revision})]
        for name, (model, column) in LEDGER.items()
    }


def _drawn(world: World, listing: Listing) -> list[Facts]:
    drawn = [shown_facts(facts) for facts in world.of_kind(listing.model.KIND)]
    for name, (model, owner) in listing.inside.items():
        by_owner: dict[str, list[Facts]] = {}
        for facts in world.of_kind(model.KIND):
            by_owner.setdefault(facts[owner], []).append(shown_facts(facts))
        drawn = [{**facts, name: by_owner.get(facts["id"], [])} for facts in drawn]
    return drawn


def _faults(moment: Moment, world: World) -> list[Facts]:
    """Return the rules with what remained of them when the revision was left."""
    rules = _drawn(world, LISTS["faults"])
    if not rules:
        return []
    struck = {"outcome": Decided.FAULTED.value, "state_revision__lte": moment.revision}
    used = Counter(row.fault_id for row in lineage.rows_of(moment.company, DecisionRecord, **struck))
    return [{**rule, "remaining": max(0, rule["configuredCount"] - used[rule["id"]])} for rule in rules]
