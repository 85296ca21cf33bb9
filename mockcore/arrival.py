"""What comes in from a caller: of the types and sizes it declares, of strings that both databases can hold, no secrets.

The declaration is the annotation of each field, so a new command, request or query is judged without a line here. Rules
and their own codes stay with the handlers; numbers of `JUDGED_LATER` have such codes for any wrong value. Callers above
screen and redact as well, each for its own surface: here nothing gets past that a command or a request holds. What a
runner reports is masked where its size is known to be bounded (`runlog`, `completion`).
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from mockcore.commands import Command
from mockcore.handlers import HANDLERS
from mockcore.handlers.scene import CommandInvalid
from mockcore.masking import mask
from mockcore.models import Run
from mockcore.models.base import camel
from mockcore.port import RunFacts
from mockcore.queries import QUERIES
from mockcore.refusal import Refusal
from mockcore.text import canonical, clean, clean_text

MAX_ID_CHARS = 240  # what a column of ids and an index hold
MAX_TEXT_CHARS = 200_000  # the longest text of any tool, a document's (reference A 1.3)
MAX_JSON_CHARS = 262_144  # of canonical JSON, as an event of a run
MAX_LISTED = 1_000  # ids in one list; the tools' own bound is 200
MAX_WHOLE = 2**53 - 1  # the largest whole number every JSON reader keeps exactly
MAX_LIMIT = 200  # rows of one read (reference A 1.3)
JUDGED_LATER = frozenset({"byte_size", "cents", "delay_ticks", "ticks"})
LONGEST = {  # where the name alone does not say it: a column's own bound, or ids of the world above
    "backend_kind": 20,
    "key": MAX_ID_CHARS,
    **dict.fromkeys(("turn_id", "call_id", "message_id", "authorization_id"), MAX_TEXT_CHARS),
}

T = TypeVar("T")
Judge = Callable[[Any], str | None]  # says what is wrong with a value, or nothing


# ---------------------------------------------------------------- what the plane asks
def cleaned(value: T, kind: type[T]) -> T:
    """Return one of our frozen values with strings that both databases can hold, and every secret masked.

    Raises `CommandInvalid` when it is none, or a field is not of the type or size that it declares; a command inside an
    envelope is judged by `require_command`, where its refusal can be recorded.
    """
    if not isinstance(value, kind):
        raise CommandInvalid(f"this takes {kind.__name__}, not {type(value).__name__}")
    clean_one: T = _cleaned(value)
    if not isinstance(value, Command):
        _judge_fields(clean_one)
    return clean_one


def require_command(command: Command) -> None:
    """Raise `CommandInvalid` unless it is a command of the company whose fields have their types and sizes."""
    if type(command) not in HANDLERS:
        raise CommandInvalid(f"there is no command {type(command).__name__}")
    _judge_fields(command)


def query_of(name: str, arguments: Mapping[str, Any]) -> Callable[[Run], dict[str, Any]]:
    """Return a named read, ready for a run. Raises `CommandInvalid` for none, and for what it does not take."""
    if not isinstance(name, str) or name not in QUERIES:
        raise CommandInvalid("there is no such query")
    read, given = QUERIES[name], plain(dict(arguments))
    judges, needed = _arguments(read)
    if wrong := sorted((given.keys() - judges.keys()) | (needed - given.keys())):
        raise CommandInvalid(f"{name} misses, or does not take: {', '.join(wrong)[:MAX_ID_CHARS]}")
    _judge({argument: (judges[argument], value) for argument, value in given.items()})
    return lambda run: read(run, **given)


def reported(value: Any, refusal: type[Refusal]) -> dict[str, Any]:
    """Return what a runner reports, made of strings that both databases can hold. Raises the given refusal."""
    try:
        given: dict[str, Any] | None = plain(dict(value)) if isinstance(value, Mapping) else None
    except CommandInvalid as no:
        raise refusal(no.message) from no
    if given is None or not _has_text_names(given):
        raise refusal("it must be a JSON object")
    return given


def id_of_run(value: Any) -> str:
    """Return a run's id as it may stand in the ledger; what cannot be one is empty, which no run is called."""
    return clean_text(value) if isinstance(value, str) and len(value) <= MAX_ID_CHARS else ""


def plain(value: Any) -> Any:
    """Return a JSON value of such strings. Raises `CommandInvalid` for one that is nested too deep."""
    try:
        return clean(value)
    except ValueError as error:
        raise CommandInvalid(str(error)) from error


def _cleaned(value: Any) -> Any:
    changed = {}
    for field in dataclasses.fields(value):
        old = getattr(value, field.name)
        if isinstance(old, RunFacts):
            continue  # it came from here
        new = _cleaned(old) if dataclasses.is_dataclass(old) and not isinstance(old, type) else mask(plain(old))
        if new is not old and new != old:
            changed[field.name] = new
    return dataclasses.replace(value, **changed) if changed else value


# ---------------------------------------------------------------- judging by annotations
def _judge_fields(value: Any) -> None:
    kind: Any = type(value)
    _judge({name: (judge, getattr(value, name)) for name, judge in _fields(kind).items()})


def _judge(judged: Mapping[str, tuple[Judge, Any]]) -> None:
    for name, (judge, value) in judged.items():
        if why := judge(value):
            raise CommandInvalid(f"{camel(name.removesuffix('_json'))} {why}")


@cache
def _fields(kind: Any) -> dict[str, Judge]:
    hints = get_type_hints(kind)
    return {field.name: _by(hints[field.name], field.name) for field in dataclasses.fields(kind)}


@cache
def _arguments(read: Callable[..., Any]) -> tuple[dict[str, Judge], frozenset[str]]:
    """Return the judge of each argument of a query besides the run, and the names of those that must be given."""
    hints, signature = get_type_hints(read), inspect.signature(read)
    asked = [one for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    needed = frozenset(one.name for one in asked if one.default is one.empty)
    return {one.name: _rows if one.name == "limit" else _by(hints[one.name], one.name) for one in asked}, needed


def _by(hint: Any, name: str) -> Judge:
    """Return the judge of an annotation. A kind of annotation that is not known is a mistake of ours, found at once."""
    if name in JUDGED_LATER:
        return lambda value: None
    origin = get_origin(hint) or hint
    if origin in (Union, UnionType):
        arms = [one for one in get_args(hint) if one is not NoneType]
        return _or_null(_by(arms[0], name))
    for kinds, judge in BY_HINT:
        if origin in kinds:
            return judge(name)
    if isinstance(origin, type) and (dataclasses.is_dataclass(origin) or issubclass(origin, Enum)):
        return _inside(origin)
    raise TypeError(f"no judge knows {hint}")


def _or_null(judge: Judge) -> Judge:
    return lambda value: None if value is None else judge(value)


def _inside(kind: type) -> Judge:
    def judge(value: Any) -> str | None:
        if not isinstance(value, kind):
            return f"must be a {kind.__name__}"
        if dataclasses.is_dataclass(kind) and kind not in (Command, RunFacts):
            _judge_fields(value)
        return None

    return judge


def _text(name: str) -> Judge:
    at_most = LONGEST.get(name, MAX_ID_CHARS if name.endswith("_id") else MAX_TEXT_CHARS)

    def judge(value: Any) -> str | None:
        fits = isinstance(value, str) and len(value) <= at_most
        return None if fits else f"must be a text of at most {at_most:,} characters"

    return judge


def _whole(name: str) -> Judge:
    return lambda value: _between(value, -MAX_WHOLE, MAX_WHOLE)


def _rows(value: Any) -> str | None:
    """Say what is wrong with how many rows a query is to return."""
    return _between(value, 1, MAX_LIMIT)


def _between(value: Any, least: int, most: int) -> str | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return None if fits else f"must be a whole number from {least} to {most}"


def _flag(name: str) -> Judge:
    return lambda value: None if isinstance(value, bool) else "must be true or false"


def _texts(name: str) -> Judge:
    one = _text("one_id")

    def judge(value: Any) -> str | None:
        fits = isinstance(value, list | tuple) and len(value) <= MAX_LISTED and not any(map(one, value))
        return (
            None if fits else f"must be a list of at most {MAX_LISTED} texts, each of at most {MAX_ID_CHARS} characters"
        )

    return judge


def _object(name: str) -> Judge:
    return lambda value: _json(name)(value) if isinstance(value, Mapping) else "must be an object"


def _json(name: str) -> Judge:
    def judge(value: Any) -> str | None:
        try:
            fits = _has_text_names(value) and len(canonical(value)) <= MAX_JSON_CHARS
        except (TypeError, ValueError):
            return "holds a value that JSON cannot hold"
        return None if fits else f"must be JSON of at most {MAX_JSON_CHARS:,} characters whose names are texts"

    return judge


def _has_text_names(value: Any) -> bool:
    inner: Iterable[Any] = ()
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            return False
        inner = value.values()
    elif isinstance(value, list | tuple):
        inner = value
    return all(map(_has_text_names, inner))


BY_HINT: tuple[tuple[tuple[Any, ...], Callable[[str], Judge]], ...] = (
    ((str,), _text),
    ((bool,), _flag),
    ((int,), _whole),
    ((dict, Mapping), _object),
    ((tuple, Sequence), _texts),
    ((Any,), _json),
)
