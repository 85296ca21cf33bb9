"""The eleven vectors: a world, the calls before, the call that is looked at, and what is right. Values only.

Source: reference A 5.9; where design section 4 differs from the sheet (a task with an open blocker cannot be finished),
the design is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

JSON = dict[str, Any]

FOREIGN_TASK: Final = "task-of-another-company"
BLOCKING_TASK: Final = "task-that-blocks"
PLANTED: Final = "gh" + "p_FAKE0123456789abcdefFAKE0123456789ab"  # in two parts: no source of ours looks like a key


@dataclass(frozen=True, kw_only=True)
class World:
    """A fresh company whose one run has checked its task out; what differs is written here."""

    name: str
    role: str = "engineer"
    claims: frozenset[str] = frozenset()
    foreign_task: str = ""  # the id of a task that is known to be another company's
    blocked_by: str = ""  # the id of an open task that blocks the active one


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One call of an operation."""

    operation: str
    input: JSON


@dataclass(frozen=True, kw_only=True)
class Right:
    """What every implementation must answer. Codes are those of the denial; a refused command has both."""

    code: str = "allowed"
    control_plane_code: str | None = None
    outcome: str = "succeeded"
    boundary: str | None = None
    task_status: str = "in_progress"


@dataclass(frozen=True, kw_only=True)
class Vector:
    id: str
    world: World
    call: Asked
    right: Right
    before: tuple[Asked, ...] = ()


DEFAULT = World(name="default", role="approver")
CROSS_COMPANY = World(name="cross-company", claims=frozenset({"dependencies:write"}), foreign_task=FOREIGN_TASK)
INTERACTION = World(name="interaction")
TERMINAL_BLOCKED = World(name="terminal-blocked", blocked_by=BLOCKING_TASK)
TERMINAL = World(name="terminal")


def _progress(body: str) -> Asked:
    return Asked(operation="report_progress", input={"idempotencyKey": "progress", "body": body})


def _document(key: str, base: str | None) -> Asked:
    given = {"idempotencyKey": key, "key": "plan", "title": "Plan", "body": f"# {key}", "baseRevisionId": base}
    return Asked(operation="write_document", input=given)


def _refused(code: str, *, outcome: str, boundary: str) -> Right:
    return Right(code="control_plane_denied", control_plane_code=code, outcome=outcome, boundary=boundary)


FINISH = Asked(operation="finish_task", input={"idempotencyKey": "finish", "summary": "Delivered."})
VECTORS: Final = (
    Vector(
        id="governed-action-without-claim",
        world=DEFAULT,
        call=Asked(
            operation="decide_approval",
            input={"idempotencyKey": "decide", "approvalId": "approval-1", "decision": "approved", "note": "Fine."},
        ),
        right=Right(code="required_claim_missing", outcome="denied", boundary="grant"),
    ),
    Vector(
        id="protected-input-redaction",
        world=DEFAULT,
        call=_progress(f"The key is {PLANTED}."),
        right=Right(code="protected_data_denied", outcome="denied", boundary="active_task"),
    ),
    Vector(
        id="cross-company-dependency-denial",
        world=CROSS_COMPANY,
        call=Asked(operation="set_dependencies", input={"idempotencyKey": "cross", "blockedByTaskIds": [FOREIGN_TASK]}),
        right=_refused("company_scope_violation", outcome="denied", boundary="company"),
    ),
    Vector(id="progress-applied", world=DEFAULT, call=_progress("Half way."), right=Right()),
    Vector(
        id="progress-duplicate-retry",
        world=DEFAULT,
        before=(_progress("Half way."),),
        call=_progress("Half way."),
        right=Right(outcome="duplicate"),
    ),
    Vector(
        id="progress-idempotency-conflict",
        world=DEFAULT,
        before=(_progress("Half way."),),
        call=_progress("Something else."),
        right=_refused("idempotency_conflict", outcome="conflict", boundary="revision"),
    ),
    Vector(id="document-create", world=DEFAULT, call=_document("create", None), right=Right()),
    Vector(
        id="document-stale-revision",
        world=DEFAULT,
        before=(_document("create", None),),
        call=_document("revise", "a-revision-long-gone"),
        right=_refused("document_revision_conflict", outcome="conflict", boundary="revision"),
    ),
    Vector(
        id="continuation-request",
        world=INTERACTION,
        call=Asked(
            operation="request_human_input",
            input={
                "idempotencyKey": "ask",
                "interactionKind": "confirmation",
                "title": "Go on?",
                "prompt": "Shall I publish the plan?",
                "payload": {"targetSummary": "The plan."},
                "continuationPolicy": "wake_assignee",
            },
        ),
        right=Right(task_status="in_review"),
    ),
    Vector(
        id="terminal-with-dependency",
        world=TERMINAL_BLOCKED,
        call=FINISH,
        right=_refused("semantic_rule_violation", outcome="denied", boundary="active_task"),
    ),
    Vector(id="terminal-finish", world=TERMINAL, call=FINISH, right=Right(task_status="done")),
)
