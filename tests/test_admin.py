"""The admin shows every model of every house and changes none."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.test import Client, RequestFactory

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
