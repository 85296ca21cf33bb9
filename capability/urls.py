"""Every address of the project. Houses above are named as strings, so that this house imports none of them."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/capability/ui/", include("cleanroom.api_urls")),
    path("", include("cleanroom.page_urls")),
]

# What no view answers: JSON below /api/, and a `Host` that is not ours named as admission names it.
handler400 = "capability.http.errors.bad_request"
handler404 = "capability.http.errors.not_found"
handler500 = "capability.http.errors.server_error"
