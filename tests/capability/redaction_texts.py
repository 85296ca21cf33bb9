"""What the tests of the redactor share: the corpus, and texts that arrive in pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from capability.redaction import StreamRedactor

Case = dict[str, Any]
CORPUS: list[Case] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "redaction.jsonl").read_text().splitlines()
]
KEY = "sk-proj-FAKEa1b2c3d4e5f6g7h8"


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CORPUS if case["where"] in kinds]


def joined(value: Any) -> str:
    """Join a text that is given as parts."""
    if isinstance(value, str):
        return value
    return "".join(part if isinstance(part, str) else part["repeat"] * part["times"] for part in value)


def streamed(text: str, cuts: list[int]) -> list[str]:
    """Return the frames of a text cut at `cuts`."""
    stream = StreamRedactor()
    edges = [0, *cuts, len(text)]
    frames = [stream.feed(text[start:end]) for start, end in pairwise(edges)]
    return [*frames, stream.flush()]


def letter_by_letter(text: str) -> str:
    stream = StreamRedactor()
    return "".join(stream.feed(piece) for piece in text) + stream.flush()
