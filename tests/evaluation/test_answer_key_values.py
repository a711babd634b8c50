"""Which key values are read from a reference answer, and when an answer contains one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.evaluation.key_values import contained, contains, key_values
from ragmachine.evaluation.quantities import Quantity, quantities, read_quantity

PIECES = (
    *("16", "1,024", "0.5,", "(3)", "16GB", "0.10.1.", "`max_len`", "`a b`", "'q r'", '"s, t"'),
    *("FP8", "LoRA's", "a.bc", "x.", "/v1/load", "docs/a.md", "--quiet", "True,", "it's", "and/or"),
    *("“z”", "99d004", "-1", "\n", "5 seconds", "-j6", "03:20", "run-it.sh", ".gz", "free()"),
    *("http://a.b/c?d=e", "default: auto", "X.Y+2.Z", "2**20", "Qwen1.5-0.5B", "``x``", "f()/g()"),
)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        pytest.param("Keeps `a b` and ``c`` there", ("a b", "c"), id="code"),
        pytest.param("Says \"x y\" or “z” or 'w'", ("x y", "z", "w"), id="quotations"),
        pytest.param("It's the user's 'way'", ("way",), id="apostrophes are not quotes"),
        pytest.param("the `\"field\"` of `f='x'`", ("field", "f='x'"), id="quotes in code"),
        pytest.param(
            '"cannot call `f` unless `g` is set"',
            ("cannot call `f` unless `g` is set",),
            id="code in a quotation",
        ),
        pytest.param(f'"{"many words " * 9}and x_y"', ("x_y",), id="a long quotation is prose"),
        pytest.param("Takes 16 of 1,024 (0.5).", ("16", "1,024", "0.5"), id="numbers"),
        pytest.param("5 seconds, or 16GB", ("5 seconds", "16GB"), id="numbers with units"),
        pytest.param("1024, that is 1,024", ("1024",), id="one number in two spellings"),
        pytest.param("at 99d004 and fp_16", ("fp_16",), id="digits within words"),
        pytest.param("at 03:20 on 2024-05-01", ("03:20", "2024-05-01"), id="times and dates"),
        pytest.param("version 0.10.1.", ("0.10.1",), id="version"),
        pytest.param("max_len, LoRA, FP8", ("max_len", "LoRA", "FP8"), id="names"),
        pytest.param("calls llm.embed e.g. once", ("llm.embed",), id="dotted name"),
        pytest.param("free() frees", ("free()",), id="call"),
        pytest.param(
            "--max-model-len=4 or -j6, not -prod(x)",
            ("--max-model-len=4", "-j6"),
            id="flags",
        ),
        pytest.param(
            "POST /v1/load to docs/a.md, ~/x or run-it.sh.",
            ("/v1/load", "docs/a.md", "~/x", "run-it.sh"),
            id="paths",
        ),
        pytest.param("at http://a.b:80/c.", ("http://a.b:80/c",), id="address"),
        pytest.param("and/or nothing, GPUs, e.g. this", (), id="plain words"),
        pytest.param("It is False, not None", ("False", "None"), id="constants"),
        pytest.param("The default is auto.", ("auto",), id="a default that is a word"),
        pytest.param("The default is the first.", (), id="a default that is none"),
        pytest.param("`foo`, `Foo`, `a_b`, `A_B`", ("foo", "Foo", "a_b", "A_B"), id="case"),
        pytest.param("", (), id="empty"),
    ],
)
def test_what_is_read_from_a_reference(reference: str, expected: tuple[str, ...]) -> None:
    """Literals first, then addresses, flags, paths, times, defaults, numbers and names."""
    assert key_values(reference) == expected


def test_values_of_the_question_are_left_out() -> None:
    """What the question already says proves nothing."""
    question = "What is the default of `max_len` on 2 GPUs?"
    assert key_values("max_len is 16 on two GPUs, or 2", question) == ("16",)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        pytest.param("16 GB", "16", True, id="number alone"),
        pytest.param("16GB", "16", True, id="number with unit"),
        pytest.param("160", "16", False, id="longer number"),
        pytest.param("0.16", "16", False, id="decimals of another"),
        pytest.param("16.5", "16", False, id="number with decimals"),
        pytest.param("It is 16.", "16", True, id="end of a sentence"),
        pytest.param("fp16 or 16x16", "16", False, id="within a word"),
        pytest.param("1,024 tokens", "1024", True, id="thousands"),
        pytest.param("1024", "1,024", True, id="thousands the other way"),
        pytest.param("1_024", "1024", True, id="thousands in Python"),
        pytest.param("20.0", "20", True, id="zeros after the point"),
        pytest.param("1.10", "1.1", False, id="versions"),
        pytest.param("v0.10.1", "0.10.1", True, id="version with v"),
        pytest.param("1e-05", "1e-5", True, id="powers of ten"),
        pytest.param("x = -1", "-1", True, id="sign"),
        pytest.param("x = -1", "1", False, id="a sign too many"),
        pytest.param("0-1", "-1", False, id="a range has no sign"),
        pytest.param("five seconds", "5 s", True, id="unit and number in words"),
        pytest.param("5-second pause", "5 s", True, id="unit behind a hyphen"),
        pytest.param("5 ms", "5 s", False, id="another unit"),
        pytest.param("16 GiB", "16 GB", False, id="binary and decimal units"),
        pytest.param("300 M", "300 m", False, id="case of a unit"),
        pytest.param("25 percent", "25%", True, id="percent"),
        pytest.param("60 minutes", "1 hour", False, id="nothing is converted"),
        pytest.param("One of them", "1", False, id="a pronoun"),
        pytest.param("one short try", "one", True, id="a word asked for as such"),
        pytest.param("max_tokens_total", "max_tokens", False, id="part of a name"),
        pytest.param("self.max_tokens=1", "max_tokens", True, id="name after a dot"),
        pytest.param("MAX_TOKENS", "max_tokens", False, id="case of a name"),
        pytest.param("Null block", "null block", True, id="case of words"),
        pytest.param("none of them", "None", False, id="a constant is no word"),
        pytest.param("the mean", "MEAN", False, id="case of an acronym"),
        pytest.param("`a`  `b`", "a b", True, id="backticks and spaces"),
        pytest.param("--max-model-len", "--max", False, id="longer flag"),
        pytest.param("--max", "--max-model-len", False, id="shorter flag"),
        pytest.param("`--max-model-len=5`", "--max-model-len", True, id="flag with value"),
        pytest.param("vLLM-based", "vLLM", True, id="a hyphen ends a name"),
        pytest.param("test.cfg. Then", "test.cfg", True, id="file at the end of a sentence"),
        pytest.param("test.cfg.bak", "test.cfg", False, id="longer file name"),
        pytest.param("my-test.cfg", "test.cfg", False, id="other file name"),
        pytest.param("in ~/x/test.cfg", "test.cfg", True, id="file in a folder"),
        pytest.param("foo.gz", ".gz", False, id="extension of a file"),
        pytest.param("f = 0", "f=0", True, id="blanks around ="),
        pytest.param("f == 0", "f=0", False, id="another operator"),
        pytest.param("tags=['w']", 'tags=["w"]', True, id="kinds of quotes"),
        pytest.param("free(p)", "free()", True, id="call with arguments"),
        pytest.param("100-200ns", "100-200", True, id="range before a unit"),
        pytest.param("w+ or r", "w+", True, id="signs at the end"),
        pytest.param("anything", "", False, id="nothing to look for"),
    ],
)
def test_when_a_value_is_contained(text: str, value: str, expected: bool) -> None:
    """As a whole, by value and unit, or letter by letter."""
    assert contains(text, value) is expected


def test_a_text_has_its_quantities_with_and_without_unit() -> None:
    """Every spelling of a unit has one name."""
    found = quantities("5 seconds or 5 sec, two GPUs")
    assert found == {Quantity("5", "s"), Quantity("5"), Quantity("2")}
    assert read_quantity("5 seconds then") is None


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_a_reference_contains_its_own_key_values(reference: str) -> None:
    """An answer equal to the reference contains every key value read from it."""
    values = key_values(reference)
    assert contained(reference, values) == values


@given(st.text("0159aB_.,-/`'\" \n", max_size=30) | st.text(max_size=60), st.text(max_size=20))
def test_any_text_can_be_read(reference: str, question: str) -> None:
    """Whatever the texts, values are not blank, and those contained are some of them."""
    values = key_values(reference, question)
    assert all(value.strip() for value in values)
    assert set(contained(reference, values)) <= set(values)


@pytest.mark.parametrize("piece", ["a-", "a/", "1,", "`", "--a", "1:", "a.", "= "])
def test_long_texts_are_read_in_time(piece: str) -> None:
    """No pattern takes more than its share on a text of 40,000 characters."""
    started = time.perf_counter()
    key_values(piece * 20_000)
    contains(piece * 20_000, "a.b-c")
    assert time.perf_counter() - started < 10


def test_contained_values_are_those_found() -> None:
    """One of three; of no value none."""
    assert contained("only 7", ("7", "8", "nine")) == ("7",)
    assert contained("only 7", ()) == ()
