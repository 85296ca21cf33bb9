"""The shell of the chat page: what it names, what it allows, and what it must not hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from cleanroom import pages


@pytest.fixture
def shell() -> str:
    return Client(headers={"host": "127.0.0.1"}).get("/").content.decode()


@pytest.mark.requirement("page.shell")
def test_the_import_map_carries_the_nonce_of_the_policy_and_stands_before_the_first_module() -> None:
    answer = Client(headers={"host": "127.0.0.1"}).get("/")
    policy, page = answer["Content-Security-Policy"], answer.content.decode()
    [nonce] = re.findall(r'<script type="importmap" nonce="([^"]+)">', page)
    assert f"'nonce-{nonce}'" in policy
    assert page.index("importmap") < page.index("modulepreload")
    assert "style-src 'self';" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert answer["Cache-Control"].startswith("max-age=0, no-cache, no-store")


@pytest.mark.requirement("page.shell")
def test_every_module_and_stylesheet_the_shell_names_is_there(shell: str) -> None:
    named = re.findall(r'(?:href|src)="([^"]+)"', shell)
    imports = json.loads(re.findall(r'<script type="importmap"[^>]*>(.*?)</script>', shell)[0])["imports"]
    addresses = {*named, *imports.values()}
    assert len(addresses) > 40
    missing = [one for one in addresses if not finders.find(one.removeprefix(settings.STATIC_URL))]
    assert missing == []


@pytest.mark.requirement("page.shell")
def test_no_module_imports_what_the_shell_does_not_preload() -> None:
    preloaded = {one.removeprefix(f"{settings.STATIC_URL}cleanroom/") for one in pages.module_addresses()}
    for name in sorted(one for one in preloaded if not one.startswith("/")):
        source = pages.MODULES_DIR / name
        for target in re.findall(r"^import .*? from '([^']+)'", source.read_text(), re.MULTILINE):
            if not target.startswith("."):
                assert target in pages.IMPORTS, (name, target)
                continue
            path = (source.parent / target).resolve().relative_to(pages.MODULES_DIR)
            assert path.as_posix() in preloaded, (name, target)


@pytest.mark.requirement("page.shell")
def test_what_asks_for_the_room_waits_for_no_file_and_comes_before_everything_that_only_draws_it(shell: str) -> None:
    links = re.findall(r'<link rel="modulepreload" href="[^"]*/[^"/]+" fetchpriority="low">', shell)
    assert len(links) == len(pages.module_addresses()) == shell.count("modulepreload")
    asks = shell.index((pages.MODULES_DIR / pages.EARLY).read_text())
    assert asks < shell.index("<link")
    assert not [address for address in pages.module_addresses() if address.endswith(pages.EARLY)]


@pytest.mark.requirement("page.shell")
def test_the_shell_has_no_inline_style_and_no_inline_script_but_the_import_map_and_the_early_one(shell: str) -> None:
    assert " style=" not in shell
    assert "<style" not in shell
    scripts = re.findall(r"<script([^>]*)>", shell)
    inline = [
        re.sub(r'nonce="[^"]+"', "nonce", attributes).strip() for attributes in scripts if "src=" not in attributes
    ]
    assert inline == [f'nonce data-api="{pages.API_BASE}"', 'type="importmap" nonce']
    for module in pages.MODULES_DIR.rglob("*.js"):
        assert " style=" not in Path(module).read_text(), module


@pytest.mark.requirement("page.shell")
def test_the_shell_is_only_read() -> None:
    client = Client(headers={"host": "127.0.0.1"})
    assert client.head("/").status_code == 200
    assert client.post("/").status_code == 405


@pytest.mark.requirement("page.route")
@pytest.mark.parametrize("address", ["/chat", "/chat/"])
def test_the_address_as_people_type_it_leads_to_the_chat(address: str) -> None:
    answer = Client(headers={"host": "127.0.0.1"}).get(address)
    assert (answer.status_code, answer["Location"]) == (302, "/#/chat")
    assert Client(headers={"host": "elsewhere.test"}).get(address).status_code == 421
