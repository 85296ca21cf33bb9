"""What went wrong at the model's side, in our words. Pure.

A provider's text may hold keys, addresses and control characters, so it is only looked at to choose a code and one of
the sentences below, and goes no further.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A stable code and a safe sentence."""

    code: str
    message: str


LOGIN_REQUIRED = Failure(
    code="codex_login_required", message="The model's provider does not accept the login. Sign in to Codex again."
)
USAGE_LIMIT = Failure(code="usage_limit", message="The usage limit of the model's account is reached.")
CONTEXT_WINDOW = Failure(code="context_window", message="The conversation is longer than the model can take.")
BUSY = Failure(code="provider_error", message="The model's provider is overloaded or limits its requests.")
NO_CONNECTION = Failure(code="provider_error", message="The connection to the model was lost.")
OTHER = Failure(code="provider_error", message="The model's provider reported an error.")

BY_NAME = {
    "unauthorized": LOGIN_REQUIRED,
    "usageLimitExceeded": USAGE_LIMIT,
    "contextWindowExceeded": CONTEXT_WINDOW,
    "serverOverloaded": BUSY,
    "rateLimitExceeded": BUSY,
    "responseStreamDisconnected": NO_CONNECTION,
    "responseStreamConnectionFailed": NO_CONNECTION,
    "httpConnectionFailed": NO_CONNECTION,
}
BY_STATUS = {401: LOGIN_REQUIRED, 403: LOGIN_REQUIRED, 429: BUSY, 503: BUSY}

_STATUS = re.compile(r"\bunexpected status (\d{3})\b")  # 0.132.0 names the status of a final error only here


def classify(error: Any) -> Failure:
    """Return the failure for the `error` object of an `error` notification or of a failed turn."""
    if not isinstance(error, dict):
        return OTHER
    info = error.get("codexErrorInfo")
    name, details = next(iter(info.items()), ("", None)) if isinstance(info, dict) else (info, None)
    status = details.get("httpStatusCode") if isinstance(details, dict) else None
    if status is None:
        text = f"{error.get('message') or ''} {error.get('additionalDetails') or ''}"
        found = _STATUS.search(text)
        status = int(found.group(1)) if found else None
        if found is None and "stream disconnected before completion" in text:
            return BY_NAME.get(name, NO_CONNECTION) if isinstance(name, str) else NO_CONNECTION
    if isinstance(status, int) and status in BY_STATUS:
        return BY_STATUS[status]
    return BY_NAME.get(name, OTHER) if isinstance(name, str) else OTHER
