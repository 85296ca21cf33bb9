"""The one way for an agent to ask a person something and get a typed answer back."""

from __future__ import annotations

from capability.catalog import schema, wording
from capability.catalog.descriptor import SHARED, WORKING_MODES, Idempotency, Operation, Placement, SideEffect, Write
from mockcore import commands

OPERATIONS = (
    Operation(
        id="request_human_input",
        title="Request structured human input",
        description=(
            "Ask the board something through a card in the thread; the task goes into review until it is answered, and "
            "the answer comes back to you on this thread. Then end your turn. interactionKind and its payload: "
            "`questions` {questions: [{id, prompt, options?, required?}]} for answers in words or from options; "
            "`confirmation` {targetSummary, acceptLabel?, rejectLabel?} for a yes or no, with targetRevisionId when it "
            "is about a document; `checkbox` {options: [{id, label, defaultSelected?}], minSelected?, maxSelected?} to "
            "pick some of a list; `suggest_tasks` {tasks: [{id, title, description}]} to propose child tasks; "
            "`item_verdicts` {items: [{id, title, requireReason?}]} for one verdict each. continuationPolicy: "
            "`wake_assignee` wakes you on any answer, `wake_assignee_on_accept` only on acceptance, `none` never. "
            + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=WORKING_MODES,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation(
            {
                "interactionKind": schema.one_of(*schema.INTERACTION_KINDS),
                "title": schema.text(300),
                "prompt": schema.text(10_000),
                "continuationPolicy": schema.one_of(*schema.CONTINUATION_POLICIES),
            },
            {"payload": schema.OPEN_OBJECT, "targetRevisionId": schema.NULLABLE_TEXT},
        ),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.RequestHumanInput(
                interaction_kind=given["interactionKind"],
                title=given["title"],
                prompt=given["prompt"],
                continuation_policy=given["continuationPolicy"],
                payload_json=given.get("payload"),
                target_revision_id=given.get("targetRevisionId"),
            )
        ),
    ),
)
