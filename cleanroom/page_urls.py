"""The address of the page; everything after `#` is the browser's business."""

from django.urls import path

from cleanroom import pages

urlpatterns = [path("", pages.chat, name="chat")]
