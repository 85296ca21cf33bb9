"""axe-core in the open page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Page

SERIOUS = {"serious", "critical"}


def axe_findings(page: Page) -> list[tuple[str, list[str]]]:
    """Return the serious findings of axe: the rule, and where it is broken."""
    page.evaluate((Path(settings.NODE_MODULES) / "axe-core" / "axe.min.js").read_text())
    result: dict[str, Any] = page.evaluate("axe.run(document)")
    found = [finding for finding in result["violations"] if finding["impact"] in SERIOUS]
    return [(finding["id"], [str(node["target"]) for node in finding["nodes"]]) for finding in found]
