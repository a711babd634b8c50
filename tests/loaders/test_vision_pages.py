"""Scans are read by a vision model where one is set, and by OCR where it does not answer."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from pdf_files import PROSE, Draw, image, lines, pdf
from PIL import Image, ImageDraw, ImageFont

from fake_vision import MODEL, FakeVision, seeing
from ragmachine.corpus.loaders.loaded import Loaded
from ragmachine.corpus.loaders.pdf import PdfLoader
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.llm.vision import OllamaVision
from ragmachine.places import PageCounts
from workspace import Workspace

RED, BLUE = (200, 30, 30), (30, 30, 200)
WARRANTY = "# Warranty\n\nIt lasts 36 months from the day of purchase.\n"
TABLE = "| Part | Number |\n|---|---|\n| Seal ring | AQ-1002 |\n"


def scan(colour: tuple[int, int, int], words: str = "") -> Draw:
    """A page that is a picture: a colour, and words that OCR can read."""
    picture = Image.new("RGB", (900, 240), colour)
    font = ImageFont.load_default(56)
    ImageDraw.Draw(picture).text((40, 80), words, fill="white", font=font)
    return image(picture, width=300, height=80, page_height=80)


SCANS = pdf(scan(RED, "Warranty: 36 months"), scan(BLUE, "Part AQ-1001"), size=(300, 80))


def by_colour(data: bytes) -> str:
    """What the model says: it sees which page it was given."""
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.format == "PNG"
        red, _, blue = picture.convert("RGB").getpixel((5, 5))  # type: ignore[misc]
        assert picture.width > 2 * 300  # enough pixels for small print
    return WARRANTY if red > blue else f"# Parts\n\n{TABLE}"


@pytest.fixture
def server() -> Iterator[FakeVision]:
    """A model that knows red pages from blue ones."""
    with seeing(by_colour) as fake:
        yield fake


def model(server: FakeVision) -> OllamaVision:
    """A client of that server."""
    return OllamaVision(MODEL, server.host, timeout_s=5.0, connect_timeout_s=1.0)


def load(transcriber: OllamaVision, data: bytes, cache: Path | str = "") -> Loaded:
    """The document, in a run of its own."""
    with Loaders(transcriber=transcriber, cache_path=str(cache)) as loaders:
        loaded = loaders.load("manual.pdf", data)
    assert loaded is not None
    return loaded


def test_the_model_reads_the_images_of_pages(server: FakeVision) -> None:
    """Each scan is shown to it, in order; its tables are tables, and the report says who read."""
    loaded = load(model(server), SCANS)
    assert loaded.text == f"{WARRANTY}\n# Parts\n\n{TABLE}"
    assert [place for _, place in loaded.places] == ["p.1", "p.2"]
    assert loaded.problem == f"2 of 2 pages without text read by {MODEL}"
    assert loaded.pages is not None
    assert loaded.pages.counts == PageCounts(2, model=2)
    assert loaded.pages.notice == ""


def test_what_the_model_reads_is_not_read_by_ocr_as_well(
    server: FakeVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OCR takes seconds for a page, and is asked only where the model did not answer."""
    asked: list[dict[str, bool]] = []
    ask = PdfLoader._ask

    def note(self: PdfLoader, job: str, *given: object, **more: bool) -> object:
        asked.append(more)
        return ask(self, job, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(PdfLoader, "_ask", note)
    load(model(server), SCANS)
    assert not any(abilities.get("has_ocr") for abilities in asked)
    server.mode = "missing"
    load(model(server), SCANS)
    assert sum(abilities.get("has_ocr", False) for abilities in asked) == 2


def test_pages_with_text_are_not_shown_to_it(server: FakeVision) -> None:
    """A text layer is read as ever."""
    loaded = load(model(server), pdf(lines(PROSE)))
    assert "fuse of ten" in loaded.text
    assert server.requests == []


def test_without_a_server_ocr_reads_and_the_report_says_why() -> None:
    """Nothing is lost; what to do is said once, whatever the number of pages."""
    absent = OllamaVision(MODEL, "127.0.0.1:9", connect_timeout_s=1.0)
    loaded = load(absent, SCANS)
    assert "Warranty: 36 months" in loaded.text
    assert "AQ-1001" in loaded.text
    assert loaded.problem == f"2 of 2 pages without text read by OCR instead of {MODEL}"
    assert loaded.pages is not None
    assert loaded.pages.counts == PageCounts(2, ocr=2)
    assert loaded.pages.notice.startswith("no Ollama server answers at http://127.0.0.1:9: pages")
    assert "index with --force" in loaded.pages.notice


def test_a_server_that_is_gone_is_not_asked_for_every_page(
    server: FakeVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first page tells; no other page is even drawn for it."""
    asked = []
    ask = PdfLoader._ask

    def count(self: PdfLoader, job: str, *given: object, **more: bool) -> object:
        asked.append(job)
        return ask(self, job, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(PdfLoader, "_ask", count)
    server.mode = "missing"
    loaded = load(model(server), SCANS)
    assert asked.count("render_page") == 1
    assert loaded.pages is not None
    assert f"has no model {MODEL}" in loaded.pages.notice


def test_a_page_is_shown_to_a_model_once(server: FakeVision, tmp_path: Path) -> None:
    """What it read is kept under its name: another model reads anew, and OCR does not get it."""
    cache = tmp_path / "pages.sqlite"
    first = load(model(server), SCANS, cache)
    server.mode = "missing"
    assert load(model(server), SCANS, cache) == first
    assert len(server.requests) == 2
    server.mode = "answer"
    load(OllamaVision("other:1b", server.host), SCANS, cache)
    assert len(server.requests) == 4
    with Loaders(cache_path=str(cache)) as plain:
        loaded = plain.load("manual.pdf", SCANS)
    assert loaded is not None
    assert loaded.problem == "2 of 2 pages without text read by OCR"


def test_pages_that_ocr_read_are_read_again_by_the_model(
    server: FakeVision, tmp_path: Path
) -> None:
    """A fallback is not kept as what the model said."""
    cache = tmp_path / "pages.sqlite"
    server.mode = "missing"
    assert "AQ-1001" in load(model(server), SCANS, cache).text
    server.mode = "answer"
    loaded = load(model(server), SCANS, cache)
    assert loaded.problem == f"2 of 2 pages without text read by {MODEL}"


def test_one_page_that_the_model_cannot_read_falls_back(server: FakeVision) -> None:
    """An answer without end costs that page alone."""

    def answer(data: bytes) -> str:
        text = by_colour(data)
        server.mode = "endless" if "Warranty" in text else "answer"
        return text

    server.answer = answer
    server.mode = "endless"
    loaded = load(model(server), SCANS)
    assert loaded.pages is not None
    assert loaded.pages.counts.ocr == 1
    assert loaded.pages.counts.model == 1
    assert "came to no end with a page" in loaded.pages.notice


def test_the_setting_makes_it_so(
    project: Workspace, server: FakeVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RAG_OCR_MODEL names the model; another model, or none, makes another index."""
    project.write("scan.pdf", SCANS)
    monkeypatch.setenv("RAG_OLLAMA_HOST", server.host)
    monkeypatch.setenv("RAG_OCR_MODEL", MODEL)
    report = project.index()
    assert report.notice == ""
    assert report.pages.of("model") == (2, 1)
    hit = project.pipeline().search("AQ-1002").hits[0]
    assert hit.chunk.location == "corpus/scan.pdf p.2"
    assert hit.to_json()["page"] == 2
    assert "box" not in hit.to_json()
    assert project.index().is_unchanged
    monkeypatch.setenv("RAG_OCR_MODEL", "")
    assert project.index().pages.of("ocr") == (2, 1)


def test_the_run_says_once_that_there_was_no_model(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several files, one notice."""
    for number in range(3):
        project.write(f"scan{number}.pdf", pdf(scan(RED, f"Part AQ-{number}"), size=(300, 80)))
    monkeypatch.setenv("RAG_OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setenv("RAG_OCR_MODEL", MODEL)
    report = project.index()
    assert report.notice.count("no Ollama server answers") == 1
    assert report.to_json()["notice"] == report.notice
    assert report.pages.of("ocr") == (3, 3)
