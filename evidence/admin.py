"""The record in the admin: read-only, newest first, and as fast with a million events as with ten."""

from __future__ import annotations

import json

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evidence.models import SessionEvent, SessionLog
from evidence.prp.events import EventType
from mockcore.showing import ReadOnlyAdmin


@admin.register(SessionLog)
class SessionLogAdmin(ReadOnlyAdmin):
    list_display = ("session_id", "run_id", "last_number", "opened_at", "closed_at", "close_code")
    list_filter = ("close_code",)
    search_fields = ("=session_id", "=run_id")


class EventTypeFilter(admin.SimpleListFilter):
    """Choose a type from the vocabulary, not from a scan of all rows."""

    title = "event type"
    parameter_name = "event_type"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(kind.value, kind.value) for kind in EventType]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SessionEvent]) -> QuerySet[SessionEvent]:
        return queryset.filter(event_type=self.value()) if self.value() else queryset


@admin.register(SessionEvent)
class SessionEventAdmin(ReadOnlyAdmin):
    list_display = ("session_id", "number", "event_type", "turn_id", "item_id", "at")
    list_filter = (EventTypeFilter,)
    search_fields = ("=session_id",)
    search_help_text = "The whole id of a session"
    exclude = ("body",)
    readonly_fields = ("envelope",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SessionEvent]:
        rows: QuerySet[SessionEvent] = super().get_queryset(request)
        return rows if request.resolver_match and "object_id" in request.resolver_match.kwargs else rows.defer("body")

    @admin.display(description="Envelope")
    def envelope(self, event: SessionEvent) -> SafeString:
        text = json.dumps(json.loads(event.body), indent=2, ensure_ascii=False)
        return format_html("<pre>{}</pre>", text)
