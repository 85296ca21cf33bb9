"""What a card offers, read from the agent's free payload. Pure; the page reads it the same way.

Entries without an id of their own are numbered: `q1` questions, `o1` options, `i1` items. Source: reference A 3.11 and
the card payloads of reference B section 1.10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mockcore.handlers.scene import CommandInvalid
from mockcore.vocabulary import InteractionKind

MAX_ENTRIES = 64  # more than that no card shows
MAX_ID_CHARS = 120
LABEL_CHARS = 240  # a card shows that much of a label, and sends back what it shows
# What only the company writes on a card, because it says what the board did. An agent's payload is never read for it.
BOARDS_OWN = frozenset({"lockedVerdict", "resolvedAt", "resolvedSummary", "stateLabel", "supersededBy"})

JSON = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Option:
    id: str
    label: str
    recommended: bool


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """`options` empty means any text."""

    id: str
    prompt: str
    required: bool
    options: tuple[Option, ...]


@dataclass(frozen=True, kw_only=True)
class JudgedItem:
    id: str
    title: str
    require_reason: bool


# ---------------------------------------------------------------- reading
def questions_of(payload: JSON, *, prompt: str) -> list[AskedQuestion]:
    """Return the questions of a card; one without any asks its prompt."""
    given = _objects(payload.get("questions")) or [{"prompt": prompt}]
    return [
        AskedQuestion(
            id=_id(entry, f"q{place}"),
            prompt=str(entry.get("prompt") or prompt),
            required=entry.get("required") is not False,
            options=() if entry.get("control") == "text" else tuple(options_of(entry)),
        )
        for place, entry in enumerate(given, 1)
    ]


def options_of(payload: JSON) -> list[Option]:
    """Return the options of a checkbox card or of one question; plain labels are options too."""
    listed = payload.get("options")
    given = [entry if isinstance(entry, dict) else {"label": entry} for entry in _list(listed)]
    return [_option(entry, place) for place, entry in enumerate(given, 1)]


def _option(entry: JSON, place: int) -> Option:
    label = next((entry[name] for name in ("label", "title") if isinstance(entry.get(name), str) and entry[name]), "")
    return Option(
        id=_id(entry, f"o{place}"), label=label or f"Option {place}", recommended=entry.get("recommended") is True
    )


def items_of(payload: JSON) -> list[JudgedItem]:
    return [
        JudgedItem(
            id=_id(entry, f"i{place}"),
            title=str(entry.get("title") or f"Item {place}"),
            require_reason=entry.get("requireReason") is True,
        )
        for place, entry in enumerate(_objects(payload.get("items")), 1)
    ]


def selection_bounds(payload: JSON) -> tuple[int, int]:
    """Return how many options must and may be chosen. Raises `CommandInvalid` for bounds that no choice can meet."""
    count = len(options_of(payload))
    least, most = _number(payload, "minSelected", 0), _number(payload, "maxSelected", count)
    if not least <= most <= count:
        raise CommandInvalid(f"minSelected and maxSelected do not fit {count} options")
    return least, most


def requires_reject_reason(kind: str, payload: JSON) -> bool:
    """Say whether rejecting needs a reason: a confirmation unless it says no, other cards only when they say so."""
    wanted = payload.get("requireRejectReason")
    return wanted is not False if kind == InteractionKind.CONFIRMATION else wanted is True


def expiry_of(payload: Any) -> datetime | None:
    """Return when a card expires, or None: never, or not readable (a seeded row may hold anything)."""
    given = payload.get("expiresAt") if isinstance(payload, dict) else None
    try:
        moment = datetime.fromisoformat(given) if isinstance(given, str) else None
        return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        return None


def agents_own(value: Any) -> Any:
    """Return a copy of a payload without what is the board's, at any depth: a row may be older than its refusal."""
    if isinstance(value, dict):
        return {name: agents_own(inner) for name, inner in value.items() if name not in BOARDS_OWN}
    return [agents_own(inner) for inner in value] if isinstance(value, list | tuple) else value


# ---------------------------------------------------------------- what may be asked
def check_card(kind: str, payload: JSON, *, now: datetime) -> None:
    """Refuse a card that nobody could answer. Raises `CommandInvalid`.

    What cannot be read at all is no entry, as on the page. An expiry must be a time still to come, in company time.
    What only the board says, no card may claim: `BOARDS_OWN` may be null, as in an empty form, and nothing else.
    """
    if claimed := sorted(set(_claimed(payload))):
        raise CommandInvalid(f"only the board's own answer sets {claimed[0]}: leave it out")
    for names in _ids(kind, payload):
        _check_ids(list(names))
    if kind == InteractionKind.CHECKBOX:
        _, most = selection_bounds(payload)
        if sum(option.recommended for option in options_of(payload)) > most:
            raise CommandInvalid(f"at most {most} options can be recommended")
    if kind == InteractionKind.QUESTIONS:
        for question in questions_of(payload, prompt=""):
            if sum(option.recommended for option in question.options) > 1:
                raise CommandInvalid(f"question {question.id} can recommend one option")
    moment = expiry_of(payload)
    if payload.get("expiresAt") is not None and (moment is None or moment <= now):
        raise CommandInvalid("payload.expiresAt must be a time to come, in company time, such as 2026-08-09T01:00:00Z")


def _claimed(value: Any) -> Iterator[str]:
    """Yield the names of `BOARDS_OWN` that have a value anywhere inside."""
    if isinstance(value, dict):
        yield from (name for name in BOARDS_OWN if value.get(name) is not None)
    if isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _claimed(inner)


def _ids(kind: str, payload: JSON) -> Iterable[Iterable[str]]:
    """Yield the ids of each list of entries that a card of this kind has."""
    if kind == InteractionKind.QUESTIONS:
        questions = questions_of(payload, prompt="")
        yield (question.id for question in questions)
        for question in questions:
            yield (option.id for option in question.options)
    elif kind == InteractionKind.CHECKBOX:
        yield (option.id for option in options_of(payload))
    elif kind == InteractionKind.ITEM_VERDICTS:
        yield (item.id for item in items_of(payload))
    elif kind == InteractionKind.SUGGEST_TASKS:
        yield (_id(entry, f"t{place}") for place, entry in enumerate(_objects(payload.get("tasks")), 1))


def _check_ids(ids: list[str]) -> None:
    if len(ids) > MAX_ENTRIES:
        raise CommandInvalid(f"a card holds at most {MAX_ENTRIES} entries")
    if len(set(ids)) != len(ids):
        raise CommandInvalid("the ids of a card's entries must differ")
    if any(len(one) > MAX_ID_CHARS for one in ids):
        raise CommandInvalid(f"an id has at most {MAX_ID_CHARS} characters")


# ---------------------------------------------------------------- small
def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _objects(value: Any) -> list[JSON]:
    return [entry for entry in _list(value) if isinstance(entry, dict)]


def _id(entry: JSON, otherwise: str) -> str:
    given = entry.get("id")
    return given if isinstance(given, str) and given else otherwise


def _number(payload: JSON, name: str, otherwise: int) -> int:
    given = payload.get(name)
    if given is None:
        return otherwise
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise CommandInvalid(f"{name} must be a whole number, not negative")
    return given
