"""The record in the admin: read-only, newest first, and as fast with a million events as with ten."""

from __future__ import annotations

import json

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evidence.models import SessionEvent, SessionLog
from evidence.prp.events import EventType
from evidence.views.composer import CLOSED_REASON
from mockcore.showing import ReadOnlyAdmin, filter_by


@admin.register(SessionLog)
class SessionLogAdmin(ReadOnlyAdmin):
    list_display = ("session_id", "run_id", "last_number", "opened_at", "closed_at", "close_code")
    list_filter = (filter_by("close_code", ("", *CLOSED_REASON)),)
    search_fields = ("session_id", "run_id")
    search_help_text = "The whole id of a session or run"


@admin.register(SessionEvent)
class SessionEventAdmin(ReadOnlyAdmin):
    list_display = ("session_id", "number", "event_type", "turn_id", "item_id", "at")
    list_filter = (filter_by("event_type", EventType),)
    search_fields = ("session_id",)
    search_help_text = "The whole id of a session"
    search_order = {"session_id": ("-session_id", "-number")}
    exclude = ("body",)
    readonly_fields = ("envelope",)

    @admin.display(description="Envelope")
    def envelope(self, event: SessionEvent) -> SafeString:
        text = json.dumps(json.loads(event.body), indent=2, ensure_ascii=False)
        return format_html("<pre>{}</pre>", text)
