"""An input becomes plain, bounded JSON, or a sentence that says why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given as randomly
from hypothesis import strategies as st

from capability.catalog import get_operation
from capability.inputs import DEPTH_LIMIT, NotPlainJson, clean, first_issue
from capability.redaction import find_protected
from mockcore.text import canonical

documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(-1e18, 1e18)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


def nested(levels):
    value = "leaf"
    for _ in range(levels):
        value = {"in": value}
    return value


@randomly(value=documents)
def test_ordinary_json_stays_equal(value):
    assert clean(value) == value


def test_a_whole_float_becomes_an_integer_so_that_retries_are_equal_and_pages_can_be_cut():
    assert [type(part) for part in clean([5.0, 5, 5.5, True])] == [int, int, float, bool]


def test_text_that_a_database_cannot_hold_is_replaced():
    assert clean({"a\0b": "x\0y\ud800z"}) == {"a\ufffdb": "x\ufffdy\ufffdz"}
    assert clean("naïve 😀") == "naïve 😀"


@pytest.mark.requirement("dispatch.input.bounded")
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (nested(DEPTH_LIMIT + 1), "too deeply"),
        (nested(5_000), "too deeply"),
        ([0] * 10_001, "too large"),
        (["x" * 200_000] * 11, "too large"),
        ("x" * 200_001, "more than 200,000 characters"),
        (float("nan"), "too large"),
        (float("-inf"), "too large"),
        ({"n": 2**63}, "too large"),
        ({"n": 10**400}, "too large"),
        ({1: "a number as a name"}, "not JSON"),
        ({"bytes": b"x"}, "not JSON"),
        ((1, 2), "not JSON"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_stored_is_refused(value, says):
    with pytest.raises(NotPlainJson, match=says):
        clean(value)


@pytest.mark.parametrize(
    "value",
    [nested(DEPTH_LIMIT), [0] * 9_999, ["x" * 200_000] * 10, {"n": 2**63 - 1}],
    ids=["deep", "many", "long", "big"],
)
def test_what_is_as_deep_and_large_as_allowed_can_be_stored_and_is_not_taken_for_protected(value):
    assert json.loads(canonical(clean(value))) == value
    assert find_protected(clean(value)) is None


@pytest.mark.requirement("dispatch.input.message")
@pytest.mark.parametrize(
    ("operation", "given", "says"),
    [
        ("get_task_history", {"limit": True}, '/limit: the value is not of type "integer"'),
        ("get_task_history", {"limit": 0}, "/limit: the value is less than the minimum of 1"),
        ("get_task_history", [], '/: the value is not of type "object"'),
        ("get_task_history", None, '/: the value is not of type "object"'),
        ("get_agent", {}, '/: "actorId" is a required property'),
        ("search_tasks", {"statuses": ["done", "lost"]}, "/statuses/1: the value is not one of"),
        ("get_task_context", {"who": 1}, "/: a field is not declared; this operation takes no fields"),
    ],
)
def test_the_first_issue_is_named_by_place_and_cause_without_the_value(operation, given, says):
    assert first_issue(operation=get_operation(operation), given=given).startswith(says)


@pytest.mark.requirement("dispatch.input.message")
def test_an_issue_never_repeats_a_value_and_stays_short():
    value = "hunter2-FAKE-" + "x" * 50_000
    issue = first_issue(operation=get_operation("search_tasks"), given={"statuses": value})
    assert "hunter2" not in issue
    issue = first_issue(operation=get_operation("search_tasks"), given={f"name-{n}": n for n in range(500)})
    assert len(issue) <= 300


def test_an_input_that_fits_has_no_issue():
    assert first_issue(operation=get_operation("search_tasks"), given={"query": "", "limit": 200}) is None
