"""Rooms and turns for the operator, to read only."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.models import Group, User

from cleanroom.models import BrowserCapability, ChatSession, ChatTurn
from cleanroom.turns import Turn
from mockcore.showing import ReadOnlyAdmin, filter_by


@admin.register(ChatSession)
class ChatSessionAdmin(ReadOnlyAdmin):
    list_display = ("identifier", "token", "state", "turn_count", "model_label", "opened_at", "retired_because")
    list_filter = (filter_by("state", ChatSession.State),)
    search_fields = ("public_id", "company_id", "run_id", "identifier", "token")
    search_help_text = "A whole id, the issue's identifier, or the room's token"
    exclude = ("snapshot", "capability")
    ordering = ("-id",)


@admin.register(ChatTurn)
class ChatTurnAdmin(ReadOnlyAdmin):
    list_display = ("session", "ordinal", "state", "counts", "error_code", "submitted_at", "ended_at")
    list_filter = (filter_by("state", Turn),)
    list_select_related = ("session",)
    search_fields = ("session__public_id", "message_id")
    search_help_text = "The whole id of a room or message"
    exclude = ("provider_turn_id",)
    ordering = ("-id",)


@admin.register(BrowserCapability)
class BrowserCapabilityAdmin(ReadOnlyAdmin):
    list_display = ("id", "surface", "created_at", "expires_at", "revoked_at")
    exclude = ("digest",)
    ordering = ("-id",)


# The operator's own account is made by the start of the server; nothing about accounts is done here.
admin.site.unregister([User, Group])
admin.site.site_header = admin.site.site_title = "Capability"
admin.site.index_title = "The record: to be read, never changed"
