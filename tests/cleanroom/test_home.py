"""The home of a session: private, configured, linked to the login, and removed without following a link."""

from __future__ import annotations

import asyncio
import os
import stat
import tomllib
from pathlib import Path

import pytest

from cleanroom.codex import binary as codex_binary
from cleanroom.codex import home as codex_home
from cleanroom.codex.config import PROFILE, session_config, to_toml
from cleanroom.harness import AgentUnavailableError
from tests.cleanroom.support.agent import ScriptedAgent
from tests.cleanroom.support.session import run_directory

CONFIG = session_config(
    workspace=Path("/runs/1/workspace"), binary_directory=Path("/opt/codex"), model_url="", model_name=""
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# ---------------------------------------------------------------- configuration
def test_the_configuration_is_toml_and_keeps_every_value() -> None:
    tricky = {
        "a": 'quote " and \\ and \n',
        "b": ["x", 1, True],
        "t": {"/path with.dots/\u00e9\U0001f600": {"k": "\x7f\x01"}},
        "e": {},
    }
    assert tomllib.loads(to_toml(tricky)) == tricky
    assert tomllib.loads(to_toml(CONFIG)) == CONFIG


def test_the_profile_reads_the_system_writes_the_workspace_and_has_no_network() -> None:
    profile = CONFIG["permissions"][CONFIG["default_permissions"]]
    assert profile["filesystem"] == {":minimal": "read", "/opt/codex": "read", ":workspace_roots": "write"}
    assert profile["network"] == {"enabled": False}
    policy = CONFIG["shell_environment_policy"]
    assert policy["inherit"] == "none"
    assert set(policy["set"]) == {"PATH", "HOME", "LANG"}
    assert policy["set"]["HOME"] == "/runs/1/workspace"


def test_everything_that_is_not_needed_is_off() -> None:
    for feature in ("plugins", "apps", "hooks", "memories", "multi_agent", "image_generation", "unified_exec"):
        assert CONFIG["features"][feature] is False
    assert CONFIG["features"]["shell_snapshot"] is False
    assert CONFIG["web_search"] == "disabled"
    assert CONFIG["skills"] == {"include_instructions": False, "bundled": {"enabled": False}}
    assert CONFIG["project_doc_max_bytes"] == 0
    assert CONFIG["allow_login_shell"] is False


def test_a_model_address_becomes_a_provider_and_without_one_codexs_own_is_used() -> None:
    assert "model_provider" not in CONFIG
    config = session_config(
        workspace=Path("/w"), binary_directory=Path("/b"), model_url="http://127.0.0.1:8000/v1", model_name="tiny"
    )
    provider = config["model_providers"][config["model_provider"]]
    assert (provider["base_url"], provider["wire_api"]) == ("http://127.0.0.1:8000/v1", "responses")
    assert provider["supports_websockets"] is False
    assert config["model"] == "tiny"


# ---------------------------------------------------------------- the program
def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o700)
    return path


def test_the_native_program_is_found_behind_the_npm_wrapper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(codex_binary.platform, "machine", lambda: "x86_64")
    modules = tmp_path / "node_modules"
    wrapper = _program(modules / "@openai/codex/bin/codex.js")
    (modules / ".bin").mkdir()
    (modules / ".bin/codex").symlink_to("../@openai/codex/bin/codex.js")
    assert wrapper.exists()
    with pytest.raises(AgentUnavailableError, match="platform"):
        codex_binary.find(codex_bin=str(modules / ".bin/codex"))
    triple = modules / "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl"
    native = _program(triple / "codex/codex")
    found = codex_binary.find(codex_bin=str(modules / ".bin/codex"))
    assert (found.path, found.directory) == (native, triple)
    os.utime(native, (1, 1))
    assert codex_binary.find(codex_bin=str(modules / ".bin/codex")).fingerprint != found.fingerprint


def test_a_program_named_directly_is_used_as_it_is(tmp_path: Path) -> None:
    native = _program(tmp_path / "tools/codex")
    found = codex_binary.find(codex_bin=str(native))
    assert (found.path, found.directory) == (native, native.parent)
    with pytest.raises(AgentUnavailableError):
        codex_binary.find(codex_bin=str(tmp_path / "tools/absent"))


# ---------------------------------------------------------------- the template
@pytest.mark.requirement("driver.home.template")
async def test_a_template_is_made_once_however_many_ask_at_the_same_time() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        binary = codex_binary.find(codex_bin=str(agent.codex_bin))
        asked = [codex_home.ensure_template(templates_dir=directory / "templates", binary=binary) for _ in range(4)]
        made = await asyncio.gather(*asked)
        assert len(set(made)) == 1
        assert len(agent.received("initialize")) == 1
        assert mode(made[0]) == 0o700
        assert sorted(path.name for path in made[0].iterdir()) == []


@pytest.mark.requirement("driver.home.template")
async def test_a_template_that_was_left_half_made_is_made_again() -> None:
    async with run_directory() as directory, ScriptedAgent(directory / "bin") as agent:
        binary = codex_binary.find(codex_bin=str(agent.codex_bin))
        template = await codex_home.ensure_template(templates_dir=directory / "templates", binary=binary)
        half = template.rename(template.with_name(f"{template.name}.making"))
        (half / "torn").write_text("x")
        assert await codex_home.ensure_template(templates_dir=directory / "templates", binary=binary) == template
        assert not (template / "torn").exists()


# ---------------------------------------------------------------- a session's home
def _prepare(directory: Path, *, with_login: bool = True) -> Path:
    template, home = directory / "template", directory / "run/home"
    template.mkdir(exist_ok=True)
    (template / "state.sqlite").write_text("made")
    login_home = directory / "login" if with_login else None
    codex_home.prepare(home=home, template=template, login_home=login_home, config=CONFIG)
    return home


@pytest.mark.requirement("driver.home.template", "driver.home.login-link")
def test_a_home_is_a_private_copy_with_our_configuration_and_a_link_to_the_login(tmp_path: Path) -> None:
    (tmp_path / "login").mkdir()
    (tmp_path / "login/auth.json").write_text("{}")
    home = _prepare(tmp_path)
    assert mode(home) == 0o700
    assert mode(home / "config.toml") == 0o600
    assert (home / "state.sqlite").read_text() == "made"
    assert tomllib.loads((home / "config.toml").read_text())["default_permissions"] == PROFILE
    assert (home / "auth.json").readlink() == tmp_path / "login/auth.json"


@pytest.mark.requirement("driver.home.login-link")
def test_without_a_login_there_is_no_link_and_one_that_comes_later_is_linked(tmp_path: Path) -> None:
    home = _prepare(tmp_path)
    assert not (home / "auth.json").is_symlink()
    (home / "state.sqlite").write_text("used")
    (tmp_path / "login").mkdir()
    (tmp_path / "login/auth.json").write_text("{}")
    _prepare(tmp_path)
    assert (home / "auth.json").is_symlink()
    assert (home / "state.sqlite").read_text() == "used"  # a home in use is not copied over


@pytest.mark.requirement("driver.home.login-link")
def test_where_no_login_is_needed_none_is_linked_and_an_old_link_goes(tmp_path: Path) -> None:
    (tmp_path / "login").mkdir()
    (tmp_path / "login/auth.json").write_text("{}")
    assert (_prepare(tmp_path) / "auth.json").is_symlink()
    assert not (_prepare(tmp_path, with_login=False) / "auth.json").is_symlink()
    assert (tmp_path / "login/auth.json").read_text() == "{}"


@pytest.mark.requirement("driver.home.login-link")
def test_removing_follows_no_link_and_opens_what_a_command_closed(tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.mkdir(mode=0o500)
    (tmp_path / "login.json").write_text("keep")
    tree = tmp_path / "tree"
    (tree / "closed/deep").mkdir(parents=True)
    (tree / "closed/deep/file").write_text("x")
    (tree / "closed/deep").chmod(0)
    (tree / "closed").chmod(0)
    (tree / "to-directory").symlink_to(treasure)
    (tree / "to-file").symlink_to(tmp_path / "login.json")
    (tree / "loop").symlink_to(tree)
    codex_home.remove_tree(path=tree)
    assert not tree.exists()
    assert (tmp_path / "login.json").read_text() == "keep"
    assert mode(treasure) == 0o500
    root_link = tmp_path / "link"
    root_link.symlink_to(treasure)
    codex_home.remove_tree(path=root_link)
    assert treasure.is_dir()
    assert not root_link.is_symlink()
    codex_home.remove_tree(path=tmp_path / "absent")


def test_the_process_has_a_home_and_a_temporary_directory_of_its_own(tmp_path: Path) -> None:
    inherited = {"HOME": "/home/ada", "TMPDIR": "/tmp", "PATH": "/bin"}
    environment = codex_home.environment(home=tmp_path, inherited=inherited)
    assert environment["HOME"] == environment["CODEX_HOME"] == str(tmp_path)
    assert environment["TMPDIR"].startswith(str(tmp_path))
    assert environment["PATH"] == "/bin"
