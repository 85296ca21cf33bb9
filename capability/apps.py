"""Django's handle on this house."""

from django.apps import AppConfig


class CapabilityConfig(AppConfig):
    name = "capability"
    verbose_name = "Semantic boundary"
    default_auto_field = "django.db.models.BigAutoField"
