"""The request of one model call as a conversation: what was asked, what was called, what came back. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

ANSWER_SCHEMAS = "paperclip.semantic-"  # messages of the board's answers carry a schema that starts so, and an outcome
CODEX_NOTES = (  # what Codex itself says in the user's role; never a person's words
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<goal_context>",
    "<subagent_notification>",
    "<skills_instructions>",
    "# AGENTS.md instructions",
)
UNSUPPORTED = "unsupported call"  # Codex's own answer to a tool name it does not know


@dataclass(frozen=True, kw_only=True)
class Result:
    """One call the model made and what came back. `data` is the output as a JSON object, empty when it is none."""

    name: str
    arguments: Mapping[str, Any]
    output: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> Mapping[str, Any]:
        """The result inside the envelope of an operation, or the output itself when there is no envelope."""
        inner = self.data.get("result", self.data)
        return inner if isinstance(inner, Mapping) else {}

    @property
    def denial(self) -> Mapping[str, Any] | None:
        inner = self.data.get("denial")
        return inner if isinstance(inner, Mapping) else None

    @property
    def unknown_to_agent(self) -> bool:
        return self.output.startswith(UNSUPPORTED)

    @property
    def ok(self) -> bool:
        return self.denial is None and self.data.get("ok", True) is not False and not self.unknown_to_agent


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One message and what the model has done about it so far.

    `answer` is the message itself when it is the board's answer to a question, and `more` what a person said after it.
    `spoken`: the model has answered it. `late_denial` is set when a denial reached the model after that.
    """

    text: str
    answer: Mapping[str, Any] | None = None
    more: str = ""
    results: tuple[Result, ...] = ()
    spoken: bool = False
    late_denial: Mapping[str, Any] | None = None
    denied_name: str = ""  # the tool that the late denial is about

    @property
    def awaits_denial(self) -> bool:
        return any(result.unknown_to_agent for result in self.results)


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Every exchange of a thread, oldest first, and the tools that the request offers (name to JSON Schema)."""

    exchanges: tuple[Exchange, ...]
    tools: Mapping[str, Mapping[str, Any]]

    @property
    def newest(self) -> Exchange:
        return self.exchanges[-1] if self.exchanges else Exchange(text="")

    @property
    def asking(self) -> int:
        """The number of the newest request. One that was cut and is asked again in the same words keeps its number."""
        number = 0
        for before, after in zip(self.exchanges, self.exchanges[1:], strict=False):
            number += not (before.text == after.text and not before.spoken)
        return number


def read(body: Mapping[str, Any]) -> Conversation:
    """Read a Responses-API request body. Items of unknown kinds are skipped; nothing raises."""
    items = body.get("input", [])
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    outputs = {item.get("call_id"): text_of(item.get("output")) for item in mappings(items) if is_output(item)}
    exchanges: list[Exchange] = []
    for item in mappings(items):
        add(exchanges, item, outputs)
    return Conversation(exchanges=tuple(exchanges), tools=offered_tools(body.get("tools", [])))


def add(exchanges: list[Exchange], item: Mapping[str, Any], outputs: Mapping[Any, str]) -> None:
    """Add one input item to the exchanges: a message begins one, everything else belongs to the newest."""
    if item.get("type") in ("function_call", "custom_tool_call") and exchanges:
        result = result_of(item, outputs.get(item.get("call_id"), ""))
        exchanges[-1] = replace(exchanges[-1], results=(*exchanges[-1].results, result))
    elif item.get("type") == "message" and item.get("role") == "assistant" and exchanges:
        exchanges[-1] = replace(exchanges[-1], spoken=True, late_denial=None)
    elif item.get("type") == "message" and item.get("role") == "user":
        add_message(exchanges, text_of(item.get("content")).strip())


def add_message(exchanges: list[Exchange], text: str) -> None:
    if not text or text.startswith(CODEX_NOTES):
        return
    data = json_in(text)
    if exchanges and exchanges[-1].awaits_denial and is_denial(data):
        exchanges[-1] = with_denial(exchanges[-1], data)
    else:
        answer, more = leading_answers(text)
        exchanges.append(Exchange(text=text, answer=answer or (data if is_answer(data) else None), more=more))


def leading_answers(text: str) -> tuple[Mapping[str, Any] | None, str]:
    """Return the last of the answers that a message begins with, None if with none, and what was said after them."""
    last: Mapping[str, Any] | None = None
    rest = text
    while rest.startswith("{"):
        try:
            data, end = json.JSONDecoder().raw_decode(rest)
        except ValueError:
            break
        if not is_answer(data):
            break
        last, rest = data, rest[end:].strip()
    return last, rest if last is not None else ""


def with_denial(exchange: Exchange, note: Mapping[str, Any]) -> Exchange:
    """Give a denial that came as a message to the call it is about: the newest one Codex did not know."""
    data = note if isinstance(note.get("denial"), Mapping) else {"ok": False, "denial": note}
    results = list(exchange.results)
    name = str(note.get("operationId") or (results[-1].name if results else ""))
    for index in reversed(range(len(results))):
        if results[index].unknown_to_agent and name == results[index].name:
            results[index] = replace(results[index], output=json.dumps(data), data=data)
            break
    late = data["denial"] if exchange.spoken else None
    return replace(exchange, results=tuple(results), late_denial=late, denied_name=name)


def result_of(item: Mapping[str, Any], output: str) -> Result:
    arguments = json_object(item["arguments"]) if isinstance(item.get("arguments"), str) else {}
    return Result(name=str(item.get("name", "")), arguments=arguments, output=output, data=json_object(output))


def offered_tools(tools: Any) -> dict[str, Mapping[str, Any]]:
    """Return name to input schema of every tool with a name, those inside a namespace too."""
    found: dict[str, Mapping[str, Any]] = {}
    for tool in mappings(tools):
        if tool.get("type") == "namespace":
            found.update(offered_tools(tool.get("tools", [])))
        elif isinstance(tool.get("name"), str):
            schema = tool.get("parameters")
            found[tool["name"]] = schema if isinstance(schema, Mapping) else {}
    return found


def known_identifiers(conversation: Conversation) -> dict[str, str]:
    """Return task id to the identifier people use (`task-0001` to `MCK-4460`), of every task that any result showed."""
    found: dict[str, str] = {}
    for exchange in conversation.exchanges:
        for result in exchange.results:
            found |= identifiers_in(result.data)
    return found


def identifiers_in(data: Any) -> dict[str, str]:
    if isinstance(data, Mapping):
        found = {key: name for part in data.values() for key, name in identifiers_in(part).items()}
        if isinstance(data.get("id"), str) and isinstance(data.get("identifier"), str):
            found[data["id"]] = data["identifier"]
        return found
    if isinstance(data, list):
        return {key: name for part in data for key, name in identifiers_in(part).items()}
    return {}


def is_output(item: Mapping[str, Any]) -> bool:
    return item.get("type") in ("function_call_output", "custom_tool_call_output")


def is_answer(data: Mapping[str, Any]) -> bool:
    return str(data.get("schema", "")).startswith(ANSWER_SCHEMAS) and ("outcome" in data or "decision" in data)


def is_denial(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("denial"), Mapping) or data.get("schema") == "paperclip.semantic-denial.v1"


def text_of(content: Any) -> str:
    """Return the text of a message's content or of a call's output, in each of the shapes the API knows."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("content", content.get("text", "")))
    if isinstance(content, Sequence):
        return "".join(text_of(part) for part in content)
    return ""


def json_object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def json_in(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text, also when a sentence stands before it; empty when there is none."""
    start = text.find("{")
    if start < 0:
        return {}
    try:
        data, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def mappings(items: Any) -> Iterable[Mapping[str, Any]]:
    return (item for item in items if isinstance(item, Mapping)) if isinstance(items, Sequence) else ()
