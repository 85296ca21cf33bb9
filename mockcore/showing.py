"""Door: how every house shows its rows in the admin: to be read, never touched, and fast at any number of rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any, cast

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet, TextField
from django.http import HttpRequest
from django.utils.functional import cached_property

COUNTED_ROWS = 10_000  # a list says at most this many: an exact count would read the whole table


class BoundedPaginator(Paginator):
    """A paginator that never counts more rows than `COUNTED_ROWS`."""

    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by().values("pk")[:COUNTED_ROWS].count()


class WordFilter(admin.SimpleListFilter):
    """A filter by one column that offers words known beforehand: Django's own would read the whole table for them."""

    words: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(word, word) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        word = self.value()
        return queryset.filter(**{str(self.parameter_name): word}) if word in self.words else queryset


def filter_by(column: str, words: Iterable[str]) -> type[WordFilter]:
    """Return a filter by a column that holds one of the given words."""
    attributes = {"title": column.replace("_", " "), "parameter_name": column, "words": tuple(map(str, words))}
    return type(f"{column}Filter", (WordFilter,), attributes)


class ReadOnlyAdmin(admin.ModelAdmin):
    """Nothing is added, changed, removed or run by hand.

    A list costs the same however many rows there are. So it is sorted by an index and nothing else, its filters know
    their words, it is searched for whole values, and long texts that no column shows are not read.
    """

    actions = None
    show_full_result_count = False
    paginator = BoundedPaginator
    list_per_page = 50
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows if _is_about_one(request) else rows.defer(*self._unseen())

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Keep the rows in which one of `search_fields` is exactly what was typed."""
        term = search_term.strip().replace("\0", "")
        fields = self.get_search_fields(request)
        if not term or not fields:
            return queryset, False
        return queryset.filter(reduce(or_, (Q(**{name: term}) for name in fields))), False

    def _unseen(self) -> list[str]:
        texts = (field.name for field in self.model._meta.concrete_fields if isinstance(field, TextField))
        return [name for name in texts if name not in self.list_display]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def _is_about_one(request: HttpRequest) -> bool:
    return request.resolver_match is not None and "object_id" in request.resolver_match.kwargs
