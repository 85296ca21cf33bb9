"""The operator's view of authorization records: read-only, newest first."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from capability.models import AuthorizationCounter, AuthorizationRecord


class ReadOnly(admin.ModelAdmin):
    """Nothing can be added, changed or deleted here."""

    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AuthorizationRecord)
class AuthorizationRecordAdmin(ReadOnly):
    """Who was allowed what, and why not. Inputs and results were redacted before they were stored."""

    list_display = ("public_id", "at", "company_id", "phase", "operation_id", "code", "turn_id", "call_id")
    list_filter = ("phase", "code", "operation_id")
    search_fields = ("company_id", "run_id", "call_id", "operation_id")
    ordering = ("-id",)


@admin.register(AuthorizationCounter)
class AuthorizationCounterAdmin(ReadOnly):
    """How many records each company has."""

    list_display = ("company_id", "last_number")
