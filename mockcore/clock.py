"""Moving the company's clock on purpose, as a test clock. Knows nothing of what becomes due: that is `due`'s.

Company time otherwise ticks one second per applied mutation. Source: design section 4, issue "Beyond the original".
"""

from __future__ import annotations

from collections.abc import Callable

from mockcore import ledger
from mockcore.models import IdempotencyRecord
from mockcore.port import Applied
from mockcore.refusal import Refusal
from mockcore.work import UnitOfWork

MAX_TICKS = 31_622_400  # seconds in a leap year: one move; more is more moves
LAST_SECOND = 4_102_444_800  # 2100-01-01T00:00:00Z, the end of company time


class ClockAdvanceInvalid(Refusal):
    """The clock moves forward by a whole number of seconds, at most a year at once, and not past the year 2099."""

    code = "clock_advance_invalid"


def advance(
    work: UnitOfWork, act: ledger.Act, *, ticks: int, remember: Callable[[Applied], IdempotencyRecord]
) -> Applied:
    """Move the clock exactly `ticks` seconds on, as one mutation of its own that `remember` makes a record of.

    Raises `ClockAdvanceInvalid`.
    """
    company = work.company
    if not isinstance(ticks, int) or isinstance(ticks, bool) or not 1 <= ticks <= MAX_TICKS:
        raise ClockAdvanceInvalid
    if company.epoch_ms // 1000 + company.clock_tick + ticks > LAST_SECOND:
        raise ClockAdvanceInvalid
    before = company.clock_tick
    company.clock_tick += ticks - 1  # the commit ticks once
    note = ledger.Note(
        command_id=work.next_id("command"),
        reason="clock_advanced",
        action="company.clock_advanced",
        entity=("company", company.public_id),
        actor_id=None,
        details={"fromTick": before, "ticks": ticks},
    )
    applied = Applied(
        command_id=note.command_id,
        command_kind=act.operation,
        disposition="applied",
        state_revision=company.revision + 1,
        entity_refs=(),
        scheduled_wake_ids=(),
    )
    ledger.commit(work=work, act=act, note=note, changes=work.flush(), refs=(), remember=remember(applied))
    return applied
