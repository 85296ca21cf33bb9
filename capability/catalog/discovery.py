"""Reads beyond the active task: who works here, and what else is being worked on."""

from __future__ import annotations

from capability.catalog import schema
from capability.catalog.descriptor import (
    ANY_MODE,
    LIVE_ONLY,
    SHARED,
    Given,
    Group,
    Operation,
    Placement,
    Query,
    SideEffect,
)

AGENTS_READ = "discovery:agents:read"
TASKS_READ = "discovery:tasks:read"


def _search(given: Given) -> dict[str, object]:
    return {
        "query": given.get("query", ""),
        "statuses": tuple(given.get("statuses", ())),
        "limit": given.get("limit", schema.PAGE_DEFAULT),
    }


OPERATIONS = (
    Operation(
        id="list_agents",
        title="List company agents",
        description="List the agents of this company: id, name, role and status. Their ids can be given tasks.",
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.DISCOVERY,
        required_claims=(AGENTS_READ,),
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.NO_INPUT,
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="list_agents"),
    ),
    Operation(
        id="get_agent",
        title="Get company agent",
        description="Read one agent of this company by its id: name, role and status.",
        placement=Placement.OPTIONAL,
        surfaces=LIVE_ONLY,
        required_claims=(AGENTS_READ,),
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.closed({"actorId": schema.ID}),
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="get_agent", arguments=lambda given: {"actor_id": given["actorId"]}),
    ),
    Operation(
        id="search_tasks",
        title="Search company tasks",
        description=(
            "Search the tasks of this company. `query` is looked for in identifier, title and description, whatever "
            "the case; leave it out for all tasks. `statuses` keeps only these. At most `limit` tasks come back (1 to "
            "200, 50 when left out). The ids found here are what blockedByTaskIds takes."
        ),
        placement=Placement.OPTIONAL,
        surfaces=SHARED,
        group=Group.DISCOVERY,
        required_claims=(TASKS_READ,),
        modes=ANY_MODE,
        side_effect=SideEffect.READ,
        input_schema=schema.closed(
            optional={
                "query": {"type": "string", "maxLength": 500},
                "statuses": {
                    "type": "array",
                    "items": schema.one_of(*schema.TASK_STATUSES),
                    "maxItems": len(schema.TASK_STATUSES),
                    "uniqueItems": True,
                },
                "limit": schema.PAGE,
            }
        ),
        output_schema=schema.READ_OUTPUT,
        handler=Query(name="search_tasks", arguments=_search),
    ),
)
