"""A secret in a line as people and tools write it is masked, and a line that only looks like it stays."""

from __future__ import annotations

import json

import pytest

from capability.redaction import MASK, enclosed, find_protected, redact, redact_text
from tests.capability.redaction_texts import letter_by_letter


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password: hunter2", f"password: {MASK}"),
        ("Password: correcthorse\nnext", f"Password: {MASK}\nnext"),
        ("the password: ask Bob about it", None),
        ("**Password:** `hunter2`", f"**Password:** `{MASK}`"),
        ("my password is hunter2, ok", f"my password is {MASK}, ok"),
        ("the password is stored elsewhere", None),
        ("export TOKEN=abc&x", f"export TOKEN={MASK}"),
        ("TOKEN=$GITHUB_TOKEN make; token=<your-token>", None),
        ("token = next(tokens) and token=token", None),
        ("run it with --api-key FAKE12 --verbose", f"run it with --api-key {MASK} --verbose"),
        ("the --token flag and --max-tokens 4096", None),
        ("curl -u bob:hunter2 https://x.example.test", f"curl -u bob:{MASK} https://x.example.test"),
        ("Authorization: Digest a=1, b=2\nnext", f"Authorization: Digest {MASK}\nnext"),
        ("Authorization: token abcdefgh", f"Authorization: token {MASK}"),
        ("authorization: semantic-auth-000001 is allowed", None),
        ("Basic dXNlcjpwYXNz end", f"Basic {MASK} end"),
        ("Basic JavaScript and basic authentication", None),
        ("Cookie: a=b; c=d and e=f", f"Cookie: a={MASK}; c={MASK} and e=f"),
        ("api key: abc123def", f"api key: {MASK}"),
        ("https://abcdefghij0123456789@h.example.test/", f"https://{MASK}@h.example.test/"),
        ("ssh://git@h.example.test:22/r.git https://h.example.test:80/a@b", None),
        ("?state=changes_requested&code=short", None),
        ("sk-learn-based models on task-sk-board", None),
        ("xoxb-123456789012-abc", MASK),
        ("glpat-FAKEabcdefgh12 gho_FAKEabcdefgh12 github_pat_FAKEabcdefgh12", f"{MASK} {MASK} {MASK}"),
        ("pk_live_FAKEabcd1 pcgw_FAKEabcd1", f"{MASK} {MASK}"),
        ("a.b=1; next", None),
    ],
)
def test_a_line_as_people_and_tools_write_it(text: str, masked: str | None) -> None:
    assert redact_text(text) == (text if masked is None else masked)


@pytest.mark.requirement("redaction.working-directory")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("PWD=/srv/rooms/one\n", "PWD=/srv/rooms/one\n"),
        ("OLDPWD=/srv\n", "OLDPWD=/srv\n"),
        ('{"PWD": "/srv/rooms"}', '{"PWD": "/srv/rooms"}'),
        ("PWD=hunter2\n", "PWD=[REDACTED]\n"),
        ("pwd: s3cret!/x\n", "pwd: [REDACTED]\n"),
        ("DB_PWD=/hunter2\n", "DB_PWD=[REDACTED]\n"),
        ("PWD=/srv?token=abc\n", "PWD=[REDACTED]\n"),
    ],
)
def test_a_path_under_the_name_of_the_working_directory_is_no_secret(text: str, shown: str) -> None:
    assert redact_text(text) == shown
    assert letter_by_letter(text) == shown


@pytest.mark.requirement("redaction.working-directory")
def test_a_working_directory_in_a_value_is_kept_and_a_password_there_is_not() -> None:
    assert redact({"PWD": "/srv/rooms", "pwd": "hunter2", "DB_PWD": "/srv"}) == {
        "PWD": "/srv/rooms",
        "pwd": MASK,
        "DB_PWD": MASK,
    }
    assert find_protected({"PWD": "/srv"}) == "$.PWD"


SECRET = "Qz7mX9"
ESCAPED_NAMES = ("pass%77ord", "&#112;assword", "&#x70;assword", "\\u0070assword", "pass\\x77ord", "pass\\u200bword")
LEAKS = [
    # an object or a list behind a promising name
    *('API_KEYS = ["<s>"]', 'secrets = {"stripe": "<s>"}', 'token={"a":["<s>"]}', "credentials: {pin: '<s>'}"),
    *('password = ("<s>")', 'a "token": [1, {"b": `<s>`}] b', 'token={\\"a\\":\\"<s>\\"}', 'API_KEYS = ["<s>", "b'),
    *('password=a1,{"api_key":"<s>"}', '{"Authorization":["Bearer <s>"]}', '{"cookies":{"sid":"<s>"}}'),
    # passwords with brackets and dollars
    *("DB_PASSWORD=<s>[9kqZ", "password: <s>(k9!mQQ", "password=$<s>", "password={<s>", "password=<s>…[truncated]"),
    *("password=<s>(prod)", "password=(<s>)", "password: **<s>**", "password='$<s>'", 'password="{<s>}"'),
    # names as they may be written
    *(f"{name}=<s>" for name in ESCAPED_NAMES),
    *('{"x\\u0070assword":"<s>"}', '{"a":"x\\u0070assword=<s>"}', "%22password%22%3A%22<s>%22", "password%3D<s>"),
    *("password" + " " * 30 + "= <s>", "**password**: <s>", "authorizationHeader: <s>", "cookieHeader=<s>"),
    # lines, elements, long quotes
    *(
        "password: |\n  <s>\n",
        "a:\n  password: >-\n    one\n\n    <s>\n  user: b",
        "password:\n  <s>\n",
        "token:\n<s>\n",
    ),
    *(
        "API keys:\n- Qz7mA1\n- <s>\n",
        "<password><s></password>",
        "<a:token b='c'>\n <s>\n</a:token>",
        "<x token='<s>'/>",
    ),
    *("<password><![CDATA[<s>]]></password>", 'password = """<s>"""', "token='''one\n<s>'''"),
    # pairs
    *('{"Name":"DB_PASSWORD","Value":"<s>"}', '{"key":"apiKey","value":"<s>"}', '<add key="ApiKey" value="<s>"/>'),
    # commands, machines and addresses
    *("mysql -u root -p<s> db", "mysqldump -p'<s>' db", "sshpass -p <s> ssh a@b", "docker login -u a -p <s> h"),
    *("machine h login u password <s>", "machine h\n  login u\n  password <s>\n", "default login u password <s>"),
    *("https://<s>aB@h.example.test/r.git", "HTTPS://<s>aB@h.example.test"),
]


@pytest.mark.requirement("redaction.no-secret-survives")
@pytest.mark.parametrize("form", LEAKS)
def test_a_secret_is_masked_in_every_form_it_is_written_in(form: str) -> None:
    text = form.replace("<s>", SECRET)
    masked = redact_text(text)
    assert SECRET not in masked
    assert MASK in masked
    assert redact_text(masked) == masked
    assert SECRET not in letter_by_letter(text)
    assert SECRET not in redact_text(json.dumps({"note": text}))
    assert find_protected({"body": text}) is not None


HARMLESS = [
    *("process.env.SECRET", "secret: process.env.SECRET", "token = settings.api_key", "tokens_per_second: 5"),
    *("tokens_per_second=15000000", 'credentialsMode: "omit"', 'secret_santa = "Ben"', "5 tokens: refill=3"),
    *(
        "jwt: RFC7519",
        "jwt: HS256",
        "Bearer 2-year-bonds",
        "password=${DB_PASSWORD}",
        "password=$DB_PASSWORD",
        "token=$1",
    ),
    *(
        "token={{ secrets.TOKEN }}",
        "token: <your-token>",
        'password="<your password>"',
        'token="{token}"',
        "token=****",
    ),
    *('password = getpass("for x1")', "token = create(user, 3600)", "secrets = [load(x) for x in names]", "token = {}"),
    *("password: (optional)", "password: [see the vault]", 'token = os.environ["TOKEN"]', "password=%(password)s"),
    *("Tokens:\n- `accessToken`\n- refresh_token\n", "The password:\n- must be long\n", "Password:\nSubmit\n"),
    *(
        "secrets:\n  stripe_v2:\n    x: y",
        "credentials:\n  user: bob\n",
        "login page password reset",
        "docker login -p flag",
    ),
    *(
        "use <token> in the header, then <password> here",
        "<password></password>",
        "mysql -p mydb",
        "ssh://git@h.test/x",
    ),
    *(
        '{"name": "plan", "value": "Qz7mX9"}',
        "a%20b &amp; C:\\x64\\u0041 100%",
        'tokenCount: ["a"]',
        "token=$this->token",
    ),
]


@pytest.mark.requirement("redaction.shape")
@pytest.mark.parametrize("text", HARMLESS)
def test_a_line_that_only_names_a_secret_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text
    assert letter_by_letter(text) == text
    assert find_protected({"body": text}) is None


@pytest.mark.requirement("redaction.shape")
@pytest.mark.parametrize("name", ["tokens_per_second", "credentialsMode", "secret_santa", "tokensPerMinute"])
def test_a_name_that_only_sounds_like_a_secret_keeps_its_value(name: str) -> None:
    assert redact({name: "value"}) == {name: "value"}
    assert find_protected({name: "value"}) is None


@pytest.mark.parametrize("text", ["cookie=chocolate-chip", "password=hunter2(prod)", "https://ada12345@h.example.test"])
def test_what_may_be_a_secret_as_well_as_a_word_is_masked(text: str) -> None:
    assert MASK in redact_text(text)


@pytest.mark.parametrize(("start", "bound", "line"), [
    ('token=["",', enclosed.CONTAINER_MAX_CHARS, '"ab1",'), ("token: |", enclosed.BLOCK_MAX_CHARS, "\n ab12"),
])  # fmt: skip
def test_an_enclosed_secret_is_masked_as_far_as_the_bound(start: str, bound: int, line: str) -> None:
    fits = bound // len(line) - 2
    assert "ab1" not in redact_text(start + line * fits)
    assert "ab1" in redact_text(start + line * (fits + 6))
