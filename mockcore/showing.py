"""Door: how every house shows its rows in the admin: to be read, never touched, and fast at any number of rows."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

COUNTED_ROWS = 10_000  # a list says at most this many: an exact count would read the whole table


class BoundedPaginator(Paginator):
    """A paginator that never counts more rows than `COUNTED_ROWS`."""

    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by().values("pk")[:COUNTED_ROWS].count()


class ReadOnlyAdmin(admin.ModelAdmin):
    """Nothing is added, changed, removed or run by hand."""

    actions = None
    show_full_result_count = False
    paginator = BoundedPaginator
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
