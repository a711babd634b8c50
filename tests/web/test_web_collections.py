"""The page of a server with several collections."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import DESK, PHONE
from live import index_side_by_side

SAID = {"": "The tide is high.", "harbour": "The tide is low.", "pilots": "The tide is slack."}
Serves = Callable[..., str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with an index that has no name, and two that have one."""
    root = tmp_path / "project"
    texts = {name: f"# Tide\n\n{text}\n\nIt turns at noon.\n" for name, text in SAID.items()}
    index_side_by_side(root, texts)
    return root


def test_a_single_collection_is_no_choice(visit: Any, app: Serves, root: Path) -> None:
    """Nobody has to see what cannot be chosen."""
    shutil.rmtree(root / "index" / "collections")
    at = visit(app(root, llm="extractive"))
    at.see("#corpus", "corpus: 1 file")
    assert not at.page.locator("#collection").is_visible()
    at.ask("tide")
    at.answered()
    assert "collection" not in at.page.url


def test_the_chosen_collection_is_asked_and_kept_in_the_link(
    visit: Any, app: Serves, root: Path
) -> None:
    """Passages, answer, scores and files are of that one, on the page of whoever gets the link."""
    url = app(root, llm="extractive")
    at = visit(url)
    at.see("#collection")
    assert at.page.locator("#collection option").all_inner_texts() == [
        "(no name)", "harbour", "pilots",
    ]  # fmt: skip
    at.page.select_option("#collection", "harbour")
    at.see("#corpus", "harbour: 1 file")
    at.ask("What is the tide?")
    assert "The tide is low." in at.answered().inner_text()
    at.page.locator(".score summary").first.click()
    at.see(".parts")
    at.page.locator(".open-hit").first.click()
    at.see("#pane .line.hit-line", "The tide is low.")
    at.shoot("collection")
    link = at.page.url.removeprefix(url)
    assert "collection=harbour" in link
    again = visit(url, path=link)
    assert "The tide is low." in again.answered().inner_text()
    again.see("#pane .line.hit-line", "The tide is low.")
    assert again.page.input_value("#collection") == "harbour"
    at.page.keyboard.press("Escape")
    at.page.select_option("#collection", "")
    at.ask("What is the tide?")
    at.see("#words", "The tide is high.")
    assert "collection" not in at.page.url
    at.page.go_back()
    at.see("#words", "The tide is low.")
    assert at.page.input_value("#collection") == "harbour"


def test_what_is_shown_stays_of_the_collection_that_was_asked(
    visit: Any, app: Serves, root: Path
) -> None:
    """Another choice counts from the next question on."""
    at = visit(app(root, llm="extractive"))
    at.see("#collection")
    at.ask("What is the tide?")
    at.answered()
    at.page.select_option("#collection", "pilots")
    at.see("#corpus", "pilots")
    at.page.locator("#words .chip").first.click()
    at.see("#pane .line.hit-line", "The tide is high.")


def test_history_asks_the_same_collection_again(visit: Any, app: Serves, root: Path) -> None:
    """The same question to two collections is two entries."""
    at = visit(app(root, llm="extractive"))
    at.see("#collection")
    for name in ("harbour", "pilots"):
        at.page.select_option("#collection", name)
        at.ask("What is the tide?")
        at.see("#words", SAID[name])
    at.page.click("#open-history")
    assert at.see("#asked li").count() == 2
    at.page.locator("#asked li").filter(has_text="harbour").get_by_role("button").click()
    at.see("#words", SAID["harbour"])
    assert at.page.input_value("#collection") == "harbour"


def test_files_are_sent_to_the_chosen_collection(
    visit: Any, app: Serves, root: Path, tmp_path: Path
) -> None:
    """And found there."""
    note = tmp_path / "note.md"
    note.write_text("The lantern burns whale oil number 9.\n")
    at = visit(app(root, llm="extractive"))
    at.see("#collection")
    at.page.select_option("#collection", "pilots")
    at.page.click("#open-upload")
    at.page.set_input_files("#files", note)
    at.page.click("#send")
    at.see("#job", "Indexed: 2 files")
    at.page.get_by_role("button", name="Ask a question").click()
    at.ask("What does the lantern burn?")
    at.see("#words", "whale oil number 9")
    assert (root / "pilots" / "uploads" / "note.md").exists()


def test_a_server_without_an_index_of_its_own_offers_the_others(
    visit: Any, app: Serves, root: Path
) -> None:
    """Where only named collections were built, the first of them is asked."""
    for path in (root / "index").iterdir():
        if path.name != "collections":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    at = visit(app(root, llm="extractive"), refused=True)
    at.see("#corpus", "harbour: 1 file")
    at.ask("What is the tide?")
    at.see("#words", SAID["harbour"])
    assert "collection=harbour" in at.page.url


def test_a_link_to_a_collection_that_is_gone_says_so(visit: Any, app: Serves, root: Path) -> None:
    """With those that are there, and the choice to take one of them."""
    at = visit(app(root, llm="extractive"), path="/?q=tide&collection=dox%3Cb%3E", refused=True)
    at.see(".field")
    at.see("#filter-fault, .notice", "dox<b>")
    assert at.page.input_value("#collection") == "dox<b>"
    at.page.goto(at.page.url.replace("dox%3Cb%3E", "dox"))
    at.see(".notice", "There is no collection 'dox'")
    at.see(".notice", "'harbour', 'pilots'")
    at.page.select_option("#collection", "pilots")
    at.ask("What is the tide?")
    at.see("#words", SAID["pilots"])


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_choice_is_accessible(
    visit: Any, app: Serves, root: Path, size: tuple[int, int]
) -> None:
    """It has a name, is reached by keys, is told when it changes, and nothing overflows."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    shutil.copytree(root / "index/collections/pilots", root / "index/collections" / ("n" * 64))
    at = visit(app(root, llm="extractive"), size=size)
    choice = at.see("#collection")
    assert at.page.get_by_label("Collection").count() == 1
    choice.focus()
    at.page.keyboard.press("ArrowDown")
    at.see("#corpus", "harbour")
    at.page.wait_for_function("document.querySelector('#status').textContent.includes('harbour')")
    assert at.focused() == "collection"
    assert axe.run(at.page).response["violations"] == []
    assert at.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    at.shoot(f"collections-{size[0]}")
