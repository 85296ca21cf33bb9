"""A thread with the rehearsal model, as Codex would keep it, and what its tools answer."""

from __future__ import annotations

import json
from typing import Any

from cleanroom.rehearsal import MODEL_NAME
from cleanroom.rehearsal.decide import decide
from cleanroom.rehearsal.reply import Reply

KEYED = {"type": "object", "properties": {"idempotencyKey": {"type": "string"}}}
PLAIN = {"type": "object", "properties": {}}
READS = ("get_task_context", "get_task_history", "list_documents", "read_document", "list_approvals")
WRITES = (
    "report_progress",
    "answer_status_question",
    "write_document",
    "request_human_input",
    "register_deliverable",
    "request_approval",
    "request_review",
    "finish_task",
    "block_task",
    "set_dependencies",
    "create_task",
    "comment_on_approval",
    "schedule_wake",
)
PLAN = {"id": "document-0001", "key": "plan", "title": "Plan", "latestRevisionId": "rev-2", "revisionCount": 2}
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}}
TASK = {"identifier": "MCK-1234", "title": "Clean-room chat", "status": "in_progress", "priority": "medium"}
CONTEXT: dict[str, Any] = {"activeTask": TASK, "actor": {"name": "Mock Agent", "role": "engineer"}}


def tools(*names: str) -> list[dict[str, Any]]:
    schemas = dict.fromkeys(READS, PLAIN) | dict.fromkeys(WRITES, KEYED) | {"shell_command": SHELL}
    schemas |= {"update_plan": PLAIN}
    return [{"type": "function", "name": n, "parameters": schemas[n]} for n in names or schemas]


class Thread:
    """A conversation as Codex would send it: what was said and called goes back into the next request."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.tools = tools()
        self.input: list[dict[str, Any]] = [user("<environment_context>\n  <cwd>/w</cwd>\n</environment_context>")]
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def request(self) -> dict[str, Any]:
        return {"model": MODEL_NAME, "input": self.input, "tools": self.tools, "stream": True}

    def ask(self, text: str) -> str:
        """Say something and run the turn to its end; returns the answer."""
        self.input.append(user(text))
        for _ in range(20):
            reply = decide(self.request())
            if not reply.calls:
                self.input.append({"type": "message", "role": "assistant", "content": [{"text": reply.text}]})
                return reply.text
            self.take(reply)
        raise AssertionError("the turn does not end")

    def take(self, reply: Reply) -> None:
        for call in reply.calls:
            call_id = f"call_{len(self.calls)}"
            self.calls.append((call.name, dict(call.arguments)))
            self.input.append({"type": "function_call", "name": call.name, "call_id": call_id} | arguments(call))
        for number, call in enumerate(reply.calls, len(self.calls) - len(reply.calls)):
            output = {"type": "function_call_output", "call_id": f"call_{number}", "output": self.output(call.name)}
            self.input.append(output)

    def output(self, name: str) -> str:
        if name in self.answers:
            answer = self.answers[name]
            return answer if isinstance(answer, str) else json.dumps(answer)
        if name in ("decide_approval", "control_workspace_service", "generic_api_request"):
            return f"unsupported call: {name}"
        result = (
            CONTEXT if name == "get_task_context" else {"disposition": "applied", "stateRevision": 3, "entityRefs": []}
        )
        return json.dumps({"ok": True, "operationId": name, "result": result, "stateRevision": 3})

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def arguments(call: Any) -> dict[str, Any]:
    return {"arguments": json.dumps(dict(call.arguments))}


def read(**result: Any) -> dict[str, Any]:
    return {"ok": True, "result": result, "stateRevision": 3}


def denial(code: str, message: str, operation: str) -> dict[str, Any]:
    inner = {"schema": "paperclip.semantic-denial.v1", "code": code, "message": message, "retryable": False}
    return {"ok": False, "operationId": operation, "callId": "call-1", "denial": inner, "stateRevision": 3}


def interaction_answer(kind: str, outcome: str, result: Any) -> str:
    return json.dumps(
        {
            "schema": "paperclip.semantic-interaction-result.v1",
            "interactionId": "interaction-0001",
            "kind": kind,
            "outcome": outcome,
            "result": result,
            "instruction": "The board answered. Continue the issue with this answer.",
        }
    )
