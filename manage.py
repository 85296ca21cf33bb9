#!/usr/bin/env python
"""Start Django's command line with this project's settings."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "capability.settings")
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        sys.exit("Django is not installed for this Python. Run `make demo` once, then use .venv/bin/python manage.py …")
    execute_from_command_line(sys.argv)
