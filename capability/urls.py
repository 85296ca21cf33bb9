"""Every address of the project. Houses above are named as strings, so that this house imports none of them."""

from typing import NoReturn

from django.contrib import admin
from django.http import Http404, HttpRequest
from django.urls import include, path


def absent(request: HttpRequest, rest: str = "") -> NoReturn:
    """Django's admin would let the operator change a password that stands in a file: it only shows."""
    raise Http404


urlpatterns = [
    path("admin/password_change/", absent),
    path("admin/password_change/<path:rest>", absent),
    path("admin/", admin.site.urls),
    path("api/capability/ui/", include("cleanroom.api_urls")),
    path("", include("cleanroom.page_urls")),
]

# What no view answers: JSON below /api/, and a `Host` that is not ours named as admission names it.
handler400 = "capability.http.errors.bad_request"
handler404 = "capability.http.errors.not_found"
handler500 = "capability.http.errors.server_error"
