"""The rows of turns, and the agent's snapshot that moves with them. Plain functions; knows no agent and no browser.

Every turn passes here four times, so the statements are written out: the ORM's own building of an update across a
foreign key costs several times the update. Source: design section 11, "turn with one tool call".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction

from cleanroom.harness import SessionSnapshot
from cleanroom.models import ChatSession, ChatTurn
from cleanroom.turns import TERMINAL, Turn
from evidence import record
from evidence.record import Draft
from mockcore import rows

ENDED = ", ".join(f"'{state}'" for state in sorted(TERMINAL))
CHAT = "SELECT id FROM cleanroom_chatsession WHERE public_id = %s"
LIVE = f"session_id = ({CHAT}) AND ordinal = %s AND state NOT IN ({ENDED})"
NAME = f"UPDATE cleanroom_chatturn SET state = %s, provider_turn_id = %s WHERE {LIVE}"  # noqa: S608 - our own names
SETTLE = f"UPDATE cleanroom_chatturn SET state = %s, error_code = %s, ended_at = %s WHERE {LIVE}"  # noqa: S608
DELIVER = f"UPDATE cleanroom_chatturn SET delivered = TRUE WHERE session_id = ({CHAT}) AND ordinal = %s"  # noqa: S608
IS_LIVE = f"SELECT 1 FROM cleanroom_chatturn WHERE {LIVE}"  # noqa: S608
NEWEST = "SELECT * FROM cleanroom_chatturn WHERE session_id = %s ORDER BY ordinal DESC LIMIT 1"
UNDELIVERED = (  # a turn brings all answers before it
    "SELECT answer_ref FROM cleanroom_chatturn WHERE session_id = %s AND answer_ref <> '' AND ordinal > "
    "(SELECT COALESCE(MAX(ordinal), 0) FROM cleanroom_chatturn WHERE session_id = %s AND delivered) "
    "ORDER BY ordinal"
)
KEEP_SNAPSHOT = "UPDATE cleanroom_chatsession SET snapshot = %s WHERE public_id = %s"


def turn_alias(ordinal: int) -> str:
    """Return the public name of a turn."""
    return f"turn-{ordinal}"


def newest_turn(session: ChatSession) -> ChatTurn | None:
    """Return the turn admitted last: no other can be alive, since a chat has one active turn at most."""
    found = list(ChatTurn.objects.raw(NEWEST, [session.pk]))
    return found[0] if found else None


def undelivered_refs(session: ChatSession) -> list[str]:
    """Return the cards whose answers no agent was given: none of the turns since has reached one. Oldest first."""
    return list(dict.fromkeys(ref for (ref,) in rows.run(UNDELIVERED, [session.pk, session.pk]).rows))


def add_turn(
    session: ChatSession,
    *,
    ordinal: int,
    message_id: str,
    counts: bool,
    cursor: int,
    client_message_id: str = "",
    answer_ref: str = "",
) -> ChatTurn:
    """Store a turn that was just admitted. Inside a transaction that holds the chat's row."""
    turn = ChatTurn(
        session=session,
        ordinal=ordinal,
        state=Turn.STARTING,
        message_id=message_id,
        counts=counts,
        cursor=cursor,
        client_message_id=client_message_id,
        answer_ref=answer_ref,
        submitted_at=datetime.now(UTC),
    )
    rows.insert(turn)
    return turn


def name_turn(
    session_id: str,
    ordinal: int,
    provider_turn_id: str,
    *,
    drafts: Sequence[Draft],
    snapshot: SessionSnapshot | None = None,
) -> bool:
    """Record that a turn has started, its provider's id, and that the thread has a message. False if it had ended."""
    with transaction.atomic():
        save_snapshot(session_id, snapshot)
        if not _changed(NAME, [Turn.RUNNING.value, provider_turn_id, session_id, ordinal]):
            return False
        record.append(session_id=session_id, drafts=drafts)
    return True


def deliver_answers(session_id: str, ordinal: int, *, drafts: Sequence[Draft]) -> None:
    """Record that the agent works with the answers of a turn: no later turn hands them on again."""
    with transaction.atomic():
        lock_chat(session_id)
        if _changed(DELIVER, [session_id, ordinal]):
            record.append(session_id=session_id, drafts=drafts)


def settle_turn(
    session_id: str, ordinal: int, *, state: Turn, draft: Draft, code: str = "", snapshot: SessionSnapshot | None = None
) -> bool:
    """End a turn once: its row, its last event and the agent's snapshot in one transaction. False if it had ended."""
    ended_at = connection.ops.adapt_datetimefield_value(datetime.now(UTC))
    with transaction.atomic():
        save_snapshot(session_id, snapshot)  # the chat's row first: that is the order of locks
        if not _changed(SETTLE, [state.value, code, ended_at, session_id, ordinal]):
            return False
        record.append(session_id=session_id, drafts=[draft])
    return True


def cut_turns(session: ChatSession, *, code: str, message: str) -> int:
    """End the turns of a chat that nobody will end any more, and return how many. Inside the caller's transaction."""
    live = list(session.turns.exclude(state__in=TERMINAL))
    for turn in live:
        draft = Draft(type="turn.failed", payload={"code": code, "message": message}, turn_id=turn_alias(turn.ordinal))
        settle_turn(session.public_id, turn.ordinal, state=Turn.FAILED, draft=draft, code=code)
    return len(live)


def is_live(session_id: str, ordinal: int) -> bool:
    """Say whether a turn waits for its end; retiring a chat ends its turns."""
    return bool(rows.run(IS_LIVE, [session_id, ordinal]).rows)


# ---------------------------------------------------------------- the agent's snapshot
def load_snapshot(session_id: str) -> SessionSnapshot | None:
    """Return what is needed to resume the agent's thread, or None when it never started."""
    stored = ChatSession.objects.values_list("snapshot", flat=True).get(public_id=session_id)
    if not stored:
        return None
    values = json.loads(stored)
    values["terminal_turns"] = tuple((turn, mark) for turn, mark in values["terminal_turns"])
    return SessionSnapshot(**values)


def save_snapshot(session_id: str, snapshot: SessionSnapshot | None) -> None:
    """Keep the newest snapshot of the agent's session."""
    if snapshot is not None:
        _changed(KEEP_SNAPSHOT, [json.dumps(asdict(snapshot)), session_id])


def lock_chat(session_id: str) -> None:
    """Take the lock that comes before the company's and the log's, on a database that has row locks."""
    if connection.features.has_select_for_update:
        rows.fetch(ChatSession, lock=True, public_id=session_id)


def _changed(statement: str, values: list[Any]) -> int:
    return rows.run(statement, values).count
