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
        ({"repeated": ("a: twice in CASES",)}, "a: twice in CASES"),
        ({"unproved": {"t::one": "@pytest.mark.skip"}}, "a: t::one proves nothing (@pytest.mark.skip)"),
        ({"unproved": {"t::other": "@pytest.mark.skip"}}, None),
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


PROJECT_OF_ONE = {
    "tests/requirements.py": 'REQUIREMENTS: dict = {{"a": ("A.", "s"){again}}}\n',
    "tests/test_one.py": 'import pytest\n{before}\n@pytest.mark.requirement("a")\n{mark}\n'
    "def test_one():\n    {body}\n",
}


def project_of_one(path: Path, **parts: str) -> traceability.Promises:
    """Write a project with one promise and its one test, and read it."""
    for name, text in PROJECT_OF_ONE.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text.format(**{"again": "", "before": "", "mark": "", "body": "assert 1", **parts}))
    return read_promises(path)


def told(promises: traceability.Promises) -> list[str]:
    return [line for line in promises.orphans() if line.startswith("a:")]


@pytest.mark.requirement("traceability.orphans")
def test_a_promise_that_stands_twice_in_the_list_is_named(tmp_path: Path) -> None:
    assert told(project_of_one(tmp_path)) == []
    assert told(project_of_one(tmp_path, again=', "a": ("B.", "s")')) == ["a: twice in REQUIREMENTS"]


@pytest.mark.requirement("traceability.orphans")
@pytest.mark.parametrize(
    "parts",
    [
        {"mark": "@pytest.mark.skip"},
        {"mark": "@pytest.mark.skip(reason='later')"},
        {"mark": "@pytest.mark.skipif(True, reason='later')"},
        {"mark": "@pytest.mark.skipif('True', reason='later')"},
        {"mark": "@pytest.mark.skipif(condition=1, reason='later')"},
        {"mark": "@pytest.mark.xfail"},
        {"mark": "@pytest.mark.xfail(reason='later', strict=True)"},
        {"mark": "@pytest.mark.xfail(raises=ValueError)"},
        {"mark": "@unittest.skip('later')"},
        {"before": "later = pytest.mark.skip(reason='later')", "mark": "@later"},
        {"before": "pytestmark = [pytest.mark.django_db, pytest.mark.skip]"},
        {"before": "pytestmark = pytest.mark.xfail"},
        {"before": "pytest.skip('later', allow_module_level=True)"},
        {"body": "pytest.skip('later')"},
        {"body": "pytest.xfail('later')"},
    ],
    ids=str,
)
def test_a_proof_that_never_runs_or_may_fail_is_named(tmp_path: Path, parts: dict[str, str]) -> None:
    [line] = told(project_of_one(tmp_path, **parts))
    assert line.startswith("a: tests/test_one.py::test_one proves nothing (")


@pytest.mark.parametrize(
    "parts",
    [
        {"mark": "@pytest.mark.skipif(sys.platform == 'win32', reason='no sockets')"},
        {"mark": "@pytest.mark.skipif(False, reason='never')"},
        {"mark": "@pytest.mark.skipif(\"sys.platform == 'win32'\", reason='no sockets')"},
        {"before": "unused = pytest.mark.skip"},
        {"body": "if 0: pytest.skip('on some machines')"},
    ],
    ids=str,
)
def test_a_condition_that_the_machine_answers_is_no_objection(tmp_path: Path, parts: dict[str, str]) -> None:
    assert told(project_of_one(tmp_path, **parts)) == []


@pytest.mark.requirement("traceability.orphans")
def test_the_command_fails_by_them_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promises = project_of_one(tmp_path, again=', "a": ("B.", "s")', mark="@pytest.mark.skip")
    monkeypatch.setattr(traceability, "read_promises", lambda: promises)
    with pytest.raises(CommandError, match=r"a: twice in REQUIREMENTS\na: .* proves nothing \(@pytest\.mark\.skip\)"):
        call_command("check_capability_contract")
