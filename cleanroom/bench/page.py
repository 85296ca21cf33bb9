"""How long a person waits for the page: from the address to a composer that takes a message, in real Chromium."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field

from playwright.async_api import Browser, BrowserContext, async_playwright

WARM_UPS = 1
WAIT_MS = 30_000
USABLE = "[data-composer-state='ready']"
# Noted in the page itself: what the driver of the browser needs to hear of it is not the page's time.
NOTE_USABLE = f"""
new MutationObserver((_, observer) => {{
  if (!document.querySelector("{USABLE}")) return
  window.usableAtMs = performance.now()
  observer.disconnect()
}}).observe(document, {{ subtree: true, childList: true, attributes: true }})
"""
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]


@dataclass(kw_only=True)
class PageTimes:
    """Milliseconds of a first visit (an empty cache, and a room to open) and of a refresh (both are there)."""

    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)


def chromium() -> str | None:
    """Return the Chromium to measure in; None when this machine has none."""
    return os.environ.get("CHROMIUM_BIN") or shutil.which("chromium") or shutil.which("google-chrome")


async def measure_page(*, address: str, program: str, rounds: int) -> PageTimes:
    """Visit the page as `rounds` new people would, each refreshing it once; warm-ups are left out."""
    times = PageTimes()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            for number in range(rounds + WARM_UPS):
                first, again = await visit(browser, address)
                if number >= WARM_UPS:
                    times.first.append(first)
                    times.again.append(again)
        finally:
            await browser.close()
    return times


async def visit(browser: Browser, address: str) -> tuple[float, float]:
    context = await browser.new_context()
    await context.add_init_script(NOTE_USABLE)
    try:
        return await usable(context, address), await usable(context, address)
    finally:
        await context.close()


async def usable(context: BrowserContext, address: str) -> float:
    """Open the page in a new tab; return how long after the navigation began a message could be typed and sent."""
    page = await context.new_page()
    await page.goto(address, wait_until="commit", timeout=WAIT_MS)
    await page.wait_for_selector(USABLE, timeout=WAIT_MS)
    took = float(await page.evaluate("window.usableAtMs"))
    await page.close()
    return took
