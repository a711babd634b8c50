"""Hits of PDFs say where on their page they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pdf_files import HEIGHT, PROSE, both, grid, heading, image, lines, pdf
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfbase.pdfmetrics import stringWidth

from ragmachine.chunking.builder import Piece
from ragmachine.corpus.loaders.grids import find_grids
from ragmachine.corpus.loaders.layout import Segment
from ragmachine.corpus.loaders.loaded import Pages
from ragmachine.index.pages import columns_of, file_pages
from ragmachine.models import Hit
from ragmachine.places import PageCounts
from ragmachine.server.schemas import Passage
from workspace import Workspace


def box_of(project: Workspace, data: bytes, query: str) -> dict[str, Any]:
    """The JSON of the best hit in a document."""
    project.write("manual.pdf", data)
    project.index()
    return best(project, query).to_json()


def best(project: Workspace, query: str) -> Hit:
    """The best hit."""
    return project.pipeline().search(query).hits[0]


def widest(texts: list[str], size: float = 10, font: str = "Helvetica") -> float:
    """The width of the longest line, in points."""
    return max(stringWidth(text, font, size) for text in texts)


def assert_around(box: list[int], expected: tuple[float, float, float, float]) -> None:
    """The box holds what was drawn, and hardly more."""
    for number, wanted, sign in zip(box, expected, (1, 1, -1, -1), strict=True):
        assert -1 <= (wanted - number) * sign <= 6, (box, expected)


def test_a_section_has_the_box_of_its_lines(project: Workspace) -> None:
    """From the heading to the last line of the section, in points from the page's top left."""
    text = ["It lasts 36 months for a Limpet.", *PROSE]
    page = both(
        both(heading("Installation", top=60), lines(PROSE, top=100)),
        both(heading("Warranty", top=300), lines(text, top=340)),
    )
    hit = box_of(project, pdf(lines(PROSE), page), "how many months does the warranty last")
    assert (hit["place"], hit["page"]) == ("p.2", 2)
    assert_around(hit["box"], (72, 284, 72 + widest(text), 385))
    assert "boxes" not in hit


@pytest.mark.parametrize("has_rules", [True, False], ids=["ruled", "borderless"])
def test_rows_of_a_table_stand_where_they_were_drawn(project: Workspace, has_rules: bool) -> None:
    """A chunk with the end of a long table has the box of these rows, not of the whole table."""
    rows = [["Part", "Number"], *([f"Seal of kind {n}", f"AQ-{n:04}"] for n in range(34))]
    table = grid(rows, top=60, widths=[300, 120], has_rules=has_rules, step=22)
    project.write("manual.pdf", pdf(table))
    pipeline = project.pipeline(max_chunk_size=400)
    pipeline.index(str(project.corpus))
    hit = pipeline.search("AQ-0033").hits[0]
    first = int(hit.chunk.text.split("AQ-")[1][:4])
    assert first > 10
    (box,) = hit.chunk.boxes
    top, bottom = 60 + (first + 1) * 22, 60 + 35 * 22
    last = 72 + 300 + 4 + widest(["AQ-0033"])
    ruled, bare = (72, top, 72 + 420, bottom), (76, top + 8, last, bottom - 3)
    assert_around(list(box), ruled if has_rules else bare)


def test_a_row_of_several_lines_begins_at_its_first() -> None:
    """A line that goes on with a cell above is part of that row."""

    def row(number: float, *texts: str) -> list[Segment]:
        top = 100 + 20 * number
        return [
            Segment(72 + 150 * at, top, 140 + 150 * at, top + 10, 10, text)
            for at, text in enumerate(texts)
            if text
        ]

    flow = [row(0, "Part", "Work"), row(1, "Seal", "Replace it"), row(1.6, "", "with oil"),
            row(2.6, "Filter", "Clean"), row(3.6, "Fuse", "Check")]  # fmt: skip
    (found,) = find_grids(flow)
    assert found.cells[1] == ["Seal", "Replace it with oil"]
    assert found.starts == [0, 1, 3, 4]


def test_text_in_two_columns_has_two_boxes(project: Workspace) -> None:
    """A section that goes on at the top of the next column is no box over half of the page."""
    left = [f"left {n} has some words of its own here about a Limpet" for n in range(12)]
    right = [f"right {n} has other words of its own about it" for n in range(6)]
    page = both(lines(left, x=60, top=150, size=8), lines(right, x=320, top=150, size=8))
    hit = box_of(project, pdf(page), "limpet")
    assert len(hit["boxes"]) == 2
    lower, upper = 150 + 11 * 14 + 2, 150 + 5 * 14 + 2
    assert_around(hit["boxes"][0], (60, 143, 60 + widest(left, 8), lower))
    assert_around(hit["boxes"][1], (320, 143, 320 + widest(right, 8), upper))
    assert_around(hit["box"], (60, 143, 320 + widest(right, 8), lower))
    announced = Passage.model_validate(hit)  # what the API's document promises
    assert (announced.page, announced.box, announced.boxes) == (1, hit["box"], hit["boxes"])


def test_a_line_read_by_ocr_has_its_box(project: Workspace) -> None:
    """Words in an image stand where they are seen."""
    picture = Image.new("RGB", (900, 600), "white")
    font = ImageFont.load_default(48)
    ImageDraw.Draw(picture).text((90, 300), "Warranty: 36 months", fill="black", font=font)
    data = pdf(image(picture, width=300, height=200, page_height=200), size=(300, 200))
    left, top, right, bottom = box_of(project, data, "warranty")["box"]
    assert 25 <= left <= 35
    assert 98 <= top <= 108
    assert 110 <= bottom <= 122
    assert 150 <= right <= 190


def test_a_turned_page_counts_as_it_is_shown(project: Workspace) -> None:
    """The origin is the corner that people see at the top left."""

    def turned(canvas: Any) -> None:
        canvas.setPageRotation(90)
        canvas.translate(HEIGHT, 0)
        canvas.rotate(90)
        canvas.drawString(60, 500, PROSE[0])

    hit = box_of(project, pdf(turned, size=(HEIGHT, 595)), "pump")
    top = HEIGHT - 500
    assert_around(hit["box"], (60, top - 11, 60 + widest(PROSE[:1], 12), top + 3))


def test_what_is_turned_against_its_page_has_no_box(project: Workspace) -> None:
    """A stamp along the margin is found, and said to be nowhere in particular."""

    def stamp(canvas: Any) -> None:
        canvas.translate(30, 300)
        canvas.rotate(90)
        canvas.drawString(0, 0, "Preliminary edition of the year 2031")

    data = pdf(both(lines(PROSE), stamp))
    box = box_of(project, data, "preliminary edition")["box"]
    assert_around(box, (72, 92, 72 + widest(PROSE), 130))


def test_boxes_survive_an_incremental_build(project: Workspace) -> None:
    """A document that did not change keeps them, whatever comes before it in the index."""
    data = pdf(both(heading("Warranty", top=60), lines(PROSE, top=100)), lines(["Limpet parts."]))
    before = box_of(project, data, "limpet")
    assert before["box"]
    project.write("a.md", "# New\n\nomega\n\n# Other\n\nkappa\n")
    assert project.index().reused == 1
    assert best(project, "limpet").to_json()["box"] == before["box"]


def test_a_chunk_over_two_pages_has_the_boxes_of_the_first(project: Workspace) -> None:
    """Chunks of fixed length may go over pages; their box is on the page where they begin."""
    project.write("manual.pdf", pdf(lines(PROSE, top=600), lines(["Limpet on the next page."])))
    pipeline = project.pipeline(chunker="fixed")
    pipeline.index(str(project.corpus))
    hit = pipeline.search("limpet").hits[0].to_json()
    assert (hit["place"], hit["page"]) == ("p.1-2", 1)
    assert_around(hit["box"], (72, 592, 72 + widest(PROSE), 630))


def test_a_page_of_code_has_no_box_of_the_page_before(project: Workspace) -> None:
    """The fence that begins its text was drawn nowhere."""
    code = [f"limpet_{n} = start({n}, 'slowly')" for n in range(8)]
    data = pdf(lines(PROSE, top=600), lines(code, top=100, font="Courier"))
    hit = box_of(project, data, "limpet_3")
    assert hit["page"] == 2
    assert_around(hit["box"], (72, 91, 72 + widest(code, 10, "Courier"), 201))


def test_blank_lines_before_a_chunk_have_no_box() -> None:
    """A chunk that begins with the end of the line before is not where that line is."""
    text = "above\n\nbelow\n"
    upper, lower = (0, 0, 50, 10), (0, 30, 50, 40)
    pages = Pages(PageCounts(1), ((0, upper), (7, lower)))
    pieces = [Piece(0, 5, ()), Piece(5, len(text), ())]
    found = file_pages(pages, text, ((0, "p.1"),), pieces)
    assert found.boxes == ((upper,), (lower,))


def test_an_index_without_pages_has_nothing_of_it(project: Workspace) -> None:
    """Neither manifest nor chunk map know of pages; hits have no such fields."""
    project.write("a.md", "# Alpha\n\nbeta\n")
    project.index()
    assert "pages" not in json.loads((project.generation / "manifest.json").read_text())
    assert "boxes" not in json.loads((project.generation / "chunks.json").read_text())
    assert not {"page", "box", "boxes"} & best(project, "beta").to_json().keys()


def test_an_index_from_before_boxes_still_answers(project: Workspace) -> None:
    """Where nobody noted boxes, hits have a page and no box."""
    project.write("manual.pdf", pdf(lines(PROSE)))
    project.index()
    index = project.pipeline().opened_index()
    index._boxes = {}
    assert index.chunk(0).boxes == ()
    assert index.chunk(0).place == "p.1"


def test_lines_below_each_other_share_a_box() -> None:
    """Another column begins another one: higher up, or beside."""
    line = [(10, 10 * n, 100, 10 * n + 9) for n in range(3)]
    beside = (110, 20, 200, 29)
    assert columns_of(line) == ((10, 0, 100, 29),)
    assert columns_of([*line, beside]) == ((10, 0, 100, 29), beside)
    assert columns_of([line[2], line[0]]) == (line[2], line[0])
    assert columns_of([]) == ()
