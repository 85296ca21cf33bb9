"""No generated secret survives the redactor, whole or streamed."""

from __future__ import annotations

import json
import string
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capability.redaction import MASK, StreamRedactor, find_protected, redact, redact_text

LETTERS_AND_DIGITS = string.ascii_letters + string.digits


def machine_made(least: int, most: int, alphabet: str = LETTERS_AND_DIGITS) -> st.SearchStrategy[str]:
    """Text as a generator of keys makes it: both cases and digits, never a word of prose."""
    body = st.text(alphabet=alphabet, min_size=least, max_size=most)
    return body.map(lambda text: f"Q7z{text}K9")


@dataclass(frozen=True)
class Secret:
    """A credential as it is written, and the part of it that nobody may see."""

    written: str
    core: str


def written(template: str, core: str) -> Secret:
    return Secret(template.replace("<core>", core), core)


# As their makers publish them. Nothing here is taken from the redactor's own tables.
PREFIXED = (
    *("sk-<core>", "sk-proj-<core>", "sk-ant-api03-<core>", "sk_live_<core>", "pk_test_<core>", "ghp_<core>"),
    *("gho_<core>", "ghs_<core>", "github_pat_<core>", "glpat-<core>", "xoxb-1234567890-<core>", "npm_<core>"),
    *("xoxp-1234567890-<core>", "pcgw_<core>", "whsec_<core>", "hf_<core>", "gsk_<core>", "dop_v1_<core>"),
)
CLOUD = ("AKIA<core>",)
NAMED = (
    "password=<core>", "PASSWORD: <core>", "DB_PASSWORD=<core>", "api_key=<core>", "apiKey: '<core>'",
    'OPENAI_API_KEY="<core>"', "client_secret=<core>", "export ACCESS_TOKEN=<core>", "--token <core>",
    "--api-key=<core>", "Authorization: Bearer <core>", "authorization: token <core>", "X-Api-Key: <core>",
    "Bearer <core>", '{"password": "<core>"}', '{"refreshToken":"<core>"}', '{"name": "API_KEY", "value": "<core>"}',
    "https://example.test/cb?access_token=<core>&x=1", "https://example.test/?api_key=<core>",
    "https://bob:<core>@example.test/path", "postgres://app:<core>@db.example.test:5432/app",
    'API_KEYS = ["<core>"]', 'secrets = {"stripe": "<core>"}', '{"authorization": {"scheme": {"value": "<core>"}}}',
    "password: |\n  <core>", "<password><core></password>", 'password = """<core>"""', "pass%77ord=<core>",
    "password=$<core>(x", "mysql -u root -p<core> db", "docker login -u a -p <core> h", "https://<core>@h.example.test",
    "machine h login u password <core>", '{"Name": "DB_PASSWORD", "Value": "<core>"}',
    "Set-Cookie: session=<core>; Path=/", "curl -u bob:<core> https://example.test",
)  # fmt: skip


@st.composite
def prefixed(draw: st.DrawFn) -> Secret:
    return written(draw(st.sampled_from(PREFIXED)), draw(machine_made(20, 60)))


@st.composite
def cloud(draw: st.DrawFn) -> Secret:
    upper = st.text(alphabet=string.ascii_uppercase + string.digits, min_size=15, max_size=15)
    return written(draw(st.sampled_from(CLOUD)), "7" + draw(upper))


@st.composite
def named(draw: st.DrawFn) -> Secret:
    return written(draw(st.sampled_from(NAMED)), draw(machine_made(10, 60)))


@st.composite
def tokens(draw: st.DrawFn) -> Secret:
    head, claims, signature = (draw(machine_made(12, 80, LETTERS_AND_DIGITS + "_-")) for _ in range(3))
    token = f"eyJ{head}.eyJ{claims}.{signature}"
    return Secret(token, claims)


@st.composite
def basic(draw: st.DrawFn) -> Secret:
    core = b64encode(f"user:{draw(machine_made(10, 40))}".encode()).decode()
    return Secret(f"Authorization: Basic {core}", core)


@st.composite
def key_blocks(draw: st.DrawFn) -> Secret:
    kind = draw(st.sampled_from(["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"]))
    line = draw(machine_made(58, 58, LETTERS_AND_DIGITS + "+/"))
    lines = "\n".join([line] * draw(st.integers(1, 4)))
    return Secret(f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----", line)


secrets = st.one_of(prefixed(), cloud(), named(), tokens(), basic(), key_blocks())
BEFORE = (
    "",
    "the deploy uses ",
    "see task-cleanroom-1a2b3c4d: ",
    "```\n",
    "- ",
    "(",
    "secretary said ",
    "état : ",
    "> ",
    "\x1b[31m",
    "found: \\u001b[1;32m",
    "one\\u000a",
    "two\\x0a",
    "three\\n",
)
AFTER = ("", " and nothing else.", "\nnext line", ", thanks", "\n```", " `tokenCount: 3`", "\t", " ✓")
around = st.tuples(st.sampled_from(BEFORE), st.sampled_from(AFTER))


def streamed(text: str, cuts: list[int]) -> str:
    stream, out, start = StreamRedactor(), [], 0
    for cut in [*sorted(cuts), len(text)]:
        out.append(stream.feed(text[start:cut]))
        start = cut
    return "".join([*out, stream.flush()])


@pytest.mark.requirement("redaction.no-secret-survives")
@settings(max_examples=300, deadline=None)
@given(secret=secrets, around=around, data=st.data())
def test_no_generated_secret_survives_whole_or_streamed(secret: Secret, around: tuple[str, str], data: Any) -> None:
    text = secret.written.join(around)
    assert secret.core in text
    masked = redact_text(text)
    assert secret.core not in masked
    assert MASK in masked
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    assert secret.core not in streamed(text, cuts)
    assert secret.core not in streamed(text, list(range(len(text))))


@pytest.mark.requirement("redaction.no-secret-survives")
@settings(max_examples=200, deadline=None)
@given(many=st.lists(st.tuples(secrets, around), min_size=2, max_size=5), data=st.data())
def test_no_secret_hides_behind_another(many: list[tuple[Secret, tuple[str, str]]], data: Any) -> None:
    """Every occurrence: several secrets in one text, one of them twice."""
    texts = [secret.written.join(around) for secret, around in many]
    text = "\n".join([*texts, texts[0]])
    for out in (redact_text(text), streamed(text, data.draw(st.lists(st.integers(0, len(text)), max_size=8)))):
        assert [secret.core for secret, _ in many if secret.core in out] == []


@pytest.mark.requirement("redaction.no-secret-survives")
@settings(max_examples=200, deadline=None)
@given(secret=secrets, around=around, depth=st.integers(0, 5), name=st.sampled_from(["body", "notes", "items"]))
def test_no_secret_survives_inside_a_value_and_none_is_taken_as_input(
    secret: Secret, around: tuple[str, str], depth: int, name: str
) -> None:
    value: Any = secret.written.join(around)
    for level in range(depth):
        value = {name: value} if level % 2 else [1, value, None]
    assert secret.core not in json.dumps(redact({"payload": value}), ensure_ascii=False)
    assert find_protected({"payload": value}) is not None


@pytest.mark.requirement("redaction.no-secret-survives")
@settings(max_examples=200, deadline=None)
@given(
    name=st.sampled_from(["password", "apiKey", "client_secret", "Authorization", "access_token"]),
    value=st.recursive(st.text(min_size=1, max_size=30), lambda inner: st.lists(inner, min_size=1, max_size=3)),
)
def test_whatever_stands_under_a_protected_name_is_masked(name: str, value: Any) -> None:
    def leaves(one: Any) -> list[str]:
        return [one] if isinstance(one, str) else [leaf for part in one for leaf in leaves(part)]

    assert set(leaves(redact({name: value})[name])) == {MASK}
    assert find_protected({"deep": [{name: value}]}) is not None


@pytest.mark.requirement("redaction.no-secret-survives")
@pytest.mark.parametrize(
    "before",
    ["\x1b[31m", "\\u001b[1;32m", "one\\u000a", "two\\x0a", "three\\n", "x\\t", "\\r\\n", "url%0A"],
)
def test_an_escape_or_a_colour_right_before_a_secret_hides_nothing(before: str) -> None:
    core = "Q7z0000000000K9Q7z0000000000K9"
    templates = (
        *PREFIXED,
        *NAMED,
        "Cookie: a=<core>; b=<core>",
        "my password is <core>",
        "\x1b[1mtoken\x1b[0m=<core>",
        "\x1b[31msk-\x1b[0mproj-<core>",
    )
    for template in templates:
        text = before + template.replace("<core>", core)
        stream = StreamRedactor()
        streamed = "".join(stream.feed(char) for char in text) + stream.flush()
        assert core not in redact_text(text), template
        assert core not in streamed, template


@pytest.mark.requirement("redaction.shape")
@pytest.mark.parametrize(
    "text",
    [
        "plain \x1b[31mred\x1b[0m text [1] and \\e[0m stays",
        "C:\\new\\table [x] monkey",
        "\\u0041uthorId: 12",
        "100%25 key: a",
    ],
)
def test_escapes_and_colours_around_harmless_words_stay(text: str) -> None:
    stream = StreamRedactor()
    assert redact_text(text) == text
    assert "".join(stream.feed(char) for char in text) + stream.flush() == text
