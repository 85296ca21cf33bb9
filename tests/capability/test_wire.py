"""Strict JSON in, one table of answers out: the body cases against the parser, and every exception's answer."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import DisallowedHost, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from capability.http import errors, wire
from capability.http.pages import ContentPolicy
from mockcore.refusal import Refusal

Case = dict[str, Any]
CASES: list[Case] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "json-bodies.jsonl").read_text().splitlines()
]


class Sink(APIView):
    """A view as ours are: it reads its fields, and answers what it read."""

    def post(self, request: Request) -> Response:
        body = wire.body_of(request)
        wire.only(body, "message", "n", "note")
        if "note" in body:
            raise_named(body["note"])
        return Response({"message": wire.text(body, "message")})


class StateConflict(Refusal):
    """The company says no."""

    code = "some_new_code"


def raise_named(name: str) -> None:
    known: dict[str, Exception] = {
        "refusal": StateConflict(),
        "bug": RuntimeError("FAKE detail with password=FAKEhunter2"),
        "missing": Http404(),
        "forbidden": PermissionDenied(),
        "parse": exceptions.ParseError(),
    }
    raise known[name]


def body_of_case(case: Case) -> bytes:
    if "raw_repeat" in case:
        parts = case["raw_repeat"]
        return "".join(text * times for text, times in zip(parts[::2], parts[1::2], strict=True)).encode()
    return str(case["text"]).encode()


def post(body: bytes, *, media: str = "application/json") -> tuple[int, dict[str, Any]]:
    request = RequestFactory().post("/api/x", data=body, content_type=media)
    response = Sink.as_view()(request)
    return response.status_code, response.data


@pytest.mark.requirement("api.json-bodies")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_hostile_body_is_refused_by_name(case: Case) -> None:
    status, data = post(body_of_case(case))
    assert status in {*case["expect_status"]} - {422}
    assert data["error"] in {"invalid_json", "invalid_request", "request_too_large"}


@pytest.mark.requirement("api.json-bodies")
@pytest.mark.parametrize(
    "body",
    [
        *(
            b'{"a":1,"a":2}',
            b'{"a":{"b":1,"b":1}}',
            b'\xef\xbb\xbf{"message":"x"}',
            b"\xff\xfe",
            b'{"message":"\\ud800"}',
        ),
        *(b"{", b"{'a':1}", b'{"a":1,}', b'{"a":Infinity}', b'{"a":-1e999}', b'{"message":"a\nb"}', b"   ", b"null"),
        *(b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", b'{"a":' + b"9" * 5000 + b"}", b'{"\\udfff":1}'),
        b'{"message":"\\ud800"}',
    ],
)
def test_a_body_that_is_no_strict_object_is_invalid_json(body: bytes) -> None:
    with pytest.raises(wire.InvalidJson):
        wire.parsed(body)
    assert post(body)[0] == 400


@pytest.mark.requirement("api.json-bodies")
def test_a_body_is_read_as_it_was_meant() -> None:
    assert post('{"message":"Grüße 😀\\u0000"}'.encode()) == (200, {"message": "Grüße 😀\x00"})
    assert post(b'{"message":"x"}', media="Application/JSON; charset=UTF-8")[0] == 200
    assert wire.parsed(b' {"a": [1.5, -0, true, null]} ') == {"a": [1.5, 0, True, None]}


@pytest.mark.requirement("api.body-size")
def test_a_body_over_the_bound_is_refused_by_its_length_and_while_reading(settings: Any) -> None:
    settings.API_MAX_BODY_BYTES = 100
    fits = b'{"message":"' + b"x" * 86 + b'"}'
    assert len(fits) == 100
    assert post(fits)[0] == 200
    assert post(fits + b" ") == (413, {"error": "request_too_large", "message": "The body has more than 100 bytes."})
    unread = io.BytesIO(b"{}")
    with pytest.raises(wire.RequestTooLarge):
        wire.read_object(unread, declared="101")
    assert unread.tell() == 0
    with pytest.raises(wire.RequestTooLarge):
        wire.read_object(io.BytesIO(fits + b" "), declared=None)


@pytest.mark.requirement("api.json-bodies")
def test_a_body_that_says_no_length_is_read_all_the_same() -> None:
    request = RequestFactory().post("/api/x", data=b'{"message":"chunked"}', content_type="application/json")
    request.META["CONTENT_LENGTH"] = ""
    assert Sink.as_view()(request).data == {"message": "chunked"}


def test_other_media_are_refused_with_415() -> None:
    for media in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
        status, data = post(b'{"message":"x"}', media=media)
        assert (status, data["error"]) == (415, "unsupported_media_type")


def test_a_field_of_the_wrong_kind_or_a_stranger_is_named() -> None:
    assert post(b'{"message":7}') == (400, {"error": "invalid_request", "message": "message must be a text."})
    assert wire.text({"a": None}, "a", required=False) is None
    status, data = post(b'{"message":"x","cwd":"/"}')
    assert (status, data["error"]) == (400, "invalid_request")


# ---------------------------------------------------------------- answers
@pytest.mark.requirement("api.answers")
@pytest.mark.parametrize(
    ("note", "status", "code"),
    [
        ("refusal", 409, "some_new_code"),
        ("missing", 404, "unknown_route"),
        ("forbidden", 403, "forbidden"),
        ("parse", 400, "invalid_json"),
    ],
)
def test_an_anticipated_no_has_its_code_and_status(note: str, status: int, code: str) -> None:
    answered, data = post(json.dumps({"note": note}).encode())
    assert (answered, data["error"]) == (status, code)
    assert data["message"]
    assert "reference" not in data


@pytest.mark.requirement("api.answers")
def test_a_bug_answers_a_reference_that_only_the_log_explains(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        status, data = post(b'{"note":"bug"}')
    assert (status, data["error"]) == (500, "internal_error")
    assert "FAKE" not in json.dumps(data)
    assert data["reference"] in caplog.text
    assert "FAKE detail" in caplog.text


@pytest.mark.requirement("api.answers")
def test_a_wrong_method_is_405_and_says_which_are_right() -> None:
    response = Sink.as_view()(RequestFactory().delete("/api/x"))
    assert (response.status_code, response.data["error"]) == (405, "method_not_allowed")
    assert "POST" in response["Allow"]


@pytest.mark.requirement("api.answers")
def test_every_code_has_a_status_and_unknown_ones_are_conflicts() -> None:
    assert {code: errors.status_of(code) for code in ("turn_limit", "host_refused", "codex_unavailable", "new")} == {
        "turn_limit": 429,
        "host_refused": 421,
        "codex_unavailable": 503,
        "new": 409,
    }
    assert all(400 <= status < 600 for status in errors.STATUS.values())


@pytest.mark.requirement("api.answers")
def test_what_no_view_answers_is_json_below_the_api() -> None:
    api, page = RequestFactory().get("/api/nowhere"), RequestFactory().get("/nowhere")
    assert json.loads(errors.not_found(api, Http404()).content)["error"] == "unknown_route"
    assert errors.not_found(page, Http404())["Content-Type"].startswith("text/html")
    refused = errors.bad_request(page, DisallowedHost("attacker.example"))
    assert (refused.status_code, json.loads(refused.content)["error"]) == (421, "host_refused")
    assert errors.server_error(page).status_code == 500
    try:
        raise RuntimeError("FAKE detail")
    except RuntimeError:
        answer = errors.server_error(api)
    assert json.loads(answer.content)["error"] == "internal_error"
    assert b"FAKE" not in answer.content


# ---------------------------------------------------------------- pages
def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"<script nonce={request.csp_nonce}>")  # type: ignore[attr-defined]


def directives(response: Any) -> dict[str, list[str]]:
    parts = [part.split() for part in response["Content-Security-Policy"].split(";")]
    return {name: values for name, *values in parts}


@pytest.mark.requirement("page.policy")
def test_a_page_allows_its_own_modules_and_the_one_script_with_its_nonce() -> None:
    request = RequestFactory().get("/", HTTP_HOST="127.0.0.1:4184")
    response = ContentPolicy(page)(request)
    policy = directives(response)
    assert policy["script-src"] == ["'self'", f"'nonce-{request.csp_nonce}'"]  # type: ignore[attr-defined]
    assert policy["connect-src"] == ["'self'", "ws://127.0.0.1:4184"]
    assert policy["require-trusted-types-for"] == ["'script'"]
    assert policy["style-src"] == ["'self'"]
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == ["'none'"]
    assert response["Cache-Control"] == "no-store"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    other = RequestFactory().get("/")
    ContentPolicy(page)(other)
    assert other.csp_nonce != request.csp_nonce  # type: ignore[attr-defined]


@pytest.mark.requirement("page.policy")
def test_a_host_cannot_write_into_the_policy() -> None:
    response = ContentPolicy(page)(RequestFactory().get("/", HTTP_HOST="a; script-src *"))
    assert directives(response)["connect-src"] == ["'self'"]
    assert "*" not in response["Content-Security-Policy"]


@pytest.mark.requirement("page.policy")
def test_the_admin_may_style_itself_and_has_no_trusted_types() -> None:
    policy = directives(ContentPolicy(page)(RequestFactory().get("/admin/login/")))
    assert "'unsafe-inline'" in policy["style-src"]
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "require-trusted-types-for" not in policy


@pytest.mark.requirement("page.policy")
def test_data_is_not_stored_and_what_the_view_set_stays() -> None:
    data = ContentPolicy(lambda _request: HttpResponse("{}", content_type="application/json"))(
        RequestFactory().get("/")
    )
    assert data["Cache-Control"] == "no-store"
    assert directives(data)["default-src"] == ["'none'"]
    kept = ContentPolicy(lambda _request: HttpResponse("x", headers={"Cache-Control": "max-age=1"}))
    assert kept(RequestFactory().get("/"))["Cache-Control"] == "max-age=1"
    stream = ContentPolicy(lambda _request: StreamingHttpResponse([b"x"], content_type="text/plain"))
    assert "Cache-Control" not in stream(RequestFactory().get("/"))


class Broken(Refusal):
    """The outside world failed."""

    code = "codex_login_required"


@pytest.mark.requirement("api.answers")
def test_the_log_says_why_the_outside_world_failed_and_keeps_silent_about_a_plain_no(
    caplog: pytest.LogCaptureFixture,
) -> None:
    context = {"request": RequestFactory().get("/api/x")}
    response = errors.answer(Broken(), context)
    assert response.status_code == 503
    assert caplog.messages == ["/api/x codex_login_required: The outside world failed."]
    errors.answer(errors.UnknownRoute(), context)
    assert len(caplog.messages) == 1
