"""Every list of the admin is read by an index, in the order of that index, as the database's own plan says."""

from __future__ import annotations

import functools
import re

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.many_rows import add_many
from tests.test_admin import MODELS

# With a few rows PostgreSQL rather reads them all. Told not to, it still does where no index would serve.
ONLY_INDEXES = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; "
    "SET LOCAL enable_incremental_sort = off"
)
SORTED = re.compile(r"TEMP B-TREE|\bSort\b|Sort Key")
WHOLE = re.compile(r"^SCAN (?!subquery)|Seq Scan")


def questions(model: type[Model]) -> dict[str, dict[str, str]]:
    """Return what the list of a model can be asked, by name: each word of each filter, each column of the search."""
    registered, row = admin.site._registry[model], model._default_manager.first()
    asked = {"list": {}, "page 2": {"p": "2"}}
    for one in registered.list_filter:
        asked |= {
            f"{one.parameter_name} is {word!r}": {one.parameter_name: word} for word in (one.words[0], one.words[-1])
        }
    for name in registered.search_fields:
        asked[f"search for its {name}"] = {"q": str(functools.reduce(getattr, name.split("__"), row) or "nothing")}
    return asked | ({"search for nothing": {"q": "nothing-of-that-name"}} if registered.search_fields else {})


def plans_of(client: Client, model: type[Model], query: dict[str, str]) -> list[list[str]]:
    """Return the plan of each statement that reads rows of the model for its list."""
    address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address, query).status_code == 200
    read = [one["sql"] for one in captured.captured_queries if f'"{model._meta.db_table}"' in one["sql"]]
    assert read
    return [plan_of(sql) for sql in read]


def plan_of(sql: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(("EXPLAIN " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN ") + sql)
        return [str(row[-1]) for row in cursor.fetchall()]


@pytest.mark.requirement("admin.lists.bounded")
@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_list_reads_or_sorts_its_whole_table_whatever_it_is_asked(model: type[Model], client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    bad = []
    with transaction.atomic():
        add_many(model, 60)
        if connection.vendor == "postgresql":
            connection.cursor().execute(ONLY_INDEXES)
        for name, query in questions(model).items():
            narrowed = not {"p"}.issuperset(query)
            for plan in plans_of(client, model, query):
                sorts = any(SORTED.search(line) for line in plan)
                reads_all = narrowed and any(WHOLE.search(line) for line in plan)
                bad += [f"{name}: {plan}"] if sorts or reads_all else []
        transaction.set_rollback(True)
    assert bad == []


@pytest.mark.requirement("admin.lists.bounded")
@pytest.mark.django_db
def test_the_plan_of_a_list_without_its_index_would_be_found_bad() -> None:
    table = '"mockcore_task"'
    if connection.vendor == "postgresql":
        connection.cursor().execute(ONLY_INDEXES)
    assert any(SORTED.search(line) for line in plan_of(f"SELECT uid FROM {table} ORDER BY description DESC"))
    assert any(WHOLE.search(line) for line in plan_of(f"SELECT uid FROM {table} WHERE description = 'x'"))


@pytest.mark.requirement("admin.lists.bounded")
@pytest.mark.django_db
def test_what_two_columns_hold_is_found_in_both(client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    model = next(one for one in MODELS if one.__name__ == "AuditRecord")
    with transaction.atomic():
        add_many(model, 3)
        newest = model._default_manager.order_by("-pk").first()
        add_many(model, 1, first=3)
        QuerySet(model).filter(pk=newest.pk + 1).update(entity_id=newest.company_id)  # its own manager changes nothing
        found = client.get("/admin/mockcore/auditrecord/", {"q": newest.company_id}).context["cl"].result_list
        assert [row.pk for row in found] == [newest.pk + 1, newest.pk]
        transaction.set_rollback(True)
