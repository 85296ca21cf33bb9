"""The admin shows every model of every house and changes none."""

from __future__ import annotations

import functools
import time

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.staticfiles import finders
from django.db import connection, transaction
from django.db.models import Model, UniqueConstraint
from django.templatetags.static import static
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from capability.models import AuthorizationCounter
from tests.many_rows import add_many

HOUSES = ("mockcore", "capability", "evidence", "cleanroom")
MODELS = [model for house in HOUSES for model in apps.get_app_config(house).get_models()]


@pytest.mark.requirement("admin.read-only")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_model_is_registered_and_cannot_be_touched(model: type[Model]) -> None:
    registered = admin.site._registry[model]
    request = RequestFactory().get("/admin/")
    request.user = get_user_model()(is_superuser=True, is_staff=True, is_active=True)
    assert registered.has_view_permission(request)
    assert not registered.has_add_permission(request)
    assert not registered.has_change_permission(request)
    assert not registered.has_delete_permission(request)
    assert "delete_selected" not in registered.get_actions(request)
    assert registered.show_full_result_count is False


@pytest.mark.requirement("admin.lists")
@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_list_opens_for_the_operator_and_for_nobody_else(model: type[Model], client: Client) -> None:
    address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    assert client.get(address).status_code == 302
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    answer = client.get(address)
    assert answer.status_code == 200
    assert b"Select all" not in answer.content


def list_queries(client: Client, model: type[Model]) -> list[str]:
    """Open a list and return the SQL it took."""
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(f"/admin/{model._meta.app_label}/{model._meta.model_name}/")
    assert answer.status_code == 200
    return [query["sql"] for query in captured.captured_queries]


@pytest.mark.requirement("admin.lists.bounded")
@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_list_takes_as_many_queries_for_sixty_rows_as_for_two(model: type[Model], client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    with transaction.atomic():
        add_many(model, 2)
        few = list_queries(client, model)
        add_many(model, 58, first=2)
        many = list_queries(client, model)
        assert model._default_manager.count() == 60
        transaction.set_rollback(True)
    assert len(few) == len(many) <= 6
    assert not any("DISTINCT" in sql for sql in many), "a filter reads the whole table for its words"


@pytest.mark.requirement("admin.lists.bounded")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_list_is_sorted_by_an_index(model: type[Model]) -> None:
    registered = admin.site._registry[model]
    ordering = [str(name) for name in (registered.ordering or model._meta.ordering)]
    assert len({name.startswith("-") for name in ordering}) == 1, "an index is read in one direction"
    fields = [model._meta.pk.name if name == "pk" else name for name in (name.lstrip("-") for name in ordering)]
    attnames = [model._meta.get_field(name).attname for name in fields]
    assert attnames == [model._meta.pk.attname] or attnames in unique_together(model)
    assert registered.sortable_by == ()


def unique_together(model: type[Model]) -> list[list[str]]:
    constraints = [c for c in model._meta.constraints if isinstance(c, UniqueConstraint) and c.condition is None]
    return [[model._meta.get_field(name).attname for name in constraint.fields] for constraint in constraints]


@pytest.mark.requirement("admin.lists.bounded")
@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_list_can_be_filtered_by_each_word_and_searched_for_a_whole_id(model: type[Model], client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    registered = admin.site._registry[model]
    for chosen in registered.list_filter:
        for word in getattr(chosen, "words", ())[:2]:
            assert client.get(address, {chosen.parameter_name: word}).status_code == 200
    with transaction.atomic():
        add_many(model, 3)
        row = model._default_manager.first()
        for name in registered.search_fields:
            whole = str(functools.reduce(getattr, name.split("__"), row) or "")
            found = client.get(address, {"q": whole}).context["cl"].result_list
            assert not whole or row in found
            assert not client.get(address, {"q": f"{whole}?"}).context["cl"].result_list
        transaction.set_rollback(True)


@pytest.mark.soak
@pytest.mark.requirement("admin.lists.bounded")
@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_list_of_a_hundred_thousand_rows_opens_within_half_a_second(model: type[Model], client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    address, took = f"/admin/{model._meta.app_label}/{model._meta.model_name}/", {}
    registered = admin.site._registry[model]
    asked = {"list": {}, "page 150": {"p": "150"}, "search": {"q": "company-7/thing-7"}, "nothing found": {"q": "none"}}
    filters = [chosen for chosen in registered.list_filter if hasattr(chosen, "words")]
    asked |= {f"by {chosen.parameter_name}": {chosen.parameter_name: chosen.words[-1]} for chosen in filters}
    with transaction.atomic():
        add_many(model, 100_000)
        client.get(address)
        for name, query in asked.items():
            started = time.perf_counter()
            assert client.get(address, query).status_code == 200
            took[name] = round((time.perf_counter() - started) * 1000)
        transaction.set_rollback(True)
    print(connection.vendor, model.__name__, took)
    assert max(took.values()) <= 500, took


@pytest.mark.django_db
def test_no_page_of_the_admin_offers_what_does_not_belong_to_one_that_only_shows(client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    AuthorizationCounter.objects.create(company_id="company-1", last_number=1)
    row = "/admin/capability/authorizationcounter/company-1/change/"
    for address in ("/admin/", "/admin/mockcore/", "/admin/mockcore/task/", row):
        page = client.get(address).content.decode()
        assert "Log out" in page
        for absent in ("Change password", "password_change", "Recent actions", "/history/"):
            assert absent not in page, (address, absent)


@pytest.mark.django_db
@pytest.mark.requirement("admin.read-only")
@pytest.mark.parametrize("address", ["/admin/password_change/", "/admin/password_change/done/"])
def test_the_operators_password_is_not_changed_by_a_page(address: str, client: Client) -> None:
    operator = get_user_model().objects.create_superuser("operator", password="FAKE-operator")
    client.force_login(operator)
    passwords = {"old_password": "FAKE-operator", "new_password1": "FAKE-other-1", "new_password2": "FAKE-other-1"}
    assert (client.get(address).status_code, client.post(address, passwords).status_code) == (404, 404)
    operator.refresh_from_db()
    assert operator.check_password("FAKE-operator")


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/admin/login/", "/admin/", "/admin/mockcore/task/"])
def test_every_page_names_an_icon_that_is_there(address: str, client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator", password="FAKE-operator"))
    page = client.get(address, follow=True).content.decode()
    assert f'<link rel="icon" type="image/svg+xml" href="{static("cleanroom/icon.svg")}">' in page
    assert client.get("/favicon.ico").headers["Location"] == static("cleanroom/icon.svg")
    assert finders.find("cleanroom/icon.svg")
