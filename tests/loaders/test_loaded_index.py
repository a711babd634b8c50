"""Loaded documents in the index: found with their place, taken over, refused without a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pdf_files import PROSE, both, grid, heading, lines, pdf

from ragmachine.corpus.loaders import kinds, registry
from ragmachine.corpus.loaders import pdf as pdf_module
from ragmachine.corpus.loaders.loaded import Loaded
from ragmachine.errors import IndexationError
from workspace import Workspace

FIRST = both(heading("Installation", top=60), lines(PROSE, top=100))
SECOND = both(
    heading("Spare parts", top=60),
    grid(
        [["Part", "Number"], ["Seal ring", "AQ-1002"], ["Filter", "AQ-1001"]],
        top=100,
        widths=[120, 120],
    ),
)
MANUAL = pdf(FIRST, SECOND, title="Aquaflow 3000")


def test_a_hit_names_its_page(project: Workspace) -> None:
    """A hit in a PDF is cited by page, in text and in JSON, and its offsets count in the text."""
    project.write("manual.pdf", MANUAL)
    project.write("notes.txt", "nothing of that\n")
    project.index()
    pipeline = project.pipeline()
    hit = pipeline.search("AQ-1002").hits[0]
    text = pipeline.opened_index().file_text(hit.chunk.file_path)
    assert hit.chunk.location == "corpus/manual.pdf p.2"
    assert hit.chunk.file_type == "pdf"
    assert hit.to_json()["place"] == "p.2"
    assert text is not None
    assert text[hit.chunk.start : hit.chunk.end] == hit.chunk.text
    assert "| Seal ring | AQ-1002 |" in hit.chunk.text


def test_a_plain_file_has_no_place(project: Workspace) -> None:
    """What is read as it is keeps lines, and its JSON has no new field."""
    project.write("a.md", "# Alpha\n\nbeta\n")
    project.index()
    pipeline = project.pipeline()
    hit = pipeline.search("beta").hits[0]
    assert hit.chunk.location == "corpus/a.md:1-3"
    assert "place" not in hit.to_json()


def test_a_document_is_found_by_its_title(project: Workspace) -> None:
    """Each chunk is also found by the document's title, which its own text need not name."""
    project.write("a.pdf", MANUAL)
    project.write("b.pdf", pdf(FIRST, SECOND, title="Limpet 2"))
    project.index()
    pipeline = project.pipeline()
    hits = pipeline.search("seal ring number of the Aquaflow").hits
    assert hits[0].chunk.location == "corpus/a.pdf p.2"


def test_the_number_of_a_page_is_no_number_of_the_text(project: Workspace) -> None:
    """Who asks for model 2 is not sent to page 2; who asks for p.2 is."""
    page = both(heading("Part two", top=60), lines([PROSE[0]], top=100))
    project.write("a.pdf", pdf(lines(PROSE[:1]), page, title="Limpet"))
    project.write("b.md", "# Model 2\n\nof the series\n")
    project.index()
    pipeline = project.pipeline()
    found = [hit.chunk.location for hit in pipeline.search("2").hits]
    assert found == ["corpus/b.md:1-3"]
    assert pipeline.search("limpet p.2").hits[0].chunk.location == "corpus/a.pdf p.2"


def test_a_section_of_a_page_is_a_chunk_of_its_own(project: Workspace) -> None:
    """Small as they are, sections are not packed together; a heading without text goes on."""
    one, two = lines(PROSE[:2], top=120), lines(PROSE[1:], top=200)
    page = both(
        both(heading("Limpet", top=60, size=24), heading("Disposal", top=100)),
        both(one, both(heading("Warranty", top=180), two)),
    )
    project.write("a.pdf", pdf(page))
    project.index()
    index = project.pipeline().opened_index()
    labels = [index.chunk(number).label for number in range(index.chunk_count)]
    assert len(labels) == 2
    assert "Disposal" in labels[0]
    assert labels[1] == "Section: Limpet > Warranty"


def test_places_survive_an_incremental_build(project: Workspace) -> None:
    """A document that did not change keeps its places without being read again."""
    project.write("manual.pdf", MANUAL)
    project.index()
    project.write("new.md", "# New\n\nomega\n")
    report = project.index()
    assert report.reused == 1
    pipeline = project.pipeline()
    assert pipeline.search("AQ-1002").hits[0].chunk.location == "corpus/manual.pdf p.2"


def test_a_refused_document_is_reported_and_the_run_goes_on(project: Workspace) -> None:
    """It is named with the reason, once read not read again, and fails a strict run."""
    project.write("locked.pdf", pdf(FIRST, password=PROSE[0][:8]))
    project.write("good.md", "# Good\n\nalpha\n")
    report = project.index()
    reason = "encrypted: its text cannot be read without the password"
    assert report.problems == (("locked.pdf", reason),)
    again = project.index()
    assert again.is_unchanged
    assert again.problems == report.problems
    pipeline = project.pipeline()
    assert [hit.chunk.file_path for hit in pipeline.search("alpha").hits] == ["corpus/good.md"]
    with pytest.raises(IndexationError, match=r"locked\.pdf: encrypted"):
        pipeline.index(str(project.corpus), strict=True)


def test_a_missing_extra_is_counted_with_what_to_type(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra such files are left out by a reason that says how to read them."""
    monkeypatch.setattr(kinds, "_PACKED", {"pdf": "no_such_module", "docx": ""})
    project.write("manual.pdf", MANUAL)
    project.write("good.md", "# Good\n")
    report = project.index()
    assert report.skipped == {"pdf, read once `pip install 'ragmachine[pdf]'` is typed": 1}
    assert report.problems == ()
    assert report.files == 1


def test_a_forced_build_reads_pages_from_the_cache(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read out of a page is kept beside the index, and is no document itself."""
    project.write("manual.pdf", MANUAL)
    project.index()
    assert (project.folder / "page_cache.sqlite").is_file()

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a page was read again")

    monkeypatch.setattr(pdf_module.PdfLoader, "_open", fail)
    pipeline = project.pipeline()
    report = pipeline.index(str(project.corpus), force=True)
    assert report.problems == ()
    assert report.chunks > 0


def test_rows_are_chunks_of_their_own(project: Workspace) -> None:
    """A row of a large table of texts is one chunk, cited by its number, cut where it is long."""
    rows = [
        [str(n), f"ticket {n} says that the pump number {n} stopped at night"] for n in range(150)
    ]
    rows[100][1] += " and leaks" * 300
    text = "id,body\n" + "".join(f"{a},{b}\n" for a, b in rows)
    project.write("tickets.csv", text)
    report = project.index()
    assert report.chunks == 151
    pipeline = project.pipeline()
    hits = pipeline.search("pump number 77").hits
    longest = pipeline.search("leaks").hits
    assert hits[0].chunk.location == "corpus/tickets.csv row 78"
    assert {hit.chunk.place for hit in longest} == {"row 101"}
    assert all(len(hit.chunk.text) <= 2000 for hit in longest)


def test_named_columns_are_a_setting(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """RAG_TEXT_COLUMNS makes documents of the rows of small tables, and a change indexes anew."""
    project.write("parts.csv", "part,note\nA-1,left bracket\nA-2,right bracket\n")
    assert project.index().chunks == 1
    monkeypatch.setenv("RAG_TEXT_COLUMNS", "note, other")
    assert project.index().chunks == 2
    pipeline = project.pipeline()
    hit = pipeline.search("left bracket").hits[0]
    assert hit.chunk.text == "part: A-1\nnote: left bracket"


def test_small_tables_and_settings_keep_offsets_into_the_file(project: Workspace) -> None:
    """The contract's rule holds wherever bytes are text."""
    csv = "part,note\nA-1,a bracket for walls that holds the probe off the wall\n" * 20
    package = json.dumps({"name": "x", "description": "a pump for walls"}, indent=2)
    for name, text in (("parts.csv", csv), ("package.json", package)):
        project.write(name, text)
    project.index()
    pipeline = project.pipeline()
    hits = pipeline.search("walls").hits
    assert {hit.chunk.file_path for hit in hits} == {"corpus/parts.csv", "corpus/package.json"}
    for hit in hits:
        source = (project.root / hit.chunk.file_path).read_text()
        assert source[hit.chunk.start : hit.chunk.end] == hit.chunk.text
        assert hit.chunk.place == ""


def test_documents_without_text_are_reported(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is silently indexed as nothing."""
    monkeypatch.setattr(registry.Loaders, "load", lambda *_: Loaded("\n", "pdf"))
    project.write("manual.pdf", MANUAL)
    assert project.index().problems == (("manual.pdf", "holds no text"),)


def test_large_documents_may_be_larger(project: Workspace, tmp_path: Path) -> None:
    """The limit of a file's size is ten times as high where most of it is pictures."""
    from ragmachine.corpus.discover import discover

    for name in ("a.pdf", "a.txt"):
        project.write(name, b"x" * 500)
    found = discover(str(project.corpus), max_file_bytes=100)
    assert [file.path for file in found.files] == ["a.pdf"]
    assert found.problems == [("a.txt", "500 bytes, over the limit of 100")]
    smaller = discover(str(project.corpus), max_file_bytes=49)
    assert smaller.problems[0] == ("a.pdf", "500 bytes, over the limit of 490")
