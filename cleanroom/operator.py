"""The operator's account for the admin: made once, with a random password that only a private file holds."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model

from capability.redaction import register_secret

NAME = "operator"


def ensure_operator() -> Path:
    """Make the account if there is none and return the file (0600) that holds its password."""
    path = Path(settings.VAR_DIR) / "operator-password"
    users = get_user_model().objects
    if path.exists() and users.filter(username=NAME).exists():
        register_secret(path.read_text().strip())
        return path
    password = secrets.token_urlsafe(18)
    register_secret(password)
    users.filter(username=NAME).delete()
    users.create_superuser(username=NAME, password=password)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(password + "\n")
    return path
