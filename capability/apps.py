"""Django's handle on this house."""

from django.apps import AppConfig


class CapabilityConfig(AppConfig):
    name = "capability"
    verbose_name = "Semantic boundary"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import the catalog, so that a projection that drifted from the registry stops every command at its start.

        And mask the server's own key wherever it might turn up.
        """
        from django.conf import settings

        import capability.catalog  # noqa: F401
        from capability.redaction import register_secret

        register_secret(settings.SECRET_KEY)
