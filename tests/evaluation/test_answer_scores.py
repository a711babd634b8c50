"""Measures of one answer, with numbers computed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.errors import DatasetError
from ragmachine.evaluation import answer_scores, text_measures
from ragmachine.evaluation.answer_scores import AnswerScore, means, score_answer, wanted_values
from ragmachine.evaluation.given_answers import GivenAnswer, given_answer, read_answer
from ragmachine.evaluation.measures import Span
from ragmachine.evaluation.text_measures import rouge_l, token_f1
from ragmachine.exchange import AnswerEntry, Question, SearchEntry, Source
from ragmachine.models import Answer, Citation, SearchResult, Support

A, B, MISS = Span("a", 0, 100), Span("b", 0, 100), Span("x", 0, 100)


def source(span: Span) -> Source:
    """A span as files write it."""
    path, start, end = span
    return Source(file_path=path, first_character_index=start, last_character_index=end)


def question(*sources: Span, answer: str | None = None, **extra: Any) -> Question:
    """A question with its true sources."""
    return Question(
        question_id="q", question="how many?", answer=answer,
        sources=tuple(map(source, sources)), **extra,
    )  # fmt: skip


def entry(text: str, *retrieved: Span, **extra: Any) -> AnswerEntry:
    """An entry of an answers file."""
    return AnswerEntry(
        question_id="q", question="how many?", answer=text,
        retrieved_sources=tuple(map(source, retrieved)), **extra,
    )  # fmt: skip


def cited(span: Span, **extra: Any) -> dict[str, Any]:
    """A citation as answers files write it."""
    return {**source(span).model_dump(), **extra}


def read(text: str, *retrieved: Span, **extra: Any) -> GivenAnswer:
    """An entry's answer."""
    given = read_answer(entry(text, *retrieved, **extra))
    assert given is not None
    return given


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        pytest.param("The cat sat.", "a cat sat", 1.0, id="same but articles"),
        pytest.param("cat sat on mat", "cat mat", 2 * 0.5 * 1.0 / 1.5, id="half precision"),
        pytest.param("cat cat", "cat dog", 0.5, id="a repeated word counts once"),
        pytest.param("max_tokens", "max tokens", 0.0, id="punctuation joins"),
        pytest.param("", "cat", 0.0, id="empty answer"),
        pytest.param("the", "a", 1.0, id="both empty once normalised"),
    ],
)
def test_token_f1(answer: str, reference: str, expected: float) -> None:
    """The harmonic mean over bags of words, normalised as SQuAD does."""
    assert token_f1(answer, reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        pytest.param("police killed the gunman", "police kill the gunman", 0.75, id="Lin 2004"),
        pytest.param("the gunman kill police", "police kill the gunman", 0.5, id="order counts"),
        pytest.param("max_tokens", "max tokens", 1.0, id="underscore parts words"),
        pytest.param("", "police", 0.0, id="empty answer"),
        pytest.param("?", "!", 1.0, id="no word on either side"),
    ],
)
def test_rouge_l(answer: str, reference: str, expected: float) -> None:
    """The harmonic mean of the shares of the longest common subsequence."""
    pytest.importorskip("rapidfuzz", reason="the extra `measure` is not installed")
    assert rouge_l(answer, reference) == pytest.approx(expected)


@given(st.text(max_size=40), st.text(max_size=40))
def test_text_measures_are_symmetric_and_bounded(a: str, b: str) -> None:
    """Between 0 and 1, the same either way round, and 1 for equal texts."""
    pytest.importorskip("rapidfuzz", reason="the extra `measure` is not installed")
    for measure in (token_f1, rouge_l):
        assert measure(a, b) == measure(b, a)
        assert 0 <= measure(a, b) <= 1
        assert measure(a, a) == 1


# --- what an entry says


def test_marks_name_retrieved_sources_where_nothing_is_listed() -> None:
    """Each once; a number without a source is a citation of nothing."""
    assert read("Yes [1]. No [1, 3].", A, B).cited == (A, None)
    assert read("`x[1]` is a [4, 4] shape.", A).cited == ()


def test_listed_citations_replace_the_numbers() -> None:
    """Passages are merged before they are numbered, so that [2] may be the third source."""
    listed = [cited(MISS, number=2)]
    assert read("Yes [2]. x = [1]", A, B, citations=listed).cited == (MISS,)
    assert read("Yes [1].", A, citations=[]).cited == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know.", True),
        ("Sorry, i DO  not\nknow that", True),
        ("I don’t know: nothing bears on this", True),
        ("It prints this. I don't know why.", False),
        ("You don't know", False),
        ("", False),
    ],
)
def test_refusals_are_read_from_the_first_sentence(text: str, expected: bool) -> None:
    """Where the entry does not say it itself."""
    assert read(text).is_refusal is expected
    assert read(text, refused=not expected).is_refusal is not expected


def test_verdicts_are_read() -> None:
    """None at all where the file has none."""
    sentences = [{"supported": True}, {"supported": False}]
    assert read("x", sentences=sentences).supported == (True, False)
    assert read("x").supported is None


def test_words_have_no_marks() -> None:
    """Indices in code and shapes stay."""
    assert read("Use `x[1]`[1] of [4, 4][2, 3].").words == "Use `x[1]` of [4, 4]."


@pytest.mark.parametrize(
    "extra",
    [
        {"citations": 5},
        {"citations": [{"file_path": "a"}]},
        {"citations": ["a"]},
        {"refused": "no"},
        {"sentences": [{"text": "x"}]},
        {"sentences": [{"supported": 1}]},
        {"sentences": 7},
    ],
    ids=repr,
)
def test_fields_of_another_shape_are_refused(extra: dict[str, Any]) -> None:
    """The question is named, and what to do."""
    with pytest.raises(DatasetError, match=r"'q'.*answer_dataset"):
        read("x", **extra)


def test_an_entry_without_an_answer_has_none() -> None:
    """As in a file of search results."""
    assert read_answer(SearchEntry(question_id="q", question="?")) is None
    with pytest.raises(DatasetError, match="not text"):
        read_answer(SearchEntry(question_id="q", question="?", answer=5))  # type: ignore[call-arg]


def test_an_answer_just_made_is_judged_as_its_file_would_be() -> None:
    """Citations, verdicts and refusals come from the values."""
    sentences = (Support(0, 1, "x", True, 1.0), Support(2, 3, "y", False, 0.1))
    citations = (Citation(1, *A, 1, 2), Citation(2, *A, 1, 2))
    answer = Answer("x y", "m", SearchResult("?", "s", (), 1, 0.0), citations, sentences=sentences)
    assert given_answer(answer) == GivenAnswer("x y", (), (A,), False, (True, False))
    assert given_answer(answer, is_checked=False).supported is None


# --- scores


def test_score_of_a_cited_answer() -> None:
    """Two of three words shared both ways, one key value of two, half of each side of citations."""
    given = GivenAnswer("stores 16 samples [2]", (MISS, A), (A, MISS), False, (True, False))
    asked = question(A, B, answer="keeps 16 samples", key_values=["16", "32"], style="named")
    score = score_answer(asked, given)
    assert score.token_f1 == pytest.approx(2 / 3)
    assert score.rouge_l in (None, pytest.approx(2 / 3))
    assert (score.key_values, score.missing) == (0.5, ("32",))
    assert (score.citation_precision, score.citation_recall) == (0.5, 0.5)
    assert (score.unsupported, score.false_refusals, score.refusal_recall) == (0.5, 0.0, None)
    assert (score.has_source, score.style, score.is_answerable) == (True, "named", True)


@pytest.mark.parametrize(
    ("given", "precision", "recall"),
    [
        pytest.param(GivenAnswer("x", (), (A, B)), 1.0, 1.0, id="all"),
        pytest.param(GivenAnswer("x", (), (A, None, None, None)), 0.25, 0.5, id="of nothing"),
        pytest.param(GivenAnswer("x"), None, 0.0, id="none"),
        pytest.param(GivenAnswer("x", (), (Span("a", 0, 2000),)), 0.0, 0.0, id="overlap of 0.05"),
        pytest.param(GivenAnswer("x", (), (Span("c", 0, 100),)), 0.0, 0.0, id="other file"),
    ],
)
def test_citations(given: GivenAnswer, precision: float | None, recall: float) -> None:
    """Precision is over the citations, recall over the true sources; overlap is above 0.05."""
    score = score_answer(question(A, B), given)
    assert (score.citation_precision, score.citation_recall) == (precision, recall)


def test_a_refusal_has_no_words_and_no_sentences() -> None:
    """What it repeats of the question earns nothing."""
    given = GivenAnswer("I don't know: 16 samples.", (A,), (), True, (False,))
    score = score_answer(question(A, answer="16 samples"), given)
    assert (score.token_f1, score.key_values, score.unsupported) == (0.0, 0.0, None)


@pytest.mark.parametrize(
    ("asked", "is_refusal", "precision", "recall", "false"),
    [
        pytest.param(question(), True, 1.0, 1.0, None, id="right"),
        pytest.param(question(A), True, 0.0, None, 1.0, id="wrong"),
        pytest.param(question(), False, None, 0.0, None, id="invented"),
        pytest.param(question(A), False, None, None, 0.0, id="answered"),
        pytest.param(question(answer="5"), True, 0.0, None, 1.0, id="only a reference answer"),
        pytest.param(question(answer=" "), True, 1.0, 1.0, None, id="a blank one"),
    ],
)
def test_refusals(
    asked: Question, is_refusal: bool, precision: float | None, recall: float | None,
    false: float | None,
) -> None:  # fmt: skip
    """Right where the dataset has neither source nor answer, wrong otherwise."""
    score = score_answer(asked, GivenAnswer("x", is_refusal=is_refusal))
    assert (score.refusal_precision, score.refusal_recall) == (precision, recall)
    assert score.false_refusals == false


def test_no_answer_is_0_where_a_measure_applies() -> None:
    """It cites nothing, so that precision has nothing to say."""
    score = score_answer(question(A, answer="The `x`."), None)
    assert (score.token_f1, score.key_values, score.citation_recall) == (0.0, 0.0, 0.0)
    assert (score.citation_precision, score.is_answered, score.has_source) == (None, False, False)
    assert score_answer(question(), None).refusal_recall == 0.0


def test_key_values_of_the_dataset_come_first() -> None:
    """Its own list is used as it is, and an empty one turns the measure off."""
    assert wanted_values(question(answer="8 of `x`", key_values=["7", 9])) == ("7", "9")
    empty = question(answer="8 of `x`", key_values=[])
    assert wanted_values(empty) == ()
    assert score_answer(empty, GivenAnswer("8")).key_values is None
    assert wanted_values(question(answer="8 of `x`")) == ("x", "8")


def test_without_its_library_rouge_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other measures are there."""
    monkeypatch.setattr(text_measures, "has_rouge", lambda: False)
    monkeypatch.setattr(answer_scores, "has_rouge", lambda: False)
    score = score_answer(question(answer="x"), GivenAnswer("x"))
    assert (score.rouge_l, score.token_f1) == (None, 1.0)


def test_means_are_over_the_questions_a_measure_applies_to() -> None:
    """None leaves n; what never applies has no mean."""
    none, half = AnswerScore("q", "?"), AnswerScore("q", "?", token_f1=0.5)
    found = means([none, half, half])
    assert found["rouge_l"] is None
    f1 = found["token_f1"]
    assert f1 is not None
    assert (f1.n, f1.mean, f1.low, f1.high) == (2, 0.5, 0.5, 0.5)
