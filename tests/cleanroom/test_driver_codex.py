"""The driver with the real Codex and a scripted model: what the product promises about the agent itself."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from cleanroom.codex import home as codex_home
from cleanroom.codex.driver import CodexDriver
from cleanroom.harness import HarnessEvent, HarnessSession, LoginRequiredError, OpenSession, ToolAnswer, ToolCall
from tests.cleanroom.support.model import Call, Drop, Refuse, ScriptedModel, Step, Think, Wait, begin, say
from tests.cleanroom.support.session import Watcher, approve, driver, is_alive, open_request, run_directory, until

pytestmark = pytest.mark.codex

SECRET = "sk-FAKE-planted-1234567890"
LOGIN = json.dumps({"OPENAI_API_KEY": SECRET})


@dataclass
class Room:
    """One session of the real Codex with its model."""

    model: ScriptedModel
    driver: CodexDriver
    request: OpenSession
    session: HarnessSession
    watcher: Watcher
    directory: Path

    async def turn(self, message: str, *answers: list[Step]) -> HarnessEvent:
        """Run one turn against the given answers and return its terminal."""
        for answer in answers:
            self.model.answer(*answer)
        before = len(self.watcher.of("turn.completed", "turn.interrupted", "turn.failed"))
        await self.session.start_turn(message=message)
        return await self.watcher.turn_end(before + 1)

    async def recover(self) -> None:
        """Return to the thread in new processes, as a host does after a death."""
        await self.session.close(reason="it broke")
        self.session = await self.driver.recover_session(self.request, self.session.snapshot())
        self.watcher = Watcher(self.session)

    def told(self, index: int = -1) -> list[dict[str, Any]]:
        """What the model was sent in one request."""
        items: list[dict[str, Any]] = self.model.requests[index]["input"]
        return items


@asynccontextmanager
async def room(*, handler: Any = approve, **settings: Any) -> AsyncIterator[Room]:
    async with run_directory() as directory, ScriptedModel() as model:
        (directory / "login").mkdir()
        (directory / "login/auth.json").write_text(LOGIN)
        chosen = {"model_url": model.url, "templates_dir": django_settings.CODEX_TEMPLATES_DIR} | settings
        opened = driver(directory, django_settings.CODEX_BIN, **chosen)
        request = open_request(directory, on_tool_call=handler)
        session = await opened.open_session(request)
        made = Room(model, opened, request, session, Watcher(session), directory)
        try:
            yield made
        finally:
            await made.session.close(reason="the test is over")


def shell(command: str, **more: Any) -> Call:
    return Call("shell_command", {"command": command} | more)


def texts(r: Room, type: str) -> list[str]:
    return [payload["text"] for payload in r.watcher.payloads(type, "agent_message")]


def processes_of(session: HarnessSession, home: Path) -> list[int]:
    """Every live process that carries the marks of this session."""
    marks = {f"CODEX_THREAD_ID={session.ids().driver_session_id}".encode(), b"CODEX_HOME=" + os.fsencode(home)}
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and marks & set(Path(f"/proc/{name}/environ").read_bytes().split(b"\0")):
                found.append(int(name))
        except OSError:
            continue
    return [pid for pid in found if is_alive(pid)]


async def nothing_left(session: HarnessSession, home: Path) -> None:
    """No process of the session five seconds after its end."""
    await until(lambda: not processes_of(session, home))


# ---------------------------------------------------------------- turns
@pytest.mark.requirement("driver.events")
async def test_a_turn_with_prose_a_tool_call_reasoning_and_a_command() -> None:
    calls: list[ToolCall] = []

    async def handler(call: ToolCall) -> ToolAnswer:
        calls.append(call)
        return await approve(call)

    async with room(handler=handler) as r:
        end = await r.turn(
            "Read the task, please.",
            [Think("secret thoughts"), say("Let me ", "look."), Call("get_task", {"id": 7})],
            [shell("echo $((6*7)) > n; cat n; echo hidden-$((1+1))")],
            [say("It says ", "42.")],
        )
        assert end.type == "turn.completed"
        assert (end.payload["byUser"], end.payload["durationMs"] > 0) == (False, True)
        assert [(call.operation_id, call.arguments, call.exposed) for call in calls] == [("get_task", {"id": 7}, True)]
        assert texts(r, "item.completed") == ["Let me look.", "It says 42."]
        assert texts(r, "item.delta") == ["Let me ", "look.", "It says ", "42."]
        assert r.watcher.payloads("item.completed", "reasoning") == [{"kind": "reasoning"}]
        (command,) = r.watcher.payloads("item.completed", "command")
        assert (command["command"], command["exitCode"]) == ("echo $((6*7)) > n; cat n; echo hidden-$((1+1))", 0)
        assert r.watcher.payloads("item.completed", "usage")[-1]["totalTokens"] == 45
        assert (r.request.workspace / "n").read_text() == "42\n"
        everything = repr(r.watcher.events)
        for withheld in ("secret thoughts", "hidden-2", "Read the task", str(r.directory)):
            assert withheld not in everything
        assert '{\\"ok\\":true}' in json.dumps(r.told(1))
        assert r.model.requests[0]["instructions"] == r.request.base_instructions
        tools = [tool.get("name") for tool in r.model.requests[0]["tools"]]
        assert tools == ["shell_command", "update_plan", "request_user_input", "apply_patch", "view_image", "get_task"]


@pytest.mark.requirement("driver.threads.apart")
async def test_two_sessions_at_once_share_nothing() -> None:
    async with room() as one, room() as two:
        runs = django_settings.VAR_DIR / "runs"
        look = f"(ls -aR {runs}; cat {runs}/*/run/workspace/mine) > seen 2>&1"
        await asyncio.gather(
            one.turn("I am ONE", [shell(f"echo ONE > mine; {look}")], [say("ok")]),
            two.turn("I am TWO", [shell(f"echo TWO > mine; {look}")], [say("ok")]),
        )
        for own, other, foreign in ((one, two, "TWO"), (two, one, "ONE")):
            assert foreign not in json.dumps(own.model.requests)
            assert own.session.ids() != other.session.ids()
            assert other.directory.name not in (own.request.workspace / "seen").read_text()
            assert own.session.process().agent_pid != other.session.process().agent_pid


@pytest.mark.requirement("driver.tools.withheld")
async def test_the_denial_of_a_withheld_name_reaches_the_model_in_the_same_turn_also_after_a_resume() -> None:
    calls: list[ToolCall] = []

    async def handler(call: ToolCall) -> ToolAnswer:
        calls.append(call)
        return await approve(call)

    async with room(handler=handler) as r:
        await r.turn("assign it", [Call("assign_task", {"to": "Ben"})], [say("I may not.")], [say("Indeed.")])
        r.model.forget()  # the denial came in time for the second request, or made a third
        await r.recover()
        await r.turn("again", [Call("assign_task", {"to": "Cleo"})], [say("I may not.")], [say("Indeed.")])
        assert [(call.arguments, call.exposed) for call in calls] == [({"to": "Ben"}, False), ({"to": "Cleo"}, False)]
        assert len(r.watcher.of("turn.completed")) == 1
        last = json.dumps(r.told())
        assert last.count("operation_withheld") == 2
        assert last.index("Ben") < last.index("operation_withheld") < last.index("again")
        assert "operation_withheld" not in repr(r.watcher.events)


# ---------------------------------------------------------------- the sandbox
@pytest.mark.requirement("driver.sandbox.secrets", "driver.sandbox.environment")
async def test_a_command_reads_no_login_reaches_no_network_and_leaves_nothing_outside_its_workspace() -> None:
    async with room() as r:
        codex_home.link_login(home=r.request.home, login_home=r.directory / "login")  # as for Codex's own provider
        home, run = r.request.home, r.request.home.parent
        (r.directory / "neighbour.txt").write_text(SECRET)
        before = _names(r.directory)
        port = r.model.url.split(":")[2].split("/")[0]
        script = f"""
cat {home}/auth.json {r.directory}/login/auth.json {home}/config.toml {r.directory}/neighbour.txt
ln -s {r.directory}/login/auth.json link; cat link
for place in {run} {home} {r.directory} /tmp /var/tmp $HOME/..; do echo left > $place/left-behind; done
echo note > {home}/memories/note
(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected
env | cut -d= -f1 | sort > names
ls -a {home} > home-names; ps ax > processes 2>&1; echo done > inside
"""
        await r.turn("try everything", [shell(script)], [say("ok")])
        output = next(item["output"] for item in r.told() if item["type"] == "function_call_output")
        assert "done" in (r.request.workspace / "inside").read_text()
        assert SECRET not in output
        assert "connected" not in output
        names = (r.request.workspace / "names").read_text().split()
        own = {"CODEX_CI", "CODEX_SANDBOX_NETWORK_DISABLED", "COLORTERM", "LC_ALL", "LC_CTYPE"}
        shells = {"GH_PAGER", "GIT_PAGER", "NO_COLOR", "PAGER", "TERM", "PWD", "OLDPWD", "SHLVL", "_"}
        assert set(names) - own - shells == {"PATH", "HOME", "LANG"}
        assert (home / "auth.json").is_symlink()
        assert (r.directory / "login/auth.json").read_text() == LOGIN
        assert "left-behind" not in {*os.listdir("/tmp"), *os.listdir("/var/tmp")}
        codexs_own = {home / name for name in ("sessions", "tmp", "shell_snapshots", "scratch", "memories")}
        left = {
            path
            for path in _names(r.directory) - before
            if not path.is_relative_to(r.request.workspace)
            and not any(path.is_relative_to(own) for own in codexs_own)
            and "sqlite" not in path.name
        }
        assert left == set()
        assert SECRET not in repr(r.watcher.events)
        await r.session.close(reason="done")
        codex_home.remove_tree(path=r.request.home)
        codex_home.remove_tree(path=r.request.workspace)
        assert (r.directory / "login/auth.json").read_text() == LOGIN
        assert list(run.iterdir()) == []


def _names(directory: Path) -> set[Path]:
    return {Path(parent, name) for parent, folders, files in os.walk(directory) for name in (*folders, *files)}


@pytest.mark.requirement("driver.sandbox.secrets")
async def test_a_patch_onto_a_link_to_the_login_changes_nothing_outside() -> None:
    patch = "*** Begin Patch\n*** Update File: link\n-x\n+y\n*** Add File: ../outside.txt\n+x\n*** End Patch\n"
    async with room() as r:
        r.request.workspace.joinpath("link").symlink_to(r.directory / "login/auth.json")
        await r.turn("patch", [shell(f"apply_patch <<'EOF'\n{patch}EOF\necho overwritten > link")], [say("ok")])
        assert (r.directory / "login/auth.json").read_text() == LOGIN
        assert not (r.request.workspace.parent / "outside.txt").exists()


@pytest.mark.requirement("driver.home.login-link")
async def test_a_model_address_of_the_operators_never_gets_the_login_of_codex() -> None:
    async with room() as r:
        await r.turn("go", [say("ok")])
        assert r.model.authorizations == [None]
        assert not (r.request.home / "auth.json").is_symlink()


# ---------------------------------------------------------------- stopping
@pytest.mark.requirement("turn.interrupt.before-start", "turn.interrupt.once")
async def test_an_interrupt_before_the_turn_has_an_id_stops_it_and_the_next_turn_works() -> None:
    async with room() as r:
        r.model.answer(say("never"), Wait(asyncio.Event()))
        starting = asyncio.create_task(r.session.start_turn(message="go"))
        await asyncio.sleep(0)
        await r.session.interrupt(reason="stop")
        await r.session.interrupt(reason="stop again")
        await starting
        end = await r.watcher.turn_end()
        assert (end.type, end.payload["byUser"]) == ("turn.interrupted", True)
        r.model.forget()
        assert (await r.turn("again", [say("here")])).type == "turn.completed"


@pytest.mark.requirement("turn.interrupt.once")
async def test_an_interrupt_keeps_the_prose_and_kills_the_running_command() -> None:
    async with room() as r:
        r.model.answer(say("Working."), shell("sleep 61", timeout_ms=100_000))
        await r.session.start_turn(message="go")
        await r.watcher.wait_until(lambda: r.watcher.payloads("item.started", "command"), 10)
        await asyncio.gather(r.session.interrupt(reason="stop"), r.session.interrupt(reason="again"))
        end = await r.watcher.turn_end()
        assert (end.type, end.payload["byUser"]) == ("turn.interrupted", True)
        assert r.watcher.payloads("item.completed", "agent_message")[0]["text"] == "Working."
        assert r.watcher.of("item.failed")[0].payload["kind"] == "command"
        await until(lambda: not _is_running("sleep", "61"))
        assert (await r.turn("again", [say("here")])).type == "turn.completed"


def _is_running(*argv: str) -> bool:
    wanted = "\0".join(argv).encode() + b"\0"
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and Path(f"/proc/{name}/cmdline").read_bytes() == wanted:
                return True
        except OSError:
            continue
    return False


# ---------------------------------------------------------------- deaths
@pytest.mark.requirement("driver.death.one-terminal", "driver.resume.policy")
@pytest.mark.parametrize(
    ("victim", "code"), [("agent_pid", "codex_unavailable"), ("runner_pid", "runnerd_unavailable")]
)
async def test_a_kill_in_a_turn_ends_it_once_leaves_no_process_and_the_thread_is_resumed(
    victim: str, code: str
) -> None:
    async with room() as r:
        await r.turn("first", [say("one")])
        r.model.answer(say("half a sen"), shell("sleep 62; echo x > late", timeout_ms=100_000))
        await r.session.start_turn(message="second")
        await r.watcher.wait_until(lambda: r.watcher.payloads("item.started", "command"), 10)
        os.kill(getattr(r.session.process(), victim), signal.SIGKILL)
        events = await r.watcher.ended()
        terminals = [event for event in events if event.type in ("turn.completed", "turn.interrupted", "turn.failed")]
        assert [event.type for event in terminals] == ["turn.completed", "turn.failed"]
        assert [event.payload["code"] for event in events[-2:]] == [code, code]
        await nothing_left(r.session, r.request.home)
        before, thread = r.session.snapshot(), r.session.ids().driver_session_id
        await r.recover()
        assert r.session.ids().driver_session_id == thread
        resumed = await r.watcher.wait_for("session.resumed")
        assert resumed.source_seq == before.last_source_seq + 1
        end = await r.turn("third", [Call("get_task"), shell("cat ../home/config.toml; echo ok")], [say("three")])
        assert end.type == "turn.completed"
        told = json.dumps(r.told())
        assert all(word in told for word in ("first", "second", "third"))
        assert "default_permissions" not in told  # the sandbox is there again
        assert not (r.request.workspace / "late").exists()


@pytest.mark.requirement("driver.close.bounded")
async def test_a_frozen_codex_is_closed_in_time_with_its_command() -> None:
    async with room() as r:
        r.model.answer(shell("sleep 63", timeout_ms=100_000))
        await r.session.start_turn(message="go")
        await r.watcher.wait_until(lambda: r.watcher.payloads("item.started", "command"), 10)
        os.kill(r.session.process().agent_pid or 0, signal.SIGSTOP)
        before = time.monotonic()
        await r.session.close(reason="reset")
        assert time.monotonic() - before < 5
        await nothing_left(r.session, r.request.home)
        assert not _is_running("sleep", "63")


# ---------------------------------------------------------------- the model's side
@pytest.mark.requirement("driver.failure.final-error")
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ([Refuse(401, json.dumps({"error": {"message": f"Incorrect API key {SECRET}"}}))], "codex_login_required"),
        ([Refuse(400, json.dumps({"error": {"message": SECRET}}))], "provider_error"),
        ([say("Hel"), Drop()], "provider_error"),
        (
            [Refuse(429, json.dumps({"error": {"type": "usage_limit_reached", "message": SECRET}}))],
            "usage_limit",
        ),
    ],
    ids=["401", "400", "dropped", "usage limit"],
)
async def test_a_failing_model_fails_the_turn_by_name_without_its_words_and_the_session_goes_on(
    answer: list[Step], code: str
) -> None:
    async with room() as r:
        r.model.choose = lambda _: answer
        end = await r.turn("go")
        assert (end.type, end.payload["code"]) == ("turn.failed", code)
        assert SECRET not in repr(r.watcher.events)
        r.model.choose = lambda _: None
        assert (await r.turn("again", [say("here")])).type == "turn.completed"


@pytest.mark.requirement("driver.failure.final-error")
async def test_a_dropped_stream_is_retried_with_a_notice_and_the_answer_comes() -> None:
    async with room() as r:
        end = await r.turn("go", [begin("Hel"), Drop()], [say("Hello.")])
        assert end.type == "turn.completed"
        notice = r.watcher.of("harness.diagnostic")[0].payload
        assert (notice["code"], notice["retrying"]) == ("provider_error", True)
        assert texts(r, "item.completed") == ["Hello."]
        assert texts(r, "item.failed") == ["Hel"]


@pytest.mark.requirement("driver.open.login")
async def test_without_login_and_model_address_the_real_codex_is_not_asked_to_work() -> None:
    async with run_directory() as directory:
        opened = driver(
            directory, django_settings.CODEX_BIN, model_url="", templates_dir=django_settings.CODEX_TEMPLATES_DIR
        )
        request = open_request(directory)
        with pytest.raises(LoginRequiredError):
            await opened.open_session(request)
        marked = [name for name in os.listdir("/proc") if name.isdigit() and _has_home(name, request.home)]
        assert marked == []


def _has_home(pid: str, home: Path) -> bool:
    try:
        return b"CODEX_HOME=" + os.fsencode(home) in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
