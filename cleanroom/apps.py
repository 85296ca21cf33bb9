"""Django's handle on this house."""

from django.apps import AppConfig


class CleanroomConfig(AppConfig):
    name = "cleanroom"
    verbose_name = "Clean room"
    default_auto_field = "django.db.models.BigAutoField"
