"""The addresses of the page and its icon; everything after `#` is the browser's business."""

from django.urls import path
from django.views.generic import RedirectView

from cleanroom import pages

TO_THE_CHAT = RedirectView.as_view(url="/#/chat")  # as people type it

urlpatterns = [
    path("", pages.chat, name="chat"),
    path("chat", TO_THE_CHAT),
    path("chat/", TO_THE_CHAT),
    path("favicon.ico", pages.icon),
]
