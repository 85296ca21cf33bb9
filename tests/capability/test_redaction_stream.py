"""A text that arrives in pieces is masked as the whole of it is, wherever it was cut; what is safe leaves at once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capability.redaction import MASK, StreamRedactor, redact_text
from capability.redaction.stream import HELD_MAX_CHARS
from capability.redaction.texts import mask_plain
from tests.capability.redaction_texts import KEY, Case, joined, of_kind, streamed


# ---------------------------------------------------------------- streams
@pytest.mark.requirement("redaction.stream")
@pytest.mark.parametrize("case", of_kind("text", "log", "stream"))
def test_a_text_cut_anywhere_streams_as_the_whole_text_is_masked(case: Case) -> None:
    source = "".join(case["chunks"]) if "chunks" in case else joined(case["input"])
    whole = mask_plain(source)
    for cut in range(len(source) + 1):
        assert "".join(streamed(source, [cut])) == whole
    assert "".join(streamed(source, list(range(1, len(source))))) == whole


FRAGMENTS = [
    *("password", "the secret", "API_KEY", '"token"', "'apiKey'", "Authorization", "Cookie", "--token", "x", "Bearer"),
    *(
        ": ",
        "=",
        " = ",
        ":",
        " ",
        "\n",
        '"',
        "'",
        ", ",
        ". ",
        "`",
        "; ",
        "&",
        "\\n",
        "\\",
        "**",
        "[",
        "{",
        "}",
        "(",
        ")",
    ),
    *(
        f" {KEY}",
        "sk-",
        "task-",
        " ghp_",
        "AKIA",
        "FAKE1234567890ABCDEF",
        "eyJhbGciOiJub25l.eyJzdWIiOiJmYWtl.abc",
        "https://",
    ),
    *("https://", "bob:FAKE@", "?code=", "&state=", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
    *(
        "- ",
        "--",
        "(",
        ")",
        "word",
        "hunter2",
        "is ",
        "open",
        "none",
        "42",
        "Basic dXNlcjpwYXNz",
        "curl -u ",
        "mysql -p",
        "sshpass -p ",
        "machine h login u password ",
        "%70",
        "%3",
        "&#112;",
        "\\u0070assword",
        "\\u00",
        "\x1b[31m",
        '{"',
        '["',
        '"}',
        '"""',
        "${",
        "a.b(",
        " |",
        "\n  ",
        "\n- ",
        "<token>",
        "</token>",
        '"name":"',
        '","value":"',
        "abcdefgh1@",
        "[REDACTED]",
        "é",
        "\u200b",
        "…",
    ),
]


@pytest.mark.requirement("redaction.stream")
@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=14), data=st.data())
def test_any_mixture_cut_anywhere_streams_as_the_whole_text_is_masked(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    assert "".join(streamed(text, cuts)) == mask_plain(text)


@pytest.mark.requirement("redaction.stream")
def test_a_thousand_escapes_that_begin_nothing_come_out_as_they_are() -> None:
    text = "\x1b" * 2_000
    assert "".join(streamed(text, [1_500])) == text


@pytest.mark.requirement("redaction.stream")
def test_a_key_inside_a_word_never_shows_more_than_its_first_letters() -> None:
    for cut in range(40):
        assert "".join(streamed(f"password{KEY} end", [cut])) in {
            f"password{lost}{MASK} end" for lost in ("", "s", "sk")
        }


@given(text=st.text(max_size=200), cuts=st.lists(st.integers(0, 200), max_size=6))
@settings(max_examples=100, deadline=None)
def test_any_text_at_all_survives_and_doing_it_twice_is_doing_it_once(text: str, cuts: list[int]) -> None:
    once = redact_text(text)
    assert redact_text(once) == once
    assert "".join(streamed(text, sorted(cuts))) == mask_plain(text)


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=14))
def test_a_mixture_masked_twice_is_masked_once(parts: list[str]) -> None:
    once = redact_text(" ".join(parts))
    assert redact_text(once) == once


@pytest.mark.requirement("redaction.stream")
@pytest.mark.parametrize(
    "chunk", ["Here is what I found. ", "a plain word", "The plan (step 2) works, doesn't it?", "Done.\n"]
)
def test_plain_prose_comes_out_at_once(chunk: str) -> None:
    assert StreamRedactor().feed(chunk) == chunk


@pytest.mark.requirement("redaction.stream")
def test_only_a_possible_beginning_is_held_back() -> None:
    stream = StreamRedactor()
    assert stream.feed("it is s") == "it is "
    assert stream.feed("k") == ""
    assert stream.feed("ipped now.") == "skipped now."  # no registered secret begins with a full stop


@pytest.mark.requirement("redaction.stream")
@pytest.mark.parametrize(
    ("start", "piece", "end"),
    [
        ("-----BEGIN PRIVATE KEY-----\n", "FAKEBODY" * 8 + "\n", "-----END PRIVATE KEY-----\nafter"),
        ("sk-proj-", "FAKE1234" * 8, " after"),
        ("Cookie: a=", "FAKE1234" * 8 + "; b=", "c\nafter"),
        ("eyJ", "FAKE1234" * 8, " after"),
        ('password="', "FAKE 1234" * 8, '"\nafter'),
    ],
)
def test_a_secret_without_end_is_masked_before_it_fills_the_memory(start: str, piece: str, end: str) -> None:
    stream = StreamRedactor()
    out = stream.feed("before " + start)
    longest = 0
    for _ in range(2_000):
        out += stream.feed(piece)
        longest = max(longest, len(stream._held) + len(stream._sent))
    out += stream.feed(end) + stream.flush()
    assert longest < 2 * HELD_MAX_CHARS
    assert "FAKE" not in out
    assert MASK in out
    assert out.startswith("before ")
    assert out.endswith("after")
