"""Strict JSON in: one object, UTF-8, no doubled names, no NaN, bounded in size and depth.

Source: design section 12 ("Methods and bodies"), cases T47.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.conf import settings
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from mockcore.refusal import Refusal

MAX_DEPTH = 32  # of objects and lists in a body; ours need four


class InvalidJson(Refusal):
    """The body is not one JSON object."""

    code = "invalid_json"


class InvalidRequest(Refusal):
    """A field of the body is missing or of the wrong kind."""

    code = "invalid_request"


class RequestTooLarge(Refusal):
    """The body is larger than this server reads."""

    code = "request_too_large"


class StrictJSONParser(BaseParser):
    """DRF's parser for every route: `application/json` with any parameters, in any case; else DRF answers 415."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the body as a dictionary. Raises `RequestTooLarge`, `InvalidJson`."""
        request = (parser_context or {}).get("request")
        declared = request.META.get("CONTENT_LENGTH") if request is not None else None
        return read_object(stream, declared=declared)


def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request's body. Raises `RequestTooLarge`, `InvalidJson`, DRF's 415.

    DRF takes a body without a length (none at all, or sent in chunks) for an empty form; here it is read.
    """
    if request.stream is not None:
        data = request.data
        return data if isinstance(data, dict) else read_object(request._request, declared=None)
    return read_object(request._request, declared=None)


def read_object(stream: Any, *, declared: str | None) -> dict[str, Any]:
    """Read and parse at most the allowed number of bytes, refusing by the declared length before reading."""
    limit = settings.API_MAX_BODY_BYTES
    too_large = RequestTooLarge(f"The body has more than {limit:,} bytes.")
    if declared and declared.isdigit() and int(declared) > limit:
        raise too_large
    body = stream.read(limit + 1)
    if len(body) > limit:
        raise too_large
    return parsed(body)


def parsed(body: bytes) -> dict[str, Any]:
    """Return the one JSON object in `body`. Raises `InvalidJson` with what is wrong."""
    try:
        source = body.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidJson("The body is not UTF-8.") from None
    if source.startswith("\ufeff"):
        raise InvalidJson("The body starts with a byte order mark.")
    try:
        value = json.loads(source, object_pairs_hook=_unique, parse_constant=_not_a_number, parse_float=_finite)
    except RecursionError:
        raise InvalidJson(f"The body is nested more than {MAX_DEPTH} levels deep.") from None
    except ValueError:
        raise InvalidJson from None
    if not isinstance(value, dict):
        raise InvalidJson("The body must be a JSON object.")
    _check(value, depth=1)
    return value


def _check(value: Any, *, depth: int) -> None:
    """Refuse deep nesting, and texts that are none: half of a surrogate pair cannot be stored or sent again."""
    if isinstance(value, str):
        if not value.isascii() and not _is_text(value):
            raise InvalidJson("A text in the body is not valid Unicode.")
        return
    if not isinstance(value, (dict, list)):
        return
    if depth > MAX_DEPTH:
        raise InvalidJson(f"The body is nested more than {MAX_DEPTH} levels deep.")
    for item in value.values() if isinstance(value, dict) else value:
        _check(item, depth=depth + 1)
    if isinstance(value, dict):
        for name in value:
            _check(name, depth=depth)


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return value


# ---------------------------------------------------------------- fields of a body
def text(body: Any, name: str, *, required: bool = True) -> Any:
    """Return a text field of a parsed body; None when it is absent and not required. Raises `InvalidRequest`."""
    if not isinstance(body, Mapping):
        raise InvalidJson
    value = body.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} must be a text.")
    return value


def only(body: Mapping[str, Any], *names: str) -> None:
    """Refuse a body with any other field: a working directory, a credential. Raises `InvalidRequest`."""
    if set(body) - set(names):
        raise InvalidRequest(f"The body may hold {', '.join(names)} and nothing else.")
