"""Django's handle on this house."""

from django.apps import AppConfig


class CapabilityConfig(AppConfig):
    name = "capability"
    verbose_name = "Semantic boundary"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import the catalog, so that a projection that drifted from the registry stops every command at its start."""
        import capability.catalog  # noqa: F401
