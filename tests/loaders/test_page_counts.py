"""How pages were read is counted, reported, and known to later runs."""

from __future__ import annotations

import json

import pytest
from pdf_files import PROSE, image, lines, pdf
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen.canvas import Canvas

from ragmachine.cli import main
from ragmachine.corpus.loaders import pdf as module
from ragmachine.places import PageCounts, PageTotals
from ragmachine.terminal.pages_text import pages_text
from workspace import Workspace


def nothing(canvas: Canvas) -> None:
    """Draw an empty page."""


def scan() -> bytes:
    """A document of one page that is a picture of words."""
    picture = Image.new("RGB", (900, 240), "white")
    font = ImageFont.load_default(48)
    ImageDraw.Draw(picture).text((40, 80), "Part number AQ-1001", fill="black", font=font)
    return pdf(image(picture, width=300, height=80, page_height=80), size=(300, 80))


def fill(project: Workspace) -> None:
    """Four documents with 8 pages, of which one is read by OCR and three are empty."""
    project.write("text.pdf", pdf(lines(PROSE), nothing, lines(["The end."])))
    project.write("blank.pdf", pdf(nothing, nothing))
    project.write("scan.pdf", scan())
    project.write("more.pdf", pdf(lines(PROSE), lines(["Another end."])))
    project.write("a.md", "# No page\n\nalpha\n")


EXPECTED = {
    "files": 4,
    "pages": 8,
    "ocr": {"pages": 1, "files": 1},
    "model": {"pages": 0, "files": 0},
    "empty": {"pages": 3, "files": 2},
    "unread": {"pages": 0, "files": 0},
    "empty_files": ["blank.pdf"],
}


def test_a_run_counts_pages(project: Workspace) -> None:
    """Pages read by OCR and empty ones, in how many files, and the file that holds nothing."""
    fill(project)
    report = project.index()
    assert report.to_json()["pages"] == EXPECTED
    assert dict(report.problems)["blank.pdf"] == "2 of 2 pages empty"


def test_later_runs_know_the_counts(project: Workspace) -> None:
    """Files that are taken over, and runs with nothing to do, count as well; removed files go."""
    fill(project)
    project.index()
    assert project.index().pages.to_json() == EXPECTED
    project.write("b.md", "# More\n\nbeta\n")
    report = project.index()
    assert report.reused == 5
    assert report.pages.to_json() == EXPECTED
    (project.corpus / "scan.pdf").unlink()
    assert project.index().pages.of("ocr") == (0, 0)


def test_pages_that_nothing_read_are_counted(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without OCR a scan is unread, which is not the same as empty."""
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    project.write("scan.pdf", scan())
    report = project.index()
    assert report.pages.of("unread") == (1, 1)
    assert report.pages.empty_files == []


def test_without_documents_there_is_nothing_to_say(project: Workspace) -> None:
    """Files without pages are not counted among those with some."""
    project.write("a.md", "# No page\n\nalpha\n")
    assert project.index().to_json()["pages"] is None


def test_people_read_the_totals(project: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """`index` prints them, `status` repeats them, and both have them in JSON."""
    fill(project)
    where = ["--index_dir", str(project.folder)]
    said = "8 in 4 documents; 1 read by OCR in 1 file; 3 empty in 2 files; nothing in blank.pdf\n"
    assert main(["index", "--target_dir", str(project.corpus), *where]) == 0
    assert f"pages: {said}" in capsys.readouterr().out
    assert main(["status", *where]) == 0
    assert f"pages      {said}" in capsys.readouterr().out
    assert main(["status", "--json", *where]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == EXPECTED
    assert main(["index", "--target_dir", str(project.corpus), "--json", *where]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == EXPECTED


def test_a_model_that_is_not_there_is_said_once(
    project: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to type, after the totals."""
    project.write("scan.pdf", scan())
    given = ["--ocr_model", "tiny-vision:1b", "--ollama_host", "127.0.0.1:9"]
    where = ["--target_dir", str(project.corpus), "--index_dir", str(project.folder)]
    assert main(["index", *given, *where]) == 0
    said = capsys.readouterr().err
    assert said.count("no Ollama server answers") == 1
    assert "`ragmachine pull tiny-vision:1b`, then index with --force" in said


def test_many_empty_documents_are_not_all_named() -> None:
    """Three are; the rest is counted, and JSON has all."""
    totals = PageTotals({f"{name}.pdf": PageCounts(1, empty=1) for name in "abcde"})
    assert pages_text(totals).endswith("nothing in a.pdf, b.pdf, c.pdf and 2 more")
    assert PageTotals.from_json(totals.rows()) == totals
