"""What the rows say that an agent must be given before it can start. Reads, and makes the room's directories."""

from __future__ import annotations

from dataclasses import dataclass

from capability import authorizations
from capability.binding import codex_dynamic_tools
from cleanroom import exposure, rooms, toolcalls, turn_rows
from cleanroom.harness import OpenSession, SessionSnapshot, ToolDefinition, ToolHandler
from cleanroom.rooms import Room


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The tools a room offers, how far its calls have been numbered, its open cards, and the thread to return to."""

    room: Room
    tools: list[ToolDefinition]
    withheld: list[str]
    calls: int
    pending: frozenset[str]
    snapshot: SessionSnapshot | None

    @property
    def names(self) -> dict[str, list[str]]:
        """The operations that the agent is offered, and those that it is not."""
        return {"exposed": [tool.name for tool in self.tools], "withheld": self.withheld}

    def request(self, *, on_tool_call: ToolHandler) -> OpenSession:
        """Return what a driver is asked to open or to recover."""
        return OpenSession(
            run_id=self.room.run_id,
            normalized_session_id=self.room.session_id,
            workspace=self.room.workspace,
            home=self.room.home,
            base_instructions=exposure.BASE_INSTRUCTIONS,
            tools=self.tools,
            withheld_tools=frozenset(self.withheld),
            on_tool_call=on_tool_call,
            last_source_seq=self.snapshot.last_source_seq if self.snapshot else 0,
        )


def prepare(room: Room) -> Prepared:
    """Read it all, and make the room's directories. Raises `UnknownSession` once the room is retired."""
    rooms.require_living(room)
    rooms.make_directories(room)
    visible = room.dispatcher().list_tools(run_id=room.run_id)
    tools = [
        ToolDefinition(name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"])
        for tool in codex_dynamic_tools(visible)
    ]
    return Prepared(
        room=room,
        tools=tools,
        withheld=toolcalls.withheld([tool.name for tool in tools]),
        calls=toolcalls.call_number(authorizations.last_call_id(company_id=room.company_id)),
        pending=frozenset(toolcalls.pending_ids(room)),
        snapshot=turn_rows.load_snapshot(room.session_id),
    )
