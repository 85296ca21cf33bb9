"""Django behind ASGI with one change of thread for each request.

All our views and most middlewares are synchronous. Django's own ASGI handler runs such a stack by changing threads
twice for each middleware, which costs more than the view. Here the whole stack runs synchronously in the one thread
that `capability.serve.KeptThreads` lends to the request. An asynchronous view would be run on a loop of its own:
streams are served beside Django, not through it.
"""

from __future__ import annotations

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneHopHandler(ASGIHandler):
    """`ASGIHandler` whose middlewares and views run in one synchronous call."""

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


def application() -> OneHopHandler:
    """Load the apps and return the handler of HTTP requests."""
    django.setup(set_prefix=False)
    return OneHopHandler()
