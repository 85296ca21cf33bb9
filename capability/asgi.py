"""The composition root: the one module that may know every house."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter

from capability.http import handler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "capability.settings")
http = handler.application()  # loads the apps: what follows may name their models

from cleanroom.streams import socket_urls  # noqa: E402

application = ProtocolTypeRouter({"http": http, "websocket": URLRouter(socket_urls)})
