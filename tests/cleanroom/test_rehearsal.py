"""The rehearsal model on the wire: its streams, its process, and real Codex against it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from django.conf import settings

from cleanroom.bench.raw_codex import RawCodex
from cleanroom.codex import binary, config, home
from cleanroom.rehearsal import MODEL_NAME
from cleanroom.rehearsal.server import RehearsalServer
from tests.cleanroom.support.rehearsal import (
    KEYED,
    PLAIN,
    Thread,
)


# ---------------------------------------------------------------- the wire and the process
async def streamed(url: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    async with aiohttp.ClientSession() as http, http.post(f"{url}/responses", json=body) as answer:
        assert answer.status == 200
        text = await answer.text()
    return [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")]


async def test_text_is_streamed_in_pieces_that_join_to_the_whole() -> None:
    async with RehearsalServer(pace_s=0) as model:
        sent = await streamed(model.url, {"input": "count to 20", "stream": True})
    pieces = [event["delta"] for event in sent if event["type"] == "response.output_text.delta"]
    done = next(event["item"] for event in sent if event["type"] == "response.output_item.done")
    assert len(pieces) > 3
    assert "".join(pieces) == done["content"][0]["text"] == " ".join(map(str, range(1, 21)))
    assert sent[-1]["response"]["usage"]["total_tokens"] > 0


async def test_bad_requests_and_asked_for_failures_are_refused() -> None:
    async with RehearsalServer(pace_s=0) as model, aiohttp.ClientSession() as http:
        for data in (b"{", b"[]", json.dumps({"input": "Fail with an error"}).encode()):
            async with http.post(f"{model.url}/responses", data=data) as answer:
                assert answer.status == 400
        async with http.get(f"{model.url}/models") as answer:
            assert (await answer.json())["data"][0]["id"] == MODEL_NAME


async def start_process() -> tuple[asyncio.subprocess.Process, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "cleanroom.rehearsal", "--port", "0", "--pace", "0"),
        cwd=settings.BASE_DIR,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    async with asyncio.timeout(15):
        line = await process.stdout.readline()
    return process, line.decode().strip()


@pytest.mark.parametrize("ending", ["stdin", "sigterm"])
async def test_the_process_prints_its_address_and_ends_with_its_parent_or_when_told(ending: str) -> None:
    process, address = await start_process()
    assert process.stdin
    try:
        sent = await streamed(address, {"input": "hello", "stream": True})
        assert sent[-1]["type"] == "response.completed"
        if ending == "stdin":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(5):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        process.stdin.close()
        await process.wait()


# ---------------------------------------------------------------- real Codex
@pytest.mark.codex
@pytest.mark.requirement("rehearsal.wire")
async def test_real_codex_runs_tools_commands_and_failures_against_it(tmp_path: Path) -> None:
    calls: list[str] = []

    def answer(tool: str, given: Any) -> tuple[bool, str]:
        calls.append(tool)
        return True, Thread().output(tool)

    found = binary.find(codex_bin=settings.CODEX_BIN)
    base = settings.VAR_DIR / "rehearsal-test" / str(os.getpid())
    workspace, codex_home = base / "workspace", base / "home"
    workspace.mkdir(parents=True)
    codex_home.mkdir()
    offered = [
        {"name": "get_task_context", "description": "Reads the issue", "inputSchema": PLAIN},
        {"name": "report_progress", "description": "Records a status", "inputSchema": KEYED},
    ]
    try:
        async with RehearsalServer(pace_s=0) as model:
            chosen = config.session_config(
                workspace=workspace,
                binary_directory=found.directory,
                model_url=model.url,
                model_name=MODEL_NAME,
            )
            (codex_home / "config.toml").write_text(config.to_toml(chosen))
            async with RawCodex(
                codex_bin=str(found.path), home=codex_home, workspace=workspace, answer=answer
            ) as codex:
                await codex.open_thread(dynamicTools=offered)
                turn = await codex.turn("Read this issue, then record a one-sentence status on it")
                assert (turn["status"], calls) == ("completed", ["get_task_context", "report_progress"])
                assert "MCK-1234" in codex.items("agentMessage")[-1]["text"]
                assert "record a status" in codex.items("reasoning")[0]["summary"][0]

                await codex.turn("Run `echo one; exit 3`")
                assert codex.items("commandExecution")[-1]["exitCode"] == 3
                assert "code 3" in codex.items("agentMessage")[-1]["text"]

                await codex.turn("Start the preview service")
                assert "I tried `control_workspace_service`." in codex.items("agentMessage")[-1]["text"]

                assert (await codex.turn("Fail with an error"))["status"] == "failed"
                assert (await codex.turn("Say nothing"))["status"] == "completed"
    finally:
        home.remove_tree(path=base)
