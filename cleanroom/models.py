"""The rows of live conversations: who may enter which room, and what became of each turn.

What was said and done is not here but in the session log (`evidence`); the company is in `mockcore`.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Surface(models.TextChoices):
    CLEANROOM = "cleanroom", "Clean room"


class BrowserCapability(models.Model):
    """One browser's right to its rooms on one surface. Only the SHA-256 of the cookie is kept."""

    surface = models.CharField(max_length=16, choices=Surface.choices)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "browser capabilities"
        constraints = [models.UniqueConstraint(fields=["surface", "digest"], name="browser_capability_is_unique")]

    def __str__(self) -> str:
        return f"{self.surface} {self.digest[:8]}"


class ChatSession(models.Model):
    """One chat: a tenant, a run, an agent's thread, and the browser that owns it."""

    class State(models.TextChoices):
        OPENING = "opening", "Opening"
        OPEN = "open", "Open"
        RETIRED = "retired", "Retired"

    public_id = models.CharField(max_length=64, unique=True)
    surface = models.CharField(max_length=16, choices=Surface.choices, default=Surface.CLEANROOM)
    capability = models.ForeignKey(BrowserCapability, on_delete=models.PROTECT, related_name="sessions")
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPENING)
    token = models.CharField(max_length=8)
    sequence = models.PositiveIntegerField()
    identifier = models.CharField(max_length=32)
    company_id = models.CharField(max_length=64, db_index=True)  # the mock company's public id
    actor_id = models.CharField(max_length=64)
    task_id = models.CharField(max_length=64)
    run_id = models.CharField(max_length=64, unique=True)
    model_label = models.CharField(max_length=200, blank=True)
    rehearsal = models.BooleanField(default=False)
    turn_count = models.PositiveIntegerField(default=0)  # admitted messages; answers to cards do not count
    snapshot = models.TextField(blank=True)  # the driver's SessionSnapshot as JSON; never leaves the server
    opened_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)
    retired_because = models.CharField(max_length=40, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["surface", "state", "opened_at"], name="chat_session_by_age"),
            models.Index(fields=["state", "id"], name="chat_session_by_state"),
            models.Index(fields=["identifier", "id"], name="chat_session_by_identifier"),
            models.Index(fields=["token", "id"], name="chat_session_by_token"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="retired") | Q(retired_at__isnull=False), name="chat_session_retired_has_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.identifier} {self.public_id}"


class ChatTurn(models.Model):
    """One turn of a chat. `ordinal` is its public number; the provider's id stays here."""

    session = models.ForeignKey(ChatSession, on_delete=models.PROTECT, related_name="turns")
    ordinal = models.PositiveIntegerField()
    state = models.CharField(max_length=20)  # cleanroom.turns.Turn
    message_id = models.CharField(max_length=64)
    client_message_id = models.CharField(max_length=64, blank=True)  # the sender's own name for its message
    cursor = models.PositiveBigIntegerField(
        default=0
    )  # what the sender was answered; the same again when it asks again
    provider_turn_id = models.CharField(max_length=128, blank=True)
    answer_ref = models.CharField(max_length=128, blank=True)  # the card whose answer it hands to the agent, if any
    delivered = models.BooleanField(default=False)  # the agent has worked with the answers that the turn handed on
    counts = models.BooleanField(default=True)
    error_code = models.CharField(max_length=64, blank=True)
    submitted_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["state", "id"], name="chat_turn_by_state"),
            models.Index(fields=["message_id", "id"], name="chat_turn_by_message"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["session", "ordinal"], name="chat_turn_ordinal_is_unique"),
            models.UniqueConstraint(
                fields=["session", "client_message_id"],
                condition=~Q(client_message_id=""),
                name="chat_turn_client_message_is_unique",
            ),
            models.UniqueConstraint(
                fields=["session"],
                condition=~Q(state__in=["completed", "interrupted", "failed"]),
                name="chat_session_has_one_active_turn",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} turn-{self.ordinal}"
