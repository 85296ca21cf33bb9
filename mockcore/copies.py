"""Copies of a company: as canonical bytes, back from such bytes, and as a fork at any kept revision.

A copy is a company of its own from its base revision on: with its rows, counters, clock and ledger, and without the
change sets before, which stay with the original. Public ids stay equal, so the same commands give the same bytes; only
the company's own id differs, where one database holds both. Source: reference A 3.5, design section 4.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import DataError, IntegrityError, transaction

from mockcore import install, keyframes, ledger, rebuild, rows, snapshot, state_fields, state_rules
from mockcore.handlers.dependencies import CompanyScopeViolation
from mockcore.models import AuditRecord, Company, DecisionRecord, Entity, Fault, IdempotencyRecord
from mockcore.models.base import POSITION, camel
from mockcore.plane import CompanyMissing
from mockcore.refusal import Refusal
from mockcore.snapshot import LEDGER, LISTS, SCHEMA, Listing
from mockcore.text import canonical, clean
from mockcore.vocabulary import Decided, Lifecycle
from mockcore.world import Facts, World, kinds

FORK = "-fork-"
UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, RecursionError, OverflowError)
UNSTORABLE = (*UNREADABLE, IntegrityError, DataError)


class DigestMismatch(Refusal):
    """The serialized state is not the one that the digest belongs to."""

    code = "fixture_digest_mismatch"


class ForeignEntity(CompanyScopeViolation):
    """The serialized state holds an entity of another company."""

    code = "company_scope_violation"


@dataclass(frozen=True, kw_only=True)
class Serialized:
    """A state root as canonical JSON, ASCII, without a line end; `digest` is the SHA-256 of the bytes."""

    company_id: str
    revision: int
    body: bytes
    digest: str


# ---------------------------------------------------------------- to bytes
def serialize(*, company_id: str, revision: int | None = None) -> Serialized:
    """Return a company's whole state, as it is or as a kept revision left it.

    Raises `CompanyMissing` and `RevisionMissing`.
    """
    number = rebuild.kept_revisions(company_id=company_id)[1] if revision is None else revision
    body = canonical(rebuild.state_at(company_id=company_id, revision=number)).encode("ascii")
    return Serialized(company_id=company_id, revision=number, body=body, digest=hashlib.sha256(body).hexdigest())


# ---------------------------------------------------------------- from bytes
def restore(body: bytes | str, *, company_id: str | None = None, digest: str | None = None) -> str:
    """Make a company of a serialized state and return its id: the one in the state, unless another is given.

    The whole state is judged before anything is written, alike on both databases; a refusal names the path of the first
    fault. Rows, counters, clock, lifecycle and ledger are restored as stored, and read back before anything is kept:
    what would not serialize to the same bytes is refused. Raises `StateInvalid`, `DigestMismatch`, `ForeignEntity` and
    `CompanyExists`, and leaves nothing then.
    """
    raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if digest is not None and hashlib.sha256(raw).hexdigest() != digest:
        raise DigestMismatch
    root = _parsed(raw)
    state_fields.check(root)
    state_rules.check(root)
    new_id = root["company"]["id"] if company_id is None else company_id
    if why := state_fields.company_id(new_id) or (None if clean(new_id) == new_id else "must be a text"):
        raise state_fields.refuse("company.id", why)
    try:
        _rename_root(root, new_id)
        with transaction.atomic():
            company = _restored(root)
            company.refresh_from_db()
            if canonical(snapshot.state_root(company)) != canonical(root):
                raise install.StateInvalid("the state holds values that a mock company cannot hold")
    except UNSTORABLE as error:
        raise install.StateInvalid(f"the state does not fit a mock company: {error}") from error
    return str(company.pk)


def _parsed(raw: bytes) -> Facts:
    try:
        root = json.loads(raw, object_pairs_hook=_once, parse_constant=_no_number)
        if clean(root) != root:
            raise install.StateInvalid("the state holds text that no database can hold")
    except UNREADABLE as error:
        raise install.StateInvalid(f"the state is no JSON: {error}") from error
    if not isinstance(root, dict) or root.get("schema") != SCHEMA:
        raise install.StateInvalid(f"the state has not the schema {SCHEMA}")
    wanted = {"schema", "revision", "company", *rebuild.MOVING, *LISTS, *LEDGER}
    if wrong := sorted(wanted ^ root.keys()):
        raise install.StateInvalid(f"the state misses, or must not have: {', '.join(wrong)}")
    return root


def _once(pairs: list[tuple[str, Any]]) -> Facts:
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _rename_root(root: Facts, company_id: str) -> None:
    """Give the company in the state its new id. Raises `ForeignEntity` for what belongs to another company."""
    old = root["company"]["id"]
    for name, listing in LISTS.items():
        for facts in root[name]:
            if facts.get("companyId", old) != old:
                raise ForeignEntity(f"{listing.model.KIND}:{facts['id']} is of another company")
            _rename(listing.model, facts, old=old, new=company_id)
    root["company"]["id"] = company_id


def _rename(model: type[Entity], facts: Facts, *, old: str, new: str) -> None:
    for name in ("companyId", *map(camel, model.NAMES_COMPANY)):
        if facts.get(name) == old:
            facts[name] = new


def _restored(root: Facts) -> Company:
    company = install.company(
        World(company=root["company"]),
        standing={"tick": root["clock"]["tick"], "counters": root["counters"], "activeRunId": root["activeRunId"]},
        epoch_ms=root["clock"]["epochMs"],
        revision=root["revision"],
        lifecycle=root["lifecycle"],
        out_of_scope_task_ids=root["outOfScopeTaskIds"],
        decision_count=len(root["decisions"]),
    )
    records = _records(root)
    at_base = {"after": company.revision, "count": company.revision}
    company.chains = {"revisions": at_base}
    for added in records.values():
        company.chains |= ledger.linked(_attributed(company, added), added)
    install.write(company, _world(root))
    for added in records.values():
        rows.insert(*added)
    return company


def _attributed(company: Company, added: list[Any]) -> Company:
    for row in added:
        row.company_id = company.pk
    return company


def _world(root: Facts) -> World:
    """Return the world of a state root. Places inside a kind follow its list."""
    world = World(company=root["company"])
    for name, listing in LISTS.items():
        for kind, facts in _flat(listing, root[name]):
            held = world.entities.setdefault(kind, {})
            held[facts["id"]] = {**facts, POSITION: len(held) + 1}
    return world


def _flat(listing: Listing, found: list[Facts]) -> Iterator[tuple[str, Facts]]:
    derived = {"remaining"} if listing.model is Fault else set()
    for facts in found:
        outer = {name: value for name, value in facts.items() if name not in listing.inside.keys() | derived}
        yield listing.model.KIND, outer
        for name, (model, owner) in listing.inside.items():
            yield from ((model.KIND, {owner: facts["id"], **inner}) for inner in facts[name])


def _records(root: Facts) -> dict[str, list[Any]]:
    """Return the ledger rows of a state root, numbered in their order."""
    audit = [
        AuditRecord(number=n, **install.columns(AuditRecord, facts)) for n, facts in enumerate(root["audit"], start=1)
    ]
    decisions = [
        DecisionRecord(number=n, **install.columns(DecisionRecord, f)) for n, f in enumerate(root["decisions"], 1)
    ]
    _attribute_faults(root["faults"], decisions)
    keys = [
        IdempotencyRecord(revision=facts["result"]["stateRevision"], **install.columns(IdempotencyRecord, facts))
        for facts in root["idempotency"]
    ]
    return {"audit": audit, "decisions": decisions, "idempotency": keys}


def _attribute_faults(rules: list[Facts], decisions: list[DecisionRecord]) -> None:
    """Name the rule behind each faulted decision, so that what remains of a rule is what the state says."""
    left = {rule["id"]: rule["configuredCount"] - rule["remaining"] for rule in rules}
    for decision in decisions:
        if decision.outcome == Decided.FAULTED.value:
            fits = (rule["id"] for rule in rules if rule["code"] == decision.reason and left[rule["id"]] > 0)
            decision.fault_id = next(fits, "")
            left[decision.fault_id] = left.get(decision.fault_id, 0) - 1


# ---------------------------------------------------------------- fork
def fork(*, company_id: str, revision: int | None = None, new_id: str | None = None) -> str:
    """Make a running company of the state at a kept revision and return its id. It knows its parent and the revision.

    What either does afterwards is unknown to the other. The ledger up to the revision stays with the parent, and the
    child's chains go on from there (`lineage`), so a fork costs what the state is large, whatever its history. Raises
    `CompanyMissing`, `RevisionMissing` and `CompanyExists`.
    """
    with transaction.atomic():
        parent = Company.objects.select_for_update().filter(pk=company_id).first()
        if parent is None:
            raise CompanyMissing
        number = parent.revision if revision is None else revision
        rebuild.require_kept(parent, number)
        moment, world = snapshot.then(parent, revision=number), keyframes.world_at(parent, revision=number)
        child = _forked(parent, moment, world, new_id or _fork_id(parent))
    return str(child.pk)


def _fork_id(parent: Company) -> str:
    return f"{parent.pk.partition(FORK)[0]}{FORK}{secrets.token_hex(4)}"


def _forked(parent: Company, moment: snapshot.Moment, world: World, new_id: str) -> Company:
    for kind, model in kinds().items():
        for facts in world.entities.get(kind, {}).values():
            _rename(model, facts, old=parent.pk, new=new_id)
    world.company = {**world.company, "id": new_id}
    child = install.company(
        world,
        standing=moment.standing,
        epoch_ms=parent.epoch_ms,
        revision=moment.revision,
        lifecycle=Lifecycle.RUNNING.value,
        out_of_scope_task_ids=parent.out_of_scope_task_ids,
        parent_id=parent.pk,
    )
    child.chains = {"revisions": {"after": child.revision, "count": child.revision}}
    for shared, column in LEDGER.values():
        child.chains[shared.CHAIN] = _chain_at(shared, parent, {f"{column}__lte": child.revision})
    child.decision_count = child.chains["decisions"]["count"]
    install.write(child, world)
    return child


def _chain_at(model: Any, parent: Company, where: dict[str, int]) -> Facts:
    """Return the chain of one table that begins behind the parent's rows at the revision."""
    known = ledger.chain_of(parent, model)
    newest = model.objects.filter(company_id=parent.pk, **where).order_by("-number").first()
    if newest is None:
        last, head = known.after if parent.parent_id else 0, known.start
    else:
        last, head = newest.number, newest.hash or known.start  # no hash: a row older than the chain
    return {"after": last, "count": last, "start": head, "head": head}
