"""What comes in from a caller: strings that both databases can hold, and no secrets.

Callers above screen and redact as well, each for its own surface. Here nothing gets past that a command or a request
holds; what a runner reports is masked where its size is known to be bounded (`runlog`, `completion`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from mockcore.handlers.scene import CommandInvalid
from mockcore.masking import mask
from mockcore.text import clean


def cleaned(value: Any) -> Any:
    """Return one of our frozen values with clean strings and every secret masked. Raises `CommandInvalid`."""
    changed = {}
    for field in dataclasses.fields(value):
        old = getattr(value, field.name)
        new = cleaned(old) if dataclasses.is_dataclass(old) else mask(plain(old))
        if new != old:
            changed[field.name] = new
    return dataclasses.replace(value, **changed) if changed else value


def plain(value: Any) -> Any:
    """Return a JSON value with clean strings, and as yet with its secrets. Raises `CommandInvalid`."""
    try:
        return clean(value)
    except ValueError as error:
        raise CommandInvalid(str(error)) from error
