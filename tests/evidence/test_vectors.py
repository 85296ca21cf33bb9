"""The composer and the fold as their twins in the browser must compute them: the same vectors, the same answers."""

import copy
import json
from pathlib import Path

import pytest

from evidence.views.composer import composer
from evidence.views.fold import apply_ops, empty_view

VECTORS = Path(__file__).parent.parent / "vectors"


def vectors(name: str) -> list:
    cases = json.loads((VECTORS / name).read_text())
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.requirement("thread.composer")
@pytest.mark.parametrize("case", vectors("composer.json"))
def test_the_composer_of_a_view_is_the_one_of_the_vectors(case):
    view = copy.deepcopy(case["view"])
    assert composer(view) == case["composer"]
    assert view == case["view"], "deriving the composer changed the view"


@pytest.mark.parametrize("case", vectors("frames.json"))
def test_frames_fold_to_the_view_of_the_vectors(case):
    view = copy.deepcopy(case["view"])
    for frame in case["frames"]:
        view = apply_ops(view, copy.deepcopy(frame.get("ops", [])))
    assert view == case["expected"]


def test_the_vectors_reach_every_state_and_every_op():
    states = {case.values[0]["composer"]["state"] for case in vectors("composer.json")}
    assert states == {"disabled", "unavailable", "reconnecting", "streaming", "waiting", "ready"}
    frames = [frame for case in vectors("frames.json") for frame in case.values[0]["frames"]]
    assert {op["op"] for frame in frames for op in frame.get("ops", [])} == {"head", "turn", "item", "text", "row"}
    assert {frame["type"] for frame in frames} == {"frame", "settled", "error", "heartbeat", "closed"}


def test_the_vectors_start_from_views_that_the_server_would_send():
    blank = empty_view(session_id="session-1", identity={}, issue={})
    for case in vectors("frames.json"):
        assert case.values[0]["view"].keys() == blank.keys()
