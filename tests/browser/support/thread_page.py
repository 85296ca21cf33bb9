"""The chat page as a test reads and drives it: by the hooks of reference B section 1.12, or by its words."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

SESSION_KEY = "paperclip-runner.capability.cleanroom.session"
WATCH_LIVE_REGIONS = """
() => {
  window.heard = []
  for (const region of document.querySelectorAll('[aria-live=polite], [aria-live=assertive]')) {
    const politeness = region.getAttribute('aria-live')
    new MutationObserver(() => {
      const text = region.textContent.trim()
      if (text) window.heard.push([politeness, text])
    }).observe(region, { childList: true, subtree: true, characterData: true })
  }
}
"""


class ThreadPage:
    """One open chat page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.locator("[data-surface=chat]")
        self.field = page.get_by_label("Message to Codex")
        self.composer = page.locator("[data-composer-state]")
        self.send_button = page.get_by_role("button", name="Send")
        self.stop_button = page.get_by_role("button", name="Stop", exact=True)
        self.rail = page.get_by_test_id("live-activity")
        self.people = page.locator("[data-kind=user_message]")
        self.prose = page.locator("[data-kind=agent_message]")
        self.cards = page.locator("[data-kind=interaction]")
        self.turns = page.locator("[data-turn]")

    def ready(self) -> ThreadPage:
        expect(self.composer).to_have_attribute("data-composer-state", "ready")
        return self

    def is_in(self, state: str) -> None:
        expect(self.composer).to_have_attribute("data-composer-state", state)

    def send(self, text: str) -> None:
        self.field.fill(text)
        self.field.press("Enter")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def remembered_room(self) -> Any:
        return self.page.evaluate("key => localStorage.getItem(key)", SESSION_KEY)

    def listen(self) -> None:
        """Record what a screen reader would be told from now on."""
        self.page.evaluate(WATCH_LIVE_REGIONS)

    def heard(self, politeness: str) -> list[str]:
        return [text for how, text in self.page.evaluate("window.heard") if how == politeness]
