"""Approvals: an agent may ask for one and talk about it; deciding is for the roles that govern."""

from __future__ import annotations

from capability.catalog import schema, wording
from capability.catalog.descriptor import (
    ANY_MODE,
    DOING_MODES,
    LIVE_ONLY,
    SHARED,
    Group,
    Idempotency,
    Operation,
    Placement,
    Query,
    SideEffect,
    Write,
)
from mockcore import commands

APPROVALS_READ = "governance:approvals:read"
APPROVALS_REQUEST = "governance:approvals:request"
APPROVALS_DECIDE = "governance:approvals:decide"
APPROVALS_COMMENT = "governance:approvals:comment"
DECIDING_ROLES = frozenset({"board", "approver", "security"})
DECISIONS = ("approved", "rejected", "cancelled")

OPERATIONS = (
    Operation(
        id="list_approvals",
        title="List approvals",
        description="List the approvals of this company with their status, payload, decision note and comments.",
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.GOVERNANCE,
        required_claims=(APPROVALS_READ,),
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.NO_INPUT,
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="list_approvals"),
    ),
    Operation(
        id="get_approval",
        title="Get approval",
        description="Read one approval by its id: status, payload, decision note and comments.",
        placement=Placement.OPTIONAL,
        surfaces=LIVE_ONLY,
        required_claims=(APPROVALS_READ,),
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.closed({"approvalId": schema.ID}),
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="get_approval", arguments=lambda given: {"approval_id": given["approvalId"]}),
    ),
    Operation(
        id="get_approval_context",
        title="Get approval context",
        description="Read one approval together with the tasks it is linked to.",
        placement=Placement.OPTIONAL,
        surfaces=LIVE_ONLY,
        required_claims=(APPROVALS_READ,),
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.closed({"approvalId": schema.ID}),
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="get_approval_context", arguments=lambda given: {"approval_id": given["approvalId"]}),
    ),
    Operation(
        id="request_approval",
        title="Request approval",
        description=(
            "Ask the board to approve something that you may not decide yourself, such as spending or a risky change; "
            "the task goes into review. approvalType names the kind of approval, payload says what is asked and why. "
            "Then end your turn: the decision comes back to you on this thread. " + wording.KEY
        ),
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.GOVERNANCE,
        required_claims=(APPROVALS_REQUEST,),
        modes=DOING_MODES,
        side_effect=SideEffect.GOVERNANCE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"approvalType": schema.text(200), "payload": schema.OPEN_OBJECT}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.RequestApproval(
                approval_type=given["approvalType"], payload_json=given["payload"]
            )
        ),
    ),
    Operation(
        id="decide_approval",
        title="Decide approval",
        description=(
            "Approve, reject or cancel a pending approval of the active task, with a note that gives the reason. It is "
            "decided once, and never by the one who asked for it. " + wording.KEY
        ),
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.GOVERNANCE,
        required_claims=(APPROVALS_DECIDE,),
        roles=DECIDING_ROLES,
        modes=DOING_MODES,
        side_effect=SideEffect.GOVERNANCE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation(
            {"approvalId": schema.ID, "decision": schema.one_of(*DECISIONS), "note": schema.text()}
        ),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.DecideApproval(
                approval_id=given["approvalId"], decision=given["decision"], note=given["note"]
            )
        ),
    ),
    Operation(
        id="comment_on_approval",
        title="Comment on approval",
        description="Append a comment to an approval of the active task, decided or not. " + wording.KEY,
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.GOVERNANCE,
        required_claims=(APPROVALS_COMMENT,),
        modes=ANY_MODE,
        side_effect=SideEffect.GOVERNANCE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"approvalId": schema.ID, "body": schema.text()}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.CommentOnApproval(approval_id=given["approvalId"], body=given["body"])
        ),
    ),
)
