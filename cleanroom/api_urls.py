"""The routes below `/api/capability/ui/`."""

from django.urls import path, re_path

from cleanroom import api

urlpatterns = [
    path("cleanroom/session", api.CleanRoomSession.as_view()),
    path("message", api.Message.as_view()),
    path("interrupt", api.Interrupt.as_view()),
    path("reconnect", api.Reconnect.as_view()),
    path("reset", api.Reset.as_view()),
    path("interaction", api.Interaction.as_view()),
    re_path(r"^.*$", api.Elsewhere.as_view()),
]
