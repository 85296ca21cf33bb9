"""The one redactor: nothing that looks like a secret leaves, nothing harmless is damaged, in texts and in values."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from capability.redaction import MASK, StreamRedactor, find_protected, preview, redact, redact_text
from capability.redaction import rules as redaction_rules
from capability.redaction.names import kind_of
from tests.capability.redaction_texts import KEY, Case, joined, letter_by_letter, of_kind, streamed


def folded(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")


def leaves(value: Any) -> Iterator[Any]:
    """Yield the path and kind of every leaf, and every name."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from leaves(item)
    elif isinstance(value, list):
        yield len(value)
        for item in value:
            yield from leaves(item)
    else:
        yield type(value)


def check(case: Case, out: str, *, source: str) -> None:
    for secret in case["must_not_contain"]:
        assert secret not in out
        assert secret not in folded(out)
    for kept in case["must_contain"]:
        assert kept in out
    if case.get("identical"):
        assert out == source
    if case.get("parses") is True:
        json.loads(out)
    if case.get("parses") == "each-line":
        assert [json.loads(line) for line in out.splitlines()]


# ---------------------------------------------------------------- the corpus, both ways
@pytest.mark.requirement("redaction.corpus")
@pytest.mark.parametrize("case", of_kind("text", "log", "record"))
def test_a_text_of_the_corpus_leaks_nothing_and_keeps_the_rest(case: Case) -> None:
    source = json.dumps(case["json"]) if "json" in case else joined(case["input"])
    check(case, redact_text(source), source=source)


@pytest.mark.requirement("redaction.corpus")
@pytest.mark.parametrize("case", [one for one in of_kind("record") if "json" in one.values[0]])
def test_a_record_of_the_corpus_keeps_its_shape(case: Case) -> None:
    out = redact(case["json"])
    check(case, json.dumps(out), source=json.dumps(case["json"]))
    assert list(leaves(out)) == list(leaves(case["json"]))


@pytest.mark.requirement("redaction.corpus")
@pytest.mark.parametrize("case", of_kind("stream"))
def test_a_stream_of_the_corpus_leaks_nothing_in_any_frame(case: Case) -> None:
    stream = StreamRedactor()
    frames = [*(stream.feed(chunk) for chunk in case["chunks"]), stream.flush()]
    for frame in frames:
        assert not any(secret in frame for secret in case["must_not_contain"])
    check(case, "".join(frames), source="".join(case["chunks"]))


@pytest.mark.requirement("redaction.tool-input")
@pytest.mark.parametrize("case", of_kind("tool_input"))
def test_a_tool_input_of_the_corpus_is_judged_right(case: Case) -> None:
    found = find_protected(case["json"]["input"])
    assert (found is not None) == (case["expect"] == "reject")
    assert not any(secret in (found or "") for secret in case["must_not_contain"])


@pytest.mark.requirement("redaction.before-cut")
@pytest.mark.parametrize("case", of_kind("preview"))
def test_a_preview_is_redacted_before_it_is_cut_wherever_that_is(case: Case) -> None:
    source = joined(case["input"])
    check(case, preview(source, 4096), source=source)
    for limit in range(max(8, len(source) - 120), len(source)):
        out = preview(source, limit)
        assert not any(secret in out for secret in case["must_not_contain"])


def test_a_preview_says_how_much_it_hides_and_keeps_head_and_tail() -> None:
    out = preview("head " + "x" * 1000 + " tail", 100)
    assert out.startswith("head ")
    assert out.endswith(" tail")
    assert "910 characters hidden" in out
    assert preview("short", 100) == "short"


# ---------------------------------------------------------------- names
@pytest.mark.parametrize(
    "name",
    [
        *("apiKey", "API_KEY", "api-key", "x-api-key", "OPENAI_API_KEY", "PAPERCLIP_API_KEY", "access_token", "token"),
        *("accessToken", "refreshToken", "clientSecret", "SECRET", "password", "PGPASSWORD", "dbPassword", "DB_PASS"),
        *("passwd", "passphrase", "privateKey", "private_key", "aws_secret_access_key", "Authorization", "Cookie"),
        *("Set-Cookie", "Proxy-Authorization", "credential", "credentials", "connectionString", "device_code"),
        *("code_verifier", "csrftoken", "csrfmiddlewaretoken", "TOKEN_GITHUB", "secretKeyBase", "authToken"),
    ],
)
def test_a_name_that_promises_a_secret_is_known(name: str) -> None:
    assert kind_of(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        *("idempotencyKey", "documentKey", "keyboardLayout", "tokenCount", "tokenUsage", "tokenBudget", "inputTokens"),
        *("cachedInputTokens", "outputTokens", "totalTokens", "max_tokens", "min_tokens", "tokenizer", "secretary"),
        *("passport", "passed", "monkey", "authorId", "authorAgentId", "authorizationId", "authorizationBoundary"),
        *(
            "authorizationRecords",
            "credentialsExposed",
            "isSecret",
            "token_type",
            "password_policy",
            "sessionId",
            "key",
        ),
        *(
            "publicKey",
            "primaryKey",
            "code",
            "state",
            "cookieBanner",
            "compass",
            "bypass",
            "mcp_oauth_credentials_store",
        ),
    ],
)
def test_a_harmless_name_stays_harmless(name: str) -> None:
    assert kind_of(name) is None
    assert redact({name: "value"}) == {name: "value"}


# ---------------------------------------------------------------- values
@pytest.mark.requirement("redaction.shape")
def test_containers_below_a_protected_name_keep_their_shape_and_their_numbers() -> None:
    value = {"token": {"value": "abc", "ttl": 12, "more": ["x", None, True, 1.5]}}
    assert redact(value) == {"token": {"value": MASK, "ttl": 12, "more": [MASK, None, True, 1.5]}}


@pytest.mark.parametrize("name", ["authorization", "cookies", "jwt", "cookieHeader", "Authorization", "token"])
def test_every_text_below_a_protected_name_is_masked_however_deep(name: str) -> None:
    value = {name: {"a": {"b": ["abc", {"c": "def"}]}, "n": 3, "code": 123456, "ok": True}}
    masked = {name: {"a": {"b": [MASK, {"c": MASK}]}, "n": 3, "code": MASK, "ok": True}}
    assert redact(value) == masked
    assert json.loads(redact_text(json.dumps(value))) == masked
    assert redact({"authorizationId": "a-1", "authorizationRecords": ["b"]}) == {
        "authorizationId": "a-1",
        "authorizationRecords": ["b"],
    }


@pytest.mark.parametrize(("name", "number", "is_masked"), [
    ("password", 123456, True), ("password", 7, True), ("passcode", -1.5, True), ("token", 123456, True),
    ("token", 12345, False), ("secret", 1234.5678, False), ("tokens", 123456, False), ("tokenCount", 123456, False),
])  # fmt: skip
def test_a_number_that_may_be_a_secret_is_masked_below_its_name(name: str, number: float, is_masked: bool) -> None:
    shown = MASK if is_masked else number
    assert redact({name: number}) == {name: shown}
    assert json.loads(redact_text(json.dumps({name: [number]}))) == {name: [shown]}


def test_a_number_longer_than_python_writes_is_judged_as_one_of_many_digits() -> None:
    longest = 10**5_000
    assert redact({"password": longest, "token": -longest, "count": longest}) == {
        "password": MASK,
        "token": MASK,
        "count": longest,
    }


@pytest.mark.parametrize(
    ("name", "value"), [("name", "value"), ("Name", "Value"), ("key", "values"), ("HEADER", "VALUE")]
)
def test_the_value_beside_a_protected_name_is_masked_in_either_order(name: str, value: str) -> None:
    for pair in (
        {name: "API_KEY", value: "abc"},
        {value: "abc", name: "API_KEY"},
        {value: [{"a": "abc"}], name: "API_KEY"},
    ):
        for out in (json.dumps(redact([pair])), redact_text(json.dumps(pair)), redact_text(json.dumps({"x": pair}))):
            assert "abc" not in out
            assert "API_KEY" in out
    assert redact({name: "plan", value: "abc"}) == {name: "plan", value: "abc"}
    assert redact_text(json.dumps({value: "abc", name: "plan"})) == json.dumps({value: "abc", name: "plan"})
    streamed_pair = letter_by_letter(f'{{"{name}":"DB_PASSWORD","{value}":"abc"}}')
    assert streamed_pair == f'{{"{name}":"DB_PASSWORD","{value}":"{MASK}"}}'


def test_a_name_that_is_itself_a_credential_is_masked() -> None:
    assert redact({KEY: 1}) == {MASK: 1}


def test_json_text_keeps_its_spacing_numbers_and_doubled_names() -> None:
    source = '{ "a" : 1.50,\n  "password":"x", "password":"y",\n  "n":12345678901234567890 }'
    assert redact_text(source) == source.replace('"x"', f'"{MASK}"').replace('"y"', f'"{MASK}"')


def test_json_inside_a_log_line_is_masked_leaf_by_leaf() -> None:
    out = redact_text('12:00 got {"token": {"value": "abc\\"d"}, "ok": true} and password=FAKEx1 here')
    assert out == f'12:00 got {{"token": {{"value": "{MASK}"}}, "ok": true}} and password={MASK} here'


@pytest.mark.parametrize(
    "text", ["\\u0073k-proj-FAKEa1b2c3d4", "sk-\u200bproj-FAKEa1b2c3d4e5", "ｓｋ-FAKEa1b2c3d4e5f6"]
)
def test_a_key_written_to_be_overlooked_is_found(text: str) -> None:
    assert "FAKEa1b2" not in redact_text(f'{{"a": "{text}"}}')


def test_a_secret_that_reaches_into_json_takes_all_of_it_along() -> None:
    assert redact_text('password=hunter2,{"a":"b","token":"c"} then {"token":"d"}') == (
        f'password={MASK} then {{"token":"{MASK}"}}'
    )


@pytest.mark.requirement("redaction.known")
def test_a_registered_secret_is_masked_whatever_it_looks_like(monkeypatch: pytest.MonkeyPatch) -> None:
    known = redaction_rules.KnownSecrets()
    for module in ("rules", "stream", "values"):
        monkeypatch.setattr(f"capability.redaction.{module}.known_secrets", known)
    known.add("correct horse battery")
    known.add("short")
    assert redact({"a": ["it is correct horse battery.", "short"]}) == {"a": [f"it is {MASK}.", "short"]}
    for cut in range(30):
        assert "".join(streamed("it is correct horse battery.", [cut])) == f"it is {MASK}."


# ---------------------------------------------------------------- tool inputs
@pytest.mark.requirement("redaction.tool-input")
def test_a_protected_name_counts_whatever_its_value_and_its_path_is_told() -> None:
    assert find_protected({"a": [{"apiKey": None}]}) == "$.a[0].apiKey"
    assert find_protected({"a": {"b": [f"use {KEY}"]}}) == "$.a.b[0]"
    assert find_protected({KEY: 1}) == f"$.{MASK}"


@pytest.mark.requirement("redaction.tool-input")
def test_an_input_out_of_bounds_counts_as_protected() -> None:
    deep: Any = "x"
    for _ in range(17):
        deep = [deep]
    assert find_protected(deep) is not None
    assert find_protected(deep[0]) is None
    assert find_protected(["x"] * 9_999) is None
    assert find_protected(["x"] * 10_000) is not None
    assert find_protected({"a": "x" * 200_000}) is None
    assert find_protected({"a": "x" * 200_001}) == "$.a"
