"""Whatever an address of the admin asks, the answer is a page or a no in words: never a failure of the server."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from urllib.parse import quote, urlencode

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model
from django.test import Client

from capability.models import AuthorizationRecord
from mockcore.models import Task
from mockcore.showing import WordFilter
from tests.many_rows import add_many
from tests.test_admin import MODELS

HOSTILE = (
    *("x", "", "-1", "9" * 30, "9" * 5_000, "NaN", "(((", "%", "' OR 1=1 --", "<script>", "a/b", "a,b"),
    *("2026-13-45", "\N{PILE OF POO}" * 50, "\ufffd"),
)
LOOKUPS = (
    *("exact", "iexact", "contains", "icontains", "startswith", "gt", "lte", "in", "range", "isnull", "regex"),
    *("iregex", "year", "date", "hour", "iso_year", "isempty", "length", "pk", "nonsense", "0", ""),
)
OWN = ("p", "q", "o", "all", "e", "ot", "_facets", "_popup", "_to_field", "_changelist_filters", "action")
ANSWERED = {200, 302, 400, 404}


@pytest.fixture
def operator(client: Client, db: None) -> Client:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    client.raise_request_exception = False
    return client


@pytest.fixture
def three_rows(request: pytest.FixtureRequest, db: None) -> Iterable[type[Model]]:
    with transaction.atomic():
        add_many(request.param, 3)
        yield request.param
        transaction.set_rollback(True)


every_list = pytest.mark.parametrize("three_rows", MODELS, ids=lambda model: model.__name__, indirect=True)


def list_of(model: type[Model]) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def declared(model: type[Model]) -> list[str]:
    """Return the parameters of a model's filters. Each is a `WordFilter`: Django's own take any value."""
    filters = admin.site._registry[model].list_filter
    assert all(isinstance(one, type) and issubclass(one, WordFilter) for one in filters)
    return [str(one.parameter_name) for one in filters]


def failures(operator: Client, addresses: Iterable[str]) -> list[str]:
    """Return what was not answered as a page, a redirection or a no."""
    answers = ((address, operator.get(address).status_code) for address in addresses)
    return [f"{status} {address[:200]}" for address, status in answers if status not in ANSWERED]


def undeclared(model: type[Model]) -> list[str]:
    """Return parameters that no filter declares: each column by itself and by one lookup, so that all lookups occur."""
    columns = [field.name for field in model._meta.get_fields()]
    names = [f"{column}__{lookup}" for column, lookup in zip(columns, itertools.cycle(LOOKUPS), strict=False)]
    return sorted({*columns, *names, "pk", "nonsense", ""} - {*declared(model)})


@pytest.mark.requirement("admin.lists")
@every_list
def test_no_column_is_asked_for_that_no_filter_declares(three_rows: type[Model], operator: Client) -> None:
    address = list_of(three_rows)
    for name in undeclared(three_rows):
        answer = operator.get(address, {name: "1"})
        assert answer.status_code == 400, name
    assert "no filter" in answer.content.decode()


@pytest.mark.requirement("admin.lists")
@every_list
def test_every_list_answers_any_value_of_what_may_be_asked(three_rows: type[Model], operator: Client) -> None:
    address = list_of(three_rows)
    asked = [(name, value) for name in (*declared(three_rows), "q") for value in HOSTILE]
    assert failures(operator, (f"{address}?{urlencode([one])}" for one in asked)) == []
    assert failures(operator, (f"{address}?{name}=a%00b" for name in (*declared(three_rows), "q"))) == []


@pytest.mark.requirement("admin.lists")
@pytest.mark.parametrize("three_rows", [Task, AuthorizationRecord], indirect=True)
def test_what_django_itself_reads_from_an_address_is_answered_or_refused(three_rows, operator: Client) -> None:
    address = list_of(three_rows)
    asked = [(name, value) for name in OWN for value in ("1", *HOSTILE)]
    assert failures(operator, (f"{address}?{urlencode([one])}" for one in asked)) == []
    for name in {*OWN} - {"p", "q", "all"}:
        assert operator.get(address, {name: "1"}).status_code == 400, name


@pytest.mark.requirement("admin.lists")
@every_list
def test_every_address_of_an_object_is_answered_whatever_it_names(three_rows: type[Model], operator: Client) -> None:
    ids = [quote(value, safe="") for value in HOSTILE if value and len(value) < 1_000]
    ids += ["%00", "a%00b", "%ED%A0%80", "_00", "company-0%2Fthing-0%00"]
    pages = [f"{list_of(three_rows)}{id}/change/" for id in ids]
    pages += [f"{list_of(three_rows)}{id}/{page}" for id in ids[-5:] for page in ("", "history/")]
    assert failures(operator, pages) == []


@pytest.mark.requirement("admin.lists")
def test_every_other_page_of_the_admin_is_answered_too(operator: Client) -> None:
    places = (
        "",
        "mockcore/",
        "r/%00/%00/",
        "r/1/%00/",
        f"r/{'9' * 30}/1/",
        "jsi18n/",
        "autocomplete/",
        "login/",
        "%00/",
    )
    queries = (
        "",
        "?next=%00",
        "?x=%00",
        "?app_label=mockcore&model_name=task&field_name=parent&term=%00",
        "?app_label=a",
    )
    asked = [f"/admin/{place}{query}" for place in places for query in queries]
    assert [one for one in failures(operator, asked) if not one.startswith("403")] == []


@pytest.mark.requirement("admin.lists")
def test_a_query_in_another_encoding_and_a_cookie_that_is_no_text_are_refused(operator: Client) -> None:
    address = list_of(Task)
    for charset in ("raw_unicode_escape", "utf-7", "latin-1"):
        kind = f"application/x-www-form-urlencoded; charset={charset}"
        assert operator.get(f"{address}?q=%5Cud800", CONTENT_TYPE=kind).status_code == 400
    assert operator.get(address, CONTENT_TYPE="text/html; charset=UTF-8").status_code == 200
    operator.cookies["capability_operator"] = "\0" * 32
    assert operator.get(address).status_code == 400


@pytest.mark.requirement("admin.lists")
@pytest.mark.parametrize("three_rows", [AuthorizationRecord], indirect=True)
def test_a_refused_question_is_told_what_could_be_asked(three_rows: type[Model], operator: Client) -> None:
    address = list_of(three_rows)
    told = operator.get(address, {"at__year": "99999999"}).content.decode()
    assert "no filter “at__year”. Its filters are: code, operation_id, phase." in told
    told = operator.get(address, {"phase": "elsewhere"}).content.decode()
    assert "No row has that phase. Known are: exposure, invocation." in told
    assert "list_refused" in told
    assert f'href="{address}"' in told
    add_many(three_rows, 60, first=3)
    assert "no such page" in operator.get(address, {"p": "9"}).content.decode()
