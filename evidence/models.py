"""The rows of the record: one log per session, one row per event. Append-only; `record` is the only writer."""

from __future__ import annotations

from typing import Any

from django.db import models

from mockcore.appending import AppendOnly, AppendOnlyRow


class SessionLog(models.Model):
    """The log of one session: where its numbering stands, and whether it may still be read by a browser."""

    session_id = models.CharField(max_length=160)
    run_id = models.CharField(max_length=160)
    last_number = models.PositiveBigIntegerField(default=0)
    last_runner_seq = models.PositiveBigIntegerField(default=0)  # `sourceSeq` of the newest event of the runner
    last_control_seq = models.PositiveBigIntegerField(default=0)  # and of the newest event of our own
    head = models.CharField(max_length=64, blank=True, default="")  # hash of the newest event; empty before the first
    chained_after = models.PositiveBigIntegerField(default=0)  # events up to this one are older than the hash chain
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    close_code = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["session_id"], name="evidence_log_session_unique")]
        indexes = [
            models.Index(fields=["run_id", "id"], name="evidence_log_by_run"),
            models.Index(fields=["close_code", "id"], name="evidence_log_by_end"),
        ]

    def __str__(self) -> str:
        return self.session_id

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise AppendOnly("a session log is never removed")


class SessionEvent(AppendOnlyRow):
    """One event. `body` is the canonical JSON text of its whole PRP envelope; the columns beside it only find it."""

    session_id = models.CharField(max_length=160)
    number = models.PositiveBigIntegerField()
    event_type = models.CharField(max_length=64)
    turn_id = models.CharField(max_length=160, null=True, blank=True)
    item_id = models.CharField(max_length=160, null=True, blank=True)
    at = models.DateTimeField()
    body = models.TextField()
    hash = models.CharField(max_length=64)  # over the hash before it and this row; empty in rows older than the chain

    class Meta(AppendOnlyRow.Meta):
        ordering = ["-id"]
        constraints = [
            # its index also serves reading after a cursor
            models.UniqueConstraint(fields=["session_id", "number"], name="evidence_event_number_unique"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="evidence_event_number_from_one"),
        ]
        indexes = [models.Index(fields=["event_type", "-id"], name="evidence_event_type_newest")]

    def __str__(self) -> str:
        return f"{self.session_id} #{self.number} {self.event_type}"
