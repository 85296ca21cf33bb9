"""Every promise has a proof, and every proof names a promise. The reading is the product's own, which CI runs too."""

from __future__ import annotations

import ast
import dataclasses
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from capability.contracts import traceability
from capability.contracts.traceability import UnreadableTests, marked, read_promises
from tests.requirements import CASES, OPERATIONS, REQUIREMENTS


def test_no_promise_proof_operation_or_file_of_cases_is_an_orphan() -> None:
    assert read_promises().orphans() == []


def test_the_list_is_read_as_python_reads_it() -> None:
    promises = read_promises()
    assert (promises.requirements, promises.operations, promises.cases) == (REQUIREMENTS, OPERATIONS, CASES)


def test_every_promise_says_what_and_where_from() -> None:
    for name, (sentence, source) in REQUIREMENTS.items():
        assert name == name.lower(), name
        assert sentence.endswith("."), name
        assert source, name
    for ids in (REQUIREMENTS, OPERATIONS, CASES):
        assert list(ids) == sorted(ids)


@pytest.mark.requirement("traceability.orphans")
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"requirements": {"a": ("A.", "s"), "b": ("B.", "s")}}, "b: no test carries this requirement"),
        ({"proofs": {"a": ("t::one",), "z": ("t::two",)}}, "z: carried by t::two and not in the list"),
        ({"operations": {"a": ("one",), "z": ()}}, "z: in OPERATIONS and not in the list"),
        ({"cases": {"a": ("c/x.jsonl",), "z": ()}}, "z: in CASES and not in the list"),
        ({"catalog": ("one", "two")}, "two: an operation that no promise names"),
        ({"operations": {"a": ("one", "two")}}, "two: a promise names it, the catalog does not"),
        ({"case_files": frozenset({"c/x.jsonl", "d/y.jsonl"})}, "d/y.jsonl: a file of cases that no promise names"),
        ({"cases": {"a": ("c/x.jsonl", "c/y.jsonl")}}, "c/y.jsonl: a promise names it, and there is no such file"),
        ({"cases": {"a": ("c/",)}}, None),
    ],
)
def test_an_orphan_on_either_side_is_named(changed: dict, says: str | None) -> None:
    whole = traceability.Promises(
        requirements={"a": ("A.", "s")},
        operations={"a": ("one",)},
        cases={"a": ("c/x.jsonl",)},
        proofs={"a": ("t::one",)},
        case_files=frozenset({"c/x.jsonl"}),
        catalog=("one",),
    )
    assert whole.orphans() == []
    assert dataclasses.replace(whole, **changed).orphans() == ([says] if says else [])


@pytest.mark.requirement("traceability.markers")
def test_a_marker_is_found_wherever_it_stands() -> None:
    source = """
pytestmark = [pytest.mark.django_db, pytest.mark.requirement("whole")]

@pytest.mark.requirement("one", "two")
async def test_first():
    pass

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("case"))])
def test_second(x):
    pass

@pytest.mark.requirement("class")
class TestThings:
    @pytest.mark.requirement("method")
    def test_third(self):
        pass
"""
    assert sorted(marked(ast.parse(source))) == [
        ("case", "test_second"),
        ("class", "TestThings"),
        ("method", "TestThings"),
        ("one", "test_first"),
        ("two", "test_first"),
        ("whole", ""),
    ]


@pytest.mark.requirement("traceability.file")
def test_the_stored_traceability_holds_and_any_change_of_it_is_told_by_the_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("check_capability_contract", verbosity=0)

    monkeypatch.setattr("capability.contracts.files.DIRECTORY", tmp_path)
    with pytest.raises(CommandError, match="the file is missing"):
        call_command("check_capability_contract")
    call_command("check_capability_contract", "--write", verbosity=0)
    written = tmp_path / traceability.TRACEABILITY
    entries = json.loads(written.read_text())
    entry = next(entry for entry in entries if entry["id"] == "policy.order")
    assert entry["sentence"] == REQUIREMENTS["policy.order"][0]
    assert "tests/capability/test_policy.py::test_the_checks_stand_in_the_promised_order" in entry["tests"]

    entry["sentence"] = "Something else."
    written.write_text(json.dumps(entries))
    with pytest.raises(CommandError, match=r"policy\.order\.sentence: stored \"Something else"):
        call_command("check_capability_contract")


def test_tests_that_cannot_be_read_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    with pytest.raises(UnreadableTests, match=r"requirements\.py"):
        read_promises(tmp_path)
    (tmp_path / "tests" / "requirements.py").write_text("REQUIREMENTS = {}\n")
    with pytest.raises(UnreadableTests, match="holds no REQUIREMENTS"):
        read_promises(tmp_path)
