"""What redaction costs: twice the text at most 2.5 times as much, whatever it is made of, and prose very little."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from capability.redaction import StreamRedactor, redact, redact_text
from tests.capability.redaction_texts import letter_by_letter

LINES = {
    "prose": "The quick brown fox records a status on the board; nobody minds the secretary. ",
    "log": "12:00:01 INFO task-cleanroom-1a2b3c4d tokenCount=12 url=https://h.example.test/a?state=open ok\n",
    "keys": "use ghp_FAKEz1x2c3v4b5n6m7a8s9d0f1g2h3j4k5l6 with password=FAKEx1 and Bearer FAKEa1b2c3d4e5f6.\n",
    "almost": "sk-learn-task-sk-eyJ.token=$x --token <yours> https://a: Basic words Cookie\n",
    "json": '{"tokenCount": 3, "password": "x", "items": ["sk-learn", {"apiKey": "y"}]}\n',
}
LEAST_SECONDS = 0.02  # a measured piece of work is at least this long, so that the clock is good enough
ATTEMPTS = 5


def cost(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def ratio(one: Callable[[], object], two: Callable[[], object], *, rounds: int = 5) -> float:
    """Return how much more the second costs: least against least, measured in turns, so that noise meets both."""
    pairs = [(cost(one), cost(two)) for _ in range(rounds)]
    return min(pair[1] for pair in pairs) / min(pair[0] for pair in pairs)


def sized(line: str, work: Callable[[str], object]) -> str:
    """Return a text of that line, long enough to be measured."""
    count = 40
    while cost(lambda: work(line * count)) < LEAST_SECONDS:  # noqa: B023 (called at once)
        count *= 2
    return line * count


def in_pieces(text: str) -> str:
    stream = StreamRedactor()
    return "".join([*(stream.feed(text[at : at + 64]) for at in range(0, len(text), 64)), stream.flush()])


@pytest.mark.requirement("redaction.twice")
@pytest.mark.parametrize("work", [redact_text, in_pieces, lambda text: redact({"lines": text.splitlines()})],
                         ids=["whole", "streamed", "value"])  # fmt: skip
@pytest.mark.parametrize("line", LINES)
def test_twice_the_input_takes_at_most_two_and_a_half_times_as_long(line: str, work: Callable[[str], object]) -> None:
    """One bad measurement on a busy machine proves nothing; a redactor that is not linear fails every time."""
    once = sized(LINES[line], work)
    assert_linear(lambda: work(once), lambda: work(once + once), rounds=5)


# Names, brackets, quotes and beginnings on every few characters: each is looked at, and none may be looked at for long.
DENSE = [
    *(
        '{"token":"abc"} ',
        'password=hunter2 {"a":"b"}\n',
        'password=hunter2,{"api_key":"x"} ',
        'token=["a"] ',
        "token=[",
    ),
    *(
        '{"token":',
        'token={"',
        '{"a":{"token":{"',
        '["token",',
        '"name":"token","value":',
        '{"value":"x","name":"token"} ',
    ),
    '{"level":"info","token":"abc","msg":"password=x {\\"a\\":1}"}\n',
    *("Bearer+Qz7", "Bearer ", "password is 'Qz7 ", 'curl -u a:"', "password=(", "password=a[", "token=f(x, ", "key="),
    *(
        'password="""',
        "password: |\n  x\n",
        "password:\n\n",
        "token:\n  ",
        "<token>",
        "<password>x</password>",
        "token  ",
    ),
    *("&#112;", "%70", "\\u0070", "pass%77ord=", "\x1b[", "\x1b", "mysql ", "mysql -p", "login -p ", "sshpass -p"),
    *("machine h login u ", "https://abcdefgh1@", "://@", "**password**: ", '"', "\\", "$", "{", "[", "<"),
]
DENSE_CHARS = 6_000
LETTERS = 1_500  # streamed letter by letter: the worst that a model can do


def dense(piece: str, size: int) -> str:
    return piece * (size // len(piece))


@pytest.mark.requirement("redaction.twice")
@pytest.mark.parametrize("piece", DENSE)
def test_names_and_brackets_on_every_few_characters_cost_no_more_than_their_length(piece: str) -> None:
    once = dense(piece, DENSE_CHARS)
    assert_linear(lambda: redact_text(once), lambda: redact_text(once + once))


@pytest.mark.requirement("redaction.twice")
@pytest.mark.parametrize("piece", ['token="', "a", *DENSE[:8]])
def test_letters_that_arrive_one_by_one_cost_no_more_than_their_number(piece: str) -> None:
    once = piece + "a" * LETTERS if piece == 'token="' else dense(piece, LETTERS)
    assert_linear(lambda: letter_by_letter(once), lambda: letter_by_letter(once + once), rounds=1)


def assert_linear(one: Callable[[], object], two: Callable[[], object], *, rounds: int = 2) -> None:
    """Fail when twice the work takes more than 2.5 times as long at every attempt."""
    seen: list[float] = []
    while len(seen) < ATTEMPTS and (not seen or seen[-1] > 2.5):
        seen.append(ratio(one, two, rounds=rounds))
    assert seen[-1] <= 2.5, seen


def fastest(work: Callable[[], object], *, times: int) -> float:
    """Return the least CPU time of one call, in seconds: what it costs when nothing else interferes."""
    least = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least


HOSTILE = [
    *("token=", "token=$", "sk-learn-", "task-", "eyJ", "-eyJ", '{"', "[[", "https://a:", "Cookie: a=b; ", "api key: "),
    *(
        "password is ",
        "-----BEGIN ",
        "Bearer ",
        "--token ",
        '"token":"',
        "a",
        '\\"',
        "((",
        "://",
        "token\\\\",
        "😀",
        "ﬁ",
    ),
]


@pytest.mark.requirement("redaction.linear")
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_text_four_times_as_long_costs_about_four_times_as_much(piece: str) -> None:
    short, long = (piece * (size // len(piece)) for size in (20_000, 80_000))
    base = max(fastest(lambda: redact_text(short), times=3), 0.002)
    assert fastest(lambda: redact_text(long), times=2) < 10 * base


@pytest.mark.requirement("redaction.cost")
def test_a_kilobyte_of_prose_costs_little() -> None:
    prose = "The quick brown fox records a status on the board; nobody minds. " * 16
    work = [prose] * 20
    cost = fastest(lambda: [redact_text(text) for text in work], times=20) / len(work)
    assert cost < 0.0001  # the bar of design section 11
