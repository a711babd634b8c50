"""PDFs become text with headings, tables and pages, whatever order their files draw them in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pdf_files import HEIGHT, PROSE, both, grid, heading, image, lines, pdf
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen.canvas import Canvas

from ragmachine.corpus.loaders import page_cache
from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError
from ragmachine.corpus.loaders.page_cache import PARSERS, PageCache, page_key
from ragmachine.corpus.loaders.pdf_headings import heading_levels
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.places import place_of


@pytest.fixture(scope="module")
def loaders() -> Iterator[Loaders]:
    """Loaders with one reading process for all tests of this module."""
    with Loaders() as opened:
        yield opened


def read(loaders: Loaders, data: bytes) -> Loaded:
    """The loaded document."""
    loaded = loaders.load("manual.pdf", data)
    assert loaded is not None
    return loaded


def page_of(loaded: Loaded, words: str) -> str:
    """The place where words stand."""
    start = loaded.text.index(words)
    starts = [at for at, _ in loaded.places]
    names = [name for _, name in loaded.places]
    return place_of(starts, names, start, start + len(words))


def test_text_knows_its_page(loaders: Loaders) -> None:
    """Each line stands on the page that it was drawn on."""
    loaded = read(loaders, pdf(lines(PROSE), lines(["Second page."])))
    assert page_of(loaded, "fuse of ten") == "p.1"
    assert page_of(loaded, "Second page.") == "p.2"
    assert loaded.problem == ""
    assert loaded.file_type == "pdf"


def test_larger_lines_are_headings(loaders: Loaders) -> None:
    """Levels follow the sizes of fonts; text of the usual size is text."""
    page = both(
        heading("Pump manual", top=60, size=24),
        heading("Cleaning", top=100, size=16),
        lines(PROSE, top=130),
    )
    text = read(loaders, pdf(page)).text
    assert "# Pump manual\n\n## Cleaning\n\nThe pump moves" in text


def test_no_letter_is_lost(loaders: Loaders) -> None:
    """A line may begin as the one before it ends; a letter printed twice to look bold is one."""

    def bold(canvas: Canvas) -> None:
        canvas.drawString(72, 500, "Torque")
        canvas.drawString(72.3, 500, "Torque")

    texts = ["managed and", "distributed data", "all", "leads"]
    assert read(loaders, pdf(lines(texts))).text.split() == " ".join(texts).split()
    assert read(loaders, pdf(bold)).text.count("T") == 1


def test_lines_of_a_paragraph_stay_together(loaders: Loaders) -> None:
    """A blank line parts paragraphs, and only them."""
    page = both(lines(PROSE, top=100), lines(PROSE, top=180))
    paragraphs = read(loaders, pdf(page)).text.strip().split("\n\n")
    assert paragraphs == ["\n".join(PROSE)] * 2


def test_columns_are_read_one_after_the_other(loaders: Loaders) -> None:
    """Two columns drawn line by line across the page are read left first, then right."""
    left = [f"left {n} has some words of its own here" for n in range(8)]
    right = [f"right {n} has other words of its own" for n in range(8)]
    across = both(
        *(
            both(
                lines([left[n]], x=60, top=150 + 14 * n),
                lines([right[n]], x=320, top=150 + 14 * n),
            )
            for n in range(8)
        )
    )
    page = both(heading("A title over both columns of the page", top=80), across)
    text = read(loaders, pdf(page)).text
    order = [text.index(line) for line in (*left, *right)]
    assert order == sorted(order)
    assert text.index("A title over") < order[0]


TABLE = [
    ["Property", "Value", "Unit"],
    ["Voltage", "230", "V"],
    ["Flow rate", "12.5", "l/min"],
    ["Weight", "4", "kg"],
]
AS_MARKDOWN = (
    "| Property | Value | Unit |\n|---|---|---|\n| Voltage | 230 | V |\n"
    "| Flow rate | 12.5 | l/min |\n| Weight | 4 | kg |\n"
)


@pytest.mark.parametrize("has_rules", [True, False], ids=["ruled", "borderless"])
def test_tables_become_pipe_tables(loaders: Loaders, has_rules: bool) -> None:
    """A table between paragraphs stays between them, with or without rules."""
    page = both(
        lines(PROSE, top=100),
        grid(TABLE, top=160, widths=[120, 80, 80], has_rules=has_rules),
        lines(["What follows the table is text."], top=290),
    )
    text = read(loaders, pdf(page)).text
    assert f"surface.\n\n{AS_MARKDOWN}\nWhat follows" in text


def test_a_table_goes_on_over_the_page(loaders: Loaders) -> None:
    """The rows on the next page belong to the header on the first; a header said again is one."""
    more = [TABLE[0], ["Noise", "45", "dB"]]
    first = both(lines(PROSE, top=100), grid(TABLE, top=160, widths=[120, 80, 80]))
    loaded = read(loaders, pdf(first, grid(more, top=60, widths=[120, 80, 80])))
    assert f"{AS_MARKDOWN}| Noise | 45 | dB |\n" in loaded.text
    assert page_of(loaded, "| Noise") == "p.2"


def test_a_cell_may_hold_a_pipe(loaders: Loaders) -> None:
    """A pipe in a cell does not make another column."""
    rows = [["Key", "Keys"], ["Exit", "Q | Esc"], ["Help", "F1"]]
    text = read(loaders, pdf(grid(rows, top=100, widths=[100, 100]))).text
    assert "| Exit | Q \\| Esc |" in text


def test_running_heads_are_said_once(loaders: Loaders) -> None:
    """A head that names the product stays where it first stands; page numbers go."""
    pages = [
        both(
            lines(["Aquaflow owner's manual"], top=30, size=8),
            lines([f"Text number {n} of the body."], top=200),
            lines([f"Page {n} of 5"], top=820, size=8),
        )
        for n in range(1, 6)
    ]
    text = read(loaders, pdf(*pages)).text
    assert text.count("Aquaflow owner's manual") == 1
    assert "Page 3" not in text
    assert text.count("of the body") == 5


def test_what_few_pages_repeat_is_kept(loaders: Loaders) -> None:
    """A head of three pages in ten is no running head."""
    pages = [
        both(
            lines(["Annex of tables"] if n < 3 else [], top=30, size=8),
            lines([f"Text number {n} of the body."], top=200),
        )
        for n in range(10)
    ]
    assert read(loaders, pdf(*pages)).text.count("Annex of tables") == 3


def test_a_word_cut_at_the_end_of_a_line_is_whole(loaders: Loaders) -> None:
    """A hyphen goes where the word is known without it, and stays in a compound."""
    texts = ["Every configuration has a low-", "level part, and the config-", "uration a name.",
             "A low-level part is low."]  # fmt: skip
    text = read(loaders, pdf(lines(texts))).text
    assert "a low-level\npart, and the configuration\na name." in text


def test_code_keeps_its_indentation(loaders: Loaders) -> None:
    """Lines in a typewriter font are a fence."""
    page = both(
        lines(PROSE, top=100),
        lines(["def f(x):"], top=170, font="Courier"),
        lines(["return x"], top=184, x=96, font="Courier"),
    )
    assert "```\ndef f(x):\n    return x\n```" in read(loaders, pdf(page)).text


def test_text_that_looks_like_markup_is_text(loaders: Loaders) -> None:
    """A line with a hash is no heading of the document."""
    text = read(loaders, pdf(lines(["# define PUMP 1", "and more text follows here."]))).text
    assert text.startswith("\\# define PUMP 1\n")


def test_the_title_of_the_file_is_known(loaders: Loaders) -> None:
    """A title in the file's data counts, one that says nothing gives way to the first heading."""
    page = both(heading("Pump manual", top=60), lines(PROSE, top=100))
    assert read(loaders, pdf(page, title="Aquaflow 3000")).title == "Aquaflow 3000"
    assert read(loaders, pdf(page, title="untitled")).title == "Pump manual"


def test_the_whole_cover_is_the_title(loaders: Loaders) -> None:
    """What stands below the product's name says what the product is; sections are no cover."""
    cover = both(
        heading("Aquaflow 3000", top=100, size=30), heading("Circulation pump", top=160, size=15)
    )
    body = both(heading("Safety", top=60, size=18), lines(PROSE, top=100))
    assert read(loaders, pdf(cover, body)).title == "Aquaflow 3000 – Circulation pump"
    given = read(loaders, pdf(cover, body, title="Operating manual")).title
    assert given == "Operating manual – Aquaflow 3000 – Circulation pump"
    named = read(loaders, pdf(cover, body, title="Aquaflow 3000 circulation pump")).title
    assert named == "Aquaflow 3000 circulation pump"
    started = both(heading("Safety", top=60, size=18), heading("Use", top=90, size=14))
    assert read(loaders, pdf(started, body, title="Rules")).title == "Rules"


def test_a_password_is_reported(loaders: Loaders) -> None:
    """A document that cannot be read without a password is refused, and says so."""
    with pytest.raises(LoadError, match="encrypted"):
        loaders.load("a.pdf", pdf(lines(PROSE), password=PROSE[0][:8]))


@pytest.mark.parametrize(
    "data",
    [b"", b"no PDF at all", b"%PDF-1.7\n" + b"\xff\x00garbage" * 50, pdf(lines(PROSE))[:300]],
    ids=["empty", "text", "garbage", "cut off"],
)
def test_what_is_no_pdf_is_refused(loaders: Loaders, data: bytes) -> None:
    """Damage is one file's trouble: refused with a reason."""
    with pytest.raises(LoadError, match="damaged or no PDF"):
        loaders.load("a.pdf", data)


def test_an_empty_page_is_counted(loaders: Loaders) -> None:
    """A page with nothing on it is reported, and the pages after it keep their numbers."""
    loaded = read(loaders, pdf(lines(PROSE), lambda canvas: None, lines(["The last."])))
    assert loaded.problem == "1 of 3 pages empty"
    assert page_of(loaded, "The last.") == "p.3"


def test_a_page_that_is_an_image_is_read_by_ocr(loaders: Loaders) -> None:
    """A page without text is read from its picture, and reported."""
    picture = Image.new("RGB", (900, 240), "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(48)
    draw.text((40, 40), "Warranty: 36 months", fill="black", font=font)
    draw.text((40, 140), "Part number AQ-1001", fill="black", font=font)
    data = pdf(image(picture, width=300, height=80, page_height=80), size=(300, 80))
    loaded = read(loaders, data)
    assert "Warranty: 36 months" in loaded.text
    assert "AQ-1001" in loaded.text
    assert loaded.problem == "1 of 1 page without text read by OCR"
    assert page_of(loaded, "AQ-1001") == "p.1"


def line(text: str, *, size: float, width: float) -> dict[str, Any]:
    """A line as OCR gives it: a box, whose height depends on the letters in it."""
    return {"text": text, "size": size, "x0": 70.0, "x1": 70.0 + width, "top": 0.0, "bottom": 9.0,
            "bold": False, "mono": False}  # fmt: skip


def test_headings_of_a_scan_are_of_one_level_however_high_their_boxes(loaders: Loaders) -> None:
    """Widths tell what heights do not; a foot with a gap before its number is no heading."""
    prose = "Place the appliance on a level, dry and firm surface. Leave at least 20 cm."
    items = [
        line("Tarvel 4", size=26.2, width=122),
        line(prose, size=10.6, width=350),
        line("Safety", size=16.7, width=50),
        line(prose, size=10.2, width=352),
        line("Installation", size=11.6, width=81),
        line(prose, size=10.6, width=349),
        line("Spare parts", size=13.6, width=86),
        line(prose, size=10.9, width=351),
        line("Translation of the original operating manual 2", size=9.5, width=457),
    ]
    levels = heading_levels([{"height": 842.0, "source": "ocr", "items": items}], [])
    assert levels == {(0, 0): 1, (0, 2): 2, (0, 4): 2, (0, 6): 2}


def test_without_ocr_an_image_is_reported(
    loaders: Loaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can read the picture, the report says what to type."""
    from ragmachine.corpus.loaders import pdf as module

    monkeypatch.setattr(module, "find_spec", lambda name: None)
    picture = Image.new("RGB", (300, 80), "grey")
    data = pdf(image(picture, width=300, height=80, page_height=80), size=(300, 80))
    with Loaders() as poorer:
        loaded = read(poorer, data)
    assert loaded.problem.startswith("1 of 1 page are images and not read")
    assert "pip install 'ragmachine[pdf]'" in loaded.problem


def test_pages_beyond_the_limit_are_reported() -> None:
    """A long document is read as far as the limit allows."""
    with Loaders(limits=Limits(max_pages=2)) as limited:
        loaded = read(limited, pdf(*(lines([f"Page {n} text."]) for n in range(4))))
    assert loaded.problem == "only the first 2 of 4 pages are read"
    assert "Page 1 text." in loaded.text
    assert "Page 2 text." not in loaded.text


def test_more_text_than_allowed_is_refused() -> None:
    """A document with too much text is refused rather than cut."""
    with Loaders(limits=Limits(max_chars=50)) as limited, pytest.raises(LoadError, match="refused"):
        limited.load("a.pdf", pdf(lines(PROSE)))


def test_a_page_that_takes_too_long_does_not_stop_the_run() -> None:
    """Pages that are lost are counted and named, and nothing is raised."""
    endless = lines(PROSE * 500, step=0.5)
    with Loaders(limits=Limits(max_page_seconds=0.01)) as hasty:
        loaded = read(hasty, pdf(endless, endless))
    assert loaded.problem.startswith("2 of 2 pages not read: p.1 took more than 0.01 s; p.2 took")
    assert loaded.text.strip() == ""


def test_a_page_is_read_once(tmp_path: Path) -> None:
    """With the file of pages at hand, no process is started to read a document again."""
    data, cache = pdf(lines(PROSE), lines(["The end."])), str(tmp_path / "pages.sqlite")
    with Loaders(cache_path=cache) as first:
        before = read(first, data)
    with Loaders(cache_path=cache, limits=Limits(max_seconds=0, max_page_seconds=0)) as second:
        assert read(second, data) == before


def test_another_reader_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parse is known by its document, its page and the code and libraries that made it."""
    keys = [page_key(b"a", 1), page_key(b"a", 2), page_key(b"b", 1)]
    monkeypatch.setattr(page_cache, "reader_digest", lambda: "another")
    keys.append(page_key(b"a", 1))
    assert len(set(keys)) == 4


def test_the_file_of_pages_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest parses go."""
    monkeypatch.setattr(page_cache, "_KEPT_PAGES", 2)
    keys = [page_key(b"a", number) for number in range(5)]
    pages = PageCache(str(tmp_path / "pages.sqlite"))
    for key in keys:
        pages.put(key, {"items": []})
    pages.close()
    pages = PageCache(str(tmp_path / "pages.sqlite"))
    assert [pages.get(key) is not None for key in keys] == [False] * 3 + [True] * 2
    pages.close()


def test_a_damaged_page_file_is_no_trouble(tmp_path: Path) -> None:
    """A file of pages that is none is left alone, and everything is read."""
    cache = tmp_path / "pages.sqlite"
    cache.write_bytes(b"no database" * 100)
    with Loaders(cache_path=str(cache)) as loaders:
        assert "fuse of ten" in read(loaders, pdf(lines(PROSE))).text


def test_rotated_pages_read_as_they_are_shown(loaders: Loaders) -> None:
    """A page turned by a right angle is read in the direction in which people see it."""

    def turned(canvas: object) -> None:
        canvas.setPageRotation(90)  # type: ignore[attr-defined]
        canvas.translate(HEIGHT, 0)  # type: ignore[attr-defined]
        canvas.rotate(90)  # type: ignore[attr-defined]
        for number, text in enumerate(PROSE):
            canvas.drawString(60, 500 - 14 * number, text)  # type: ignore[attr-defined]

    text = read(loaders, pdf(turned, size=(HEIGHT, 595))).text
    assert text.strip() == "\n".join(PROSE)


def test_whatever_makes_a_parse_names_the_parses_that_are_kept() -> None:
    """A module that the reader of pages imports would change parses without their being read."""
    folder = Path(page_cache.__file__).parent
    imported = {
        name
        for parser in PARSERS
        if parser != "child"  # it imports loaders of other kinds too
        for name in re.findall(r"loaders\.(\w+) import", (folder / f"{parser}.py").read_text())
    }
    assert imported - {"loaded"} <= set(PARSERS)  # of which it takes an exception
