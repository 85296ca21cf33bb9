"""What a thread view becomes of some events."""

from evidence.record import Draft
from evidence.views import thread
from tests.evidence.logs import (
    blank,
    events_of,
)


def view_of(*drafts: Draft) -> dict:
    events = events_of(drafts)
    return thread.apply_ops(blank(), [op for event in events for op in thread.ops(event)])


def only_item(*drafts: Draft) -> dict:
    (item,) = [each for turn in view_of(*drafts)["turns"] for each in turn["items"]]
    return item


def rows(view: dict, section: str) -> list[dict]:
    return view["evidence"][section]
