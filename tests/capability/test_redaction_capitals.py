"""A key whose beginning was put in capitals, as a writer does with the first word of a sentence, is still a key."""

from __future__ import annotations

import pytest

from capability.redaction import StreamRedactor, find_protected, redact_text

BODY = "FAKEsecret0123456789abcdefABCDEF"
KEYS = [
    *(f"{start}{BODY}" for start in ("Sk-proj-", "SK-PROJ-", "Sk-ant-", "Ghp_", "Glpat-", "GLPAT-", "Github_pat_")),
    "Xoxb-1234567890-FAKEabcdef",
    "XOXB-1234567890-FAKEABCDEF",
    f"ｓｋ-proj-{BODY}",
    f"Ｓｋ-proj-{BODY}",
    f"Sk-pr\u200boj-{BODY}",
    f"Sk-pr\xadoj-{BODY}",
    f"Sk-pr\u034foj-{BODY}",
    "EyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJGQUtFIn0.RkFLRXNpZ25hdHVyZQ",
]


@pytest.mark.requirement("redaction.capitals")
@pytest.mark.parametrize("key", KEYS)
def test_capitals_hide_no_key(key: str) -> None:
    text = f"I recorded this. {key}"
    assert redact_text(text) == "I recorded this. [REDACTED]"
    assert find_protected({"body": text}) is not None
    stream = StreamRedactor()
    assert "".join(map(stream.feed, text)) + stream.flush() == "I recorded this. [REDACTED]"


@pytest.mark.requirement("redaction.capitals")
@pytest.mark.parametrize(
    "text",
    [
        "Sk-learn-based models, SK-LEARN-BASED models",
        "SK_LEARN_HOME and PK_COLUMN12345678 and RT_SIGNAL_HANDLER_2_FOOBAR",
        "Task-cleanroom-12345678 is Risk-averse-12345678",
        "Slovakia12345678901234567 and Asian12345678901234567",
    ],
)
def test_capitals_make_no_key_of_words_and_names(text: str) -> None:
    assert redact_text(text) == text
    assert find_protected({"body": text}) is None
