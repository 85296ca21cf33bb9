"""The operator's view of authorization records: read-only, newest first."""

from __future__ import annotations

from django.contrib import admin

from capability.models import AuthorizationCounter, AuthorizationRecord
from mockcore.showing import ReadOnlyAdmin


@admin.register(AuthorizationRecord)
class AuthorizationRecordAdmin(ReadOnlyAdmin):
    """Who was allowed what, and why not. Inputs and results were redacted before they were stored."""

    list_display = ("public_id", "at", "company_id", "phase", "operation_id", "code", "turn_id", "call_id")
    list_filter = ("phase", "code", "operation_id")
    search_fields = ("company_id", "run_id", "call_id", "operation_id")
    ordering = ("-id",)


@admin.register(AuthorizationCounter)
class AuthorizationCounterAdmin(ReadOnlyAdmin):
    """How many records each company has."""

    list_display = ("company_id", "last_number")
