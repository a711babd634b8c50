"""Which key values are read from a reference answer, and when an answer contains one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..moulinette.answers.key_values import containment, contains_value, extract_key_values

PIECES = (
    *("16", "1,024", "0.5,", "(3)", "16GB", "0.10.1.", "`max_len`", "`a b`", "'q r'", '"s, t"'),
    *("FP8", "LoRA's", "a.bc", "x.", "/v1/load", "docs/a.md", "--quiet", "True,", "it's", "and/or"),
    *("\u201cz\u201d", "99d004", "-1", "\n"),
)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        pytest.param("Keeps `a b` there", ("a b",), id="backticks"),
        pytest.param("Says \"x y\" or \u201cz\u201d or 'w'", ("x y", "z", "w"), id="quotes"),
        pytest.param("It's the user's 'way'", ("way",), id="apostrophes are not quotes"),
        pytest.param("the `\"field\"` of `f='x'`", ("field", "f='x'"), id="quotes in backticks"),
        pytest.param("Takes 16 of 1,024 (0.5), then 3.", ("16", "1,024", "0.5", "3"), id="numbers"),
        pytest.param("16GB", ("16",), id="a number before its unit"),
        pytest.param("at 99d004 and 0A0", (), id="digits that begin a longer word"),
        pytest.param("version 0.10.1.", ("0.10.1",), id="version"),
        pytest.param("max_len, FP8, LoRA", ("max_len", "FP8", "LoRA"), id="identifiers"),
        pytest.param("calls llm.embed e.g. once", ("llm.embed",), id="dotted name"),
        pytest.param("pass --no-log now", ("--no-log",), id="flag"),
        pytest.param("POST /v1/load or docs/a.md.", ("/v1/load", "docs/a.md"), id="paths"),
        pytest.param("and/or nothing", (), id="a slash between words"),
        pytest.param("It is False, not None", ("False", "None"), id="constants"),
        pytest.param("`foo` and `Foo`, `a_b` and `A_B`", ("foo", "a_b", "A_B"), id="case of names"),
        pytest.param("A plain sentence about GPUs.", (), id="plain words"),
        pytest.param("", (), id="empty"),
    ],
)
def test_extract_key_values(reference: str, expected: tuple[str, ...]) -> None:
    """Quoted strings come first, then numbers, then names."""
    assert extract_key_values(reference, "") == expected


def test_values_of_the_question_are_left_out() -> None:
    """What the question already says proves nothing."""
    question = "What is the default of `max_len` on 2 GPUs?"
    assert extract_key_values("max_len is 16 on 2 GPUs", question) == ("16",)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        pytest.param("16 GB", "16", True, id="number alone"),
        pytest.param("16GB", "16", True, id="number with unit"),
        pytest.param("160", "16", False, id="longer number"),
        pytest.param("0.16", "16", False, id="decimals of another"),
        pytest.param("16.5", "16", False, id="number with decimals"),
        pytest.param("It is 16.", "16", True, id="end of a sentence"),
        pytest.param("fp16", "16", False, id="end of a word"),
        pytest.param("1,024 tokens", "1024", True, id="thousands separator"),
        pytest.param("max_tokens_total", "max_tokens", False, id="part of a name"),
        pytest.param("self.max_tokens=1", "max_tokens", True, id="name after a dot"),
        pytest.param("MAX_TOKENS", "max_tokens", False, id="case of a name"),
        pytest.param("Null block", "null block", True, id="case of plain words"),
        pytest.param("none of them", "None", False, id="a constant is no word"),
        pytest.param("every five or 5 seconds", "5 s", True, id="a unit in full"),
        pytest.param("5 s", "5 minutes", False, id="another unit"),
        pytest.param("16GiB", "16 GB", False, id="binary and decimal units"),
        pytest.param("`a`  `b`", "a b", True, id="backticks and spaces"),
        pytest.param("use --quiet", "--quiet", True, id="flag"),
        pytest.param("use --quieter", "--quiet", False, id="longer flag"),
        pytest.param("(x)", "(x)", True, id="signs only at the ends"),
        pytest.param("anything", " ` ", False, id="nothing left to look for"),
    ],
)
def test_contains_value(text: str, value: str, expected: bool) -> None:
    """A value is contained whole, not as a part of a longer word or number."""
    assert contains_value(text, value) is expected


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_a_reference_contains_its_own_key_values(reference: str) -> None:
    """An answer equal to the reference contains every key value read from it."""
    assert containment(reference, extract_key_values(reference, "")) in (None, 1.0)


@given(st.text("0159aB_.,-/`'\" \n", max_size=30) | st.text(max_size=60), st.text(max_size=20))
def test_any_text_can_be_read(reference: str, question: str) -> None:
    """Whatever the texts, values are not blank and the share lies in [0, 1]."""
    values = extract_key_values(reference, question)
    assert all(value.strip() for value in values)
    assert 0.0 <= (containment(reference, values) or 0.0) <= 1.0


def test_containment_is_a_share() -> None:
    """One value of three found is a third; no value is no measure."""
    assert containment("only 7", ("7", "8", "nine")) == pytest.approx(1 / 3)
    assert containment("only 7", ()) is None
