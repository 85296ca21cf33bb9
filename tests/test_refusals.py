"""One class per code: whoever catches a refusal catches every place that raises it."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from itertools import combinations

import pytest

from mockcore.refusal import Refusal

HOUSES = ("mockcore", "capability", "evidence", "cleanroom")
NOT_IMPORTED = ("migrations", "management", "asgi", "runnerd")  # scripts and start-up: no refusals stand there


def import_everything() -> None:
    for house in HOUSES:
        for module in pkgutil.walk_packages(import_module(house).__path__, f"{house}."):
            if not set(module.name.split(".")) & set(NOT_IMPORTED):
                import_module(module.name)


def descendants(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


@pytest.mark.requirement("refusal.one-class")
def test_no_two_refusals_share_a_code_unless_one_is_the_others_kind() -> None:
    import_everything()
    ours = {kind for kind in descendants(Refusal) if kind.__module__.split(".")[0] in HOUSES and "code" in vars(kind)}
    assert len(ours) > 60
    strangers = [
        sorted(f"{kind.__module__}.{kind.__name__}" for kind in pair)
        for pair in combinations(ours, 2)
        if pair[0].code == pair[1].code and not (issubclass(pair[0], pair[1]) or issubclass(pair[1], pair[0]))
    ]
    assert strangers == []
