"""Secrets neither enter the rows of a company nor leave them for a page: the one redactor of the project masks them.

This house knows no other, so the setting `MOCKCORE_REDACTOR` names the redactor as a string. It takes a JSON value and
returns a copy of the same shape; what it masks twice it masks once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from mockcore.text import canonical


def mask(value: Any) -> Any:
    """Return a JSON value with every secret in it masked. What is no JSON value is returned as it is.

    That is refused wherever a value is stored; made a text of, it would be taken.
    """
    if isinstance(value, tuple):
        return tuple(mask(list(value)))
    return _redactor()(value) if _is_json(value) else value


def _is_json(value: Any) -> bool:
    if value is None or isinstance(value, str | int | float):
        return True
    try:
        canonical(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


@cache
def _redactor() -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = import_string(settings.MOCKCORE_REDACTOR)
    return found
