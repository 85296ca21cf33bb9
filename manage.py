#!/usr/bin/env python
"""Start Django's command line with this project's settings."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "capability.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
