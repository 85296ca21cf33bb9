"""runnerd as a process: bytes pass unchanged, memory is bounded, and nothing outlives the end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cleanroom.codex.runner import PROJECT_DIR, Exit, Runner
from cleanroom.codex.sweep import sweep
from cleanroom.harness import AgentUnavailableError, RunnerUnavailableError
from cleanroom.runnerd.environment import ALLOWED, allowed
from tests.cleanroom.support.session import is_alive, until

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
CASES = [json.loads(line) for line in (Path(__file__).parent / "data/child-environment.jsonl").read_text().splitlines()]


@asynccontextmanager
async def running(*argv: str, environment: dict[str, str] | None = None) -> AsyncIterator[Runner]:
    runner = await Runner.start(argv=list(argv), directory=Path("/"), environment=environment or ENVIRONMENT)
    try:
        yield runner
    finally:
        await runner.kill()


async def read_all(runner: Runner) -> bytes:
    pieces = []
    async with asyncio.timeout(20):
        while (piece := await runner.read()) is not None:
            pieces.append(piece)
    return b"".join(pieces)


async def read_line(runner: Runner) -> bytes:
    line = b""
    async with asyncio.timeout(5):
        while not line.endswith(b"\n"):
            piece = await runner.read()
            assert piece is not None
            line += piece
    return line


def memory_mb(pid: int, field: str = "VmHWM") -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


# ---------------------------------------------------------------- bytes
@pytest.mark.requirement("runnerd.passes-bytes", "runnerd.small")
async def test_bytes_pass_both_ways_unchanged_and_memory_stays_below_20_mb() -> None:
    block = bytes(range(256)) * 4096  # 1 MiB, line ends and zeros included
    async with running("/bin/cat") as runner:

        async def write() -> None:
            for _ in range(24):
                await runner.write(block)

        async def read() -> int:
            count = 0
            while count < 24 * len(block):
                piece = await runner.read()
                assert piece is not None
                assert piece == (block * 2)[count % len(block) : count % len(block) + len(piece)]
                count += len(piece)
            return count

        async with asyncio.timeout(20):
            await asyncio.gather(write(), read())
        assert memory_mb(runner.pid) < 20
        runner.request_stop()
        assert await read_all(runner) == b""
        assert runner.exit == Exit(code=0, signal=None)


@pytest.mark.requirement("runnerd.passes-bytes")
async def test_a_parent_that_does_not_read_makes_the_child_wait_and_loses_nothing() -> None:
    async with running("/usr/bin/head", "-c", "30000000", "/dev/zero") as runner:
        agent_pid = runner.agent_pid or 0
        await until(lambda: "pipe" in Path(f"/proc/{agent_pid}/wchan").read_text() or not is_alive(agent_pid))
        assert is_alive(agent_pid)  # stopped by full queues, not finished
        assert memory_mb(runner.pid) < 20
        assert len(await read_all(runner)) == 30_000_000


@pytest.mark.requirement("runnerd.passes-bytes")
async def test_a_child_that_does_not_read_makes_the_parent_wait_and_can_still_be_ended() -> None:
    async with running("/bin/sleep", "60") as runner:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(runner.write(b"x" * 30_000_000), 1)
        assert memory_mb(runner.pid) < 20
        before = time.monotonic()
        runner.request_stop()
        await read_all(runner)
        assert time.monotonic() - before < 3
        assert runner.exit == Exit(code=None, signal=signal.SIGTERM)


async def test_output_after_the_order_to_stop_still_arrives_and_error_output_is_apart_and_bounded() -> None:
    script = "cat >/dev/null; head -c 300000 /dev/zero | tr '\\0' e >&2; echo bye"
    async with running("/bin/sh", "-c", script) as runner:
        runner.request_stop()
        assert await read_all(runner) == b"bye\n"
        assert runner.stderr_tail == "e" * 16384
        assert runner.exit == Exit(code=0, signal=None)


@pytest.mark.parametrize(
    ("script", "exit"), [("exit 7", Exit(code=7, signal=None)), ("kill -9 $$", Exit(code=None, signal=9))]
)
async def test_the_end_of_the_child_is_reported_as_it_was(script: str, exit: Exit) -> None:
    async with running("/bin/sh", "-c", script) as runner:
        await read_all(runner)
        assert runner.exit == exit


async def test_a_program_that_cannot_be_executed_is_the_agents_failure_and_not_runnerds() -> None:
    with pytest.raises(AgentUnavailableError, match="No such file"):
        await Runner.start(argv=["/nothing/here"], directory=Path("/"), environment=ENVIRONMENT)


async def test_a_runnerd_that_cannot_be_executed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nothing/python")
    with pytest.raises(RunnerUnavailableError):
        await Runner.start(argv=["/bin/true"], directory=Path("/"), environment=ENVIRONMENT)


async def test_writing_to_a_runnerd_that_is_gone_is_named() -> None:
    async with running("/bin/cat") as runner:
        os.kill(runner.pid, signal.SIGKILL)
        assert await runner.read() is None
        assert runner.exit is None
        with pytest.raises(RunnerUnavailableError):
            await runner.write(b"x" * 6_553_600)


# ---------------------------------------------------------------- the end
ORPHAN = "setsid sh -c 'echo $$; exec sleep 60' & wait"


@pytest.mark.requirement("runnerd.no-orphan")
@pytest.mark.parametrize("trap", ["", "trap '' TERM HUP;"], ids=["polite", "deaf"])
async def test_the_order_to_stop_takes_everything_the_child_started(trap: str) -> None:
    async with running("/bin/sh", "-c", trap + ORPHAN) as runner:
        orphan = int(await read_line(runner))
        before = time.monotonic()
        runner.request_stop()
        await read_all(runner)
        await runner.wait(timeout_s=5)
        assert time.monotonic() - before < 4
        assert not is_alive(orphan)
        assert not is_alive(runner.agent_pid or 0)


@pytest.mark.requirement("runnerd.no-orphan")
async def test_a_child_that_dies_takes_its_own_children_along() -> None:
    async with running("/bin/sh", "-c", ORPHAN) as runner:
        orphan = int(await read_line(runner))
        os.kill(runner.agent_pid or 0, signal.SIGKILL)
        await read_all(runner)
        assert runner.exit == Exit(code=None, signal=signal.SIGKILL)
        assert not is_alive(orphan)


@pytest.mark.requirement("runnerd.no-orphan")
async def test_a_frozen_child_is_killed() -> None:
    async with running("/bin/cat") as runner:
        os.kill(runner.agent_pid or 0, signal.SIGSTOP)
        runner.request_stop()
        await read_all(runner)
        assert runner.exit == Exit(code=None, signal=signal.SIGKILL)


async def test_an_orphan_that_writes_for_ever_does_not_keep_runnerd_alive() -> None:
    async with running("/bin/sh", "-c", "setsid yes & exit 3") as runner:
        await read_all(runner)
        assert runner.exit == Exit(code=3, signal=None)


PARENT = """
import fcntl, os, signal, struct, subprocess, sys, termios
runnerd = subprocess.Popen([sys.executable, "-S", "-m", "cleanroom.runnerd", "/", "/bin/sh", "-c", sys.argv[1]],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
print(runnerd.pid, flush=True)
data = b""
while not data.endswith(b"\\n"):
    data += os.read(runnerd.stdout.fileno(), 4096)
print(int(data.split(b"O")[-1][4:]), flush=True)
os.write(runnerd.stdin.fileno(), b"go\\n")
waiting = 0
while sys.argv[2] == "full" and waiting < 32768:
    (waiting,) = struct.unpack("i", fcntl.ioctl(runnerd.stdout.fileno(), termios.FIONREAD, b"    "))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.requirement("runnerd.no-orphan")
@pytest.mark.parametrize("queues", ["empty", "full"])
async def test_a_parent_that_is_killed_leaves_neither_runnerd_nor_anything_below_it(queues: str) -> None:
    script = ORPHAN.replace("wait", "read go; yes" if queues == "full" else "wait")
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, script, queues, cwd=PROJECT_DIR, stdout=subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(parent.communicate(), 10)
    runnerd, orphan = map(int, output.split())
    await until(lambda: not is_alive(runnerd) and not is_alive(orphan))


@pytest.mark.requirement("runnerd.no-orphan")
async def test_what_a_killed_runnerd_leaves_is_found_by_its_marks_and_nothing_else_is() -> None:
    marked = {**ENVIRONMENT, "CODEX_HOME": "/sessions/FAKE-one"}
    other = await asyncio.create_subprocess_exec("/bin/sleep", "60", env={"CODEX_THREAD_ID": "thread-two"})
    try:
        async with running("/bin/sh", "-c", ORPHAN, environment=marked) as runner:
            orphan = int(await read_line(runner))
            os.kill(runner.pid, signal.SIGKILL)
            await until(lambda: not is_alive(runner.pid))
            assert is_alive(orphan)
            assert sweep(thread_id="thread-one", home=Path("/sessions/FAKE-one")) >= 1
            await until(lambda: not is_alive(orphan))
        assert sweep() == 0
        assert is_alive(other.pid)
        assert sweep(thread_id="thread-two") == 1
        assert await asyncio.wait_for(other.wait(), 5) == -signal.SIGKILL
    finally:
        if other.returncode is None:
            other.kill()
            await other.wait()


# ---------------------------------------------------------------- what it is
@pytest.mark.requirement("runnerd.small")
async def test_runnerd_imports_no_house_above_it_and_little_else() -> None:
    code = "import sys, cleanroom.runnerd.supervisor, cleanroom.runnerd.environment; print(*sys.modules)"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-S", "-c", code, cwd=PROJECT_DIR, stdout=subprocess.PIPE
    )
    output, _ = await process.communicate()
    modules = output.decode().split()
    heavy = ("django", "asyncio", "json", "ctypes", "typing", "mockcore", "capability", "evidence", "cleanroom.harness")
    assert [name for name in modules if name.split(".")[0] in heavy or name in heavy] == []


@pytest.mark.requirement("runnerd.environment")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_no_secret_of_the_parent_is_in_the_environment_or_arguments_of_the_child(
    case: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = case["parent"]
    assert isinstance(parent, dict)
    for key, value in parent.items():
        monkeypatch.setenv(key, value)
    script = "env; tr '\\0' ' ' < /proc/$PPID/cmdline; tr '\\0' '\\n' < /proc/$PPID/environ"
    async with running("/bin/sh", "-c", script, environment=dict(os.environ)) as runner:
        seen = (await read_all(runner)).decode()
    assert "PATH=" in seen
    absent = case["absent_values"]
    assert isinstance(absent, list)
    assert [value for value in absent if value in seen] == []
    assert "PAPERCLIP_" not in seen


@pytest.mark.requirement("runnerd.environment")
async def test_runnerd_drops_by_itself_what_its_own_parent_forgot_to_drop() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-S", "-m", "cleanroom.runnerd", "/", "/usr/bin/env"),
        cwd=PROJECT_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": "/usr/bin", "SECRET": "FAKE-1"},
    )
    assert process.stdout is not None
    output = await asyncio.wait_for(process.stdout.read(), 10)
    await process.wait()
    assert b"PATH=/usr/bin" in output
    assert b"FAKE-1" not in output


@pytest.mark.requirement("runnerd.environment")
@pytest.mark.parametrize(
    ("key", "value", "passes"),
    [
        ("HTTP_PROXY", "http://proxy.example:3128", True),
        ("HTTPS_PROXY", "http://proxy.example:3128/", True),
        ("ALL_PROXY", "socks5h://127.0.0.1:1080", True),
        ("HTTP_PROXY", "http://user:FAKE@proxy.example:3128", False),
        ("HTTP_PROXY", "http://FAKE@proxy.example", False),
        ("HTTP_PROXY", "proxy.example:3128", False),
        ("HTTP_PROXY", "", False),
        ("NO_PROXY", "localhost,127.0.0.1", False),
        ("http_proxy", "http://proxy.example:3128", False),
        ("PATH", "/bin", True),
        ("PAPERCLIP_API_KEY", "FAKE", False),
        ("OPENAI_API_KEY", "FAKE", False),
        ("CODEX_API_KEY", "FAKE", False),
        ("RUST_LOG", "trace", False),
    ],
)
def test_only_allowlisted_names_pass_and_a_proxy_only_as_a_plain_address(key: str, value: str, passes: bool) -> None:
    assert (key in allowed({key: value})) is passes


def test_the_allowlist_has_the_seventeen_names_of_the_contract() -> None:
    assert len(ALLOWED) == 17
