#!/usr/bin/env python
"""Start Django's command line with this project's settings. A wrong setting is one line, never a traceback."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "capability.settings")
    try:
        from django.conf import settings
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        sys.exit("Django is not installed for this Python. Run `make demo` once, then use .venv/bin/python manage.py …")
    try:
        _ = settings.INSTALLED_APPS  # reads them all
    except ImproperlyConfigured as error:
        sys.exit(f"Configuration error: {error}.")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
