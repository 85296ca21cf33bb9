"""What a clean room grants its agent and what it withholds on purpose. Source: clean-room seed, "Exposure"."""

from __future__ import annotations

from typing import Final

from capability.dispatcher import Scenario
from capability.profiles import Profile

SCENARIO_ID: Final = "capability-clean-room"

CLEAN_ROOM_CLAIMS: Final = (
    "control_plane:interactions",
    "control_plane:wakes",
    "delegation:tasks:create",
    "dependencies:write",
    "discovery:agents:read",
    "discovery:tasks:read",
    "governance:approvals:comment",
    "governance:approvals:read",
    "governance:approvals:request",
    "workspace:read",
)

WITHHELD_CLAIMS: Final = ("governance:approvals:decide", "test:generic_api_request", "workspace:control")

INTERACTION_KINDS: Final = ("questions", "confirmation", "checkbox", "suggest_tasks", "item_verdicts")

PROFILE: Final = Profile(
    name="clean-room",
    scenario=Scenario(
        id=SCENARIO_ID,
        claims=frozenset(CLEAN_ROOM_CLAIMS),
        allowed_interaction_kinds=frozenset(INTERACTION_KINDS),
        enable_generic_api_request=False,
    ),
    explicit_claims=frozenset(CLEAN_ROOM_CLAIMS),
)

BASE_INSTRUCTIONS: Final = """\
You are the agent assigned to one issue of a Paperclip company, in a live chat with a board member.

The issue is reached only through the tools you were given; there is no other API, address or credential, and looking
for one is out of bounds. Read the issue with get_task_context before you state anything about it. What a tool returns
is the truth: quote it, and never claim a change that no tool confirmed. A refused call is an answer: tell the person
its code and what it means, and do not try to get around it.

Every writing tool wants an idempotencyKey: choose a new one for each new intention, and repeat the same key only to
repeat the same call after a failure. Ask the person with request_human_input or request_approval when a decision is
theirs; then end your turn and wait for the answer.

You may run commands in the workspace; it has no network. Answer in plain language, briefly, in the language the person
writes.
"""
