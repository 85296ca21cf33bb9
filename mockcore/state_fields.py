"""Does every value of a state root fit its column? Names, types and bounds, read from the models. Pure.

It knows one row at a time; what rows say of each other is `state_rules`. Both databases thereby take the same states,
whatever they would let pass by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import models as columns

from mockcore import clock, context, models
from mockcore.models.base import CanonicalJSON, json_columns
from mockcore.snapshot import LEDGER, LISTS, Listing
from mockcore.text import canonical, iso
from mockcore.vocabulary import Lifecycle

MAX_WHOLE = 2**53 - 1  # the largest whole number every JSON reader keeps exactly
MAX_COUNT = 2**31 - 1  # what a column of small numbers holds
MAX_ID_CHARS = 240
MAX_COMPANY_ID_CHARS = 200
MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"

JSON = dict[str, Any]
Judge = Callable[[Any], str | None]  # says what is wrong with a value, or nothing
Row = tuple[str, type[models.Row], JSON]  # path, model, facts


class StateInvalid(context.StateInvalid):
    """This is no serialized state of a mock company."""

    code = "fixture_state_invalid"


def refuse(path: str, why: str) -> StateInvalid:
    """Return the refusal that names where the first fault is."""
    return StateInvalid(f"{path}: {why}")


def check(root: JSON) -> None:
    """Raise `StateInvalid` for the first value that no row could hold; lists are read in the order of `LISTS`."""
    for name, judge in ROOT.items():
        _judged(name, judge, root[name])
    _fits("company", models.Company, root["company"], frozenset())
    _judged("company.id", company_id, root["company"]["id"])
    for name in (*LISTS, *LEDGER):
        _judged(name, _is(list, "a list"), root[name])
    for name, listing in LISTS.items():
        for place, facts in enumerate(root[name]):
            _check_listed(f"{name}[{place}]", listing, facts)
    for name, (model, _) in LEDGER.items():
        for place, facts in enumerate(root[name]):
            _fits(f"{name}[{place}]", model, facts, frozenset())


def rows_of(root: JSON) -> Iterator[Row]:
    """Yield path, model and own facts of every entity of a root whose fields were checked."""
    for name, listing in LISTS.items():
        for place, facts in enumerate(root[name]):
            yield f"{name}[{place}]", listing.model, facts
            for inner, (model, _) in listing.inside.items():
                yield from ((f"{name}[{place}].{inner}[{n}]", model, one) for n, one in enumerate(facts[inner]))


def _check_listed(path: str, listing: Listing, facts: Any) -> None:
    derived = {"remaining"} if listing.model is models.Fault else set()
    _fits(path, listing.model, facts, frozenset(listing.inside.keys() | derived))
    for name in derived:
        _judged(f"{path}.{name}", _whole(facts["configuredCount"]), facts[name])
    for name, (model, _) in listing.inside.items():
        _judged(f"{path}.{name}", _is(list, "a list"), facts[name])
        for place, inner in enumerate(facts[name]):
            _fits(f"{path}.{name}[{place}]", model, inner, frozenset())


def _fits(path: str, model: type[models.Row], facts: Any, more: frozenset[str]) -> None:
    _judged(path, _is(dict, "an object"), facts)
    judges = _judges(model)
    if wrong := sorted(facts.keys() ^ (judges.keys() | more)):
        raise refuse(path, f"misses, or must not have: {', '.join(wrong)[:MAX_ID_CHARS]}")
    for name, judge in judges.items():
        _judged(f"{path}.{name}", judge, facts[name])


def _judged(path: str, judge: Judge, value: Any) -> None:
    if why := judge(value):
        raise refuse(path, why)


# ---------------------------------------------------------------- one judge for each column
@cache
def _judges(model: type[models.Row]) -> Mapping[str, Judge]:
    by_attname = {field.attname: field for field in model._meta.concrete_fields}
    return {name: _judge(model, attname, by_attname.get(attname)) for name, attname, _ in json_columns(model)}


def _judge(model: type[models.Row], attname: str, field: Any) -> Judge:
    judge = SHAPES.get((model, attname)) or _of_column(field)
    return _or_null(judge) if field is not None and field.null else judge


def _of_column(field: Any) -> Judge:
    if field is None or isinstance(field, columns.ForeignKey) or field.name == "public_id":
        return _id  # the id of a ledger row is no column
    for kind, judge in BY_COLUMN:
        if isinstance(field, kind):
            return judge(field)
    raise TypeError(f"no judge knows {field}")  # a new kind of column needs one


def _or_null(judge: Judge) -> Judge:
    return lambda value: None if value is None else judge(value)


def _is(kind: type, name: str) -> Judge:
    return lambda value: None if isinstance(value, kind) else f"must be {name}"


def _text(at_most: int | None, at_least: int = 0) -> Judge:
    def judge(value: Any) -> str | None:
        if not isinstance(value, str):
            return "must be a text"
        fits = at_least <= len(value) and (at_most is None or len(value) <= at_most)
        return None if fits else f"must have {at_least} to {at_most} characters"

    return judge


def _whole(at_most: int) -> Judge:
    def judge(value: Any) -> str | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= at_most
        return None if fits else f"must be a whole number from 0 to {at_most}"

    return judge


def _moment(value: Any) -> str | None:
    try:
        fits = iso(datetime.strptime(value, MOMENT).replace(tzinfo=UTC)) == value
    except (TypeError, ValueError):
        fits = False
    return None if fits else "must be a time such as 2026-08-09T00:00:00.000Z"


def _json(value: Any) -> str | None:
    try:
        canonical(value)
    except (TypeError, ValueError):
        return "holds a value that JSON cannot hold"
    return None


def _object(value: Any) -> str | None:
    return _is(dict, "an object")(value) or _json(value)


def _texts(value: Any) -> str | None:
    fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return None if fits else "must be a list of texts"


def company_id(value: Any) -> str | None:
    """Say what is wrong with the id of a company."""
    if isinstance(value, str) and "/" in value:
        return "must not hold a slash"
    return _text(MAX_COMPANY_ID_CHARS, at_least=1)(value)


_id = _text(MAX_ID_CHARS, at_least=1)
BY_COLUMN: tuple[tuple[type, Callable[[Any], Judge]], ...] = (  # the first that fits
    (CanonicalJSON, lambda field: _json),
    (columns.CharField, lambda field: _text(field.max_length)),
    (columns.TextField, lambda field: _text(None)),
    (columns.BooleanField, lambda field: _is(bool, "true or false")),
    (columns.DateTimeField, lambda field: _moment),
    (columns.PositiveBigIntegerField, lambda field: _whole(MAX_WHOLE)),
    (columns.BigIntegerField, lambda field: _whole(MAX_WHOLE)),
    (columns.PositiveIntegerField, lambda field: _whole(MAX_COUNT)),
)


# ---------------------------------------------------------------- values with a shape of their own
def _answer(value: Any) -> str | None:
    """Judge the result by which an idempotency key is answered again."""
    if not isinstance(value, dict):
        return "must be an object"
    for name, judge in ANSWER.items():
        if why := judge(value.get(name)):
            return f"{name} {why}"
    return _json(value)


def _clock(value: Any) -> str | None:
    if not isinstance(value, dict) or value.keys() != {"epochMs", "tick"}:
        return "must hold epochMs and tick"
    if why := _whole(MAX_WHOLE)(value["epochMs"]) or _whole(MAX_WHOLE)(value["tick"]):
        return f"each {why}"
    late = value["epochMs"] // 1000 + value["tick"] > clock.LAST_SECOND
    return "is past the end of company time" if late else None


def _counters(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be an object"
    wrong = sorted(name for name, number in value.items() if _whole(MAX_WHOLE)(number))
    return f"{wrong[0][:MAX_ID_CHARS]} must be a whole number from 0 to {MAX_WHOLE}" if wrong else None


def _lifecycle(value: Any) -> str | None:
    known = isinstance(value, str) and value in set(Lifecycle)
    return None if known else f"must be one of: {', '.join(Lifecycle)}"


ANSWER: dict[str, Judge] = {
    "commandId": _id,
    "commandKind": _id,
    "disposition": _id,
    "stateRevision": _whole(MAX_WHOLE),
    "entityRefs": _texts,
    "scheduledWakeIds": _texts,
}
ROOT: dict[str, Judge] = {
    "revision": _whole(MAX_WHOLE),
    "clock": _clock,
    "counters": _counters,
    "lifecycle": _lifecycle,
    "activeRunId": _or_null(_id),
    "outOfScopeTaskIds": _texts,
    "company": _is(dict, "an object"),
}
SHAPES: dict[tuple[type[models.Row], str], Judge] = {
    (models.Actor, "capability_grants"): _texts,
    (models.Approval, "task_ids"): _texts,
    (models.Approval, "payload"): _object,
    (models.WorkProduct, "metadata"): _object,
    (models.RunEvent, "body"): _object,
    (models.Interaction, "payload"): _object,
    (models.Run, "wake"): _object,
    (models.Run, "capabilities"): _texts,
    (models.Run, "result"): _object,
    (models.Run, "session_checkpoint"): _object,
    (models.Wake, "payload"): _object,
    (models.AuditRecord, "details"): _object,
    (models.DecisionRecord, "entity_refs"): _texts,
    (models.IdempotencyRecord, "result"): _answer,
}
