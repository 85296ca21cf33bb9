"""Every address of the project. Houses above are named as strings, so that this house imports none of them."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/capability/ui/", include("cleanroom.api_urls")),
    path("", include("cleanroom.page_urls")),
]
