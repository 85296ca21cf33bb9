"""Rooms and turns for the operator, to read only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from cleanroom.models import BrowserCapability, ChatSession, ChatTurn


class ReadOnly(admin.ModelAdmin):
    """Evidence is looked at here, never edited."""

    show_full_result_count = False
    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ChatSession)
class ChatSessionAdmin(ReadOnly):
    list_display = ("identifier", "token", "state", "turn_count", "model_label", "opened_at", "retired_because")
    list_filter = ("state", "rehearsal")
    search_fields = ("identifier", "token", "public_id", "company_id", "run_id")
    exclude = ("snapshot", "capability")
    ordering = ("-opened_at",)


@admin.register(ChatTurn)
class ChatTurnAdmin(ReadOnly):
    list_display = ("session", "ordinal", "state", "counts", "error_code", "submitted_at", "ended_at")
    list_filter = ("state", "error_code")
    list_select_related = ("session",)
    exclude = ("provider_turn_id",)
    ordering = ("-submitted_at",)


@admin.register(BrowserCapability)
class BrowserCapabilityAdmin(ReadOnly):
    list_display = ("id", "surface", "created_at", "expires_at", "revoked_at")
    exclude = ("digest",)
