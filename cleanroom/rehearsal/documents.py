"""Which document a person means, among those that the issue has. Pure.

A name is taken at its word: when no document has it, none is chosen, even if there is only one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cleanroom.rehearsal.words import Clause, hide_quotes, slug

Document = Mapping[str, Any]

PAPERS = ("plan", "spec", "specification", "brief", "outline", "report", "memo", "notes")
ANY_PAPER = ("document", "documents", "doc", "docs")  # name no kind
SAME = {"specification": "spec"}
STOPS = {  # words before which a name cannot have begun
    *("a", "an", "the", "this", "that", "these", "my", "our", "your", "its", "his", "her", "their", "me", "us", "it"),
    *("please", "now", "just", "also", "and", "or", "then", "first", "again", "called", "named", "titled", "is", "are"),
    *(
        "of",
        "to",
        "in",
        "from",
        "on",
        "for",
        "with",
        "about",
        "into",
        "at",
        "by",
        "as",
        "read",
        "show",
        "open",
        "revise",
    ),
    *("update", "edit", "change", "extend", "improve", "rewrite", "append", "add", "adding", "replace"),
}
TELLS_NOTHING = {
    *("current", "latest", "newest", "existing", "whole", "entire", "full", "only", "last", "old", "new", "own"),
    *("same", "issue"),
}
BEFORE_NAME_WORDS = 6


def choose(clause: Clause, known: Sequence[Document]) -> list[Document]:
    """Return the documents that a clause may mean: one when it is clear, none when it names one that is absent."""
    name, kind = name_in(clause), kind_in(clause)
    if name:
        return _named(name, known)
    spoken = hide_quotes(clause.text).lower()
    called = [d for d in known if _title(d).lower() in spoken or str(d.get("key")) in spoken]
    if called:
        return [max(called, key=lambda d: len(_title(d)))]
    if not kind:
        return list(known)
    of_kind = [d for d in known if kind in _words(d)]
    is_unlike = any(_kind(word) in PAPERS for d in known for word in _words(d))
    return of_kind or ([] if is_unlike else list(known))


def said_name(clause: Clause) -> str:
    """Return how the person called the document, to say that there is none such; empty when they only said "it"."""
    return name_in(clause) or kind_in(clause)


def name_in(clause: Clause) -> str:
    """Return the name that a clause gives a document: after "called", in quotes before the text, or before its kind."""
    if clause.name:
        return clause.name
    before = _before_text(clause)
    if clause.after_colon or re.match(r"(?:read|show|open)\b", clause.text, re.IGNORECASE):
        quoted = Clause(text=before, tail="").quoted
        if len(quoted) == 1:
            return quoted[0]
    match = _paper(before)
    words = _words_before(before[: match.start()]) if match else []
    kind = match[0] if match and match[0].lower() not in ANY_PAPER else ""
    return " ".join([*words, kind]).strip() if words else ""


def kind_in(clause: Clause) -> str:
    """Return the kind of document that a clause speaks of: `plan` of "the plan"; empty for a mere document."""
    match = _paper(_before_text(clause))
    word = match[0].lower() if match else ""
    return "" if word in ANY_PAPER else _kind(word)


def _before_text(clause: Clause) -> str:
    """The words that ask, without the text after a colon that is to be written."""
    text = clause.after_colon
    return clause.text[: clause.text.rfind(text)] if text and text in clause.text else clause.text


def _paper(text: str) -> re.Match[str] | None:
    return re.search(rf"\b(?:{'|'.join((*ANY_PAPER, *PAPERS))})\b", hide_quotes(text), re.IGNORECASE)


def _words_before(text: str) -> list[str]:
    """The words right before a kind that belong to a name: `launch` of "read me the launch"."""
    found: list[str] = []
    for word in reversed(re.findall(r"[\w.'’-]+|[^\w\s]", text)[-BEFORE_NAME_WORDS:]):
        if word.lower() in STOPS or not re.match(r"\w", word):
            break
        found.insert(0, word)
    return [word for word in found if word.lower() not in TELLS_NOTHING]


def _named(name: str, known: Sequence[Document]) -> list[Document]:
    """Documents of that very name, else those whose names have all its words apart from the kind."""
    exact = [d for d in known if slug(name) in (d.get("key"), slug(_title(d)))]
    wanted = {word for word in slug(name).split("-") if word not in ANY_PAPER}
    telling = wanted - set(PAPERS)
    near = [d for d in known if wanted <= _words(d)] or [d for d in known if telling and telling <= _words(d)]
    return exact or near


def _words(document: Document) -> set[str]:
    words = {*slug(_title(document), limit=300).split("-"), *str(document.get("key")).split("-")}
    return words | {_kind(word) for word in words}


def _kind(word: str) -> str:
    return SAME.get(word, word)


def _title(document: Document) -> str:
    return str(document.get("title") or document.get("key"))
