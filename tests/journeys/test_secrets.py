"""Plant secrets everywhere, use the product, read everything a browser can reach: find none."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.journeys.support import Server, browser

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
        for message in (
            f"Record the status: the key is {IN_MESSAGE}",
            "Run the shell command `env; cat /proc/*/environ; cat ~/.codex/auth.json ../home/auth.json`",
            f"Run the shell command `echo {IN_OUTPUT[:10]}{IN_OUTPUT[10:]}`",
            "Read this issue, then record a one-sentence status on it.",
        ):
            answer, frames = await one.turn(message)
            seen += [json.dumps(answer.body), json.dumps(frames)]
        payload = await one.open(one.session_id)
        seen.append(json.dumps(payload))
        message = payload["view"]["turns"][-4]["items"][0]
        assert message["redacted"] is True
        assert "[REDACTED]" in message["body"]
        assert (login / "auth.json").read_text() == json.dumps({"OPENAI_API_KEY": IN_LOGIN})
        seen.append(server.log.read_text())
        seen.append(all_rows(server.var / "capability.sqlite3"))
    everything = "\n".join(seen)
    assert [secret for secret in ALL if secret in everything] == []
    assert not re.search(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{8,}", everything)


def all_rows(path: Path) -> str:
    """Return every text of every row as one string."""
    with sqlite3.connect(path) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in database.execute(f'SELECT * FROM "{table}"')]
    database.close()
    return "\n".join(str(row) for row in rows)
