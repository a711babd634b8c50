"""Numbers, names and quotations of a sentence, and whether a source has them."""

from __future__ import annotations

import pytest

from ragmachine.generation.exact import Exact, Source


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        pytest.param("From 5 to 0.25 and 1,000.", ["5", "0.25", "1,000"], id="plain"),
        pytest.param("Between 1-3 and 4–6.", ["1", "3", "4", "6"], id="ranges"),
        pytest.param("At -5 or −7 degrees.", ["-5", "−7"], id="negative"),
        pytest.param("8 GB, 30s and 50%.", ["8", "30", "50"], id="units"),
        pytest.param("Within 1e-3.", ["1e-3"], id="exponent"),
        pytest.param("On 2024-01-31.", ["2024", "01", "31"], id="date"),
        pytest.param("Version 1.10.0.", ["1.10.0"], id="version"),
        pytest.param("Qwen2.5 on H100, E-77, max_1 and 0x1F.", [], id="in names"),
    ],
)
def test_numbers(text, numbers):
    """As written, signs included; those within names belong to the names."""
    assert Exact(text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("Set max_len and --top-k here.", ["max_len", "--top-k"], id="snake and flag"),
        pytest.param("LLM.generate in config.toml.", ["LLM.generate", "config.toml"], id="dots"),
        pytest.param("A PyTorch BlockPool.", ["PyTorch", "BlockPool"], id="camel"),
        pytest.param("Fault E-77 of SM-P-1216.", ["E-77", "SM-P-1216"], id="with digits"),
        pytest.param("Call `run` or `x` or `two words`.", ["run"], id="alone in backticks"),
        pytest.param("A GPU with 4 MiB, i.e. the U.S. one.", [], id="words after all"),
        pytest.param("The hash 0x1F.", ["0x1F"], id="hexadecimal"),
    ],
)
def test_names(text, names):
    """What has the form of a name; acronyms, units and abbreviations do not."""
    assert Exact(text).names == names


def test_quotations():
    """Double, curly and single quotes; what is in them is no name or number as well."""
    exact = Exact("It says \"no max_len 5\", “so” and 'auto'; it isn't Bob's.")
    assert exact.quotations == ["no max_len 5", "so", "auto"]
    assert (exact.names, exact.numbers) == ([], [])


@pytest.mark.parametrize(
    ("number", "text", "has_it"),
    [
        pytest.param("1000", "about 1,000 of them", True, id="comma"),
        pytest.param("300000", "300 000 switches", True, id="blank"),
        pytest.param("0.90", "a share of .9 or 0.9", True, id="trailing zero"),
        pytest.param("8.0", "8 bits", True, id="whole"),
        pytest.param("8", "eight bits", True, id="word"),
        pytest.param("8", "18 or 80 or 8.5", False, id="part of another"),
        pytest.param("5", "at -5 degrees", True, id="sign left out"),
        pytest.param("-5", "at 5 degrees", False, id="sign added"),
        pytest.param("1.10", "release 1.1", True, id="two parts are a decimal"),
        pytest.param("1.10.0", "release 1.1.0", False, id="three parts are a version"),
        pytest.param("2.5", "Qwen2.5-7B", True, id="in a name"),
    ],
)
def test_has_number(number, text, has_it):
    """By value, in digits or in words."""
    assert Source(text).has_number(number) == has_it


@pytest.mark.parametrize(
    ("name", "text", "has_it"),
    [
        pytest.param("max_len", "set MAX_LEN here", True, id="another case"),
        pytest.param("--max-len", "set max_len here", True, id="flag of a variable"),
        pytest.param("max_len", "pass --max-len", True, id="variable of a flag"),
        pytest.param("max_len", "max_len_total", False, id="part of a longer one"),
        pytest.param("LLM.generate", "class LLM:\n  def generate(self)", True, id="in parts"),
        pytest.param("LLM.generate", "class LLM:\n  def encode(self)", False, id="half of it"),
        pytest.param("E-77", "E-7 and 77", False, id="digits elsewhere"),
    ],
)
def test_has_name(name, text, has_it):
    """Letter by letter, but for case and for what joins its parts."""
    assert Source(text).has_name(name) == has_it


@pytest.mark.parametrize(
    ("quotation", "text", "has_it"),
    [
        pytest.param("no such block", "raise X('No such\n  block')", True, id="wrapped"),
        pytest.param("no such block", "no block such", False, id="another order"),
        pytest.param("say 'so'", 'say "so"', True, id="other quotes"),
    ],
)
def test_has_quotation(quotation, text, has_it):
    """Word for word."""
    assert Source(text).has_quotation(quotation) == has_it


def test_missing_names_what_no_source_has():
    """Quotations first, then names, then numbers; what one source has is not missing."""
    exact = Exact('Set max_len or min_len to 5 or 6, or "never".')
    assert exact.missing([Source("max_len = 5"), Source("the 6")]) == ["never", "min_len"]
    assert exact.missing_numbers([Source("5")]) == ["6"]
    assert exact.missing([]) == ["never", "max_len", "min_len", "5", "6"]
