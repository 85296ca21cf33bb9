"""What every answer carries: a content policy with a fresh nonce, and headers that keep it to itself.

Source: architecture notes, section E.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

PAGE = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'{socket}; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; "
    "require-trusted-types-for 'script'; trusted-types dompurify"
)
# Django's admin sets styles and inner HTML of its own, so it has no trusted types.
ADMIN = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
DATA = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
ADMIN_PREFIX = "/admin/"
ALWAYS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "X-Content-Type-Options": "nosniff",
}
PLAIN_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,255}")

Answer = HttpResponseBase


class ContentPolicy:
    """Middleware: `request.csp_nonce` for the inline scripts of a page, and the policy that allows only them.

    Synchronous, as all of ours: `capability.http.handler`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], Answer]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> Answer:
        request.csp_nonce = secrets.token_urlsafe(16)  # type: ignore[attr-defined]
        return with_policy(request, self._get_response(request))


def with_policy(request: HttpRequest, response: Answer) -> Answer:
    """Add the headers to an answer. What the view set stays."""
    for name, value in ALWAYS.items():
        response.headers.setdefault(name, value)
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/json"):
        response.headers.setdefault("Cache-Control", "no-store")
        policy = DATA if kind == "application/json" else _page_policy(request)
        response.headers.setdefault("Content-Security-Policy", policy)
    return response


def _page_policy(request: HttpRequest) -> str:
    nonce = request.csp_nonce  # type: ignore[attr-defined]
    if request.path.startswith(ADMIN_PREFIX):
        return ADMIN.format(nonce=nonce)
    host = request.META.get("HTTP_HOST", "")
    # Not every browser takes 'self' for a socket of the same host.
    socket = f" ws://{host}" if PLAIN_HOST.fullmatch(host) else ""
    return PAGE.format(nonce=nonce, socket=socket)
