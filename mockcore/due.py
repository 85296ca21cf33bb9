"""What company time brings due: open questions that expire, and wakes that are delivered.

Each is a mutation of its own, right after the command or clock move that made it due and in the same transaction, with
that one's cause. A delivery is a fact of the company and starts nothing: whoever runs agents reads it. Knows rows and
the ledger; knows no run. Decision: `mockcore/decisions/0004-time-runs-and-answers.md`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from mockcore import ledger, rows
from mockcore.handlers import interactions
from mockcore.handlers.cards import expiry_of
from mockcore.handlers.scene import Scene
from mockcore.models import Company, Interaction, Task, Wake
from mockcore.models.base import public_part
from mockcore.vocabulary import TERMINAL, Expiry, InteractionStatus, WakeStatus
from mockcore.work import UnitOfWork

WAITS = (
    "SELECT EXISTS (SELECT 1 FROM mockcore_wake WHERE company_id = %s AND status = %s) "
    "OR EXISTS (SELECT 1 FROM mockcore_interaction WHERE company_id = %s AND status = %s)"
)


def bring_due(*, company: Company, act: ledger.Act) -> tuple[str, ...]:
    """Expire and deliver until nothing is due; return the ids of the delivered wakes.

    Each of these mutations ticks the clock too, so it may make the next thing due. It ends, because each settles at
    least one thing and delivering makes nothing new.
    """
    delivered: list[str] = []
    while _something_waits(company):
        if _expire_questions(company, act):
            continue
        wakes = _deliver_wakes(company, act)
        if not wakes:
            break
        delivered += [wake.public_id for wake in wakes if wake.status == WakeStatus.DELIVERED]
    return tuple(delivered)


def _something_waits(company: Company) -> bool:
    """Say whether time could bring anything due: one look after each command, where mostly nothing waits."""
    values = [company.pk, WakeStatus.SCHEDULED.value, company.pk, InteractionStatus.PENDING.value]
    return bool(rows.run(WAITS, values).rows[0][0])


# ---------------------------------------------------------------- wakes
def _deliver_wakes(company: Company, act: ledger.Act) -> list[Wake]:
    """Deliver every wake that is due, the longest due first. One for a finished task is cancelled instead."""
    due = rows.fetch_until(
        Wake, column="due_at", company_id=company.pk, status=WakeStatus.SCHEDULED.value, due_at=company.now()
    )
    if not due:
        return []
    work = UnitOfWork(company=company)
    wakes = [work.keep(wake) for wake in sorted(due, key=lambda wake: (wake.due_at, wake.position))]
    for wake in wakes:
        task = work.get(Task, public_part(wake.task_id) or "")
        over = task is None or task.status in TERMINAL
        wake.status = (WakeStatus.CANCELLED if over else WakeStatus.DELIVERED).value
    _commit(work, act, operation="deliver_wakes", reason="due_wakes_delivered", first=("wake", wakes[0].public_id))
    return wakes


# ---------------------------------------------------------------- questions
def _expire_questions(company: Company, act: ledger.Act) -> bool:
    """End every open question whose `payload.expiresAt` has passed. Returns whether there was one."""
    waiting = rows.fetch_all(Interaction, company_id=company.pk, status=InteractionStatus.PENDING.value)
    due = [one for one in waiting if _has_expired(one, now=company.now())]
    if not due:
        return False
    work = UnitOfWork(company=company)
    questions = [work.keep(one) for one in sorted(due, key=lambda one: one.position)]
    for question in questions:
        task = work.get(Task, public_part(question.task_id) or "")
        assert task is not None  # a foreign key holds it
        scene = Scene(work=work, task=task, author=None)
        detail = {"expiresAt": question.payload["expiresAt"]}
        interactions.expire(scene, question, Expiry.EXPIRED, detail)
        interactions.leave_review(scene, task)
    first = ("interaction", questions[0].public_id)
    _commit(work, act, operation="expire_interactions", reason="interaction_time_passed", first=first)
    return True


def _has_expired(interaction: Interaction, *, now: datetime) -> bool:
    moment = expiry_of(interaction.payload)
    return moment is not None and moment <= now


def _commit(work: UnitOfWork, act: ledger.Act, *, operation: str, reason: str, first: tuple[str, str]) -> None:
    changes = work.flush()
    refs = ledger.refs_of(changes)
    note = ledger.Note(
        command_id=work.next_id("command"),
        reason=reason,
        action=f"company.{operation}",
        entity=first,
        actor_id=None,
        details={"entityRefs": list(refs)},
    )
    ledger.commit(work=work, act=replace(act, operation=operation), note=note, changes=changes, refs=refs)
