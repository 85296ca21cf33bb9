from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockcore.text import canonical, clean, clean_text

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


def test_canonical_text_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical({"b": [2, 1], "a": "é"}) == canonical({"a": "é", "b": [2, 1]}) == '{"a":"\\u00e9","b":[2,1]}'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_has_no_canonical_text(number: float) -> None:
    with pytest.raises(ValueError):
        canonical({"n": number})


@given(ANY_TEXT)
def test_clean_text_is_what_both_databases_can_hold(text: str) -> None:
    cleaned = clean_text(text)
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert len(cleaned) == len(text)


@given(
    st.recursive(ANY_TEXT | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner))
)
def test_cleaning_twice_changes_nothing_more(value: object) -> None:
    assert clean(clean(value)) == clean(value)
    json.dumps(clean(value), ensure_ascii=False).encode()


def test_cleaning_reaches_keys_lists_and_tuples() -> None:
    assert clean({"a\0": ["\ud800", ("x\0",)]}) == {"a�": ["�", ("x�",)]}


def test_a_value_nested_too_deep_is_refused_not_a_crash() -> None:
    deep: object = "x"
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested"):
        clean(deep)
