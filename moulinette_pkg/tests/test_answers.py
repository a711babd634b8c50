"""Measures of answers, with numbers computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..moulinette.answers.citations import (
    citation_precision,
    citation_recall,
    cited_numbers,
    cited_spans,
    without_marks,
)
from ..moulinette.answers.refusals import is_refusal
from ..moulinette.answers.rouge_l import common_subsequence_length, rouge_l_f1
from ..moulinette.answers.scoring import (
    AnswerScore,
    is_source_retrieved,
    score_answer,
    summarise,
)
from ..moulinette.answers.token_f1 import normalised_tokens, token_f1
from ..moulinette.bootstrap import bootstrap_interval
from ..moulinette.datasets import Entry, Question
from ..moulinette.overlap import Span

A, B, MISS = Span("a", 0, 100), Span("b", 0, 100), Span("x", 0, 100)
TOKENS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_normalised_tokens() -> None:
    """Case, ASCII punctuation and articles go; the parts of an identifier join."""
    assert normalised_tokens("The `max_tokens`, an A-B.") == ["maxtokens", "ab"]


def test_composed_and_decomposed_letters_are_one_word() -> None:
    """The same word in NFC and NFD is the same token for both text measures."""
    assert token_f1("nai\u0308ve", "na\u00efve") == 1.0
    assert rouge_l_f1("nai\u0308ve", "na\u00efve") == 1.0


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        pytest.param("The cat sat.", "a cat sat", 1.0, id="same but articles"),
        pytest.param("cat sat on mat", "cat mat", 2 * 0.5 * 1.0 / 1.5, id="half precision"),
        pytest.param("cat cat", "cat dog", 0.5, id="a repeated word counts once"),
        pytest.param("dog", "cat", 0.0, id="nothing shared"),
        pytest.param("", "cat", 0.0, id="empty answer"),
        pytest.param("the", "a", 1.0, id="both empty once normalised"),
    ],
)
def test_token_f1(answer: str, reference: str, expected: float) -> None:
    """Token F1 is the harmonic mean over bags of normalised tokens."""
    assert token_f1(answer, reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        pytest.param("police killed the gunman", "police kill the gunman", 0.75, id="lin 2004"),
        pytest.param("the gunman kill police", "police kill the gunman", 0.5, id="order counts"),
        pytest.param("max_tokens", "max tokens", 1.0, id="underscore parts words"),
        pytest.param("", "police", 0.0, id="empty answer"),
        pytest.param("?", "!", 1.0, id="no word on either side"),
    ],
)
def test_rouge_l_f1(answer: str, reference: str, expected: float) -> None:
    """ROUGE-L F1 is the harmonic mean of the LCS shares."""
    assert rouge_l_f1(answer, reference) == pytest.approx(expected)


@given(TOKENS, TOKENS)
def test_common_subsequence_agrees_with_the_table(a: list[str], b: list[str]) -> None:
    """The bit-parallel length equals that of the textbook dynamic programme."""
    row = [0] * (len(b) + 1)
    for left in a:
        above = row
        row = [0]
        for j, right in enumerate(b):
            row.append(above[j] + 1 if left == right else max(row[j], above[j + 1]))
    assert common_subsequence_length(a, b) == row[-1]


@given(st.text(max_size=40), st.text(max_size=40))
def test_text_measures_are_symmetric_and_bounded(a: str, b: str) -> None:
    """F1 measures lie in [0, 1], do not depend on the order and are 1 for equal texts."""
    for measure in (token_f1, rouge_l_f1):
        assert measure(a, b) == measure(b, a)
        assert 0.0 <= measure(a, b) <= 1.0
        assert measure(a, a) == 1.0


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        pytest.param("Yes [2]. No [1][2].", (2, 1), id="each once, in order"),
        pytest.param("Yes [1, 3] or [2;4].", (1, 3, 2, 4), id="several in one mark"),
        pytest.param("Use `x[1]` and ```\ny[2]\n``` [3].", (3,), id="code is not read"),
        pytest.param("An open fence ```\ny[2]", (), id="open fence"),
        pytest.param("A shape [4, 4].", (), id="a list that repeats a number"),
        pytest.param("[a] [] [1.5] [-1] [^1]", (), id="other brackets"),
    ],
)
def test_cited_numbers(answer: str, numbers: tuple[int, ...]) -> None:
    """Numbers in brackets outside code are citations."""
    assert cited_numbers(answer) == numbers


def test_without_marks_keeps_code() -> None:
    """Citation marks go, indices in code and shapes stay."""
    assert without_marks("Use `x[1]`[1] of [4, 4][2, 3].") == "Use `x[1]` of [4, 4]."


def test_cited_spans_are_unique_and_dangling_numbers_kept() -> None:
    """Marks name retrieved sources, each once; a number without source is None."""
    assert cited_spans("[1] [3] [9] [0]", (A, B, A)) == (A, None, None)


def test_declared_citations_replace_the_numbers() -> None:
    """A tool that merges passages before it numbers them says what they name, perhaps nothing."""
    assert cited_spans("[1] [2]", (A, B), (MISS, MISS)) == (MISS,)
    assert cited_spans("an index [1]", (A, B), ()) == ()


@pytest.mark.parametrize(
    ("cited", "precision", "recall"),
    [
        pytest.param((A, MISS), 0.5, 0.5, id="half right, half of the sources"),
        pytest.param((A, B), 1.0, 1.0, id="all"),
        pytest.param((A, None, None, None), 0.25, 0.5, id="dangling numbers are wrong"),
        pytest.param((), None, 0.0, id="no citation"),
        pytest.param((Span("a", 0, 2000),), 0.0, 0.0, id="overlap of exactly 0.05"),
    ],
)
def test_citation_measures(
    cited: tuple[Span | None, ...], precision: float | None, recall: float
) -> None:
    """Precision is over the citations, recall over the true sources."""
    assert citation_precision((A, B), cited) == precision
    assert citation_recall((A, B), cited) == recall


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("I don't know.", True, id="plain"),
        pytest.param("Sorry, i DO  not\nknow that", True, id="case and white space"),
        pytest.param("I don\u2019t know", True, id="curly apostrophe"),
        pytest.param("I dont know", True, id="no apostrophe"),
        pytest.param("You don't know", False, id="someone else"),
        pytest.param("I don't know-how", True, id="hyphen ends the word"),
        pytest.param("I do know", False, id="knows"),
        pytest.param("It prints this. I don't know why.", False, id="a later sentence"),
        pytest.param("", False, id="empty"),
    ],
)
def test_is_refusal(answer: str, expected: bool) -> None:
    """Saying first of all that one does not know is a refusal."""
    assert is_refusal(answer) is expected


def test_score_of_a_cited_answer() -> None:
    """Every measure that applies, by hand: 2 shared tokens of 4 and 4, key value found."""
    question = Question("q", "how many?", (A,), "It keeps 16 samples", None)
    entry = Entry("q", "how many?", (MISS, A), "Stores 16 samples there [2]")
    assert score_answer(question, entry, 10) == AnswerScore(
        0.5, 0.5, 1.0, 1.0, 1.0, None, None, None
    )


def test_unsupported_sentences_are_those_that_the_file_marks() -> None:
    """Their share, where the file marks any, and not of a refusal."""
    question = Question("q", "?", (A,), "x")
    assert score_answer(question, Entry("q", "?", (), "x", unsupported=0.5), 10).unsupported == 0.5
    assert score_answer(question, Entry("q", "?", (), "x"), 10).unsupported is None
    refusal = Entry("q", "?", (), "I don't know", unsupported=0.5)
    assert score_answer(question, refusal, 10).unsupported is None


def test_a_refusal_has_no_words() -> None:
    """What it repeats of the question earns nothing."""
    question = Question("q", "how many?", (A,), "16 samples")
    score = score_answer(question, Entry("q", "?", (), "I don't know: 16 samples"), 10)
    assert (score.token_f1, score.rouge_l_f1, score.key_values) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("retrieved", "expected"),
    [((MISS, B), True), ((MISS, MISS, B), False), ((), False)],
    ids=["one of two", "behind k", "nothing"],
)
def test_when_a_source_was_retrieved(retrieved: tuple[Span, ...], expected: bool) -> None:
    """Any true source among the first k is enough."""
    question = Question("q", "?", (A, B))
    assert is_source_retrieved(question, Entry("q", "?", retrieved), 2) is expected
    assert is_source_retrieved(question, None, 2) is False


def test_citation_beyond_k_names_no_source() -> None:
    """Only the first k retrieved sources can be cited."""
    question = Question("q", "?", (A,), "x")
    score = score_answer(question, Entry("q", "?", (MISS, A), "x [2]"), 1)
    assert (score.citation_precision, score.citation_recall) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("sources", "answer", "precision", "recall"),
    [
        pytest.param((), "I don't know", 1.0, 1.0, id="right refusal"),
        pytest.param((A,), "I don't know", 0.0, None, id="wrong refusal"),
        pytest.param((), "It is 5 [1]", None, 0.0, id="invented"),
        pytest.param((A,), "It is 5 [1]", None, None, id="answered"),
    ],
)
def test_refusals_are_judged_by_the_true_sources(
    sources: tuple[Span, ...], answer: str, precision: float | None, recall: float | None
) -> None:
    """A refusal is right where there is no true source and wrong otherwise."""
    score = score_answer(Question("q", "?", sources), Entry("q", "?", (A,), answer), 10)
    assert (score.refusal_precision, score.refusal_recall) == (precision, recall)


def test_missing_entry_scores_zero_where_a_measure_applies() -> None:
    """Without an entry, measures are 0 or do not apply; an empty reference is not matched."""
    answered = Question("q", "?", (A,), "The `x`.")
    assert score_answer(answered, None, 10) == AnswerScore(
        0.0, 0.0, 0.0, None, 0.0, None, None, None
    )
    unanswerable = Question("q", "?")
    assert score_answer(unanswerable, None, 10) == AnswerScore(
        None, None, None, None, None, None, None, 0.0
    )


def test_dataset_key_values_replace_extracted_ones() -> None:
    """A question's own list is used as it is, an empty one turns the measure off."""
    entry = Entry("q", "?", (), "It is 7.")
    assert score_answer(Question("q", "?", (A,), "8", ("7", "9")), entry, 10).key_values == 0.5
    assert score_answer(Question("q", "?", (A,), "8", ()), entry, 10).key_values is None


def test_summary_is_over_the_questions_a_measure_applies_to() -> None:
    """None values leave n; a measure that never applies has no mean."""
    none = AnswerScore(None, None, None, None, None, None, None, None)
    half = AnswerScore(0.5, None, None, None, None, None, None, None)
    summaries = summarise([none, half, half])
    assert (summaries["token_f1"].n, summaries["token_f1"].mean) == (2, 0.5)
    assert (summaries["token_f1"].low, summaries["token_f1"].high) == (0.5, 0.5)
    assert (summaries["rouge_l_f1"].n, summaries["rouge_l_f1"].mean) == (0, None)


def test_bootstrap_interval_is_reproducible() -> None:
    """The same values give the same interval, near the normal approximation 0.5 ± 0.098."""
    values = [0.0, 1.0] * 50
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(values)
    assert low == pytest.approx(0.402, abs=0.02)
    assert high == pytest.approx(0.598, abs=0.02)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_bootstrap_interval_stays_within_the_values(values: list[float]) -> None:
    """Resampled means never leave the range of the values."""
    low, high = bootstrap_interval(values, resamples=40)
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12


def test_bootstrap_of_nothing_is_refused() -> None:
    """An interval needs a value."""
    with pytest.raises(ValueError, match="at least one value"):
        bootstrap_interval([])
