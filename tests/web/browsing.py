"""What a person does on the page, and what they see."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Locator

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
PATIENCE_MS = 40_000
PHONE = (360, 740)
DESK = (1280, 900)
_STATUS = re.compile(r"Failed to load resource")


class Visit:
    """A page of its own.

    Args:
        browser: runs it.
        url: of the server; `path` follows it.
        folder: where screenshots go.
        path: with the query.
        theme: ``light`` or ``dark``.
        size: of the window, in pixels.
        refused: the server refuses something in this test, which the console reports too.

    Attributes:
        page: Playwright's page.
        faults: what the console and the scripts complained about.
        outside: requests that went elsewhere.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        folder: Path,
        *,
        path: str = "/",
        theme: Any = "light",
        size: tuple[int, int] = DESK,
        refused: bool = False,
    ) -> None:
        self._folder = folder
        self._refused = refused
        self.faults: list[str] = []
        self.context = browser.new_context(
            color_scheme=theme, viewport={"width": size[0], "height": size[1]}
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", lambda sent: self._watch(sent.url, url))
        self.page.goto(url + path)

    def _hear(self, message: ConsoleMessage) -> None:
        is_status = self._refused and _STATUS.match(message.text)
        if message.type in ("error", "warning") and not is_status:
            self.faults.append(message.text)

    def _watch(self, asked: str, own: str) -> None:
        if asked.startswith(("http:", "https:")) and not asked.startswith(own):
            self.faults.append(f"asked elsewhere: {asked}")

    def ask(self, question: str) -> None:
        """Type a question and press Enter."""
        self.page.fill("#question", question)
        self.page.press("#question", "Enter")

    def answered(self) -> Locator:
        """The answer, once it is whole."""
        self.page.wait_for_selector("#badges .badge")
        return self.page.locator("#words")

    def see(self, selector: str, text: str = "") -> Locator:
        """Wait until something is seen, with a text."""
        found = self.page.locator(selector)
        if text:
            found = found.filter(has_text=text)
        found.first.wait_for(state="visible")
        return found

    def focused(self) -> str:
        """The id, or the text, of what has the focus."""
        script = "() => document.activeElement.id || document.activeElement.textContent"
        return str(self.page.evaluate(script))

    def shoot(self, name: str, *, whole: bool = False) -> None:
        """Take a screenshot."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self._folder / f"{name}.png", full_page=whole)

    def close(self) -> None:
        """Leave."""
        self.context.close()
