"""The one table from stable code to HTTP status, and the one place where an exception becomes an answer.

Every refusal is `{"error": code, "message": sentence}`. An unexpected error says nothing of itself: it has a reference
number, and its text stays in the server's log. Source: design section 12.
"""

from __future__ import annotations

import logging
import secrets
import sys
from typing import Any, Final

from django.core.exceptions import DisallowedHost, PermissionDenied, SuspiciousOperation
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response

from capability.http.admission import HostRefused
from mockcore.refusal import Refusal

logger = logging.getLogger(__name__)

API_PREFIX = "/api/"
DEFAULT_STATUS: Final = 409  # an anticipated "no": the request met a state that it does not fit

STATUS: Final[dict[str, int]] = {
    "invalid_json": 400,
    "invalid_request": 400,
    "message_empty": 400,
    "interaction_answer_invalid": 400,
    "interaction_outcome_invalid": 400,
    "invalid_resolution": 400,
    "semantic_command_invalid": 400,
    "origin_refused": 403,
    "fetch_metadata_refused": 403,
    "forbidden": 403,
    "unknown_session": 404,
    "unknown_route": 404,
    "interaction_missing": 404,
    "approval_missing": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "capability_unavailable": 409,
    "turn_active": 409,
    "already_terminal": 409,
    "stale_turn": 409,
    "interaction_already_resolved": 409,
    "approval_already_decided": 409,
    "follower_too_slow": 409,
    "message_too_large": 413,
    "request_too_large": 413,
    "unsupported_media_type": 415,
    "host_refused": 421,
    "turn_limit": 429,
    "internal_error": 500,
    "live_mode_required": 500,
    "seed_not_blank": 500,
    "harness_error": 502,
    "protocol_failure": 502,
    "reconciliation_failed": 502,
    "runnerd_unavailable": 503,
    "codex_unavailable": 503,
    "opening_busy": 503,
    "workspace_unavailable": 503,
    "database_busy": 503,
    "codex_login_required": 503,
}


# PostgreSQL: serialization_failure, deadlock_detected, lock_not_available. Source: its manual, appendix "Error Codes".
BUSY_SQLSTATES: Final = frozenset({"40001", "40P01", "55P03"})
BUSY_SQLITE: Final = ("SQLITE_BUSY", "SQLITE_LOCKED")  # and what is more specific; our own gate says it in words


class DatabaseBusy(Refusal):
    """Another process holds the database. Nothing was changed; try again."""

    # True because a command's changes are one transaction, and whatever comes after its commit reports a failure in
    # other words.
    code = "database_busy"
    retryable = True


class UnknownRoute(Refusal):
    """There is no such address."""

    code = "unknown_route"


FRAMEWORK: Final[tuple[tuple[type[Exception], str, str], ...]] = (
    (exceptions.MethodNotAllowed, "method_not_allowed", "This address does not take that method."),
    (exceptions.UnsupportedMediaType, "unsupported_media_type", "The body must be sent as application/json."),
    (exceptions.NotAcceptable, "not_acceptable", "Answers are application/json."),
    (exceptions.ParseError, "invalid_json", "The body is not valid JSON."),
    (exceptions.NotFound, "unknown_route", "There is no such address."),
    (Http404, "unknown_route", "There is no such address."),
    (exceptions.PermissionDenied, "forbidden", "That is not allowed."),
    (PermissionDenied, "forbidden", "That is not allowed."),
    (SuspiciousOperation, "invalid_request", "The request is malformed."),
)


def status_of(code: str) -> int:
    """Return the HTTP status of a stable code."""
    return STATUS.get(code, DEFAULT_STATUS)


def refused(refusal: Refusal) -> dict[str, Any]:
    """Return the body of the answer to a refusal, for views and for sockets."""
    return {"error": refusal.code, "message": refusal.message}


def answer(error: Exception, context: dict[str, Any]) -> Response:
    """Return the answer to an exception that a DRF view raised. It is DRF's `EXCEPTION_HANDLER`."""
    if isinstance(error, Refusal):
        return _refusal(error, context)
    for kind, code, message in FRAMEWORK:
        if isinstance(error, kind):
            return Response({"error": code, "message": message}, status=status_of(code))
    if is_busy(error):
        logger.warning("the database was held by others for longer than a request waits", exc_info=error)
        return Response(refused(DatabaseBusy()), status=status_of(DatabaseBusy.code))
    return Response(unexpected(error), status=500)


def is_busy(error: BaseException) -> bool:
    """Say whether the database refused work because of others, undoing the transaction: the same again may succeed."""
    if not isinstance(error, DatabaseError):
        return False
    cause = error.__cause__
    if getattr(cause, "sqlstate", None) in BUSY_SQLSTATES:
        return True
    return getattr(cause, "sqlite_errorname", "").startswith(BUSY_SQLITE) or "database is locked" in str(error)


def _refusal(error: Refusal, context: dict[str, Any]) -> Response:
    """Answer a refusal. When the outside world failed the operator reads why in the log, in place of a bare status."""
    response = Response(refused(error), status=status_of(error.code))
    if response.status_code >= 500:
        logger.error("%s %s: %s", context["request"].path, error.code, error.message)
        response._has_been_logged = True  # type: ignore[attr-defined]  # Django's own line names the status alone
    return response


def unexpected(error: BaseException | None) -> dict[str, Any]:
    """Log a bug under a reference number and return an answer that says nothing but that number."""
    reference = secrets.token_hex(6)
    logger.error("internal error, reference %s", reference, exc_info=error)
    message = "Something went wrong inside the server. Its log knows more under this reference."
    return {"error": "internal_error", "message": message, "reference": reference}


# ---------------------------------------------------------------- what no view answers: Django's three handlers
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django itself refuses. A `Host` that is not ours is named as admission would."""
    if isinstance(exception, DisallowedHost):
        return JsonResponse(refused(HostRefused()), status=status_of(HostRefused.code))
    if request.path.startswith(API_PREFIX):
        return JsonResponse({"error": "invalid_request", "message": "The request is malformed."}, status=400)
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that does not exist."""
    if request.path.startswith(API_PREFIX):
        return JsonResponse(refused(UnknownRoute()), status=404)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a bug outside of DRF's views."""
    if request.path.startswith(API_PREFIX):
        return JsonResponse(unexpected(sys.exc_info()[1]), status=500)
    return defaults.server_error(request)
