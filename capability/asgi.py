"""The composition root: the one module that may know every house."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "capability.settings")

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

http = get_asgi_application()

from cleanroom.streams import socket_urls

application = ProtocolTypeRouter({"http": http, "websocket": URLRouter(socket_urls)})
