"""Lines of any cut become messages; what is no message is bounded; what leaves is valid."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanroom.codex import wire
from cleanroom.harness import ProtocolFailure

pytestmark = pytest.mark.requirement("driver.wire.lines")

CASES = [json.loads(line) for line in (Path(__file__).parent / "data/rpc-lines.jsonl").read_text().splitlines()]
STARTED = b'{"method":"turn/started","params":{"threadId":"t1"}}\n'


def _expand(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    return {key: _expand(part) for key, part in value.items()} if isinstance(value, dict) else value


def _pieces(entry: dict[str, Any]) -> Iterator[bytes]:
    if "text" in entry:
        yield entry["text"].encode() + b"\n"
    elif "b64" in entry:
        yield base64.b64decode(entry["b64"])
    elif "b64_pieces" in entry:
        yield from map(base64.b64decode, entry["b64_pieces"])
    elif "json_with" in entry:
        yield json.dumps(_expand(entry["json_with"]), ensure_ascii=False).encode() + b"\n"
    elif "repeat_line" in entry:
        yield (entry["repeat_line"].encode() + b"\n") * entry["times"]
    elif "raw_repeat" in entry:
        for _ in range(entry["times"] // 65536):
            yield entry["raw_repeat"].encode() * 65536


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_hostile_line_ends_as_its_case_says(case: dict[str, Any]) -> None:
    reader = wire.LineReader()
    messages: list[wire.Message] = []
    failure = None
    try:
        for entry in case["lines"]:
            for piece in _pieces(entry):
                messages += reader.feed(piece)
    except ProtocolFailure as raised:
        failure = raised
    if failure is not None:
        assert "protocol-failure" in case["expect_any"]
        assert failure.failure in ("line_too_long", "too_much_noise", "malformed_json", "malformed_message")
    else:
        assert case["expect_any"] != ["protocol-failure"]
        assert messages
        if "skip-then-dispatch" in case["expect_any"] or "dispatch" in case["expect_any"]:
            assert isinstance(messages[-1], wire.Notification)
    if "text" in case:
        assert isinstance(messages[0], wire.Notification)
        assert messages[0].params["delta"] == case["text"]


def test_memory_stays_bounded_without_a_line_end() -> None:
    reader = wire.LineReader()
    for _ in range(wire.MAX_LINE_BYTES // 65536):
        assert list(reader.feed(b"a" * 65536)) == []
    with pytest.raises(ProtocolFailure) as failure:
        list(reader.feed(b"a"))
    assert failure.value.failure == "line_too_long"


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40), min_size=1, max_size=5),
    data=st.data(),
)
def test_any_cut_of_the_bytes_gives_the_same_messages(texts: list[str], data: st.DataObject) -> None:
    raw = b"".join(wire.encode({"method": "m", "params": {"text": text}}) for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    reader = wire.LineReader()
    messages = [
        message
        for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)
        for message in reader.feed(raw[start:end])
    ]
    assert [message.params["text"] for message in messages if isinstance(message, wire.Notification)] == texts


def test_a_message_is_known_by_its_shape_and_the_id_zero_is_an_id() -> None:
    request, notification, answer, error = wire.LineReader().feed(
        b'{"id":0,"method":"a","params":{"x":1}}\n{"method":"b"}\n{"id":0,"result":null}\n'
        b'{"id":"0","error":{"code":-1,"message":"no"}}\r\n'
    )
    assert request == wire.Request(id=0, method="a", params={"x": 1})
    assert notification == wire.Notification(method="b", params={})
    assert answer == wire.Answer(id=0, result=None, error=None)
    assert error == wire.Answer(id="0", result=None, error={"code": -1, "message": "no"})


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":1}',
        b"{}",
        b'{"id":1,"result":1,"error":{"code":1}}',
        b'{"id":true,"method":"a"}',
        b'{"id":null,"method":"a"}',
        b'{"id":1.5,"result":1}',
        b'{"method":5,"id":1,"result":1}',
        b'{"method":"a","params":[1]}',
        b'{"id":1,"error":"text"}',
        b'{"method":"a","params":{"n":NaN}}',
        b'{"method":"a"',
        b'{"method":"a"} trailing',
        b'{"a":' * 100_000,
    ],
)
def test_a_broken_object_is_a_protocol_failure(line: bytes) -> None:
    with pytest.raises(ProtocolFailure) as failure:
        list(wire.LineReader().feed(line + b"\n"))
    assert failure.value.failure in ("malformed_json", "malformed_message")


def test_noise_is_counted_up_to_its_bound_and_blank_lines_are_not_noise() -> None:
    reader = wire.LineReader()
    assert list(reader.feed(b"\n  \n\r\n" * 1000)) == []
    assert list(reader.feed(b"noise\n" * wire.MAX_NOISE_LINES)) == []
    assert len(list(reader.feed(STARTED))) == 1
    with pytest.raises(ProtocolFailure):
        list(reader.feed(b"one more\n"))


def test_other_line_separators_stay_inside_a_line() -> None:
    text = "a\u2028b\u0085c\u000bd\re"
    (message,) = wire.LineReader().feed(wire.encode({"method": "m", "params": {"text": text}}))
    assert isinstance(message, wire.Notification)
    assert message.params["text"] == text


@pytest.mark.parametrize(
    ("text", "sent"), [("\ud800", "\ufffd"), ("a\udfffb", "a\ufffdb"), ("\ud83d\ude00", "😀"), ("😀", "😀")]
)
def test_a_lone_surrogate_never_leaves_nor_enters(text: str, sent: str) -> None:
    line = wire.request(id=1, method="m", params={"text": text})
    assert json.loads(line.decode())["params"]["text"] == sent
    (message,) = wire.LineReader().feed(json.dumps({"method": "m", "params": {"text": text}}).encode() + b"\n")
    assert isinstance(message, wire.Notification)
    assert message.params["text"] == sent


def test_an_answer_keeps_the_type_of_the_id() -> None:
    assert json.loads(wire.result(id=0, value={}))["id"] == 0
    assert json.loads(wire.result(id="0", value={}))["id"] == "0"
    assert json.loads(wire.error(id=3, code=-32601, message="no")) == {
        "id": 3,
        "error": {"code": -32601, "message": "no"},
    }
