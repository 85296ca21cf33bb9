"""Who may knock: the loopback rows of the hostile cases against the pure checks, and the order of the checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import RequestFactory

from capability.http import admission
from capability.http.admission import admit, admit_request, knock_of
from capability.http.errors import status_of
from mockcore.refusal import Refusal

Case = dict[str, Any]
HOST = "127.0.0.1:4184"
OURS = frozenset({HOST, "localhost:4184"})
OWN = {"{lo_host}": HOST, "{lo_origin}": f"http://{HOST}", "{port}": "4184"}
CASES: list[Case] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "admission.jsonl").read_text().splitlines()
]


def filled(value: str) -> bytes:
    for mark, text in OWN.items():
        value = value.replace(mark, text)
    return value.encode()


def outcome(headers: list[tuple[bytes, bytes]], *, method: str = "GET", socket: bool = False) -> str:
    """Return the code of the refusal, or `admitted`."""
    try:
        admit(knock_of(headers, method=method, socket=socket), hosts=OURS)
    except Refusal as refusal:
        return refusal.code
    return "admitted"


def headers(**changed: str | None) -> list[tuple[bytes, bytes]]:
    """Return the headers of a good fetch from our page, with some changed and those that are None left out."""
    good: dict[str, str | None] = {
        "host": HOST,
        "origin": f"http://{HOST}",
        "sec_fetch_site": "same-origin",
        "sec_fetch_mode": "cors",
        "sec_fetch_dest": "empty",
        "content_type": "application/json",
    }
    return [(n.replace("_", "-").encode(), v.encode()) for n, v in {**good, **changed}.items() if v is not None]


@pytest.mark.requirement("api.admission.cases")
@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in CASES if c["door"].startswith("loopback")])
def test_a_loopback_row_of_the_hostile_cases_is_answered_as_it_expects(case: Case) -> None:
    pairs = [(name.encode(), filled(value)) for name, value in case["headers"]]
    code = outcome(pairs, method=case["method"], socket=case["door"].endswith("socket"))
    if code == "admitted":
        assert {200, 201, 202} & set(case["expect_status"])
    else:
        assert status_of(code) in case["expect_status"]


@pytest.mark.requirement("api.admission.host")
@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.0.0.1:4185", "0.0.0.0:4184", "127.0.0.1.:4184", "localhost.:4184", "attacker.example:4184"),
        *("127.0.0.1:4184,attacker.example", "127.1:4184", "[::1]:4184", "user@127.0.0.1:4184", "127.0.0.1:04184", ""),
    ],
)
def test_only_the_exact_name_and_port_are_a_host(host: str) -> None:
    assert outcome(headers(host=host, origin=None)) == "host_refused"


@pytest.mark.requirement("api.admission.host")
def test_a_second_host_or_none_is_refused() -> None:
    assert outcome([*headers(), (b"Host", HOST.encode())]) == "host_refused"
    assert outcome(headers(host=None)) == "host_refused"


@pytest.mark.requirement("api.admission.origin")
def test_an_origin_must_be_the_address_that_was_asked() -> None:
    assert outcome(headers(origin=None)) == "admitted"
    for other in (
        "null",
        "http://attacker.example:4184",
        f"https://{HOST}",
        "http://localhost:4184",
        f"http://{HOST}/",
    ):
        assert outcome(headers(origin=other)) == "origin_refused"
    assert outcome([*headers(), (b"origin", b"null")]) == "origin_refused"
    assert outcome(headers(host="localhost:4184", origin="http://localhost:4184")) == "admitted"


@pytest.mark.requirement("api.admission.fetch-metadata")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_fetch_metadata_may_be_missing_but_not_wrong_on_reads_too(method: str) -> None:
    bare = headers(sec_fetch_site=None, sec_fetch_mode=None, sec_fetch_dest=None)
    assert outcome(bare, method=method) == "admitted"
    assert outcome(headers(sec_fetch_mode="same-origin"), method=method) == "admitted"
    for wrong in (
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
        {"sec_fetch_mode": "navigate"},
        {"sec_fetch_mode": "no-cors"},
        {"sec_fetch_dest": "document"},
        {"sec_fetch_dest": "iframe"},
    ):
        assert outcome(headers(**wrong), method=method) == "fetch_metadata_refused"


@pytest.mark.requirement("api.admission.json")
@pytest.mark.parametrize(
    ("media", "expected"),
    [
        ("application/json", "admitted"),
        ("application/json; charset=utf-8", "admitted"),
        ("Application/JSON;charset=UTF-8", "admitted"),
        (None, "unsupported_media_type"),
        ("text/plain", "unsupported_media_type"),
        ("text/plain; application/json", "unsupported_media_type"),
        ("application/jsonp", "unsupported_media_type"),
        ("multipart/form-data", "unsupported_media_type"),
    ],
)
def test_a_change_must_be_sent_as_json(media: str | None, expected: str) -> None:
    assert outcome(headers(content_type=media), method="POST") == expected
    assert outcome(headers(content_type=media), method="GET") == "admitted"


@pytest.mark.requirement("stream.admission")
def test_a_socket_must_name_our_origin() -> None:
    socket = {"sec_fetch_mode": "websocket", "sec_fetch_dest": "websocket"}
    assert outcome(headers(**socket), socket=True) == "admitted"
    assert outcome(headers(sec_fetch_mode=None, sec_fetch_dest=None), socket=True) == "admitted"
    assert outcome(headers(**socket, origin=None), socket=True) == "origin_refused"
    assert outcome(headers(**socket, origin="null"), socket=True) == "origin_refused"
    assert outcome(headers(sec_fetch_mode="cors"), socket=True) == "fetch_metadata_refused"


@pytest.mark.requirement("api.admission.order")
def test_the_first_check_that_fails_names_the_refusal() -> None:
    wrong = {"host": "a:1", "origin": "null", "sec_fetch_site": "cross-site", "content_type": "text/plain"}
    right = {"host": HOST, "origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}
    seen = []
    for step in range(4):
        mended = dict(list(right.items())[:step])
        seen.append(outcome(headers(**{**wrong, **mended}), method="POST"))
    assert seen == ["host_refused", "origin_refused", "fetch_metadata_refused", "unsupported_media_type"]


@pytest.mark.requirement("api.admission.host")
def test_the_port_that_was_really_bound_is_the_one_that_counts(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(admission, "_serving", frozenset())
    settings.HOST, settings.PORT = "127.0.0.1", 4184
    assert admission.allowed_hosts() == OURS
    admission.serving("127.0.0.1", 51_234)
    assert admission.allowed_hosts() == {"127.0.0.1:51234", "localhost:51234"}
    admission.serving("::1", 51_235)
    assert admission.allowed_hosts() == {"[::1]:51235", "localhost:51235"}


def test_a_request_without_a_server_is_judged_by_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "_serving", OURS)
    admit_request(RequestFactory().get("/", HTTP_HOST=HOST))
    with pytest.raises(admission.HostRefused):
        admit_request(RequestFactory().get("/", HTTP_HOST="testserver"))
