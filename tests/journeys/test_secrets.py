"""Plant secrets everywhere, use the product, read everything a browser can reach: find none."""

from __future__ import annotations

import asyncio
import http.cookiejar
import json
import re
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.journeys.support import Server, browser, items

pytestmark = [pytest.mark.codex]

IN_ENVIRONMENT = {
    "PAPERCLIP_API_KEY": "FAKE-paperclip-key-1",
    "PAPERCLIP_API_URL": "https://paperclip.example.test/FAKE-paperclip-url",
    "OPENAI_API_KEY": "sk-proj-FAKEopenaikeyFAKEopenaikey11",
    "AWS_SECRET_ACCESS_KEY": "FAKE-aws-secret-1",
    "GITHUB_TOKEN": "ghp_FAKEgithubtokenFAKEgithubtoken1",
    "CAPABILITY_COOKIE": "FAKE-capability-cookie-1",
}
IN_LOGIN = "sk-proj-FAKEloginkeyFAKEloginkeyFAKE22"
IN_MESSAGE = "sk-proj-FAKEmessagekeyFAKEmessagekey33"
IN_OUTPUT = "ghp_FAKEoutputtokenFAKEoutputtoken4444"
ALL = (*IN_ENVIRONMENT.values(), IN_LOGIN, IN_MESSAGE, IN_OUTPUT)


@pytest.mark.requirement("secrets.nowhere")
async def test_planted_secrets_appear_in_no_answer_frame_log_or_row(
    make_server: Callable[..., Server], tmp_path: Path
) -> None:
    login = tmp_path / "login"
    login.mkdir()
    (login / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": IN_LOGIN}))
    server = make_server(environment={**IN_ENVIRONMENT, "CODEX_HOME": str(login)})
    seen: list[str] = []
    async with browser(server) as one:
        seen.append(json.dumps(await one.open()))
        home = server.var / "runs" / one.session_id / "home"
        assert home.is_dir(), "what is looked for is where it is looked for"
        (home / "auth.json").symlink_to(login / "auth.json")  # as a session has it whose model needs a login
        assert IN_LOGIN in (home / "auth.json").read_text()
        for message in (
            f"Record the status: the key is {IN_MESSAGE}",
            "Run the shell command `env; cat /proc/*/environ`",
            f"Run the shell command `cat {login}/auth.json || cat {home}/auth.json || cat ../home/auth.json`",
            f"Run the shell command `echo {IN_OUTPUT[:10]}{IN_OUTPUT[10:]}`",
            "Read this issue, then record a one-sentence status on it.",
        ):
            answer, frames = await one.turn(message)
            seen += [json.dumps(answer.body), json.dumps(frames)]
        payload = await one.open(one.session_id)
        seen.append(json.dumps(payload))
        [tried] = [row for row in items(payload, "progress_activity") if f"cat {login}" in json.dumps(row)]
        assert {"label": "Exit code", "value": "1"} in tried["details"], "not one of them could be read"
        message = payload["view"]["turns"][0]["items"][0]
        assert message["redacted"] is True
        assert "[REDACTED]" in message["body"]
        assert (login / "auth.json").read_text() == json.dumps({"OPENAI_API_KEY": IN_LOGIN})
        seen.append(server.log.read_text())
        seen += (admin := await asyncio.to_thread(admin_pages, server))
        assert len(admin) > 30, "every list, and a row of each that has one"
        assert sum("[REDACTED]" in page for page in admin) > 1
        seen.append(server.all_rows())
    everything = "\n".join(seen)
    assert [secret for secret in ALL if secret in everything] == []
    assert not re.search(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{8,}", everything)


def admin_pages(server: Server) -> list[str]:
    """Return every list of the admin and the newest rows of each, as the operator reads them."""
    jar = http.cookiejar.CookieJar()
    operator = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar))
    operator.addheaders = [("Origin", server.address)]

    def get(path: str, data: bytes | None = None) -> str:
        with operator.open(server.address + path, data, timeout=30) as answer:
            page: str = answer.read().decode()
        return page

    token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', get("/admin/login/"))[0]
    password = (server.var / "operator-password").read_text().strip()
    form = {"username": "operator", "password": password, "csrfmiddlewaretoken": token, "next": "/admin/"}
    index = get("/admin/login/?next=/admin/", urllib.parse.urlencode(form).encode())
    assert "Log out" in index
    lists = sorted(set(re.findall(r'href="(/admin/(?:mockcore|capability|evidence|cleanroom)/\w+/)"', index)))
    pages = [index]
    for address in lists:
        listing = get(address)
        rows = sorted(set(re.findall(rf'href="({re.escape(address)}[^"/?]+/change/)', listing)))
        pages += [listing, *(get(row) for row in rows)]
    assert len(lists) > 15
    return pages
