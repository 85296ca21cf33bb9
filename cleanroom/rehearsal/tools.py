"""Plans for Codex's own tools: the shell, patches, the plan; and the intents that only speak."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Generator, Mapping
from typing import Any

from cleanroom.rehearsal.conversation import Result
from cleanroom.rehearsal.prose import as_code, command_output, exit_code, refused, revision_note, running_session
from cleanroom.rehearsal.reply import Call, Memory, Plan, Said, one
from cleanroom.rehearsal.words import QUOTES, Clause, shortened

MAX_POLLS = 60
POLL_MS = 5_000
COMMAND_MS = 90_000  # within the turn clock of 120 s
SLOW_WORD_S = 0.1  # "count slowly": long enough to press Stop, short enough to watch
MAX_COUNT = 5_000
SERVICE_VERBS = {"start": "start", "restart": "start", "stop": "stop", "fail": "fail"}


def run_command(clause: Clause, memory: Memory) -> Plan:
    command = shell_words(clause)
    if not command:
        return Said(text="Which command? Write it in backticks or after a colon, for example: run `ls -la`.")
    call = shell_call(command, memory.tools)
    if call is None:
        return Said(text="Codex offers me no shell in this room, so I cannot run a command here.")
    result = yield from one(call)
    result = yield from until_it_ends(result)
    memory.command_output = shortened(command_output(result), limit=300)
    code = exit_code(result)
    ended = f"It ended with code {code}" if code is not None else "It was answered with"
    return Said(text=f"I ran `{command}`. {ended}:\n\n{as_code(command_output(result) or '(no output)')}")


def shell_words(clause: Clause) -> str:
    """Return the command: after a colon, in quotes, or all the words up to "then". Empty when it is only spoken of."""
    words = clause.after_colon or (clause.quoted[0] if QUOTES.match(clause.tail.strip()) else clause.tail.strip())
    return "" if words.split(" ")[0].lower() in ("", "s", "the", "a", "an", "my", "your", "this", "it") else words


def shell_call(command: str, tools: Mapping[str, Mapping[str, Any]]) -> Call | None:
    """Return a call of whichever shell tool the agent offers: its name and its arguments differ by version."""
    if "exec_command" in tools:
        return Call(name="exec_command", arguments={"cmd": command, "yield_time_ms": POLL_MS})
    if "shell_command" in tools:
        return Call(name="shell_command", arguments={"command": command, "timeout_ms": COMMAND_MS})
    if "shell" in tools:
        return Call(name="shell", arguments={"command": ["bash", "-lc", command]})
    return None


def until_it_ends(result: Result) -> Generator[tuple[Call, ...], tuple[Result, ...], Result]:
    """Ask a command that still runs again and again, until it has ended or has been asked often enough."""
    for _ in range(MAX_POLLS):
        session = running_session(result)
        if session is None:
            break
        arguments = {"session_id": session, "chars": "", "yield_time_ms": POLL_MS}
        result = yield from one(Call(name="write_stdin", arguments=arguments))
    return result


def write_file(clause: Clause, memory: Memory) -> Plan:
    """Write a file in the workspace: by a patch where Codex offers one, else by the shell."""
    name = clause.name or file_name(clause) or "notes.txt"
    content = clause.exact or "Written by the rehearsal model."
    if "apply_patch" in memory.tools:
        lines = "\n".join(f"+{line}" for line in content.splitlines())
        call: Call | None = Call(
            name="apply_patch", patch=f"*** Begin Patch\n*** Add File: {name}\n{lines}\n*** End Patch\n"
        )
    else:
        call = shell_call(
            f"printf '%s\\n' {shlex.quote(content)} > {shlex.quote(name)} && ls -l {shlex.quote(name)}", memory.tools
        )
    if call is None:
        return Said(text="Codex offers me no way to write files in this room.")
    written = yield from one(call)
    return Said(text=f"I wrote the file `{name}` in the workspace:\n\n{as_code(command_output(written))}")


def file_name(clause: Clause) -> str:
    match = re.search(r"\b([\w-]+(?:/[\w-]+)*\.\w{1,8})\b", clause.text)
    return match[1] if match else ""


def register_deliverable(clause: Clause, memory: Memory) -> Plan:
    """Register the facts of a text the person gave: its size and its hash. No bytes are sent."""
    name = clause.name or file_name(clause) or "deliverable.txt"
    content = (clause.after_colon or clause.exact or name).encode()
    arguments = {
        "filename": name,
        "contentType": "text/plain",
        "byteSize": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "contentRef": f"workspace:{name}",
        "title": name,
    }
    registered = yield from one(Call(name="register_deliverable", arguments=arguments))
    if not registered.ok:
        return Said(text=refused(registered))
    return Said(text=f"I registered `{name}` ({len(content)} bytes) as a deliverable{revision_note(registered)}.")


def control_service(clause: Clause, memory: Memory) -> Plan:
    """Reach for a service, which a clean room withholds. The denial is the point."""
    verb = next((v for word, v in SERVICE_VERBS.items() if word in clause.text.lower()), "start")
    arguments = {"serviceId": clause.name or "service-0001", "action": verb}
    controlled = yield from one(Call(name="control_workspace_service", arguments=arguments))
    return Said(text="The service was controlled." if controlled.ok else refused(controlled))


def generic_request(clause: Clause, memory: Memory) -> Plan:
    """Reach for the escape hatch, which a clean room withholds. The denial is the point."""
    arguments = {"method": "GET", "path": "/mock/revision"}
    answered = yield from one(Call(name="generic_api_request", arguments=arguments))
    return Said(text=f"It answered: {shortened(answered.output)}" if answered.ok else refused(answered))


def show_plan(clause: Clause, memory: Memory) -> Plan:
    if "update_plan" not in memory.tools:
        return Said(text="Codex offers me no plan to write on.")
    steps = ("Read the issue", "Do what the board asks", "Say what was done")
    states = ("in_progress", "pending", "pending")
    plan = [{"step": step, "status": state} for step, state in zip(steps, states, strict=True)]
    yield from one(Call(name="update_plan", arguments={"plan": plan}))
    done = [{"step": step, "status": "completed"} for step in steps]
    yield from one(Call(name="update_plan", arguments={"plan": done}))
    return Said(text="I put my plan on the plan board and ticked it off: read, do, say.")


# ---------------------------------------------------------------- only words (`yield from ()`: a plan without a call)
def count(clause: Clause, memory: Memory) -> Plan:
    yield from ()
    last = min(MAX_COUNT, clause.number or 10)
    slow = SLOW_WORD_S if "slow" in clause.text.lower() else None
    return Said(text=" ".join(str(number) for number in range(1, last + 1)), seconds_a_word=slow)


def say(clause: Clause, memory: Memory) -> Plan:
    yield from ()
    return Said(text=clause.exact or clause.tail.strip() or "…", exact=True)


def say_nothing(clause: Clause, memory: Memory) -> Plan:
    yield from ()
    return Said(text="")


def fail(clause: Clause, memory: Memory) -> Plan:
    yield from ()
    return Said(text="", failure=400)


def think(clause: Clause, memory: Memory) -> Plan:
    yield from ()
    return Said(text="I thought about it, as far as rules can: I match words, and choose tools by them.")
