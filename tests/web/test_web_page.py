"""The page in a browser, against a server process that quotes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from browsing import DESK, PHONE

WARRANTY = "warranty Limpet 3S after registration"
FOGHORN = "How heavy is the foghorn?"


def test_a_question_gets_passages_an_answer_and_timings(visit: Any, served: str) -> None:
    """Enter asks; the answer names its author, its sources and the time of each stage."""
    at = visit(served)
    at.see("#start h2")
    assert "files" in at.page.inner_text("#corpus")
    assert at.focused() == "question"
    at.shoot("start")
    at.ask(WARRANTY)
    assert "48 months" in at.answered().inner_text()
    first = at.page.locator(".hit").first
    assert "docs/warranty-and-service.md" in first.inner_text()
    assert "cited as 1" in first.inner_text()
    badges = at.page.inner_text("#badges")
    assert "quoted, no model" in badges
    assert re.search(r"search\s+[\d.]+ ms", badges)
    assert at.page.locator(".hit").count() == 10
    at.shoot("answer")


def test_a_chip_opens_the_lines_that_say_so(visit: Any, served: str) -> None:
    """The line is marked, numbered and in sight; Esc closes and gives the focus back."""
    at = visit(served)
    at.ask(FOGHORN)
    at.answered()
    at.page.locator("#words .chip").first.click()
    line = at.see(".line.exact", "foghorn weighs 77")
    assert line.get_attribute("data-line") == "403"
    assert at.focused() == "pane-title"
    top, bottom = at.page.evaluate(
        "() => { const row = document.querySelector('.line.exact').getBoundingClientRect();"
        " const pane = document.querySelector('#pane-body').getBoundingClientRect();"
        " return [row.top - pane.top, pane.bottom - row.bottom]; }"
    )
    assert top >= 0
    assert bottom >= 0
    at.page.get_by_text("Show more above").click()
    at.see("#pane-body [data-line='200']")
    at.shoot("citation")
    at.page.keyboard.press("Escape")
    assert not at.page.locator("#pane").is_visible()
    assert at.page.evaluate("document.activeElement.className") == "chip"


def test_a_pdf_opens_at_its_page(visit: Any, served: str) -> None:
    """The viewer is given the page; the text that was read out of it is one button away."""
    at = visit(served)
    at.ask("How long is the mooring chain?")
    at.answered()
    at.page.locator("#words .chip").first.click()
    frame = at.see("iframe.page")
    assert re.search(
        r"/source/corpus/manual\.pdf\?format=file#page=2\b", frame.get_attribute("src")
    )
    at.page.get_by_role("button", name="Text", exact=True).click()
    at.see(".line.exact", "14 metres")


def test_what_is_planted_is_text(visit: Any, served: str) -> None:
    """Markup in a file's name, a passage, an answer, a question and the address never runs."""
    asked = "squid <script>window.planted=1</script><img src=x onerror='window.planted=1'>"
    at = visit(served, path=f"/?q={quote(asked)}&k=5&filter=%3Cb%3Ex", refused=True)
    at.see("#filter-fault", "<b>x")
    at.page.fill("#filter", "")
    at.ask(asked)
    words = at.answered().inner_text()
    assert "🦑🦑 The squid said <script>window.planted=1</script>" in words
    at.page.locator("#words .chip").first.click()
    at.see(".line.exact", "<img src=x onerror=")
    assert "<script>window.planted=1<.md" in at.page.inner_text("#pane-title")
    at.page.keyboard.press("Escape")
    at.page.click("#open-history")
    at.see("#asked button", "<script>")
    assert at.page.evaluate("window.planted") is None
    assert at.page.locator("main script, main img, dialog script, dialog img").count() == 0


def test_offsets_count_characters_and_not_halves_of_them(visit: Any, served: str) -> None:
    """After letters outside of the first plane, a chip still belongs to its own sentence."""
    at = visit(served)
    at.ask("How many years does a squid live?")
    at.answered()
    at.page.locator("#words .chip").nth(1).click()  # of the sentence on its years
    assert at.see(".line.exact").get_attribute("data-line") == "4"


def test_a_link_reproduces_the_view(visit: Any, served: str) -> None:
    """Question, number, filter and the opened passage are in the address, and Back goes back."""
    at = visit(served)
    at.page.fill("#filter", "path:docs/**")
    at.page.select_option("#k", "3")
    at.page.check("#only")
    at.ask("warranty")
    at.see(".hit")
    assert not at.page.locator("#answer").is_visible()
    at.page.locator(".open-hit").nth(1).click()
    at.see(".hit.is-open")
    url = at.page.url
    again = visit(served, path=url.removeprefix(served))
    again.see("#pane .line.hit-line")
    assert again.page.input_value("#filter") == "path:docs/**"
    assert again.page.locator(".hit").count() == 3
    assert again.page.inner_text("#pane-where") == at.page.inner_text("#pane-where")
    at.ask("calibration")
    at.see(".hit", "calibration")
    at.page.go_back()
    at.page.wait_for_function("document.querySelector('#question').value === 'warranty'")


def test_the_keyboard_is_enough(visit: Any, served: str) -> None:
    """Arrows walk the passages, Enter opens one, / returns to the question."""
    at = visit(served)
    at.ask("warranty")
    at.answered()
    at.page.keyboard.press("ArrowDown")
    at.page.keyboard.press("ArrowDown")
    second = at.page.locator(".open-hit").nth(1).inner_text()
    assert at.focused() == second
    at.page.keyboard.press("Enter")
    at.see("#pane .line.hit-line")
    at.page.keyboard.press("Escape")
    assert at.focused() == second
    at.page.keyboard.press("ArrowDown")
    at.page.keyboard.press("/")
    assert at.focused() == "question"
    assert at.page.evaluate("getSelection().toString()") == "warranty"


def test_a_score_says_what_it_is_made_of(visit: Any, served: str) -> None:
    """The parts are asked for when they are wanted, for all passages at once."""
    at = visit(served)
    sent: list[str] = []
    at.page.on("request", lambda request: sent.append(request.post_data or ""))
    at.page.check("#only")
    at.ask("warranty Limpet")
    at.see(".hit")
    assert not any("explain" in body for body in sent)
    for number in (0, 1):
        at.page.locator(".score summary").nth(number).click()
    at.see(".parts th", "words of this passage")
    at.see(".plan dt", "Searched for")
    assert sum("explain" in body for body in sent) == 1


def test_a_facet_narrows_and_widens(visit: Any, served: str) -> None:
    """It writes the filter, and stays there to be taken out."""
    at = visit(served)
    at.page.check("#only")
    at.ask("warranty Limpet")
    at.page.get_by_role("button", name="lang:json").click()
    facet = at.see(".facet[aria-pressed='true']", "lang:json")
    assert at.page.input_value("#filter") == "lang:json"
    assert set(at.page.locator(".hit .kind").all_inner_texts()) == {"json"}
    facet.click()
    at.see(".hit .kind", "markdown")
    assert at.page.input_value("#filter") == ""


def test_history_is_kept_here_and_can_be_cleared(visit: Any, served: str) -> None:
    """A question of before is asked again with a click; clearing leaves nothing in the browser."""
    at = visit(served)
    for question in ("warranty", "calibration", "warranty"):
        at.ask(question)
        at.answered()
    at.page.reload()
    at.page.click("#open-history")
    rows = at.see("#asked button")
    assert rows.all_inner_texts() == ["warranty", "calibration"]
    at.shoot("history")
    rows.last.click()
    at.see(".hit", "calibration")
    at.page.click("#open-history")
    at.page.click("#clear-history")
    at.see("#history-empty")
    assert at.page.evaluate("localStorage.getItem('ragmachine.history')") is None


def test_an_answer_is_copied_as_markdown(visit: Any, served: str) -> None:
    """Question, answer and sources, as text."""
    at = visit(served)
    at.context.grant_permissions(["clipboard-read", "clipboard-write"])
    at.ask(FOGHORN)
    at.answered()
    at.page.click("#copy")
    at.see("#copy", "Copied")
    copied = at.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"## {FOGHORN}\n\nThe foghorn weighs 77 kilograms. [1]\n")
    assert re.search(r"^- \[1\] `corpus/long\.md:\d+(-\d+)?`$", copied, re.MULTILINE)


def test_nothing_found_says_what_to_try(visit: Any, served: str) -> None:
    """No passage and no answer are told apart from a failure."""
    at = visit(served)
    at.ask("xqzzyv")
    at.see(".nothing", "name or an error message")
    assert "I don't know" in at.answered().inner_text()


def test_a_filter_that_cannot_be_read_is_told_at_the_filter(visit: Any, served: str) -> None:
    """With the keys that there are."""
    at = visit(served, refused=True)
    at.page.fill("#filter", "colour:red")
    at.ask("warranty")
    at.see("#filter-fault", "symbol")
    assert at.focused() == "filter"
    assert at.page.get_attribute("#filter", "aria-invalid") == "true"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_it_is_accessible_in_each_theme_and_size(
    visit: Any, served: str, theme: str, size: tuple[int, int]
) -> None:
    """axe-core finds nothing, and nothing is wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def check(name: str) -> None:
        found = axe.run(at.page).response["violations"]
        assert [(row["id"], [node["html"] for node in row["nodes"]]) for row in found] == []
        width = at.page.evaluate("document.documentElement.scrollWidth")
        assert width <= size[0]
        at.shoot(f"{name}-{theme}-{size[0]}", whole=name == "view")

    at = visit(served, theme=theme, size=size)
    at.see("#start h2")
    check("start")
    at.ask(WARRANTY)
    at.answered()
    at.page.locator(".score summary").first.click()
    at.see(".parts")
    check("view")
    at.page.locator("#words .chip").first.click()
    at.see(".line.exact")
    check("pane")
    at.page.keyboard.press("Escape")
    for dialog in ("upload", "history"):
        at.page.click(f"#open-{dialog}")
        at.see(f"#{dialog}")
        check(dialog)
        at.page.keyboard.press("Escape")


def test_the_theme_is_chosen_and_kept(visit: Any, served: str) -> None:
    """The button goes over the browser's wish, before anything is drawn the next time."""
    at = visit(served, theme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = at.page.evaluate(ground)
    at.page.click("#theme")
    at.page.click("#theme")
    dark = at.page.evaluate(ground)
    assert dark != light
    at.page.reload()
    assert at.page.evaluate(ground) == dark
    assert at.page.get_attribute("#theme", "aria-label") == "Theme: dark"


def test_an_upload_can_be_asked_about(visit: Any, served: str, tmp_path: Path) -> None:
    """Chosen, sent, indexed, told; then its lines are found."""
    note = tmp_path / "lantern <b>.md"
    note.write_text("# Lantern\n\nThe harbour lantern burns whale oil number 9.\n", "utf-8")
    at = visit(served)
    at.page.click("#open-upload")
    at.page.set_input_files("#files", note)
    at.page.click("#send")
    at.see("#job", "Indexed:")
    at.shoot("uploaded")
    at.page.get_by_role("button", name="Ask a question").click()
    assert at.focused() == "question"
    at.ask("What does the harbour lantern burn?")
    assert "whale oil number 9" in at.answered().inner_text()
    assert "uploads/lantern" in at.page.locator(".hit").first.inner_text()
