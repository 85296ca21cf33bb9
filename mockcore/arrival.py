"""What comes in from a caller, made of strings that both databases can hold."""

from __future__ import annotations

import dataclasses
from typing import Any

from mockcore.handlers.scene import CommandInvalid
from mockcore.text import clean


def cleaned(value: Any) -> Any:
    """Return one of our frozen values with strings that both databases can hold. Raises `CommandInvalid`."""
    changed = {}
    for field in dataclasses.fields(value):
        old = getattr(value, field.name)
        new = cleaned(old) if dataclasses.is_dataclass(old) else plain(old)
        if new != old:
            changed[field.name] = new
    return dataclasses.replace(value, **changed) if changed else value


def plain(value: Any) -> Any:
    """Return a JSON value likewise. Raises `CommandInvalid`."""
    try:
        return clean(value)
    except ValueError as error:
        raise CommandInvalid(str(error)) from error
