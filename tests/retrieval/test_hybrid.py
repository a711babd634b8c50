"""Words and vectors together: who brings candidates, how far vectors count, what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from ragmachine.index.vectors import FlatIndex
from ragmachine.retrieval.dense import DenseRetriever
from ragmachine.retrieval.evidence import Evidence, dense_weight
from ragmachine.retrieval.fused import FusedRetriever
from ragmachine.retrieval.hybrid import HybridRetriever
from ragmachine.retrieval.lexical import LexicalRetriever, LexicalWeights
from ragmachine.retrieval.options import SearchOptions
from ragmachine.retrieval.ranking import Question, Scored
from ragmachine.retrieval.reading import QuestionReader
from toy_encoder import ToyEncoder
from workspace import Workspace

TEXTS = {
    "boat.md": "The vessel is moored at night.\n",
    "engine.md": "The motor needs oil.\n",
    "sails.md": "Canvas is folded in autumn. Order hoops as X742437 or 6585.080.02.\n",
}
MEANS = {"ship": "vessel", "anchored": "moored"}


class Bench:
    """An index of three notes with their vectors."""

    def __init__(self, project: Workspace) -> None:
        for name, text in TEXTS.items():
            project.write(name, text)
        project.index()
        self.index = project.open()
        encoder = ToyEncoder(MEANS)
        vectors = FlatIndex()
        chunks = [self.index.chunk(number).text for number in range(self.index.chunk_count)]
        vectors.build(encoder.encode(chunks))
        self.lexical = LexicalRetriever(self.index, LexicalWeights())
        self.dense = DenseRetriever("toy", vectors, vectors, encoder.encode_query)

    def ask(self, query: str, mask: np.ndarray | None = None) -> Question:
        """A question over the index."""
        reader = QuestionReader(self.index, SearchOptions(does_narrow=False), None)
        return reader.read(query, 3, mask)

    def hybrid(self, weight: float | None = None) -> HybridRetriever:
        """Both retrievers."""
        return HybridRetriever(self.index, self.lexical, self.dense, candidates=3, weight=weight)

    def names(self, ranked: list[Scored]) -> list[str]:
        """Files of a ranking."""
        return [self.index.files[self.index.file_of_chunk[hit.chunk]] for hit in ranked]


@pytest.fixture
def bench(project: Workspace) -> Bench:
    """See `Bench`."""
    return Bench(project)


def test_vectors_find_what_words_do_not(bench: Bench) -> None:
    """Nobody wrote "ship" or "anchored"; their vectors are those of "vessel" and "moored"."""
    question = bench.ask("ship anchored")
    assert bench.lexical.search(question, 3) == []
    assert bench.names(bench.hybrid().search(question, 3))[0] == "boat.md"
    assert bench.names(bench.dense.search(question, 1)) == ["boat.md"]


def test_words_decide_where_they_are_known(bench: Bench) -> None:
    """The words of one note and the meaning of another: the words win, vectors come second."""
    ranked = bench.hybrid().search(bench.ask("motor oil ship"), 3)
    assert bench.names(ranked)[:2] == ["engine.md", "boat.md"]


@pytest.mark.parametrize("code", ["X742437", "6585.080.02"])
def test_a_code_that_few_chunks_hold_decides(bench: Bench, code: str) -> None:
    """Texts on other parts mean the same; a number that nobody wrote decides nothing."""
    question = bench.ask(f"ship anchored {code}")
    assert bench.names(bench.hybrid().search(question, 3)) == ["sails.md"]
    unknown = bench.ask("ship anchored X000000")
    assert bench.names(bench.hybrid().search(unknown, 3))[0] == "boat.md"


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("part B392727, error 0042 and 12.3456", ("B392727", "0042", "12.3456")),
        ("ISO 13485 of 2024", ("13485", "2024")),
        ("top 10 of v0.10.1, MAX_20000 and 10.0.1", ()),
    ],
)
def test_codes_of_a_question(bench: Bench, query: str, codes: tuple[str, ...]) -> None:
    """Four digits together; shorter numbers, versions and identifiers are none."""
    assert bench.ask(query).analysis.codes == codes


def test_a_hit_says_what_vectors_gave_it(bench: Bench) -> None:
    """The shares add up to the score, and the notes say how far vectors counted, and why."""
    question = bench.ask("motor oil ship")
    for hit in bench.hybrid().search(question, 3):
        assert hit.score == pytest.approx(sum(hit.stages.values()), abs=1e-5)
        assert "dense" in hit.stages
    assert set(question.notes["fusion"]) == {
        "words held by the best hit", "rare words asked", "nearest vector", "weight of vectors",
    }  # fmt: skip


def test_a_mask_holds_for_both(bench: Bench) -> None:
    """What a filter forbids comes back by neither way."""
    mask = np.array([name != "boat.md" for name in bench.index.files])
    masked = bench.names(bench.hybrid().search(bench.ask("ship vessel night", mask), 3))
    assert "boat.md" in bench.names(bench.hybrid().search(bench.ask("ship vessel night"), 3))
    assert masked
    assert "boat.md" not in masked


def test_a_fixed_weight_is_taken_as_it_is(bench: Bench) -> None:
    """The vectors' share grows in proportion to it."""
    question = bench.ask("motor ship")
    shares = []
    for weight in (1.0, 2.0):
        hits = bench.hybrid(weight).search(question, 3)
        shares.append({hit.chunk: hit.stages["dense"] for hit in hits})
    assert any(shares[0].values())
    assert shares[1] == pytest.approx({chunk: 2 * share for chunk, share in shares[0].items()})


def test_the_weight_is_part_of_what_decides(bench: Bench) -> None:
    """Two weights never share a cached result."""
    assert bench.hybrid(1.0).decided_by != bench.hybrid(2.0).decided_by


@pytest.mark.parametrize("by_rank", [True, False], ids=["by rank", "by score"])
def test_rankings_can_be_merged_alike_for_every_question(bench: Bench, by_rank: bool) -> None:
    """With all the weight on one side, that side decides."""
    question = bench.ask("oil ship anchored at night")
    for weights, first in (([1.0, 0.0], "engine.md"), ([0.0, 1.0], "boat.md")):
        fused = FusedRetriever([bench.lexical, bench.dense], weights, by_rank, 3)
        assert bench.names(fused.search(question, 3))[0] == first


def evidence(coverage: float, mass: float, closeness: float, is_named: bool = False) -> Evidence:
    """Evidence in the order of its attributes."""
    return Evidence(coverage, mass, closeness, is_named)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        pytest.param(evidence(0.9, 3, 0.5), evidence(0.3, 3, 0.5), id="fewer words held"),
        pytest.param(evidence(0.7, 5, 0.5), evidence(0.7, 1, 0.5), id="no rare words"),
        pytest.param(evidence(0.7, 2, 0.3), evidence(0.7, 2, 0.8), id="a nearer vector"),
        pytest.param(evidence(0.7, 2, 0.5, True), evidence(0.7, 2, 0.5), id="no name"),
    ],
)
def test_what_makes_vectors_count_more(less: Evidence, more: Evidence) -> None:
    """Each sign by itself moves the weight."""
    assert 0 < dense_weight(less) < dense_weight(more)


def test_without_a_near_vector_vectors_do_not_count() -> None:
    """Zeros are what an encoder gives a text in which it knows nothing."""
    assert dense_weight(evidence(0.1, 1, 0.0)) == 0
