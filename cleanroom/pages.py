"""The shell of the chat page: it names every browser module and hands addresses and limits to them.

Knows static files. Knows no session: the page opens one by itself, over the session API.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import chain
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

MODULES_DIR = Path(__file__).resolve().parent / "static" / "cleanroom"
API_BASE = "/api/capability/ui/"
STREAM_PATH = f"{API_BASE}stream"
STYLESHEETS = ("tokens", "base", "shell", "composer", "thread", "cards")
EARLY = "early.js"  # a plain script that stands in the shell itself
TYPES_ONLY = frozenset({"types.js"})  # read by the type checker, never by a browser

# What our modules import by name, and where `settings.VENDOR` serves it. Published ES modules, unchanged.
IMPORTS = {
    "preact": "vendor/preact/preact.mjs",
    "preact/hooks": "vendor/preact-hooks/hooks.mjs",
    "htm": "vendor/htm/htm.module.js",
    "@preact/signals-core": "vendor/signals-core/signals-core.module.js",
    "@preact/signals": "vendor/signals/signals.module.js",
    "markdown-it": "vendor/markdown-it/markdown-it.esm.min.mjs",
    "dompurify": "vendor/dompurify/purify.es.mjs",
}


@never_cache
@require_safe
def chat(request: HttpRequest) -> HttpResponse:
    """Answer the page that opens the clean room at `#/chat`: the same for everyone, without session or secret."""
    return render(
        request,
        "cleanroom/chat.html",
        {
            "import_map": import_map(),
            "modules": module_addresses(),
            "stylesheets": [static(f"cleanroom/{name}.css") for name in STYLESHEETS],
            "entry": static("cleanroom/main.js"),
            "early": early_script(),
            "api_base": API_BASE,
            "stream_path": STREAM_PATH,
        },
    )


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Lead a browser that asks for an icon by habit, as it does for JSON, to the one the pages name."""
    return HttpResponseRedirect(static("cleanroom/icon.svg"))


@cache
def import_map() -> SafeString:
    """Return the import map as JSON that cannot end the script element it stands in."""
    imports = {name: static(path) for name, path in IMPORTS.items()}
    return mark_safe(json.dumps({"imports": imports}).replace("<", "\\u003c"))  # noqa: S308


@cache
def early_script() -> SafeString:
    """Return the script that asks for the room; it cannot end the script element it stands in."""
    source = (MODULES_DIR / EARLY).read_text()
    if "</" in source or "<!--" in source:
        raise ValueError(f"{EARLY} would end the script element it stands in.")
    return mark_safe(source)  # noqa: S308


@cache
def module_addresses() -> list[str]:
    """Return the address of every module of the page, so that the browser asks for all of them at once."""
    ours = sorted(path.relative_to(MODULES_DIR).as_posix() for path in MODULES_DIR.rglob("*.js"))
    modules = [f"cleanroom/{name}" for name in ours if name not in TYPES_ONLY and name != EARLY]
    return [static(path) for path in chain(IMPORTS.values(), modules)]
