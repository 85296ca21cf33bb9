"""The operator's view of authorization records: read-only, newest first."""

from __future__ import annotations

from django.contrib import admin

from capability.catalog import LIVE_OPERATIONS
from capability.models import AuthorizationCounter, AuthorizationRecord
from capability.policy import Code, Phase
from mockcore.showing import ReadOnlyAdmin, filter_by


@admin.register(AuthorizationRecord)
class AuthorizationRecordAdmin(ReadOnlyAdmin):
    """Who was allowed what, and why not. Inputs and results were redacted before they were stored."""

    list_display = ("public_id", "at", "company_id", "phase", "operation_id", "code", "turn_id", "call_id")
    list_filter = (
        filter_by("phase", Phase),
        filter_by("code", Code),
        filter_by("operation_id", (operation.id for operation in LIVE_OPERATIONS)),
    )
    search_fields = ("company_id", "run_id", "call_id", "turn_id")
    search_help_text = "The whole id of a company, run, call or turn"
    search_order = {"company_id": ("-company_id", "-number")}
    ordering = ("-id",)


@admin.register(AuthorizationCounter)
class AuthorizationCounterAdmin(ReadOnlyAdmin):
    """How many records each company has."""

    list_display = ("company_id", "last_number")
    search_fields = ("company_id",)
    ordering = ("-company_id",)
