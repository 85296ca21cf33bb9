"""Operations on the active task itself: read it, tell its story, close it."""

from __future__ import annotations

from capability.catalog import schema, wording
from capability.catalog.descriptor import (
    ANY_MODE,
    DOING_MODES,
    SHARED,
    WORKING_MODES,
    Given,
    Idempotency,
    Operation,
    Placement,
    Query,
    Read,
    SideEffect,
    Write,
)
from mockcore import commands


def _blockers(given: Given) -> tuple[str, ...] | None:
    """An omitted list means "leave the blockers as they are"; an empty one clears them."""
    ids = given.get("blockedByTaskIds")
    return None if ids is None else tuple(ids)


OPERATIONS = (
    Operation(
        id="get_task_context",
        title="Get active task context",
        description=(
            "Read the task this run works on: its title, description, status and ancestors, who you are, why you were "
            "woken, the claims and budget of the run, and the answers people gave to your questions. Call it first, "
            "and again after a person may have answered or changed something."
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.NO_INPUT,
        output_schema=schema.READ_OUTPUT,
        handler=Read(answer=lambda port, run_id, given: port.context(run_id)),
    ),
    Operation(
        id="get_task_history",
        title="Get active task history",
        description=(
            "Read the newest durable comments on the active task, oldest of them first. `limit` is how many (1 to "
            "200, 50 when left out)."
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.closed(optional={"limit": schema.PAGE}),
        output_schema=schema.READ_OUTPUT,
        handler=Query(
            name="get_task_history", arguments=lambda given: {"limit": given.get("limit", schema.PAGE_DEFAULT)}
        ),
    ),
    Operation(
        id="report_progress",
        title="Report durable progress",
        description=(
            "Append a durable comment to the active task, for people who read the issue later: what was done, what was "
            "found, what comes next. Chat text is not kept on the issue; this is. " + wording.STAYS + " " + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=ANY_MODE,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"body": schema.text()}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(command=lambda given: commands.ReportProgress(body=given["body"])),
    ),
    Operation(
        id="answer_status_question",
        title="Answer status question",
        description=(
            "Append the answer to a question about how the active task stands as a durable comment. Use it when "
            "someone asks; use report_progress when you report unasked. " + wording.STAYS + " " + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=ANY_MODE,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"body": schema.text()}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(command=lambda given: commands.AnswerStatusQuestion(body=given["body"])),
    ),
    Operation(
        id="register_deliverable",
        title="Register inspectable deliverable",
        description=(
            "Record a finished file as a deliverable of the active task: its name, content type, size in bytes, "
            "SHA-256 in 64 hexadecimal digits, and a reference to where its content lies. No bytes are sent. Register "
            "a deliverable before you finish the task. " + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=WORKING_MODES,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation(
            {
                "filename": schema.text(500),
                "contentType": schema.text(200),
                "byteSize": schema.whole(0, 100_000_000),
                "sha256": {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"},
                "contentRef": schema.text(2_000),
                "title": schema.text(500),
            }
        ),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.RegisterDeliverable(
                filename=given["filename"],
                content_type=given["contentType"],
                byte_size=given["byteSize"],
                sha256=given["sha256"],
                content_ref=given["contentRef"],
                title=given["title"],
            )
        ),
    ),
    Operation(
        id="finish_task",
        title="Finish active task",
        description=(
            "Close the active task as done, with a summary of what was delivered. Only for work that is complete: a "
            "task with open blockers is refused. Afterwards the task can be read but no longer changed. " + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=DOING_MODES,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"summary": schema.text()}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(command=lambda given: commands.FinishTask(summary=given["summary"])),
    ),
    Operation(
        id="block_task",
        title="Block active task",
        description=(
            "Mark the active task as blocked, with the reason. Name the tasks that block it in blockedByTaskIds: the "
            "list replaces the present blockers. Leave it out to keep the blockers as they are. " + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=DOING_MODES,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"reason": schema.text()}, {"blockedByTaskIds": schema.IDS}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.BlockTask(reason=given["reason"], blocked_by_task_ids=_blockers(given))
        ),
    ),
    Operation(
        id="request_review",
        title="Request task review",
        description=(
            "Hand the active task to a person for review, with a summary of what there is to look at. The task goes "
            "into in_review. To ask one specific question use request_human_input. " + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=DOING_MODES,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation({"summary": schema.text()}),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(command=lambda given: commands.RequestReview(summary=given["summary"])),
    ),
)
