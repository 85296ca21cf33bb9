"""Wakes: continuations of a task, due at a company time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from mockcore.commands import ScheduleWake
from mockcore.handlers.scene import Scene, object_in, whole_number_in, word_in
from mockcore.models import Task, Wake
from mockcore.refusal import Refusal
from mockcore.vocabulary import WakeReason

MAX_DELAY_TICKS = 10_000_000  # seconds of company time; the tool's own bound is 10,000


class WakeDelayInvalid(Refusal):
    """A wake's delay is a whole number of seconds, not negative."""

    code = "wake_delay_invalid"


class WakeAssigneeMissing(Refusal):
    """The task is assigned to nobody, so there is nobody to wake."""

    code = "wake_assignee_missing"


def schedule_wake(scene: Scene, command: ScheduleWake) -> None:
    """Schedule one wake of the task's assignee."""
    reason = word_in(command.reason, known=WakeReason, name="reason")
    delay = whole_number_in(command.delay_ticks, name="delayTicks", at_most=MAX_DELAY_TICKS, refusal=WakeDelayInvalid)
    payload = object_in(command.payload_json, name="payload")
    if wake_assignee(scene, scene.task, WakeReason(reason), payload, delay_s=delay) is None:
        raise WakeAssigneeMissing


def wake_assignee(
    scene: Scene, task: Task, reason: WakeReason, payload: dict[str, Any], *, delay_s: int = 0
) -> Wake | None:
    """Schedule a wake of the task's assignee, `delay_s` seconds of company time from now; None without an assignee."""
    if task.assignee_actor_id is None:
        return None
    work = scene.work
    return work.add(
        Wake(
            public_id=work.next_id("wake"),
            actor_id=task.assignee_actor_id,
            task=task,
            reason=reason.value,
            payload=payload,
            due_at=work.now + timedelta(seconds=delay_s),
            created_at=work.now,
        )
    )
