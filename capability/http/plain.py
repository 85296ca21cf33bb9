"""What reaches the operator's pages is text that both databases can hold; anything else is a 400 before it is read.

PostgreSQL stores no NUL, and neither driver encodes half a surrogate pair. So an address, a query or a
cookie with one of them can name nothing that is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from capability.http.pages import ADMIN_PREFIX

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})  # a browser's forms name none, or the first
REFUSED = "invalid_request: The request holds characters that are no text.\n"

Answer = HttpResponseBase


class PlainText:
    """Middleware that refuses, below the admin's address, what no database could be asked for.

    Synchronous, as all of ours: `capability.http.handler`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], Answer]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> Answer:
        return refusal(request) or self._get_response(request)


def refusal(request: HttpRequest) -> Answer | None:
    """Return the answer to a request for the admin that is no plain text, or None."""
    if not request.path_info.startswith(ADMIN_PREFIX) or is_plain(request):
        return None
    return HttpResponse(REFUSED, status=400, content_type="text/plain; charset=utf-8")


def is_plain(request: HttpRequest) -> bool:
    """Say whether address, query and cookies can be asked of a database. The charset first: the query is read by it."""
    if (request.encoding or "utf-8").lower() not in CHARSETS:
        return False
    return not any(UNSTORABLE.search(text) for text in _texts(request))


def _texts(request: HttpRequest) -> Iterator[str]:
    yield request.path_info
    yield from request.COOKIES.values()
    for name, values in request.GET.lists():
        yield name
        yield from values
