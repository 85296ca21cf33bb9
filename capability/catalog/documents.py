"""Operations on the documents of the active task. Every version is kept; a write names the version it builds on."""

from __future__ import annotations

from capability.catalog import schema, wording
from capability.catalog.descriptor import (
    ANY_MODE,
    SHARED,
    WORKING_MODES,
    Idempotency,
    Operation,
    Placement,
    Query,
    SideEffect,
    Write,
)
from mockcore import commands

DOCUMENT_KEY = schema.text(120)

OPERATIONS = (
    Operation(
        id="list_documents",
        title="List task documents",
        description="List the documents of the active task: key, title, latest revision id and number of revisions.",
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.NO_INPUT,
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="list_documents"),
    ),
    Operation(
        id="read_document",
        title="Read task document",
        description=(
            "Read one document of the active task by its key, with its current revision. Take the baseRevisionId of "
            "your next write_document from `revision.id` here."
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.closed({"key": DOCUMENT_KEY}),
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="read_document", arguments=lambda given: {"key": given["key"]}),
    ),
    Operation(
        id="list_document_revisions",
        title="List document revisions",
        description=(
            "Read the newest revisions of one document of the active task, oldest of them first. `limit` is how many "
            "(1 to 200, 50 when left out)."
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.closed({"key": DOCUMENT_KEY}, {"limit": schema.PAGE}),
        output_schema=schema.READ_OUTPUT,
        handler=Query(
            name="list_document_revisions",
            arguments=lambda given: {"key": given["key"], "limit": given.get("limit", schema.PAGE_DEFAULT)},
        ),
    ),
    Operation(
        id="write_document",
        title="Write revisioned document",
        description=(
            "Create a document of the active task, or add a revision to it; the body is the whole new text in "
            "Markdown. To create one, pass baseRevisionId null and a key that is not in use, such as `plan`. To revise "
            "one, pass the id of its latest revision, which read_document gives; if someone wrote in between, the call "
            "is refused: read again and merge. Say in changeSummary what changed. " + wording.KEY
        ),
        placement=Placement.ALWAYS,
        surfaces=SHARED,
        modes=WORKING_MODES,
        side_effect=SideEffect.TASK_WRITE,
        idempotency=Idempotency.REQUIRED,
        input_schema=schema.mutation(
            {
                "key": DOCUMENT_KEY,
                "title": schema.text(300),
                "body": schema.text(200_000),
                "baseRevisionId": schema.NULLABLE_TEXT,
            },
            {"changeSummary": schema.NULLABLE_TEXT},
        ),
        output_schema=schema.MUTATION_OUTPUT,
        handler=Write(
            command=lambda given: commands.WriteDocument(
                key=given["key"],
                title=given["title"],
                body=given["body"],
                base_revision_id=given["baseRevisionId"],
                change_summary=given.get("changeSummary"),
            )
        ),
    ),
)
