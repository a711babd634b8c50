"""Lexical scores: each signal by itself, all of them together, order and bounds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_bm25 import plain_bm25
from ragmachine.chunking.builder import cut_lines
from ragmachine.index.analyze import PASSAGE_CHARS
from ragmachine.index.tokens import Tokenizer
from ragmachine.retrieval.lexical import LexicalRetriever, LexicalWeights
from ragmachine.retrieval.narrow import Narrowing
from ragmachine.retrieval.ranking import Question, Scored, top
from ragmachine.settings import Settings
from ragmachine.wiring.searching import lexical_weights
from workspace import Workspace

PLAIN = LexicalWeights(file=0, passage=0, name=0, support=1, documentation=1)
QUERY = {"cach": 1.0, "block": 1.0, "evict": 1.0}


def corpus(project: Workspace) -> None:
    """Code, a guide in two chunks of several passages, and a test."""
    filler = "Words about something else fill this line of the guide.\n\n" * 12
    project.write(
        "docs/eviction.md",
        f"# Eviction\n\n{filler}A cache evicts a block, then another block.\n\n{filler}"
        f"## Sizing\n\n{filler}One block of the cache holds tokens.\n\n{filler}",
    )
    project.write("engine/block_cache.py", "def grow():\n    return 'cache'\n")
    project.write("tests/test_cache.py", "def test_cache():\n    assert 'block'\n")
    project.write("notes.txt", "Nothing of the kind.\n")
    project.index()


def search(
    project: Workspace,
    weights: LexicalWeights = PLAIN,
    terms: dict[str, float] | None = None,
    k: int = 100,
) -> list[Scored]:
    """The ranked chunks of a query, by default of all three words."""
    question = Question(QUERY if terms is None else terms)
    return LexicalRetriever(project.open(), weights).search(question, k)


def chunk_scores(project: Workspace, query: list[str]) -> list[float]:
    """Plain BM25 of every chunk: its text, and five times the words of its label and path."""
    index, terms = project.open(), Tokenizer().terms
    documents = []
    for number in range(index.chunk_count):
        document = Counter(terms(index.chunk(number).text))
        path = index.files[int(index.file_of_chunk[number])]
        for word in [*terms(index.labels[number]), *terms(path)]:
            document[word] += 5
        documents.append(document)
    return plain_bm25(documents, query)


def test_the_score_of_a_chunk_is_bm25(project: Workspace) -> None:
    """With every other signal off, scores are those of plain BM25, best first."""
    corpus(project)
    found = search(project)
    expected = chunk_scores(project, list(QUERY))
    assert {hit.chunk: hit.score for hit in found} == pytest.approx(
        {number: score for number, score in enumerate(expected) if score > 0}, rel=1e-5
    )
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_a_term_counts_by_its_weight(project: Workspace) -> None:
    """A synonym at a quarter adds a quarter of its score."""
    corpus(project)
    cache, block = chunk_scores(project, ["cach"]), chunk_scores(project, ["block"])
    found = search(project, terms={"cach": 1.0, "block": 0.25})
    for hit in found:
        expected = cache[hit.chunk] + 0.25 * block[hit.chunk]
        assert hit.score == pytest.approx(expected, rel=1e-5)


def test_the_file_adds_its_share(project: Workspace) -> None:
    """Half of the whole file's BM25 is added to each of its chunks."""
    corpus(project)
    index, terms = project.open(), Tokenizer().terms
    texts = [Counter(terms((project.corpus / path).read_text())) for path in index.files]
    in_file = plain_bm25(texts, list(QUERY))
    for hit in search(project, replace(PLAIN, file=0.5)):
        file = int(index.file_of_chunk[hit.chunk])
        assert hit.stages["file"] == pytest.approx(0.5 * in_file[file], rel=1e-5)
        assert hit.score == pytest.approx(hit.stages["chunk"] + hit.stages["file"], rel=1e-5)


def test_the_best_passage_adds_its_share(project: Workspace) -> None:
    """Half of the BM25 of the best of a chunk's passages, scored among all passages."""
    corpus(project)
    index, terms = project.open(), Tokenizer().terms
    passages, owners = [], []
    for number in range(index.chunk_count):
        text = index.chunk(number).text
        for start, end in cut_lines(text, 0, len(text), PASSAGE_CHARS):
            passages.append(text[start:end])
            owners.append(number)
    scores = plain_bm25([Counter(terms(passage)) for passage in passages], list(QUERY))
    assert len(passages) > index.chunk_count + 4
    for hit in search(project, replace(PLAIN, passage=0.5)):
        best = max(s for s, owner in zip(scores, owners, strict=True) if owner == hit.chunk)
        assert hit.stages["passage"] == pytest.approx(0.5 * best, rel=1e-5)


def test_the_file_name_adds_its_coverage(project: Workspace) -> None:
    """`block_cache` is covered whole by the query, `eviction` whole, `test_cache` by half."""
    corpus(project)
    index = project.open()
    found = search(project, replace(PLAIN, name=0.1))
    best = max(hit.stages["chunk"] for hit in found)
    covered = {index.files[int(index.file_of_chunk[h.chunk])]: h.stages["name"] for h in found}
    assert covered == pytest.approx(
        {
            "docs/eviction.md": 0.1 * best,
            "engine/block_cache.py": 0.1 * best,
            "tests/test_cache.py": 0.05 * best,
        },
        rel=1e-5,
    )


def test_a_test_counts_less(project: Workspace) -> None:
    """The factor for supporting files multiplies all that such a file scores."""
    corpus(project)
    index = project.open()
    plain = {hit.chunk: hit.score for hit in search(project)}
    for hit in search(project, replace(PLAIN, support=0.5)):
        is_test = index.files[int(index.file_of_chunk[hit.chunk])].startswith("tests/")
        assert hit.score == pytest.approx(plain[hit.chunk] * (0.5 if is_test else 1), rel=1e-5)


def test_the_stages_add_up_to_the_score(project: Workspace) -> None:
    """What is shown for a hit explains its whole score."""
    corpus(project)
    for hit in search(project, LexicalWeights()):
        assert sum(hit.stages.values()) == pytest.approx(hit.score, rel=1e-5)


@pytest.mark.parametrize(
    "terms",
    [{}, {"nobody": 1.0}, {"cach": 0.0}],
    ids=["no term", "an unknown word", "a weight of nothing"],
)
def test_without_evidence_there_is_no_hit(project: Workspace, terms: dict[str, float]) -> None:
    """Chunks that score nothing are not hits, however many are asked for."""
    corpus(project)
    assert search(project, LexicalWeights(), terms) == []


def test_no_hit_has_a_score_of_zero(project: Workspace) -> None:
    """Supporting files switched off by a factor of 0 are not found at a score of 0."""
    corpus(project)
    index = project.open()
    found = search(project, replace(LexicalWeights(), support=0.0))
    paths = {index.files[int(index.file_of_chunk[hit.chunk])] for hit in found}
    assert paths == {"docs/eviction.md", "engine/block_cache.py"}
    assert all(hit.score > 0 for hit in found)


@pytest.mark.parametrize("k", [1, 2, 5, 10_000])
def test_k_cuts_the_same_ranking(project: Workspace, k: int) -> None:
    """Fewer hits are the head of more hits, and more than there are chunks are all of them."""
    corpus(project)
    everything = search(project, LexicalWeights())
    assert search(project, LexicalWeights(), k=k) == everything[:k]


def test_equal_scores_keep_the_order_of_the_index(project: Workspace) -> None:
    """Ten files of the same words come in path order."""
    for number in reversed(range(10)):
        project.write(f"f{number}.md", "alpha beta\n")
    project.index()
    found = search(project, terms={"alpha": 1.0})
    assert len({hit.score for hit in found}) == 1
    assert [hit.chunk for hit in found] == list(range(10))


def test_candidates_never_cut_below_k(project: Workspace) -> None:
    """A small number of rescored chunks does not limit how many are returned."""
    for number in range(10):
        project.write(f"f{number}.md", f"alpha {'beta ' * number}\n")
    project.index()
    assert len(search(project, replace(PLAIN, candidates=1), {"alpha": 1.0}, k=7)) == 7


def test_a_word_of_labels_and_paths_alone_has_no_passage(project: Workspace) -> None:
    """A term that no text holds scores by its chunk alone."""
    project.write("zebra.md", "alpha\n")
    project.index()
    (hit,) = search(project, LexicalWeights(name=0), {"zebra": 1.0})
    assert hit.stages["chunk"] > 0
    assert hit.stages["passage"] == hit.stages["file"] == 0


@given(
    scores=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=30),
    count=st.integers(1, 40),
)
@settings(max_examples=200, deadline=None)
def test_top_is_the_head_of_a_stable_sort(scores: list[float], count: int) -> None:
    """Best first, ties by position, for any number of ties."""
    expected = sorted(range(len(scores)), key=lambda position: (-scores[position], position))
    assert top(np.array(scores, dtype=np.float32), count).tolist() == expected[:count]


def test_without_priors_every_file_counts_the_same(project: Workspace) -> None:
    """One switch turns off the factors of tests and of rare documentation."""
    corpus(project)
    weights = replace(LexicalWeights(), support=0.1, documentation=5.0, has_priors=False)
    plain = search(project, weights)
    assert plain
    assert all(hit.stages["role"] == 0 for hit in plain)
    learned = search(project, replace(weights, has_priors=True))
    assert any(hit.stages["role"] != 0 for hit in learned)


def test_what_the_question_names_is_lifted(project: Workspace) -> None:
    """The factor multiplies the chunks of the files named, and is noted as a stage of its own."""
    corpus(project)
    index = project.open()
    named = index.files.index("engine/block_cache.py")
    narrowing = Narrowing((named,), 1.5, ("block_cache.py",))
    plain = {hit.chunk: hit.score for hit in search(project, LexicalWeights())}
    found = LexicalRetriever(index, LexicalWeights()).search(
        Question(QUERY, narrowing=narrowing), 100
    )
    assert {hit.chunk for hit in found} == plain.keys()
    for hit in found:
        factor = 1.5 if index.file_of_chunk[hit.chunk] == named else 1.0
        assert hit.score == pytest.approx(factor * plain[hit.chunk], rel=1e-5)
        assert hit.stages["narrowing"] == pytest.approx((factor - 1) * plain[hit.chunk], rel=1e-4)


def test_a_mask_hides_chunks(project: Workspace) -> None:
    """Only what the mask lets through is found."""
    corpus(project)
    index = project.open()
    mask = np.zeros(index.chunk_count, dtype=bool)
    mask[index.chunk_count - 1] = True
    found = LexicalRetriever(index, LexicalWeights()).search(Question(QUERY, mask=mask), 100)
    assert {hit.chunk for hit in found} <= {index.chunk_count - 1}


@pytest.mark.parametrize("count", [1, 3, 100])
@pytest.mark.parametrize("symbol", [0.5, 1.0, 1.3])
def test_definitions_are_found_whatever_is_asked_for(
    project: Workspace, count: int, symbol: float
) -> None:
    """Only chunks within reach are read for definitions, and the ranking is that of reading all."""
    for number in range(8):
        uses = "use(limit_rows)\n" * (number + 1)
        own = "limit_rows = 5\n" if number % 3 == 0 else ""
        project.write(f"f{number}.py", f"{own}{uses}")
    project.index()
    weights = replace(PLAIN, symbol=symbol)
    question = Question({"limit_rows": 1.0}, names=frozenset(["limit_rows"]))
    retriever = LexicalRetriever(project.open(), weights)
    everything = retriever.search(question, 100)
    assert [hit.chunk for hit in retriever.search(question, count)] == [
        hit.chunk for hit in everything[:count]
    ]
    gained = {hit.chunk for hit in everything if hit.stages.get("symbol")}
    assert gained == (set() if symbol == 1 else {0, 3, 6})


def test_the_defaults_are_those_of_the_settings() -> None:
    """Weights made without settings are the shipped ones."""
    assert lexical_weights(Settings()) == LexicalWeights()
