"""Door: how every house shows its rows in the admin: to be read, never touched, and fast at any number of rows.

A list is asked by the filters it declares, by its search and by a page. Whatever else an address names is refused in
words: a column that no filter offers is one that no index serves, and a lookup that Django would run on it can fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, ClassVar, cast

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ALL_VAR, PAGE_VAR, SEARCH_VAR
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet, TextField
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property

from mockcore.refusal import Refusal

COUNTED_ROWS = 10_000  # a list says at most this many: an exact count would read the whole table


NOTHING = "none"  # how a filter calls an empty column
ALWAYS_ASKED = frozenset({SEARCH_VAR, PAGE_VAR, ALL_VAR})


class ListRefused(Refusal):
    """This list cannot be asked that."""

    code = "list_refused"


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
        return [(word, word or NOTHING) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        word = self.value()
        if word is not None and word not in self.words:
            raise ListRefused(
                f"No row has that {self.title}. Known are: {', '.join(one or NOTHING for one in self.words)}."
            )
        return queryset if word is None else queryset.filter(**{str(self.parameter_name): word})


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
    search_order: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # by what is found: the order its index has them in
    show_facets = admin.ShowFacets.NEVER  # a facet counts the whole table

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, or say with a 400 why it cannot be asked that."""
        try:
            return super().changelist_view(request, extra_context)
        except ListRefused as refusal:
            words = {"title": "That cannot be asked", "opts": self.opts, "code": refusal.code, "why": refusal.message}
            context = {**self.admin_site.each_context(request), **words}
            return TemplateResponse(request, "admin/refused.html", context, status=400)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the list as asked. Raises `ListRefused`."""
        declared = {str(one.parameter_name) for one in cast("list[type[WordFilter]]", self.get_list_filter(request))}
        unknown = sorted(set(request.GET) - declared - ALWAYS_ASKED)
        if unknown:
            offered = ", ".join(sorted(declared)) or "none"
            raise ListRefused(f"This list has no filter “{unknown[0][:80]}”. Its filters are: {offered}.")
        try:
            return super().get_changelist_instance(request)
        except IncorrectLookupParameters as error:
            raise ListRefused("This list has no such page.") from error

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows if _is_about_one(request) else rows.defer(*self._unseen())

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Keep the rows in which one of `search_fields` is exactly what was typed, newest first.

        Each column is asked by itself whether it holds that: so the list is read by the one index that finds it, in the
        order of that index, and never sorted.
        """
        term, fields = search_term.strip(), self.get_search_fields(request)
        if not term or not fields:
            return queryset, False
        holding = [name for name in fields if queryset.filter(**{name: term}).exists()]
        if not holding:
            return queryset.none(), False
        found = queryset.filter(reduce(or_, (Q(**{name: term}) for name in holding)))
        order = self.search_order.get(holding[0]) if len(holding) == 1 else None
        return (found.order_by(*order) if order else found), False

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
