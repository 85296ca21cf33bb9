"""What is looked at when a vector has run: authorization, state, effects, audit and receipt. Pure.

Ids, times and numbers are an implementation's own; an observation holds none of them, so that two implementations that
mean the same observe the same. Source: reference A 5.9.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from capability.dispatcher import Dispatched

JSON = dict[str, Any]

COLLECTIONS = (
    *("comments", "documents", "interactions", "approvals", "artifacts", "workProducts", "blockers"),
    *("workspaceServices", "wakes", "tasks", "actors"),
)
# A substring of the code, and the boundary that it speaks of; the first that fits wins.
BOUNDARIES = (
    ("company", ("company",)),
    ("actor", ("actor", "role")),
    ("grant", ("claim", "exposed")),
    ("revision", ("revision", "idempotency_conflict")),
    ("lock", ("lock", "ownership")),
    ("governed_action", ("approval", "interaction", "governed")),
)


def observe(*, answered: Dispatched, task_id: str, before: JSON, after: JSON) -> JSON:
    """Return the observation of one call from its answer and the state roots around it."""
    return {
        "authorization": _authorization(answered),
        "state": _state(after, task_id),
        "effects": _effects(answered, before, after),
        "audit": _audit(before, after),
        "receipt": receipt(answered),
    }


def _authorization(answered: Dispatched) -> JSON:
    denial = answered.envelope.get("denial", {})
    code = "allowed" if answered.ok else denial["code"]
    return {"allowed": answered.ok, "code": code, "controlPlaneCode": denial.get("controlPlaneCode")}


def receipt(answered: Dispatched) -> JSON:
    """Return how a caller books the call: its outcome, and for a denial the boundary that refused it."""
    denial = answered.envelope.get("denial")
    if denial is None:
        duplicate = answered.envelope["result"].get("disposition") == "duplicate"
        return {"outcome": "duplicate" if duplicate else "succeeded", "boundary": None, "retryable": False}
    code = denial.get("controlPlaneCode") or denial["code"]
    return {"outcome": _outcome(code), "boundary": boundary_of(code), "retryable": denial["retryable"]}


def _outcome(code: str) -> str:
    if "conflict" in code or "revision" in code:
        return "conflict"
    return "unavailable" if "unavailable" in code or "not_exposed" in code else "denied"


def boundary_of(code: str) -> str:
    """Return which boundary a denial code speaks of; the active task when no other."""
    return next((name for name, parts in BOUNDARIES if any(part in code for part in parts)), "active_task")


def _state(root: JSON, task_id: str) -> JSON:
    task = next(one for one in root["tasks"] if one["id"] == task_id)
    return {
        "task": {name: task[name] for name in ("status", "priority", "workMode")},
        "held": task["checkoutRunId"] is not None,
        "comments": [one["body"] for one in root["comments"]],
        "documents": [
            {"key": one["key"], "title": one["title"], "bodies": [revision["body"] for revision in one["revisions"]]}
            for one in root["documents"]
        ],
        "interactions": [{name: one[name] for name in ("kind", "status", "title")} for one in root["interactions"]],
        "approvals": [one["status"] for one in root["approvals"]],
        "blockers": len(root["blockers"]),
        "wakes": [{name: one[name] for name in ("reason", "status")} for one in root["wakes"]],
    }


def _effects(answered: Dispatched, before: JSON, after: JSON) -> JSON:
    result = answered.envelope.get("result") or {}
    return {
        "disposition": result.get("disposition", "none"),
        "revisions": after["revision"] - before["revision"],
        "changed": [name for name in COLLECTIONS if before[name] != after[name]],
        "refs": dict(Counter(ref.partition(":")[0] for ref in result.get("entityRefs", ()))),
        "scheduledWakes": len(result.get("scheduledWakeIds", ())),
    }


def _audit(before: JSON, after: JSON) -> JSON:
    """Return what the ledger says of the call: audit for what took effect, decisions for what was asked."""
    audit, decisions = after["audit"][len(before["audit"]) :], after["decisions"][len(before["decisions"]) :]
    return {
        "actions": [f"{one['action']} {one['details'].get('kind', '')}".strip() for one in audit],
        "decisions": [f"{one['operation']} {one['outcome']} {one['reason']}" for one in decisions],
    }
