"""Replies as the server-sent events of the Responses API, in the order that Codex needs them. Pure.

Source: the shapes that Codex 0.132.0 was seen to accept for messages, reasoning, function calls and custom tool calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cleanroom.rehearsal.reply import Call, Reply

WORDS_IN_A_DELTA = 3
CHARACTERS_IN_A_TOKEN = 4  # a rough count, so that usage moves as a real one would


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event of the stream. `words` is how many words it shows, which is what pacing counts; 0 is sent at once."""

    data: Mapping[str, Any]
    words: int = 0

    def encode(self) -> bytes:
        return f"event: {self.data['type']}\ndata: {json.dumps(self.data, ensure_ascii=False)}\n\n".encode()


def events(reply: Reply, *, new_id: Callable[[], str], input_characters: int) -> Iterator[Event]:
    """Yield every event of one response. `new_id` gives a fresh id each time; ids carry no meaning."""
    response_id = f"resp_{new_id()}"
    yield Event(data={"type": "response.created", "response": {"id": response_id}})
    index = 0
    if reply.thinking:
        yield from reasoning(reply.thinking, item_id=f"rs_{new_id()}", index=index)
        index += 1
    if reply.text:
        size = 1 if reply.seconds_a_word is not None else WORDS_IN_A_DELTA
        yield from message(reply.text, item_id=f"msg_{new_id()}", index=index, words_in_a_delta=size)
        index += 1
    for call in reply.calls:
        yield from tool_call(call, call_id=f"call_{new_id()}", index=index)
        index += 1
    usage = token_usage(reply, input_characters)
    yield Event(data={"type": "response.completed", "response": {"id": response_id, "usage": usage}})


def message(text: str, *, item_id: str, index: int, words_in_a_delta: int) -> Iterator[Event]:
    item = {"type": "message", "role": "assistant", "id": item_id}
    yield Event(data={"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}})
    place = {"item_id": item_id, "output_index": index, "content_index": 0}
    for delta, words in deltas(text, words_in_a_delta=words_in_a_delta):
        yield Event(data={"type": "response.output_text.delta", **place, "delta": delta}, words=words)
    whole = {**item, "content": [{"type": "output_text", "text": text}]}
    yield Event(data={"type": "response.output_item.done", "output_index": index, "item": whole})


def reasoning(text: str, *, item_id: str, index: int) -> Iterator[Event]:
    item = {"type": "reasoning", "id": item_id}
    place = {"item_id": item_id, "output_index": index, "summary_index": 0}
    yield Event(data={"type": "response.output_item.added", "output_index": index, "item": {**item, "summary": []}})
    yield Event(data={"type": "response.reasoning_summary_part.added", **place})
    for delta, words in deltas(text, words_in_a_delta=WORDS_IN_A_DELTA):
        yield Event(data={"type": "response.reasoning_summary_text.delta", **place, "delta": delta}, words=words)
    whole = {**item, "summary": [{"type": "summary_text", "text": text}], "encrypted_content": ""}
    yield Event(data={"type": "response.output_item.done", "output_index": index, "item": whole})


def tool_call(call: Call, *, call_id: str, index: int) -> Iterator[Event]:
    item: dict[str, Any] = {"call_id": call_id, "name": call.name}
    if call.patch is not None:
        item |= {"type": "custom_tool_call", "id": f"ctc_{call_id}", "input": call.patch}
    else:
        item |= {"type": "function_call", "id": f"fc_{call_id}", "arguments": json.dumps(call.arguments)}
    yield Event(data={"type": "response.output_item.done", "output_index": index, "item": item})


def deltas(text: str, *, words_in_a_delta: int) -> Iterator[tuple[str, int]]:
    """Split a text into groups of words, spaces kept, so that the groups joined are the text."""
    words = re.findall(r"\s*\S+\s*?(?=\s|$)|\s+", text)
    for start in range(0, len(words), words_in_a_delta):
        group = words[start : start + words_in_a_delta]
        yield "".join(group), len(group)


def token_usage(reply: Reply, input_characters: int) -> dict[str, Any]:
    """Return a rough count in the API's shape: four characters a token."""
    thought = len(reply.thinking) // CHARACTERS_IN_A_TOKEN
    written = sum(len(call.name) + len(call.patch or json.dumps(dict(call.arguments))) for call in reply.calls)
    output = max(1, thought + (len(reply.text) + written) // CHARACTERS_IN_A_TOKEN)
    read = max(1, input_characters // CHARACTERS_IN_A_TOKEN)
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": read + output,
    }
