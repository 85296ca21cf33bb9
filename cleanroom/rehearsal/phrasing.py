"""Turning a person's words into what a card says: a question, a request to confirm, what is to be approved. Pure."""

from __future__ import annotations

import re

from cleanroom.rehearsal.words import Clause, shortened, turned_around

MAX_SUBJECT_CHARS = 200  # of an approval's type, as its operation takes it
HOW_TO_BEGIN = "How should I begin?"
WHAT_NEXT = "What should I do next on this issue?"
OPEN_QUESTIONS = (HOW_TO_BEGIN, WHAT_NEXT)  # asked when the person names no subject; an answer is then a request
BEFORE_YOU = re.compile(r"^(?:first\s+)?before (?:you |we )?(?P<verb>\w+)(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
BEGINNING = ("begin", "start", "go", "continue", "proceed", "work", "do", "beginning", "starting", "anything")
FILLER = re.compile(
    r"^(?:please|first|now|something|anything|an? (?:\S+ )?question|about (?:it|this|that)|[\s,.;:?!]+)+", re.I
)
ASKING_WORD = re.compile(r"^(?:which|what|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
MODAL = r"(?:should|can|could|may|might|will|would|must|is|are|was|were|has|have)"
WHETHER = re.compile(rf"^(?:whether|if) (?P<who>(?:\S+ ){{1,4}}?)(?P<modal>{MODAL})\b (?P<rest>.+)$", re.IGNORECASE)
LEAD = re.compile(r"^(?:to|for|of|about|on|regarding|concerning|that|so that|from the board|from me|please)\b\s*", re.I)


def question_from(clause: Clause) -> str:
    """Return the question to ask. Bounded to 2,000 characters; one of `OPEN_QUESTIONS` when no subject is named.

    One in quotes or after a colon is asked as it stands.
    """
    verbatim = clause.quoted[0] if len(clause.quoted) == 1 else clause.after_colon if not clause.options else ""
    if verbatim:
        return shortened(verbatim, limit=2000)
    words = asked_words(clause)
    before = BEFORE_YOU.match(words)
    if before:
        begins = before["verb"].lower() in BEGINNING
        return HOW_TO_BEGIN if begins else as_question(f"may I {before['verb']}{before['rest']} now")
    words = FILLER.sub("", words).strip()
    return as_question(direct(turned_around(words))) if words else WHAT_NEXT


def asked_words(clause: Clause) -> str:
    """Return what is asked for, choices after a colon left out."""
    words = clause.tail.split(":", 1)[0] if clause.after_colon else clause.tail
    return words.strip(" ,.;:?!\n")


def direct(words: str) -> str:
    """Return words such as `whether we should ship` or `about the budget` as a question put to someone."""
    about = re.match(r"about (?P<what>.+)", words, re.IGNORECASE | re.DOTALL)
    if about and (ASKING_WORD.match(about["what"]) or WHETHER.match(about["what"])):
        words = about["what"]
    elif about:
        return f"what should I know about {about['what']}"
    whether = WHETHER.match(words)
    if whether:
        return f"{whether['modal']} {whether['who']}{whether['rest']}"
    for pattern, becomes in DIRECT:
        words = re.sub(pattern, becomes, words, count=1, flags=re.IGNORECASE)
    return words


DIRECT = (
    (
        r"^(?!.*\b(?:do|does|did|is|are|want|need)\b.* to )"
        r"((?:which|what|how|where|when|who)\b(?: (?!to\b)\w+){0,3}) to (?=\w)",
        r"\1 should I ",
    ),
    (
        r"^((?:which|what|how|where|when|why|who)\b(?: \w+){0,3}?)"
        r" ((?:I|you|we|they|he|she|it)|(?:the|our|your|my|this) \w+) (should|can|could|may|might|will|would|must)\b",
        r"\1 \3 \2",
    ),
    (r"^(?:whether|if) I am (?=\w)", "am I "),
    (r"^(?:whether|if) you (?!can|may)(?=\w)", "do you "),
    (r"^(?:whether|if) ", "is it so that "),
    (r"^(?:to|for) (?=(?:a|an|the|your|my|some)\b)", "can you give me "),
    (r"^to (?=\w)", "can you "),
    (r"^for ", "can you give me "),
    (r"^that ", "is it so that "),
)


def confirmation_from(clause: Clause) -> str:
    """Return what is to be confirmed, as a question."""
    if len(clause.quoted) == 1:
        return as_question(f"do you confirm “{clause.quoted[0]}”")
    if clause.after_colon:
        return as_question(f"do you confirm “{shortened(clause.after_colon, limit=1900)}”")
    words = turned_around(clause.tail.strip(" ,.;:?!\n"))
    before = BEFORE_YOU.match(words)
    if before:
        begins = before["verb"].lower() in BEGINNING
        return "May I begin?" if begins else as_question(f"may I {before['verb']}{before['rest']} now")
    if not words:
        return "May I go on?"
    if words.lower().startswith(("that ", "the ", "a ", "an ", "your ", "this ")):
        return as_question(f"do you confirm {words}")
    if words.lower().startswith("to "):
        return as_question(f"may I {words[3:]}")
    return as_question(f"do you confirm that {re.sub('^(?:for|of|whether|if) ', '', words, flags=re.IGNORECASE)}")


def subject_of(clause: Clause) -> str:
    """Return what an approval or a task is about; empty when nothing is named.

    It stands after a colon or in quotes, and is then taken as it is; or after the word "approval", or before it, as in
    "get hosting approval", and then begins with a capital and has no full stop.
    """
    verbatim = clause.after_colon or " ".join(clause.quoted)
    if verbatim:
        return shortened(verbatim, limit=MAX_SUBJECT_CHARS)
    words = clause.tail.strip(" ,.;:?!\n")
    shorter = LEAD.sub("", words)
    while shorter != words:
        words, shorter = shorter, LEAD.sub("", shorter)
    words = re.sub(r"[\s,]+please$", "", words, flags=re.IGNORECASE) or between(clause)
    return capital(shortened(words.strip(" ,.;:?!\n"), limit=MAX_SUBJECT_CHARS))


def between(clause: Clause) -> str:
    """Return the words between the verb and its object that say something: `hosting` of `get a hosting approval`."""
    head = clause.text.removesuffix(clause.tail)
    words = re.sub(r"^\S+\s*|\s*\S+$", "", head.strip())
    empty = r"\b(?:an?|the|my|your|our|its|me|us|for|from|of|board(?:'s|’s)?|please|\S+ing for)\b"
    return " ".join(re.sub(empty, " ", words, flags=re.IGNORECASE).split())


def as_question(words: str) -> str:
    return shortened(capital(words.strip().rstrip("?.!:, ")), limit=2000) + "?"


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]
