"""Rooms and turns for the operator, to read only."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.models import Group, User

from cleanroom.models import BrowserCapability, ChatSession, ChatTurn
from mockcore.showing import ReadOnlyAdmin


@admin.register(ChatSession)
class ChatSessionAdmin(ReadOnlyAdmin):
    list_display = ("identifier", "token", "state", "turn_count", "model_label", "opened_at", "retired_because")
    list_filter = ("state", "rehearsal")
    search_fields = ("identifier", "token", "public_id", "company_id", "run_id")
    exclude = ("snapshot", "capability")
    ordering = ("-opened_at",)


@admin.register(ChatTurn)
class ChatTurnAdmin(ReadOnlyAdmin):
    list_display = ("session", "ordinal", "state", "counts", "error_code", "submitted_at", "ended_at")
    list_filter = ("state", "error_code")
    list_select_related = ("session",)
    exclude = ("provider_turn_id",)
    ordering = ("-submitted_at",)


@admin.register(BrowserCapability)
class BrowserCapabilityAdmin(ReadOnlyAdmin):
    list_display = ("id", "surface", "created_at", "expires_at", "revoked_at")
    exclude = ("digest",)


# The operator's own account is made by the start of the server; nothing about accounts is done here.
admin.site.unregister([User, Group])
admin.site.site_header = admin.site.site_title = "Capability"
admin.site.index_title = "The record: to be read, never changed"
