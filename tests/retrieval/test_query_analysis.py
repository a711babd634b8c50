"""What a query asks for."""

from __future__ import annotations

from typing import Any

import pytest

from ragmachine.index.tokens import Tokenizer
from ragmachine.retrieval.query import AnalysisOptions, QueryAnalysis, analyze_query, correct

KNOWN = {"cach": 3, "size": 4, "max_tokens": 2, "max": 5, "token": 5, "vllm": 10, "scheduler": 2,
         "schedul": 6}  # fmt: skip
TOTAL = 10


def analyze(query: str, *, scale: int = 1, **options: object) -> QueryAnalysis:
    """Analysis over an index of ten chunks with the words of `KNOWN`, or `scale` times as many."""
    tokenizer = Tokenizer()
    words = [(raw, tokenizer.expand(raw)) for raw in tokenizer.query_words(query)]
    frequency = lambda term: scale * KNOWN.get(term, 0)  # noqa: E731  (a name would only repeat it)
    total = TOTAL * scale
    return analyze_query(query, words, frequency, total, AnalysisOptions(**options))  # type: ignore[arg-type]


def test_the_parts_of_a_name_weigh_less_than_the_name() -> None:
    """The whole has weight 1, each part the part weight."""
    assert analyze("max_tokens", part_weight=0.5).terms == {
        "max_tokens": 1,
        "max": 0.5,
        "token": 0.5,
    }


def test_a_part_that_is_also_a_word_of_the_query_has_full_weight() -> None:
    """In `max_tokens max` the user wrote `max` as well."""
    assert analyze("max_tokens max").terms["max"] == 1


def test_words_of_nearly_every_chunk_are_ignored() -> None:
    """With a share of 0.9, a word that all hundred chunks hold says nothing."""
    found = analyze("vllm cache", scale=10, common_share=0.9)
    assert dict(found.terms) == {"cach": 1}
    assert found.ignored == ("vllm",)
    assert found.evidence == ("cach",)


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("vllm", {"scale": 10, "common_share": 0.9}),
        ("vllm zzzzzz", {"scale": 10, "common_share": 0.9}),
        ("vllm cache", {"scale": 1, "common_share": 0.9}),
        ("vllm cache", {"scale": 10, "common_share": 1.0}),
    ],
    ids=["no other word", "no other word that exists", "a small corpus", "switched off"],
)
def test_common_words_that_are_needed_count(query: str, options: dict[str, Any]) -> None:
    """Better a word of every chunk than none, and of ten chunks all may well be about it."""
    found = analyze(query, **options)
    assert "vllm" in found.terms
    assert found.ignored == ()


@pytest.mark.parametrize(
    ("query", "evidence"),
    [
        ("max_tokens cache", ("max_tokens", "cach")),
        ("max_size", ("max", "size")),
        ("max_tokns", ("max_tokens",)),
        ("zzzzzz cache", ("zzzzzz", "cach")),
    ],
    ids=["a name by its whole", "an unknown name by its parts", "a slip mended", "an unknown word"],
)
def test_each_word_stands_for_itself_once(query: str, evidence: tuple[str, ...]) -> None:
    """What a ranking is assessed by counts no word of the query twice, and leaves none out."""
    assert analyze(query).evidence == evidence


@pytest.mark.parametrize(
    "slip",
    ["max_tokns", "max_tokenss", "max_tokans", "max_toknes"],
    ids=["dropped", "added", "changed", "swapped"],
)
def test_a_slip_in_a_name_is_mended(slip: str) -> None:
    """The name that was meant is added at 0.8, and what was typed is kept."""
    found = analyze(slip)
    assert found.corrections == {slip: "max_tokens"}
    assert found.terms["max_tokens"] == pytest.approx(0.8)
    assert slip in found.terms


@pytest.mark.parametrize("word", ["cach", "max_tokens", "zzzzzz", "12345"],
                         ids=["short", "known", "far from all", "number"])  # fmt: skip
def test_what_is_no_slip_is_left_alone(word: str) -> None:
    """Short, known, hopeless and numeric words are not corrected."""
    assert analyze(word).corrections == {}


def test_the_most_frequent_neighbour_wins() -> None:
    """Of `schedul` (6 files) and nothing else at distance one of `schedull`."""
    assert correct("schedull", lambda term: KNOWN.get(term, 0)) == "schedul"


@pytest.mark.parametrize(
    ("word", "meant"),
    [("recognis", "recogniz"), ("flavour", "flavor"), ("modell", "model")],
)
def test_another_spelling_of_the_word_comes_first(word: str, meant: str) -> None:
    """British and American forms of one word, however frequent another neighbour is."""
    known = {"recogniz": 1, "recognit": 9, "flavor": 1, "favour": 9, "model": 1, "modells": 9}
    assert correct(word, lambda term: known.get(term, 0)) == meant


def test_a_shorter_word_is_mended_on_request() -> None:
    """Four letters have many neighbours, so a first search leaves them alone."""
    frequency = lambda term: KNOWN.get(term, 0)  # noqa: E731
    assert correct("cahc", frequency) == ""
    assert correct("cahc", frequency, shortest=3) == "cach"


def test_correction_can_be_switched_off() -> None:
    """Then an unknown word stays unknown."""
    assert analyze("max_tokns", does_correct=False).corrections == {}


@pytest.mark.parametrize(
    ("query", "field", "expected"),
    [
        ("where is getHTTPResponse in LLMEngine?", "identifiers", ("getHTTPResponse", "LLMEngine")),
        ("what sets max_tokens.", "identifiers", ("max_tokens",)),
        ('the error "no free blocks" of `allocate()`', "phrases", ("no free blocks", "allocate()")),
        ("in sampler.py and docs/guide/", "paths", ("sampler.py", "docs/guide/")),
        ("what does --max-model-len do", "flags", ("--max-model-len",)),
        ("since 3.12 or 4", "numbers", ("3.12", "4")),
        ("plain words only", "identifiers", ()),
        ("version 3.12", "paths", ()),
    ],
)
def test_forms_are_recognised(query: str, field: str, expected: tuple[str, ...]) -> None:
    """Names, quotations, files, options and numbers, as written."""
    assert getattr(analyze(query), field) == expected
