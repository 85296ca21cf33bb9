"""Bytes to messages and back: Codex's JSON lines, split, bounded and checked. Pure: no I/O, no clock.

A message is known by its shape: `method` and `id` is a request of Codex, `method` alone a notification, `id` alone an
answer. What cannot be a message at all is noise and skipped up to a bound; an object that is broken ends the session.
Source: wire README sections 2 and 3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cleanroom.harness import ProtocolFailure

MAX_LINE_BYTES = 16 * 1024 * 1024  # the largest line seen was 2 MB; the provider names no bound
MAX_NOISE_LINES = 64  # in the life of one process

RequestId = int | str

_TERMINAL_CODES = re.compile(rb"^(?:\x1b\[[0-9;?]*[ -/]*[@-~]|\s)+")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, kw_only=True)
class Request:
    """Codex asks something. `id` is answered with the same JSON type; 0 is a valid one."""

    id: RequestId
    method: str
    params: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Notification:
    method: str
    params: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to a request of ours: `error` is {code, message} or None."""

    id: RequestId
    result: Any
    error: dict[str, Any] | None


Message = Request | Notification | Answer


class LineReader:
    """Collects bytes of any cut into lines, and lines into messages. One per process generation."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self.noise_count = 0

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that `data` completes.

        Lines end at the byte `\\n` only: other line separators occur raw inside them. Raises `ProtocolFailure` named
        `line_too_long`, `too_much_noise`, `malformed_json` or `malformed_message`.
        """
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._keep(piece)
            line = b"".join(self._parts)
            self._parts, self._size = [], 0
            message = self._read(line)
            if message is not None:
                yield message
        self._keep(rest)

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MAX_LINE_BYTES:
            raise ProtocolFailure("line_too_long", f"Codex sent a line of more than {MAX_LINE_BYTES} bytes.")
        if piece:
            self._parts.append(piece)

    def _read(self, line: bytes) -> Message | None:
        line = _TERMINAL_CODES.sub(b"", line)  # a terminal code or blanks may precede a message
        if not line:
            return None
        if line.startswith(b"{"):
            return parse(line)
        self.noise_count += 1
        if self.noise_count > MAX_NOISE_LINES:
            raise ProtocolFailure("too_much_noise", "Codex wrote too many lines that are no messages.")
        return None


def parse(line: bytes) -> Message:
    """Turn one line that starts an object into a message. Raises `ProtocolFailure`."""
    try:
        value = _DECODER.decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise ProtocolFailure("malformed_json", "Codex sent a line that is not JSON.") from error
    if _SURROGATE.search(line):
        value = json.loads(_well_formed(json.dumps(value, ensure_ascii=False)))
    return _shape(value)


def encode(message: dict[str, Any]) -> bytes:
    """Return one line for Codex. A lone surrogate becomes U+FFFD: Codex would drop the whole line without a word."""
    return (_well_formed(json.dumps(message, ensure_ascii=False, allow_nan=False)) + "\n").encode()


def request(*, id: int, method: str, params: dict[str, Any]) -> bytes:
    return encode({"id": id, "method": method, "params": params})


def notification(*, method: str) -> bytes:
    return encode({"method": method})


def result(*, id: RequestId, value: dict[str, Any]) -> bytes:
    return encode({"id": id, "result": value})


def error(*, id: RequestId, code: int, message: str) -> bytes:
    return encode({"id": id, "error": {"code": code, "message": message}})


def _shape(value: dict[str, Any]) -> Message:
    method, has_id = value.get("method"), "id" in value
    if has_id and (isinstance(value["id"], bool) or not isinstance(value["id"], int | str)):
        raise _malformed()
    if isinstance(method, str):
        params = value.get("params")
        if not isinstance(params, dict | None):
            raise _malformed()
        if has_id:
            return Request(id=value["id"], method=method, params=params or {})
        return Notification(method=method, params=params or {})
    failed = value.get("error") is not None
    if "method" in value or not has_id or failed == ("result" in value):
        raise _malformed()
    if failed and not isinstance(value["error"], dict):
        raise _malformed()
    return Answer(id=value["id"], result=value.get("result"), error=value["error"] if failed else None)


def _malformed() -> ProtocolFailure:
    return ProtocolFailure("malformed_message", "Codex sent an object that is no message of its protocol.")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)  # made once: `json.loads` would make one for each line


def _well_formed(text: str) -> str:
    """Join surrogate pairs and replace lone ones, so that the text can leave as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
