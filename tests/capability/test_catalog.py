"""The registry and its live projection are exactly the published catalog."""

from __future__ import annotations

import jsonschema_rs
import pytest

from capability.catalog import LIVE_OPERATIONS, UnknownOperation, get_operation, schema
from capability.catalog.descriptor import ANY_MODE, DOING_MODES, WORKING_MODES, Mode, Surface, Write
from capability.catalog.live import DECLARED, CatalogDrift, project
from capability.catalog.operations import OPERATIONS
from mockcore import vocabulary

A, W, D, T = ANY_MODE, WORKING_MODES, DOING_MODES, frozenset({Mode.SKILL_TEST})
DECIDERS = {"approver", "board", "security"}

# id: exposure, group, claim, modes, side effect, key required, title. In the order agents are offered them.
PUBLISHED = {
    "get_task_context": ("always", None, None, A, "read", False, "Get active task context"),
    "get_task_history": ("always", None, None, A, "read", False, "Get active task history"),
    "list_documents": ("always", None, None, A, "read", False, "List task documents"),
    "read_document": ("always", None, None, A, "read", False, "Read task document"),
    "list_document_revisions": ("always", None, None, A, "read", False, "List document revisions"),
    "report_progress": ("always", None, None, A, "task_write", True, "Report durable progress"),
    "answer_status_question": ("always", None, None, A, "task_write", True, "Answer status question"),
    "write_document": ("always", None, None, W, "task_write", True, "Write revisioned document"),
    "request_human_input": ("always", None, None, W, "task_write", True, "Request structured human input"),
    "register_deliverable": ("always", None, None, W, "task_write", True, "Register inspectable deliverable"),
    "finish_task": ("always", None, None, D, "task_write", True, "Finish active task"),
    "block_task": ("always", None, None, D, "task_write", True, "Block active task"),
    "request_review": ("always", None, None, D, "task_write", True, "Request task review"),
    "list_agents": ("optional", "discovery", "discovery:agents:read", A, "read", False, "List company agents"),
    "get_agent": ("optional", None, "discovery:agents:read", A, "read", False, "Get company agent"),
    "search_tasks": ("optional", "discovery", "discovery:tasks:read", A, "read", False, "Search company tasks"),
    "list_approvals": ("optional", "governance", "governance:approvals:read", A, "read", False, "List approvals"),
    "get_approval": ("optional", None, "governance:approvals:read", A, "read", False, "Get approval"),
    "get_approval_context": ("optional", None, "governance:approvals:read", A, "read", False, "Get approval context"),
    "get_workspace_runtime": (
        "optional", "workspace_runtime", "workspace:read", A, "read", False, "Get workspace runtime",
    ),
    "control_workspace_service": (
        "optional", "workspace_runtime", "workspace:control", D, "workspace_control", True, "Control workspace service",
    ),
    "set_dependencies": (
        "optional", "delegation_dependencies", "dependencies:write", D, "company_write", True, "Set task dependencies",
    ),
    "create_task": (
        "optional", "delegation_dependencies", "delegation:tasks:create", D, "company_write", True, "Create child task",
    ),
    "request_approval": (
        "optional", "governance", "governance:approvals:request", D, "governance", True, "Request approval",
    ),
    "decide_approval": (
        "optional", "governance", "governance:approvals:decide", D, "governance", True, "Decide approval",
    ),
    "comment_on_approval": (
        "optional", "governance", "governance:approvals:comment", A, "governance", True, "Comment on approval",
    ),
    "schedule_wake": ("optional", None, "control_plane:wakes", D, "task_write", True, "Schedule bounded wake"),
    "generic_api_request": (
        "optional", "test_escape_hatch", "test:generic_api_request", T, "test_escape_hatch", True,
        "Generic API request",
    ),
}  # fmt: skip

TEXT, NULLABLE = ("text", 20_000), ("nullable", 20_000)
ID, KEY, PAGE = ("text", 200), ("text", 240), ("whole", 1, 200)
IDS, OPEN = ("ids",), ("open",)
KINDS = ("enum", "confirmation", "checkbox", "questions", "suggest_tasks", "item_verdicts")
STATUSES = ("backlog", "todo", "in_progress", "in_review", "done", "blocked", "cancelled")

# id: (required fields, optional fields), in words; `idempotencyKey` is required wherever it stands.
INPUTS = {
    "get_task_context": ({}, {}),
    "get_task_history": ({}, {"limit": PAGE}),
    "list_documents": ({}, {}),
    "read_document": ({"key": ("text", 120)}, {}),
    "list_document_revisions": ({"key": ("text", 120)}, {"limit": PAGE}),
    "report_progress": ({"idempotencyKey": KEY, "body": TEXT}, {}),
    "answer_status_question": ({"idempotencyKey": KEY, "body": TEXT}, {}),
    "write_document": (
        {
            "idempotencyKey": KEY,
            "key": ("text", 120),
            "title": ("text", 300),
            "body": ("text", 200_000),
            "baseRevisionId": NULLABLE,
        },
        {"changeSummary": NULLABLE},
    ),
    "request_human_input": (
        {
            "idempotencyKey": KEY,
            "interactionKind": KINDS,
            "title": ("text", 300),
            "prompt": ("text", 10_000),
            "continuationPolicy": ("enum", "none", "wake_assignee", "wake_assignee_on_accept"),
        },
        {"payload": OPEN, "targetRevisionId": NULLABLE},
    ),
    "register_deliverable": (
        {
            "idempotencyKey": KEY,
            "filename": ("text", 500),
            "contentType": ("text", 200),
            "byteSize": ("whole", 0, 100_000_000),
            "sha256": ("hex", 64),
            "contentRef": ("text", 2_000),
            "title": ("text", 500),
        },
        {},
    ),
    "finish_task": ({"idempotencyKey": KEY, "summary": TEXT}, {}),
    "block_task": ({"idempotencyKey": KEY, "reason": TEXT}, {"blockedByTaskIds": IDS}),
    "request_review": ({"idempotencyKey": KEY, "summary": TEXT}, {}),
    "list_agents": ({}, {}),
    "get_agent": ({"actorId": ID}, {}),
    "search_tasks": ({}, {"query": ("any text", 500), "statuses": ("enums", *STATUSES), "limit": PAGE}),
    "list_approvals": ({}, {}),
    "get_approval": ({"approvalId": ID}, {}),
    "get_approval_context": ({"approvalId": ID}, {}),
    "get_workspace_runtime": ({}, {}),
    "control_workspace_service": (
        {"idempotencyKey": KEY, "serviceId": ID, "action": ("enum", "start", "stop", "fail")},
        {"url": NULLABLE},
    ),
    "set_dependencies": ({"idempotencyKey": KEY, "blockedByTaskIds": IDS}, {}),
    "create_task": (
        {"idempotencyKey": KEY, "title": ("text", 500)},
        {
            "description": NULLABLE,
            "assigneeActorId": NULLABLE,
            "priority": ("enum", "critical", "high", "medium", "low"),
            "blockedByTaskIds": IDS,
        },
    ),
    "request_approval": ({"idempotencyKey": KEY, "approvalType": ID, "payload": OPEN}, {}),
    "decide_approval": (
        {
            "idempotencyKey": KEY,
            "approvalId": ID,
            "decision": ("enum", "approved", "rejected", "cancelled"),
            "note": TEXT,
        },
        {},
    ),
    "comment_on_approval": ({"idempotencyKey": KEY, "approvalId": ID, "body": TEXT}, {}),
    "schedule_wake": (
        {
            "idempotencyKey": KEY,
            "reason": (
                "enum", "manual", "issue_commented", "interaction_resolved", "approval_resolved", "blockers_resolved",
                "scheduled_retry", "resume",
            ),
            "delayTicks": ("whole", 1, 10_000),
        },
        {"payload": OPEN},
    ),
    "generic_api_request": (
        {"method": ("enum", "GET", "POST", "PATCH"), "path": ("mock path", 500)},
        {"body": OPEN},
    ),
}  # fmt: skip


def examples(rule):
    """Values just inside and just outside of one rule in words."""
    kind, *bounds = rule
    long = "x" * bounds[0] if bounds and kind not in ("enum", "enums", "whole") else ""
    many = [f"task-{n}" for n in range(200)]
    match kind:
        case "text":
            return ["x", long], ["", long + "x", None, 1, True]
        case "any text":
            return ["", long], [long + "x", None, 1]
        case "nullable":
            return [None, "", long], [long + "x", 1, []]
        case "whole":
            return [bounds[0], bounds[1]], [bounds[0] - 1, bounds[1] + 1, True, "1", 1.5, None]
        case "enum":
            return list(bounds), ["", "other", None, bounds[0].upper() + "!"]
        case "enums":
            return [[], list(bounds)], [["other"], [bounds[0], bounds[0]], bounds[0], None]
        case "ids":
            return [[], ["task-2"], many], [[""], ["a", "a"], [*many, "more"], [1], "task-2", None]
        case "open":
            return [{}, {"any": [1, None, {"deep": True}]}], [[], "text", None, 1]
        case "hex":
            return ["0aF" + "9" * 61], ["a" * 63, "a" * 65, "g" * 64, "a" * 64 + "\n", None]
        case "mock path":
            return ["/mock/", "/mock/" + "x" * 494], ["/api/task", "mock/task", "/mock/" + "x" * 495, None]
    raise AssertionError(kind)


@pytest.mark.requirement("catalog.live.twenty-eight")
def test_the_live_catalog_is_the_published_one_in_its_order():
    assert len(LIVE_OPERATIONS) == 28
    assert [operation.id for operation in LIVE_OPERATIONS] == list(PUBLISHED)
    assert sum(operation.exposure == "always" for operation in LIVE_OPERATIONS) == 13


@pytest.mark.requirement("catalog.live.twenty-eight")
@pytest.mark.parametrize("operation", LIVE_OPERATIONS, ids=lambda operation: operation.id)
def test_an_operation_carries_the_published_facts(operation):
    claim = operation.required_claims[0] if operation.required_claims else None
    keyed = operation.idempotency == "required"
    facts = (operation.exposure, operation.group, claim, operation.modes, operation.side_effect, keyed, operation.title)
    assert facts == PUBLISHED[operation.id]
    assert len(operation.required_claims) <= 1
    assert operation.version == 1
    assert operation.roles == (DECIDERS if operation.id == "decide_approval" else set())
    assert operation.disabled_by_default == (operation.id == "generic_api_request")


@pytest.mark.requirement("catalog.live.schemas")
@pytest.mark.parametrize("operation", LIVE_OPERATIONS, ids=lambda operation: operation.id)
def test_an_input_schema_takes_exactly_the_published_fields_within_their_bounds(operation):
    required, optional = INPUTS[operation.id]
    fields = {**required, **optional}
    validator = jsonschema_rs.Draft202012Validator(schema.plain(operation.input_schema))
    smallest = {name: examples(rule)[0][0] for name, rule in required.items()}

    assert set(operation.field_names) == set(fields)
    assert validator.is_valid(smallest)
    assert not validator.is_valid({**smallest, "other": 1})
    for name in required:
        assert not validator.is_valid({n: v for n, v in smallest.items() if n != name}), f"{name} is required"
    for name, rule in fields.items():
        good, bad = examples(rule)
        for value in good:
            assert validator.is_valid({**smallest, name: value}), (name, str(value)[:40])
        for value in bad:
            assert not validator.is_valid({**smallest, name: value}), (name, str(value)[:40])


@pytest.mark.requirement("catalog.live.schemas")
@pytest.mark.parametrize("operation", LIVE_OPERATIONS, ids=lambda operation: operation.id)
def test_an_output_schema_is_closed_for_mutations_and_open_for_everything_else(operation):
    output = schema.plain(operation.output_schema)
    if PUBLISHED[operation.id][4] in ("read", "test_escape_hatch"):
        assert output == {"type": "object", "properties": {}, "required": [], "additionalProperties": True}
        return
    assert output["additionalProperties"] is False
    assert output["required"] == ["commandId", "disposition", "stateRevision", "entityRefs", "scheduledWakeIds"]
    assert set(output["properties"]) == set(output["required"])
    assert output["properties"]["disposition"]["enum"] == ["applied", "duplicate"]


def test_enums_of_the_schemas_are_those_of_the_mock_company():
    assert set(schema.INTERACTION_KINDS) == set(vocabulary.InteractionKind)
    assert set(schema.CONTINUATION_POLICIES) == set(vocabulary.Continuation)
    assert set(schema.TASK_STATUSES) == set(vocabulary.TaskStatus)
    assert set(schema.TASK_PRIORITIES) == set(vocabulary.Priority)
    assert set(schema.WAKE_REASONS) == set(vocabulary.WakeReason)
    assert set(Mode) == set(vocabulary.WorkMode)


@pytest.mark.parametrize("operation", LIVE_OPERATIONS, ids=lambda operation: operation.id)
def test_a_description_explains_the_idempotency_key_exactly_where_there_is_one(operation):
    assert ("idempotencyKey" in operation.description) == ("idempotencyKey" in operation.field_names)
    assert ("idempotencyKey" in operation.field_names) == (
        isinstance(operation.handler, Write) or operation.id == "control_workspace_service"
    )


@pytest.mark.requirement("catalog.frozen")
def test_an_operation_cannot_be_changed_at_any_depth():
    operation = get_operation("search_tasks")
    with pytest.raises(AttributeError):
        operation.title = "Other"
    with pytest.raises(TypeError):
        operation.input_schema["properties"]["query"]["maxLength"] = 1
    assert isinstance(operation.input_schema["properties"]["statuses"]["items"]["enum"], tuple)


@pytest.mark.requirement("catalog.projection.complete")
@pytest.mark.parametrize(
    ("registry", "declared", "says"),
    [
        (OPERATIONS[1:], DECLARED, "invents"),
        (OPERATIONS, DECLARED[1:], "misses"),
        (OPERATIONS, (*DECLARED, DECLARED[0]), "doubles get_task_context"),
        ((*OPERATIONS, OPERATIONS[0]), DECLARED, "doubles get_task_context"),
    ],
)
def test_a_projection_that_misses_doubles_or_invents_an_operation_stops_the_start(registry, declared, says):
    with pytest.raises(CatalogDrift, match=says):
        project(registry=registry, declared=declared, surface=Surface.LIVE)


def test_an_unknown_operation_is_refused_by_name():
    with pytest.raises(UnknownOperation) as refusal:
        get_operation("checkout_task")
    assert refusal.value.code == "tool_not_exposed"
