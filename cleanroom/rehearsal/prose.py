"""Sentences about results: what came back, said in plain language and in Markdown. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cleanroom.rehearsal.conversation import Result
from cleanroom.rehearsal.words import one_sentence, shortened

EXIT_CODE = re.compile(r"(?:exited with code|Exit code:|\"exit_code\":)\s*(-?\d+)")
TASK_ID = re.compile(r"\btask-[\w-]*\w", re.IGNORECASE)
OPERATIONS = (  # names whose denial follows when Codex does not know them; source: reference A 1.4
    "get_task_context get_task_history list_documents read_document list_document_revisions report_progress "
    "answer_status_question write_document request_human_input register_deliverable finish_task block_task "
    "request_review list_agents get_agent search_tasks list_approvals get_approval get_approval_context "
    "get_workspace_runtime control_workspace_service set_dependencies create_task request_approval decide_approval "
    "comment_on_approval schedule_wake generic_api_request"
)
STILL_RUNNING = re.compile(r"Process running with session ID (\d+)")


def refused(result: Result) -> str:
    """Say that a call was refused: the code, the sentence and whose code it was; or that Codex did not know it."""
    if result.denial is not None:
        return denied(result.name, result.denial)
    if result.unknown_to_agent:
        return tried(result.name)
    return f"`{result.name}` did not work: {quoted(shortened(result.output, limit=400))}"


def tried(name: str) -> str:
    """Say that Codex did not know a name. When it is a withheld operation, the denial follows and explains it."""
    return f"I tried `{name}`." if name in OPERATIONS.split() else f"I tried `{name}`, which Codex does not know."


def denied(name: str, denial: Mapping[str, Any]) -> str:
    code, inner = str(denial.get("code", "unknown")), denial.get("controlPlaneCode")
    named = f"`{code}`" + (f" (`{inner}`)" if inner else "")
    why = one_sentence(str(denial.get("message") or "No reason was given"))
    return f"`{name}` was denied with {named}: {why} Nothing changed."


def with_identifiers(text: str, identifiers: Mapping[str, str]) -> str:
    """Write `MCK-4460` for `task-0004` where the identifier is known. Quotes and code blocks stay as they are."""
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = re.match(r"`{3,}", line)
        if mark and fence in ("", mark[0]):
            fence = "" if fence else mark[0]
        exact = bool(fence or mark or line.startswith(">"))
        lines.append(line if exact else TASK_ID.sub(lambda m: identifiers.get(m[0].lower(), m[0]), line))
    return "\n".join(lines)


def describe_task(task: Mapping[str, Any]) -> str:
    """Say what an issue is: identifier, title, status, priority."""
    words = f"**{task.get('identifier', 'This issue')}**: “{task.get('title', 'untitled')}”"
    words += f" is `{task.get('status', 'unknown')}` with {task.get('priority', 'no')} priority."
    description = str(task.get("description") or "").strip()
    return words + (
        f"\n\n{as_quote(shortened(description, limit=600))}" if description else " It has no description yet."
    )


def status_sentence(task: Mapping[str, Any]) -> str:
    """One sentence about an issue that has been read, fit to be recorded as its status."""
    status = str(task.get("status", "open")).replace("_", " ")
    return (
        f"{task.get('identifier', 'The issue')} “{task.get('title', '')}” is {status}: "
        "it has been read and is ready for the board's next request."
    )


def revision_note(result: Result) -> str:
    """Say at which state revision a change stands, and when it had been made before."""
    revision = result.value.get("stateRevision", result.data.get("stateRevision"))
    notes = [f"state revision {revision}"] if revision is not None else []
    if is_duplicate(result):
        notes.append("recorded before, so nothing was added")
    return f" ({'; '.join(notes)})" if notes else ""


def is_duplicate(result: Result) -> bool:
    return result.value.get("disposition") == "duplicate"


def reference(result: Result, kind: str) -> str:
    """Return the id of the first entity of that kind that a change touched; empty when there is none."""
    refs = result.value.get("entityRefs")
    for ref in refs if isinstance(refs, list) else []:
        name, _, entity = str(ref).partition(":")
        if name == kind:
            return entity
    return ""


def command_output(result: Result) -> str:
    """Return what a command printed, without the lines that the agent puts before it."""
    text = result.output
    if isinstance(result.data.get("output"), str):
        text = result.data["output"]
    _, mark, after = text.partition("Output:\n")
    return (after if mark else text).rstrip()


def exit_code(result: Result) -> int | None:
    match = EXIT_CODE.search(result.output)
    return int(match[1]) if match else None


def running_session(result: Result) -> int | None:
    """Return the number of a command that still runs, by which it can be asked again."""
    match = STILL_RUNNING.search(result.output)
    return int(match[1]) if match else None


def as_quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines() or [""])


def as_code(text: str, *, limit: int = 1500) -> str:
    """Return a fenced block that the text cannot close, bounded."""
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{fence}\n{shortened(text, limit=limit)}\n{fence}"


def as_json(value: Any, *, limit: int = 1500) -> str:
    return as_code(json.dumps(value, indent=1, ensure_ascii=False), limit=limit)


def quoted(words: str) -> str:
    return f"“{words}”"
