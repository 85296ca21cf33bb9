"""Django's handle on this house."""

from django.apps import AppConfig


class CleanroomConfig(AppConfig):
    name = "cleanroom"
    verbose_name = "Clean room"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the clean room's standing known, so that its recorded decisions can be explained."""
        from capability.profiles import known_profiles
        from cleanroom.exposure import PROFILE

        known_profiles.register(PROFILE)
