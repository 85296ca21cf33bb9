"""Writes what happened: one revision with its changes, one audit record, one decision, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mockcore import chain, keyframes, lineage, rows
from mockcore.models import AuditRecord, Change, Company, DecisionRecord, IdempotencyRecord, LedgerRow, StateRevision
from mockcore.port import Cause, Principal
from mockcore.vocabulary import Decided
from mockcore.work import RowChange, UnitOfWork

# The kinds an entity reference may name (reference A 3.4); a blocker is seen through its tasks.
REFERRED = frozenset(
    {
        "task",
        "comment",
        "document",
        "revision",
        "interaction",
        "artifact",
        "work-product",
        "approval",
        "approval-comment",
        "workspace-service",
        "budget",
        "actor",
        "wake",
        "run",
        "event",
        "fault",
    }
)
STATE_COLUMNS = ("status", "clock_tick", "counters", "revision", "decision_count", "active_run_id", "chains")


@dataclass(frozen=True, kw_only=True)
class Act:
    """One request to the plane, as the ledger names it."""

    operation: str
    run_id: str
    principal: Principal = Principal.RUN
    cause: Cause = field(default_factory=Cause)


@dataclass(frozen=True, kw_only=True)
class Note:
    """What an applied act is remembered by."""

    command_id: str
    reason: str
    action: str
    entity: tuple[str, str]  # kind and public id of what the audit record is about
    actor_id: str | None
    details: dict[str, Any]


def refs_of(changes: Iterable[RowChange], *more: str) -> tuple[str, ...]:
    """Return the sorted references of what changed and of what else was named."""
    changed = {change.ref for change in changes if change.row.KIND in REFERRED}
    return tuple(sorted(changed.union(more)))


def commit(
    *,
    work: UnitOfWork,
    act: Act,
    note: Note,
    changes: list[RowChange],
    refs: Iterable[str],
    outcome: Decided = Decided.ALLOWED,
    remember: IdempotencyRecord | None = None,
) -> int:
    """Write the revision, its changes, audit and decision, and move the company on. Returns the revision's number.

    `changes` are the flushed changes of `work`; `remember` is the result by its key, where the caller gave one. The
    clock ticks once. Every row is linked to the chain of its table, whose heads are written with the company's row.
    """
    company = work.company
    company.revision += 1
    company.clock_tick += 1
    _insert(company, [_revision(work, act, note)])
    _insert(company, [_change(company, change) for change in changes])
    _insert(company, [_audit(work, act, note)])
    _insert_decision(work, act, outcome=outcome, reason=note.reason, refs=refs)
    if remember is not None:
        remember.revision = company.revision
        _insert(company, [remember])
    rows.update(company, (*STATE_COLUMNS, *_first(work)))
    keyframes.after_commit(company)
    return company.revision


def _first(work: UnitOfWork) -> tuple[str, ...]:
    """Keep what the first mutation moves as it was before; no revision has it. Returns the columns written."""
    if work.company.revision != work.company.base_revision + 1:
        return ()
    work.company.base = work.base
    return ("base",)


def decide(
    *, work: UnitOfWork, act: Act, outcome: Decided, reason: str, refs: Iterable[str] = (), fault_id: str = ""
) -> None:
    """Write a decision record alone: no revision, no tick, no counter. Unsaved changes of `work` stay unsaved."""
    _insert_decision(work, act, outcome=outcome, reason=reason, refs=refs, fault_id=fault_id)
    rows.update(work.company, ["decision_count", "chains"])


# ---------------------------------------------------------------- chains
def _insert(company: Company, added: list[Any]) -> None:
    company.chains = {**company.chains, **linked(company, added)}
    rows.insert(*added)


def linked(company: Company, added: Iterable[LedgerRow]) -> dict[str, Any]:
    """Link rows of one table to the company's chain, number those without a number; return the chain's new end."""
    ends: dict[str, Any] = {}
    for row in added:
        end = ends.get(row.CHAIN) or chain_end(company, row.CHAIN)
        row.number = row.number or end["count"] + 1
        row.hash = chain.link(end["head"], chain.content_of(row, owner="company_id"))
        ends[row.CHAIN] = {**end, "count": row.number, "head": row.hash}
    return ends


def chain_end(company: Company, name: str) -> dict[str, Any]:
    """Return how the company knows one chain: `count`, `head`; where it does not begin at 1 `after` and `start`.

    `older` is how many rows of the company's own stand before it; none where the chain begins behind a parent's rows.
    """
    end = company.chains.get(name, {"count": 0})
    return end if "head" in end else {**end, "head": chain.genesis(table=name, owner=company.pk)}


def list_chains(*, company_id: str | None = None) -> Iterator[chain.Chain]:
    """Yield the five chains of one company, or of every company, ready to be proved."""
    found = Company.objects.order_by("pk")
    for company in (found if company_id is None else found.filter(pk=company_id)).iterator():
        yield from chains_of(company)


def chains_of(company: Company) -> list[chain.Chain]:
    """Return the five chains of a company, ready to be proved."""
    tables: list[Any] = LedgerRow.__subclasses__()
    return [chain_of(company, model) for model in tables]


def chain_of(company: Company, model: Any) -> chain.Chain:
    """Return one table's chain of a company."""
    end = chain_end(company, model.CHAIN)
    found = model.objects.filter(company_id=company.pk).order_by(*model.ORDER)
    return chain.Chain(
        table=f"mockcore {model.CHAIN}",
        owner=company.pk,
        owner_column="company_id",
        rows=found,
        after=end.get("after", 0),
        count=end["count"],
        start=_parents_head(company, model) or end.get("start") or chain.genesis(table=model.CHAIN, owner=company.pk),
        head=end["head"],
        older=end.get("older", 0),
    )


def _parents_head(company: Company, model: Any) -> str:
    """Return the hash of the last row that a fork has from its parent, as it is there now; empty when it has none."""
    if model.CHAIN not in lineage.SHARED:
        return ""
    last = {"number": chain_end(company, model.CHAIN).get("after", 0)}
    found = (span.of(model).filter(**last).first() for span in lineage.inherited(company, model))
    return next((row.hash for row in found if row is not None), "")


def _revision(work: UnitOfWork, act: Act, note: Note) -> StateRevision:
    company, cause = work.company, act.cause
    return rows.make(
        StateRevision,
        company_id=company.pk,
        number=company.revision,
        operation=act.operation,
        principal=act.principal.value,
        run_id=act.run_id,
        command_id=note.command_id,
        at=work.now,
        clock_tick=company.clock_tick,
        counters=company.counters,
        active_run_id=company.active_run_id,
        cause_turn_id=cause.turn_id,
        cause_call_id=cause.call_id,
        cause_message_id=cause.message_id,
        cause_authorization_id=cause.authorization_id,
    )


def _change(company: Company, change: RowChange) -> Change:
    return rows.make(
        Change,
        company_id=company.pk,
        revision=company.revision,
        entity=change.row.KIND,
        entity_id=change.row.public_id,
        before=change.before,
        after=change.after,
    )


def _audit(work: UnitOfWork, act: Act, note: Note) -> AuditRecord:
    entity_type, entity_id = note.entity
    return rows.make(
        AuditRecord,
        company_id=work.company.pk,
        number=work.company.revision,
        at=work.now,
        run_id=act.run_id or None,
        actor_id=note.actor_id,
        action=note.action,
        entity_type=entity_type,
        entity_id=entity_id,
        details=note.details,
    )


def _insert_decision(
    work: UnitOfWork, act: Act, *, outcome: Decided, reason: str, refs: Iterable[str], fault_id: str = ""
) -> None:
    company = work.company
    company.decision_count += 1
    decision = rows.make(
        DecisionRecord,
        company_id=company.pk,
        number=company.decision_count,
        at=work.now,
        run_id=act.run_id or None,
        operation=act.operation,
        outcome=outcome.value,
        reason=reason,
        state_revision=company.revision,
        entity_refs=list(refs),
        call_id=act.cause.call_id,
        fault_id=fault_id,
    )
    _insert(company, [decision])
