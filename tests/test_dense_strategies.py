"""The strategies dense and hybrid from end to end, with an encoder that needs no model."""

from __future__ import annotations

import time

import pytest

from ragmachine.encoders import EncoderUnavailableError
from ragmachine.errors import UsageError
from ragmachine.index import dense
from ragmachine.index.lock import exclusive
from ragmachine.wiring import dense as dense_wiring
from toy_encoder import ToyEncoder
from workspace import Workspace

MEANS = {"ship": "vessel", "anchored": "moored"}


class Encoders:
    """What the settings' encoder is in this test."""

    def __init__(self) -> None:
        self.encoder = ToyEncoder(MEANS)


@pytest.fixture
def encoders(monkeypatch: pytest.MonkeyPatch) -> Encoders:
    """The toy encoder in place of the one that the settings name."""
    chosen = Encoders()
    monkeypatch.setattr(dense_wiring, "make_encoder", lambda *_: chosen.encoder)
    return chosen


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """Two notes, indexed."""
    project.write("boat.md", "The vessel is moored at night.\n")
    project.write("engine.md", "The motor needs oil.\n")
    project.index()
    return project


def test_hybrid_finds_what_is_meant(indexed: Workspace, encoders: Encoders) -> None:
    """No word of the question stands anywhere: words find nothing, vectors do."""
    assert indexed.found("ship anchored") == []
    indexed.pipeline().embed()
    assert indexed.found("ship anchored", strategy="hybrid")[0] == "boat.md"
    assert indexed.found("ship anchored", strategy="dense")[0] == "boat.md"
    assert indexed.found("ship anchored") == []


@pytest.mark.parametrize("fusion", ["adaptive", "rrf", "weighted"])
def test_every_fusion_answers(indexed: Workspace, encoders: Encoders, fusion: str) -> None:
    """And says which strategy it was."""
    indexed.pipeline().embed()
    result = indexed.pipeline(strategy="hybrid", fusion=fusion).search("oil ship", 2)
    assert result.strategy == "hybrid"
    assert len(result.hits) == 2
    assert result.notice == ""


def test_without_vectors_the_search_is_lexical(indexed: Workspace, encoders: Encoders) -> None:
    """One line says so, and what to type."""
    result = indexed.pipeline(strategy="hybrid").search("oil", 2)
    assert result.strategy == "lexical"
    assert [hit.chunk.file_path for hit in result.hits] == ["corpus/engine.md"]
    assert "no vectors were built" in result.notice
    assert "--bonus y" in result.notice


def test_without_an_encoder_the_search_is_lexical(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is the encoder's own."""

    def refuse(*_: object) -> ToyEncoder:
        raise EncoderUnavailableError("it is not installed", remedy="install it")

    monkeypatch.setattr(dense_wiring, "make_encoder", refuse)
    result = indexed.pipeline(strategy="hybrid").search("oil", 2)
    assert result.strategy == "lexical"
    assert result.notice == "it is not installed: the search is lexical; install it"


def test_vectors_of_another_encoder_are_not_used(indexed: Workspace, encoders: Encoders) -> None:
    """They would be compared with a question from another space."""
    indexed.pipeline().embed()
    encoders.encoder = ToyEncoder(name="other")
    result = indexed.pipeline(strategy="hybrid").search("oil", 2)
    assert result.strategy == "lexical"
    assert "were made by toy, not by other" in result.notice


def test_after_an_edit_known_vectors_answer_at_once(indexed: Workspace, encoders: Encoders) -> None:
    """The new index has the vectors of what did not change, and says what is missing."""
    indexed.pipeline().embed()
    indexed.write("engine.md", "The motor needs oil, and a ship needs paint.\n", age_s=0)
    indexed.index()
    result = indexed.pipeline(strategy="hybrid").search("ship anchored", 2)
    assert result.strategy == "hybrid"
    assert result.hits[0].chunk.file_path == "corpus/boat.md"
    assert result.notice.startswith("1 of 2 excerpts have no vector yet")
    encoders.encoder.encoded.clear()
    assert indexed.pipeline().embed().encoded == 1


def test_new_vectors_are_never_answered_from_the_cache(
    indexed: Workspace, encoders: Encoders
) -> None:
    """A result from before they were made is not what they would give."""
    pipeline = indexed.pipeline(strategy="hybrid")
    assert pipeline.search("ship anchored", 2).hits == ()
    pipeline.embed()
    assert pipeline.search("ship anchored", 2).hits != ()


def test_the_wording_counts(indexed: Workspace, encoders: Encoders) -> None:
    """Two questions of the same index terms have two vectors, and two cached results."""
    indexed.pipeline().embed()
    pipeline = indexed.pipeline(strategy="hybrid")
    first = pipeline.search("oil", 2)
    assert not pipeline.search("oil ?the ship", 2).is_cached
    assert pipeline.search("oil", 2).is_cached
    assert not first.is_cached


def test_the_time_of_a_distillation_counts(
    indexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report's seconds are those of the whole run, the making of the encoder included."""

    def distil(*_: object) -> ToyEncoder:
        time.sleep(0.2)
        return ToyEncoder()

    monkeypatch.setattr(dense_wiring, "_static", distil)
    assert indexed.pipeline(encoder="static").embed().seconds >= 0.2


def test_an_encoder_that_does_not_exist(indexed: Workspace) -> None:
    """Its name is refused with those that do."""
    with pytest.raises(UsageError, match="no encoder 'nothing'"):
        indexed.pipeline(encoder="nothing").embed()


def test_a_cross_encoder_must_be_named(indexed: Workspace) -> None:
    """Before anything is searched."""
    with pytest.raises(UsageError, match="no cross-encoder is named"):
        indexed.pipeline(rerank="cross").search("oil", 2)


def test_a_cross_encoder_that_is_not_there_leaves_the_ranking(indexed: Workspace) -> None:
    """The search goes on, and says why."""
    indexed.write("third.md", "Oil for the lamp.\n")
    indexed.index()
    result = indexed.pipeline(rerank="cross", rerank_model="nowhere").search("oil", 2)
    assert len(result.hits) == 2
    assert result.notice.startswith("not reranked: ")


def test_indexing_goes_on_while_another_process_makes_vectors(
    indexed: Workspace, encoders: Encoders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new index answers; its vectors are missing until the next run, which says so."""
    monkeypatch.setattr(dense, "_LOCK_TIMEOUT_S", 0.0)
    indexed.pipeline().embed()
    indexed.write("engine.md", "The motor needs grease.\n", age_s=0)
    with exclusive(str(indexed.folder / dense.FOLDER / "dense.lock"), timeout_s=0.0):
        assert indexed.index().files == 2
    assert indexed.found("grease") == ["engine.md"]
    result = indexed.pipeline(strategy="hybrid").search("grease", 2)
    assert result.notice.startswith("no vectors were built for this index")
    assert indexed.pipeline().embed().encoded == 1
