"""The one rule for what a board user may send, against hostile lengths and invisible texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cleanroom.messages import MessageEmpty, MessageTooLarge, checked

CASES = [json.loads(line) for line in (Path(__file__).parent / "data" / "messages.jsonl").read_text().splitlines()]
REFUSALS = {"refuse:message_too_large": MessageTooLarge, "refuse:message_empty": MessageEmpty}


def text_of(case: dict[str, Any]) -> str:
    return "".join(p if isinstance(p, str) else p["repeat"] * p["times"] for p in case["parts"])


@pytest.mark.requirement("message.size")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_message_is_measured_in_bytes_of_utf8_and_never_cut(case: dict[str, Any]) -> None:
    text = text_of(case)
    assert len(text.encode()) == case["utf8_bytes"]
    if case["expect"] == "accept":
        assert checked(text, limit_bytes=8192) == text
    else:
        with pytest.raises(REFUSALS[case["expect"]]):
            checked(text, limit_bytes=8192)


def test_a_lone_surrogate_becomes_a_question_mark_because_no_encoding_can_carry_it() -> None:
    assert checked("a\ud800b", limit_bytes=8192) == "a?b"


def test_an_empty_message_is_refused() -> None:
    with pytest.raises(MessageEmpty):
        checked("", limit_bytes=8192)
