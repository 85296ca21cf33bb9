"""What is said when a message asks for nothing that the rules know: a greeting, the help, or what it is. Pure."""

from __future__ import annotations

import re
import unicodedata

from cleanroom.rehearsal.intents import INTENTS
from cleanroom.rehearsal.prose import as_quote
from cleanroom.rehearsal.words import shortened

WHO = "I am the rehearsal model: rules, not a language model."
GREETING = re.compile(r"^\s*(?:hi|hello|hey|good (?:morning|day|evening)|thanks|thank you)\b", re.IGNORECASE)
HELP = re.compile(r"\b(?:help|what can you do|who are you|what are you|which commands)\b", re.IGNORECASE)
SHOWN = (  # the rows of the table that the help shows: ordinary things first, what is withheld last
    "read_issue",
    "record_status",
    "write_document",
    "revise_document",
    "ask_question",
    "ask_confirmation",
    "ask_checkbox",
    "ask_verdicts",
    "request_approval",
    "create_task",
    "finish_task",
    "run_command",
    "write_file",
    "count",
    "decide_approval",
    "control_service",
    "generic_request",
)
BY_NAME = '- Call `get_task_history` with {"limit": 5}'


def small_talk(text: str) -> str:
    if HELP.search(text):
        return help_text()
    if GREETING.search(text):
        return f"Hello! {WHO} I can work this issue with real tools. {suggestion()}"
    if is_foreign(text):
        return f"{WHO} My rules match English words only, so I could not read your message. {suggestion()}"
    words = len(text.split())
    return (
        f"{WHO} You wrote {words} word{'' if words == 1 else 's'}:\n\n{as_quote(shortened(text, limit=300))}\n\n"
        f"I found nothing in it that my rules know how to do. {suggestion()}"
    )


def is_foreign(text: str) -> bool:
    """Say whether most letters of a text belong to another script than the Latin one."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters) > len(letters)


def is_small_talk(text: str) -> bool:
    return bool(HELP.search(text) or GREETING.search(text))


def suggestion() -> str:
    return "Try “Read this issue, then record a one-sentence status on it”, or type “help” for what I can do."


def help_text() -> str:
    """Return the help. Every line that begins with a dash can be typed as it stands."""
    examples = {intent.name: intent.example for intent in INTENTS}
    lines = [f"- {examples[name]}" for name in SHOWN]
    ordinary, withheld = lines[:-3], lines[-3:]
    return (
        f"{WHO} I match words and choose tools by them; Codex, its runner, the tools and the denials are real. Join "
        "several requests by “then”. Words in quotes or after a colon are taken exactly. Type, for example:\n\n"
        + "\n".join([*ordinary, BY_NAME])
        + "\n\nThese are withheld from me, so you see them denied:\n\n"
        + "\n".join(withheld)
    )
