"""The seven session routes: read the request, make one call, answer. No decision stands here.

Source: clean-room seed, "Session lifecycle". Shapes: `ARCHITECTURE.md`, "HTTP". Refusals: `capability/http/errors.py`.
"""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from capability.http import wire
from capability.http.admission import admit_request
from capability.http.errors import UnknownRoute
from cleanroom import sessions
from cleanroom.access import cookie_name
from cleanroom.models import Surface

CLIENT_MESSAGE_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


class ConsoleView(APIView):
    """What every route shares: admission before anything else, and the browser's capability."""

    http_method_names = ["get", "post"]  # HEAD would open a room, OPTIONS describe this code

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        admit_request(request._request)
        super().initial(request, *args, **kwargs)

    def body(self, request: Request, *names: str) -> dict[str, Any]:
        """Return the body, which may hold these fields and no others: nobody hands in a directory or a credential."""
        body = wire.body_of(request)
        wire.only(body, *names)
        return body

    def presented(self, request: Request) -> str | None:
        return request.COOKIES.get(cookie_name(Surface.CLEANROOM))


class CleanRoomSession(ConsoleView):
    """Open or reconnect (GET), or start a new chat (POST)."""

    def get(self, request: Request) -> Response:
        opened = sessions.open_room(session_id=request.query_params.get("sessionId"), presented=self.presented(request))
        return _with_cookie(Response(opened.payload), opened.cookie)

    def post(self, request: Request) -> Response:
        body = self.body(request, "sessionId")
        session_id = wire.text(body, "sessionId", required=False)
        opened = sessions.new_chat(session_id=session_id, presented=self.presented(request))
        return _with_cookie(Response(opened.payload, status=201), opened.cookie)


class Message(ConsoleView):
    """Send one message: 202 with its turn and the cursor to follow from; the same again for the same client's id."""

    def post(self, request: Request) -> Response:
        body = self.body(request, "sessionId", "message", "clientMessageId")
        sent = sessions.send_message(
            session_id=wire.text(body, "sessionId"),
            presented=self.presented(request),
            text=wire.text(body, "message"),
            client_message_id=_client_message_id(body),
        )
        return Response(_sent(sent), status=202)


class Interrupt(ConsoleView):
    """Ask the running turn to stop."""

    def post(self, request: Request) -> Response:
        session_id = wire.text(self.body(request, "sessionId"), "sessionId")
        cursor = sessions.interrupt(session_id=session_id, presented=self.presented(request))
        return Response({"sessionId": session_id, "cursor": cursor}, status=202)


class Reconnect(ConsoleView):
    """Replace the runner and resume the same thread."""

    def post(self, request: Request) -> Response:
        session_id = wire.text(self.body(request, "sessionId"), "sessionId")
        return Response(sessions.reconnect(session_id=session_id, presented=self.presented(request)).payload)


class Reset(ConsoleView):
    """Retire the room and answer its replacement."""

    def post(self, request: Request) -> Response:
        session_id = wire.text(self.body(request, "sessionId"), "sessionId")
        opened = sessions.reset(session_id=session_id, presented=self.presented(request))
        return _with_cookie(Response(opened.payload), opened.cookie)


class Interaction(ConsoleView):
    """Answer a card: the outcome is stored first, then the same thread resumes."""

    def post(self, request: Request) -> Response:
        body = self.body(request, "sessionId", "interactionId", "outcome", "result")
        interaction_id = wire.text(body, "interactionId")
        sent = sessions.resolve_interaction(
            session_id=wire.text(body, "sessionId"),
            presented=self.presented(request),
            interaction_id=interaction_id,
            outcome=wire.text(body, "outcome"),
            result=body.get("result"),
        )
        return Response({**_sent(sent), "interactionId": interaction_id}, status=202)


class Elsewhere(ConsoleView):
    """Any other address below the prefix."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise UnknownRoute


def _client_message_id(body: dict[str, Any]) -> str:
    """Return the sender's own name for its message, empty when it has none. Raises `InvalidRequest`."""
    name = wire.text(body, "clientMessageId", required=False)
    if name is None:
        return ""
    if not CLIENT_MESSAGE_ID.fullmatch(name):
        raise wire.InvalidRequest("clientMessageId is at most 64 characters of A-Z, a-z, 0-9 and -.")
    return str(name)


def _sent(sent: sessions.Sent) -> dict[str, Any]:
    turn = {"id": f"turn-{sent.ordinal}", "ordinal": sent.ordinal}
    return {"sessionId": sent.session_id, "turn": turn, "cursor": sent.cursor}


def _with_cookie(response: Response, value: str | None) -> Response:
    if value is not None:
        response.set_cookie(
            cookie_name(Surface.CLEANROOM),
            value,
            max_age=settings.CLEANROOM_COOKIE_DAYS * 86_400,
            path="/",
            httponly=True,
            samesite="Strict",
        )
    return response
