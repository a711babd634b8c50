"""Rows of large tables are passages that also count the words they are read under."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_bm25 import plain_bm25
from ragmachine.chunking.builder import cut_lines
from ragmachine.chunking.tables import pipe_tables
from ragmachine.index.analyze import PASSAGE_CHARS
from ragmachine.index.passages import LARGE_TABLE_ROWS, stretches
from ragmachine.index.reader import Index
from ragmachine.index.tokens import Tokenizer
from workspace import Workspace

COLOURS = (
    "amber black brown crimson green grey indigo ochre pink red silver teal violet white".split()
)
ANIMALS = (
    "badger crane dormouse eagle falcon gannet heron ibis jackdaw kestrel lapwing marten newt "
    "otter plover quail raven shrew tern vole weasel wren"
).split()
HEADER = "| Colour | Animal | Torque |\n|--------|--------|--------|\n"


def rows_of(count: int = 300) -> list[str]:
    """Rows of two words each that many other rows hold too, in no order."""
    pairs = list(product(COLOURS, ANIMALS))
    mixed = (pairs[number * 137 % len(pairs)] for number in range(count))
    return [f"| {colour} | {animal} | {number} |" for number, (colour, animal) in enumerate(mixed)]


def large_table(project: Workspace, count: int = 300, **settings: object) -> list[str]:
    """Index a page with one large table; its rows."""
    rows = rows_of(count)
    page = f"# Fasteners\n\nTypes of fasteners.\n\n{HEADER}" + "\n".join(rows) + "\n\nThe end.\n"
    project.write("fasteners.md", page)
    project.write("torque.md", "# Torque\n\nTorque is what a torque wrench measures.\n")
    project.index(**settings)
    return rows


def holders_of_all(index: Index, words: list[str]) -> list[int]:
    """Passages that hold every one of the words."""
    passages = np.arange(index.passages.length.size)
    held = [
        set(index.passages.holders(index.vocabulary[term], passages)[0].tolist())
        for word in words
        for term in Tokenizer().terms(word)
    ]
    return sorted(set.intersection(*held))


ASKED = [0, 40, 100, 150, 200, 250, 299]


def rank_of_row(project: Workspace, row: str, **settings: object) -> int:
    """The rank of the chunk with a row when it is asked for by two cells and a header's word."""
    colour, animal = row.strip("| ").split(" | ")[:2]
    result = project.pipeline(use_cache=False, **settings).search(
        f"torque of the {colour} {animal}", 100
    )
    return next(hit.rank for hit in result.hits if row in hit.chunk.text)


def test_a_row_of_a_large_table_is_found_first(project: Workspace) -> None:
    """By words of its cells, which many rows hold, and a word of the header far above it."""
    rows = large_table(project)
    assert project.open().chunk_count > 5
    assert [rank_of_row(project, rows[number]) for number in ASKED] == [1] * len(ASKED)


def test_without_the_setting_rows_are_not_found_first(project: Workspace) -> None:
    """What the feature is for: passages of many rows cannot tell them apart."""
    rows = large_table(project, table_rows=False)
    ranks = [rank_of_row(project, rows[number]) for number in ASKED]
    assert ranks.count(1) <= len(ASKED) // 3


def test_the_row_is_the_passage(project: Workspace) -> None:
    """Cells, header and section meet in one passage of the index: the row's own."""
    rows = large_table(project)
    index = project.open()
    for number in ASKED:
        colour, animal = rows[number].strip("| ").split(" | ")[:2]
        (passage,) = holders_of_all(index, [colour, animal, "torque", "fasteners"])
        chunk = int(np.searchsorted(index.passages.first_of_chunk, passage, side="right")) - 1
        assert rows[number] in index.chunk(chunk).text
        assert index.passages.length[passage] == 3  # the cells


def test_a_passage_score_counts_what_a_row_carries(project: Workspace) -> None:
    """Cells and header of a row once each, over the length of the row alone."""
    rows = large_table(project)
    index = project.open()
    passages = index.passages
    colour, animal = rows[150].strip("| ").split(" | ")[:2]
    norm = 1.5 * (0.25 + 0.75 * 3 / passages.mean_length)
    expected = 0.0
    for word in (colour, animal, "torque"):
        number = index.vocabulary[Tokenizer().terms(word)[0]]
        holders = int(passages.indptr[number + 1] - passages.indptr[number])
        idf = math.log1p((passages.length.size - holders + 0.5) / (holders + 0.5))
        expected += idf / (1 + norm)
    result = project.pipeline(passage_weight=1.0, correct=False).search(
        f"torque {colour} {animal}", 100
    )
    (hit,) = (hit for hit in result.hits if rows[150] in hit.chunk.text)
    assert hit.stages["passage"] == pytest.approx(expected, rel=1e-5)


def test_chunks_count_the_header_as_they_count_a_label(project: Workspace) -> None:
    """Five times in each chunk with rows, and what rows carry is not counted at all."""
    large_table(project)
    index, terms = project.open(), Tokenizer().terms
    documents = []
    for number in range(index.chunk_count):
        chunk = index.chunk(number)
        document = Counter(terms(chunk.text))
        injected = [*terms(chunk.label), *terms(index.files[int(index.file_of_chunk[number])])]
        if any(line.startswith("| ") for line in chunk.text.splitlines()):
            injected += terms(HEADER)
        for word in injected:
            document[word] += 5
        documents.append(document)
    query = [term for word in ("torque", "colour", "fasteners", "heron") for term in terms(word)]
    scores = index.chunk_scores.get_scores_from_ids([index.vocabulary[term] for term in query])
    assert scores.tolist() == pytest.approx(plain_bm25(documents, query), rel=1e-5)


def test_files_do_not_count_what_rows_carry(project: Workspace) -> None:
    """A whole file is scored over its text, once."""
    large_table(project)
    index, terms = project.open(), Tokenizer().terms
    documents = [Counter(terms((project.corpus / path).read_text())) for path in index.files]
    query = terms("torque fasteners heron")
    scores = index.file_scores.get_scores_from_ids([index.vocabulary[term] for term in query])
    assert scores.tolist() == pytest.approx(plain_bm25(documents, query), rel=1e-5)


def carried_postings(project: Workspace) -> int:
    """How many postings rows carry."""
    return int(np.load(project.generation / "postings" / "carried.npy").size)


def test_switched_off_passages_are_runs_of_lines(project: Workspace) -> None:
    """Without the setting a table is cut like any other text, and carries nothing."""
    large_table(project, table_rows=False)
    index = project.open()
    for number in range(index.chunk_count):
        text = index.chunk(number).text
        first, last = index.passages.first_of_chunk[number : number + 2]
        assert last - first == len(cut_lines(text, 0, len(text), PASSAGE_CHARS))
    assert carried_postings(project) == 0


@pytest.mark.parametrize(
    ("rows", "is_large"),
    [(LARGE_TABLE_ROWS - 1, False), (LARGE_TABLE_ROWS, True)],
    ids=["small", "large"],
)
def test_a_small_table_is_one_passage(project: Workspace, rows: int, is_large: bool) -> None:
    """Whole in its chunk and of few rows, it is read at a glance."""
    project.write("a.md", HEADER + "\n".join(rows_of(rows)) + "\n")
    project.index()
    assert project.open().passages.length.size == (rows + 1 if is_large else 1)
    assert (carried_postings(project) > 0) == is_large


def test_few_rows_over_two_chunks_are_passages(project: Workspace) -> None:
    """A chunk that begins within a table has its header elsewhere, however few the rows."""
    wide = "".join(f"| {animal} {'word ' * 60}| 1 | 2 |\n" for animal in ANIMALS[:5])
    project.write("a.md", HEADER + wide)
    project.index(max_chunk_size=1000)
    index = project.open()
    assert index.chunk_count > 1
    assert not index.chunk(1).text.startswith("| Colour")
    assert len(holders_of_all(index, ["torque"])) == 6  # the header, and each row


def test_a_long_row_is_cut_and_each_part_carries_the_header(project: Workspace) -> None:
    """A row of three passages is three passages of that row."""
    row = f"| heron | {'word ' * 200}| 1 |\n"
    project.write("a.md", HEADER + row + "\n".join(rows_of(20)))
    project.index(max_chunk_size=2000)
    index = project.open()
    passages = np.arange(index.passages.length.size)
    with_word, _ = index.passages.holders(index.vocabulary["word"], passages)
    with_header, _ = index.passages.holders(index.vocabulary["torqu"], passages)
    assert with_word.size == 3
    assert set(with_word.tolist()) < set(with_header.tolist())


def test_tables_are_looked_for_in_markdown_alone(project: Workspace) -> None:
    """Elsewhere pipes and dashes mean other things."""
    project.write("a.txt", HEADER + "\n".join(rows_of(50)))
    project.index()
    assert carried_postings(project) == 0


def test_without_context_rows_stand_for_themselves(project: Workspace) -> None:
    """What takes the words of labels from the chunks takes those of headers from the rows."""
    rows = large_table(project, context=False)
    index = project.open()
    colour, animal = rows[150].strip("| ").split(" | ")[:2]
    assert len(holders_of_all(index, [colour, animal])) == 1
    assert holders_of_all(index, [colour, animal, "torque"]) == []
    assert holders_of_all(index, [colour, animal, "fasteners"]) == []


def contents(project: Workspace) -> dict[str, bytes]:
    """What a generation holds of chunks and postings."""
    generation = project.generation
    return {
        str(path.relative_to(generation)): path.read_bytes()
        for path in generation.rglob("*")
        if path.is_file() and not path.name.startswith("manifest")
    }


def test_an_incremental_index_of_tables_is_the_full_one(project: Workspace) -> None:
    """Rows of kept files keep what they carry, under new numbers of passages and terms."""
    project.write("b.md", f"# Kept\n\n{HEADER}" + "\n".join(rows_of(100)))
    project.write("d.md", f"# Gone\n\n{HEADER}" + "\n".join(rows_of(60)))
    project.index()
    project.write("a.md", f"# Added\n\n{HEADER}" + "\n".join(rows_of(30)))
    project.write("c.md", "# Aardvarks\n\nalpha\n")
    (project.corpus / "d.md").unlink()
    report = project.index()
    incremental = contents(project)
    project.index(force=True)
    assert report.reused == 1
    assert incremental == contents(project)


def test_a_header_cut_in_the_middle_of_a_word_is_carried_whole(project: Workspace) -> None:
    """Where the limit is so small that no chunk holds the word, the rows still do."""
    project.write("a.md", HEADER + "".join(f"| {animal} | 1 | 2 |\n" for animal in ANIMALS))
    project.index(max_chunk_size=16)
    before = contents(project)
    index = project.open()
    assert len(holders_of_all(index, ["torque", "heron"])) == 1
    project.write("b.md", "alpha\n")
    project.index(max_chunk_size=16)
    (project.corpus / "b.md").unlink()
    project.index(max_chunk_size=16)
    assert contents(project) == before


TEXT = st.lists(
    st.sampled_from(["| a | b |\n", "|---|---|\n", "| c | d |\n" * 9, "text\n", "\n"]), max_size=12
).map("".join)


@given(text=TEXT, data=st.data())
@settings(max_examples=300, deadline=None)
def test_stretches_tile_a_chunk(text: str, data: st.DataObject) -> None:
    """Whatever the tables and wherever the chunk is cut, each character is in one range."""
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = stretches(start, end, pipe_tables(text))
    ranges = [range_ for stretch in found for range_ in pairwise(stretch.bounds)]
    assert all(from_ < to for from_, to in ranges)
    assert [start, *(to for _, to in ranges)] == [*(from_ for from_, _ in ranges), end]
