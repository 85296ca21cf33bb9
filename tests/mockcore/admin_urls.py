"""The admin alone, so that its pages are tested without the rest of the project."""

from django.contrib import admin
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]
