"""The numbers of the score matrices, against BM25 in plain Python and by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_bm25 import plain_bm25
from ragmachine.index.bm25 import VARIANTS, Bm25
from ragmachine.index.postings import MAX_COUNT, add_weighted, group_counts, pack, unpack
from ragmachine.index.sparse import bm25_matrix, import_bm25s, retriever
from ragmachine.index.tokens import Tokenizer
from workspace import Workspace

WORDS = ["alpha", "beta", "gamma", "delta"]
LUCENE = Bm25()
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=8)


def counts_of(*texts: str) -> list[Counter[str]]:
    """Counts of plain words, one counter per text."""
    return [Counter(text.split()) for text in texts]


def scores_of(
    documents: Sequence[Counter[str]], query: Sequence[str], bm25: Bm25 = LUCENE
) -> list[float]:
    """Scores of the product's matrix, summed by bm25s."""
    rows = sorted(
        (WORDS.index(term), number, count)
        for number, document in enumerate(documents)
        for term, count in document.items()
    )
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    matrix = bm25_matrix((columns[0], columns[1], columns[2]), len(documents), len(WORDS), bm25)
    model = retriever(matrix)
    return model.get_scores_from_ids([WORDS.index(term) for term in query]).tolist()


def test_a_score_is_the_one_computed_by_hand() -> None:
    """One of two documents of two words holds the term once: ln(1 + 1.5 / 1.5) / (1 + 1.5)."""
    scores = scores_of(counts_of("alpha beta", "gamma delta"), ["alpha"])
    assert scores == pytest.approx([math.log(2) / 2.5, 0.0])


def test_a_rarer_term_scores_higher() -> None:
    """Inverse document frequency: a word of one document counts more than a word of three."""
    documents = counts_of("alpha beta", "beta gamma", "beta delta")
    assert scores_of(documents, ["alpha"])[0] > scores_of(documents, ["beta"])[0] > 0


def test_repeats_count_less_and_less() -> None:
    """Saturation: the second occurrence adds less than the first, and the sum stays below idf."""
    padding = ["gamma " * count for count in (3, 2, 1)]
    texts = [f"{'alpha ' * (row + 1)}{padding[row]}" for row in range(3)]
    one, two, three = scores_of(counts_of(*texts), ["alpha"])
    assert two - one > three - two > 0
    assert three < math.log(1 + 0.5 / 3.5)


def test_a_longer_document_scores_lower() -> None:
    """Length normalisation: the same count in more words is worth less."""
    short, long = scores_of(counts_of("alpha beta", "alpha beta gamma delta"), ["alpha"])
    assert short > long > 0


def test_equal_documents_score_equally() -> None:
    """The same words give the very same number, so that ties are ties."""
    first, _, third = scores_of(counts_of("alpha beta", "gamma", "beta alpha"), ["alpha", "beta"])
    assert first == third


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_any_matrix_agrees_with_plain_python(texts: list[list[str]]) -> None:
    """Empty documents, absent terms and repeats included, to six digits."""
    documents = [Counter(text) for text in texts]
    if not any(documents):
        return
    for query in (["alpha"], ["beta", "delta"], WORDS):
        assert scores_of(documents, query) == pytest.approx(
            plain_bm25(documents, query), rel=1e-5, abs=1e-7
        )


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, k1=st.floats(0, 3), b=st.floats(0, 1))
def test_every_variant_agrees_with_its_printed_formula(
    variant: str, texts: list[list[str]], k1: float, b: float
) -> None:
    """Whatever the constants, and with terms that every document holds, to four digits."""
    documents = [Counter(text) for text in texts]
    if not any(documents):
        return
    for query in (["alpha"], ["beta", "delta"], WORDS):
        plain = plain_bm25(documents, query, variant=variant, k1=k1, b=b)
        assert scores_of(documents, query, Bm25(variant, k1, b)) == pytest.approx(
            plain, rel=1e-4, abs=1e-6
        )


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("lucene", math.log(1 + 3.5 / 1.5) / 2.5),
        ("robertson", math.log(3.5 / 1.5) / 2.5),
        ("atire", math.log(4)),
        ("bm25l", math.log(5 / 1.5) * 2.5 * 1.5 / 3),
        ("bm25plus", math.log(5) * 2),
    ],
)
def test_a_variants_score_is_the_one_computed_by_hand(variant: str, expected: float) -> None:
    """One of four documents of two words holds the term once; the others score nothing."""
    documents = counts_of("alpha beta", "gamma delta", "gamma delta", "gamma delta")
    scores = scores_of(documents, ["alpha"], Bm25(variant))
    assert scores == pytest.approx([expected, 0, 0, 0])


@pytest.mark.parametrize(
    ("variant", "method", "delta"),
    [
        ("lucene", "lucene", 0.0),
        ("robertson", "robertson", 0.0),
        ("atire", "atire", 0.0),
        ("bm25l", "bm25l", 0.5),
        ("bm25plus", "bm25+", 1.0),
    ],
)
def test_holders_score_what_bm25s_gives_them(variant: str, method: str, delta: float) -> None:
    """The same number for a term that is there; what bm25s gives absent terms is 0 here."""
    texts = ["alpha beta alpha", "beta gamma", "gamma gamma delta beta", "delta", "gamma"]
    model = import_bm25s().BM25(method=method, delta=delta, backend="numpy")
    model.index([text.split() for text in texts], show_progress=False)
    theirs = model.get_scores(["alpha"])
    ours = scores_of(counts_of(*texts), ["alpha"], Bm25(variant))
    assert ours[0] == pytest.approx(theirs[0], rel=1e-5)
    assert ours[1:] == [0, 0, 0, 0]
    assert (theirs[1] > 0) == (delta > 0)


def test_a_term_that_no_item_holds_has_a_finite_weight() -> None:
    """Words of paths alone are in the vocabulary of whole texts, where nothing holds them."""
    for variant in VARIANTS:
        assert np.isfinite(Bm25(variant).idf([0, 1, 3], 3)).all()


def test_an_unknown_variant_is_a_mistake() -> None:
    """The command line offers the known ones."""
    with pytest.raises(ValueError, match="no variant of BM25 is called 'tfidf'"):
        Bm25("tfidf")


@pytest.mark.parametrize("items", [0, 3], ids=["no documents", "empty documents"])
def test_a_matrix_without_terms_is_valid(items: int) -> None:
    """Nothing to score is no error, and no warning about a mean of nothing."""
    nothing = np.empty(0, dtype=np.int64)
    matrix = bm25_matrix((nothing, nothing, nothing), items, 0, LUCENE)
    assert matrix["indptr"].tolist() == [0]
    assert matrix["num_docs"] == items


def corpus(project: Workspace) -> None:
    """Three files of several chunks, with labels and telling names."""
    project.write(
        "engine/cache.py",
        "class BlockCache:\n"
        + "".join(
            f"    def step_{n}(self):\n        return 'evict block number {n}'\n\n"
            for n in range(60)
        ),
    )
    project.write(
        "docs/eviction.md",
        "# Eviction\n\n"
        + "The cache evicts the oldest block first.\n\n" * 30
        + "## Sizing\n\n"
        + "A cache is sized in blocks, and a block holds tokens.\n\n" * 30,
    )
    project.write("notes.txt", "Nothing here but one cache.\n")
    project.index()


def test_chunk_scores_count_label_and_path_words_five_times(project: Workspace) -> None:
    """Chunks are scored over their text plus five times the words of label and path."""
    corpus(project)
    index, terms = project.open(), Tokenizer().terms
    documents = []
    for number in range(index.chunk_count):
        document = Counter(terms(index.chunk(number).text))
        path = index.files[int(index.file_of_chunk[number])]
        for word in [*terms(index.labels[number]), *terms(path)]:
            document[word] += 5
        documents.append(document)
    query = ["cach", "block", "evict", "engin"]
    scores = index.chunk_scores.get_scores_from_ids([index.vocabulary[term] for term in query])
    assert index.chunk_count >= 5
    assert scores.tolist() == pytest.approx(plain_bm25(documents, query), rel=1e-5)


def test_without_context_chunks_are_scored_over_their_text(project: Workspace) -> None:
    """No word of a label or path is evidence; the labels are still shown."""
    corpus(project)
    assert project.found("engine")
    labels = project.open().labels
    project.index(context=False)
    index, terms = project.open(), Tokenizer().terms
    documents = [Counter(terms(index.chunk(n).text)) for n in range(index.chunk_count)]
    query = ["cach", "block", "evict"]
    scores = index.chunk_scores.get_scores_from_ids([index.vocabulary[term] for term in query])
    assert scores.tolist() == pytest.approx(plain_bm25(documents, query), rel=1e-5)
    assert index.labels == labels
    assert not project.found("engine")


def test_passages_are_scored_as_chunks_are(project: Workspace) -> None:
    """A file of one passage, found by its text alone, scores the same as chunk and as passage."""
    for number in range(5):
        project.write(f"{number}.txt", "alpha beta gamma " * number + "delta")
    project.index(bm25="bm25plus", k1=0.9, b=0.4, context=False)
    pipeline = project.pipeline(file_weight=0.0, passage_weight=1.0, name_weight=0.0)
    hits = pipeline.search("alpha", 10).hits
    assert len(hits) == 4
    for hit in hits:
        assert hit.stages["passage"] == pytest.approx(hit.stages["chunk"], rel=1e-5)


def test_file_scores_are_over_whole_texts(project: Workspace) -> None:
    """Files are scored over their text alone, however it was cut."""
    corpus(project)
    index, terms = project.open(), Tokenizer().terms
    documents = [Counter(terms((project.corpus / path).read_text())) for path in index.files]
    query = ["cach", "block", "size"]
    scores = index.file_scores.get_scores_from_ids([index.vocabulary[term] for term in query])
    assert scores.tolist() == pytest.approx(plain_bm25(documents, query), rel=1e-5)


def test_the_matrices_are_memory_mapped(project: Workspace) -> None:
    """Opening an index maps its matrices and counts instead of reading them."""
    corpus(project)
    index = project.open()
    for model in (index.chunk_scores, index.file_scores):
        assert model.backend == "numpy"
        assert isinstance(model.scores["data"].base, np.memmap)
        assert not model.scores["data"].flags.writeable
    assert isinstance(index.passages.items, np.memmap)


def test_postings_survive_packing() -> None:
    """Term, item and count come back; a count beyond one byte stops at 255."""
    columns = np.array([[0, 5, 7], [3, 0, 2**27 - 1], [1, 255, 256]], dtype=np.int64)
    term, item, count = unpack(pack(columns[0], columns[1], columns[2]))
    assert term.tolist() == [0, 5, 7]
    assert item.tolist() == [3, 0, 2**27 - 1]
    assert count.tolist() == [1, 255, MAX_COUNT]


def test_counts_are_summed_over_groups() -> None:
    """Passages 0 and 1 are chunk 0: their counts of a term are added, those of others are not."""
    packed = pack(np.array([4, 4, 4, 9]), np.array([0, 1, 2, 1]), np.array([2, 3, 5, 7]))
    term, group, count = group_counts(packed, np.array([0, 0, 1]))
    assert list(zip(term.tolist(), group.tolist(), count.tolist(), strict=True)) == [
        (4, 0, 5),
        (4, 1, 5),
        (9, 0, 7),
    ]


def test_weighted_counts_are_merged_in_order() -> None:
    """Counts of the same posting are added, new postings fall into their place."""
    base = (np.array([1, 3]), np.array([0, 0]), np.array([2, 2]))
    extra = (np.array([1, 2]), np.array([0, 6]), np.array([1, 4]))
    term, item, count = add_weighted(base, extra, 5)
    assert list(zip(term.tolist(), item.tolist(), count.tolist(), strict=True)) == [
        (1, 0, 7),
        (2, 6, 20),
        (3, 0, 2),
    ]
