"""Which suggested tasks an answer accepts. Pure: the agent's payload and the board's answer in, titles out.

Both are free JSON, so every usual spelling is read; the cards of the page read them the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TITLE_NAMES = ("title", "label", "name", "prompt", "text")
CHOSEN_NAMES = ("acceptedTaskIds", "selectedTaskIds", "selectedOptionIds")


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """`alias` is what the page calls a suggestion whose id is no text."""

    id: str
    alias: str
    title: str
    description: str | None


def accepted_suggestions(payload: Any, result: Any) -> list[Suggestion]:
    """Return the suggestions of `payload["tasks"]` that an accepting answer names.

    Suggestions without an id are `t1`, `t2`, …; an answer without a list of ids accepts all of them.
    """
    offered = suggestions(payload.get("tasks") if isinstance(payload, dict) else None)
    chosen = _chosen(result)
    return offered if chosen is None else [one for one in offered if chosen & {one.id, one.alias}]


def suggestions(listed: Any) -> list[Suggestion]:
    """Return what can be read of a list of suggested tasks; an entry without a title is no task."""
    found = [_suggestion(entry, place) for place, entry in enumerate(listed if isinstance(listed, list) else [], 1)]
    return [one for one in found if one.title.strip()]


def _suggestion(entry: Any, place: int) -> Suggestion:
    facts = entry if isinstance(entry, dict) else {"title": entry}
    title = next((facts[name] for name in TITLE_NAMES if isinstance(facts.get(name), str)), "")
    description = facts.get("description")
    given = facts.get("id", f"t{place}")
    return Suggestion(
        id=str(given),
        alias=given if isinstance(given, str) else f"t{place}",
        title=title,
        description=description if isinstance(description, str) else None,
    )


def _chosen(result: Any) -> set[str] | None:
    if not isinstance(result, dict):
        return None
    listed = next((result[name] for name in CHOSEN_NAMES if isinstance(result.get(name), list)), None)
    return None if listed is None else {str(one) for one in listed}
