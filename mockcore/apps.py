"""Django's handle on this house."""

from django.apps import AppConfig


class MockcoreConfig(AppConfig):
    name = "mockcore"
    verbose_name = "Mock company"
    default_auto_field = "django.db.models.BigAutoField"
