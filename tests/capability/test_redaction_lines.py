"""A secret in a line as people and tools write it is masked, and a line that only looks like it stays."""

from __future__ import annotations

import pytest

from capability.redaction import MASK, find_protected, redact, redact_text
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
