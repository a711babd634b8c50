"""Command line arguments by position and by name."""

import pytest

from ..moulinette.errors import UsageError
from ..moulinette.parameters import (
    LARGEST_INTEGER,
    Parameter,
    boolean,
    parse_arguments,
    path_text,
    positive_integer,
    share,
)

PARAMETERS = (
    Parameter("file", ("file_path", "other_path"), "", path_text, is_required=True),
    Parameter("k", ("k",), "", positive_integer, default=10),
    Parameter("strict", ("strict",), "", boolean, default=True, is_switch=True),
    Parameter("json", ("json",), "", boolean, default=False, is_switch=True, has_position=False),
)
DEFAULTS = {"file": "f", "k": 10, "strict": True, "json": False}


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        pytest.param("f", {}, id="defaults"),
        pytest.param("f 5 False", {"k": 5, "strict": False}, id="all by position"),
        pytest.param("--file_path f --k 5", {"k": 5}, id="by name"),
        pytest.param("--file-path=f --k=5", {"k": 5}, id="hyphen and equals sign"),
        pytest.param("--other_path f", {}, id="alias"),
        pytest.param("-k 5 f", {"k": 5}, id="one dash for one letter"),
        pytest.param("--file_path f 7", {"k": 7}, id="named file leaves the position to k"),
        pytest.param("f --json 5", {"json": True, "k": 5}, id="switch takes no value"),
        pytest.param("f --json=false", {}, id="switch set"),
        pytest.param("f --strict no", {"strict": False}, id="boolean word"),
        pytest.param("f --strict --k 3", {"k": 3}, id="bare boolean is True"),
        pytest.param("-- f", {}, id="after two dashes"),
        pytest.param("f 007", {"k": 7}, id="leading zeros"),
        pytest.param("f 99999999999999999999", {"k": LARGEST_INTEGER}, id="huge k is clamped"),
    ],
)
def test_spellings(line: str, changes: dict[str, object]) -> None:
    """Each argument is taken by position or by name."""
    assert parse_arguments(PARAMETERS, line.split()) == {**DEFAULTS, **changes}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("", "FILE is missing", id="missing"),
        pytest.param("f --kk 3", r"unknown option --kk, did you mean --k\?", id="near miss"),
        pytest.param("f --zzz 3", "unknown option --zzz", id="unknown"),
        pytest.param("f -json", "unknown option -json", id="one dash for a long name"),
        pytest.param("f --k", "--k needs a value", id="no value at the end"),
        pytest.param("f --k --json", "--k needs a value", id="no value before an option"),
        pytest.param("f --k abc", "must be a whole number of 1 or more, not 'abc'", id="word"),
        pytest.param("f --k 0", "whole number", id="zero"),
        pytest.param("f --k -3", "not '-3'", id="negative by name"),
        pytest.param("f -3", "K must be .* not '-3'", id="negative by position"),
        pytest.param("f --k 2.5", "whole number", id="fraction"),
        pytest.param("f --k True", "whole number", id="boolean for a number"),
        pytest.param("f --k 1_0", "whole number", id="underscore"),
        pytest.param("f --k \u0663", "whole number", id="other digits"),
        pytest.param("f --k=", "whole number", id="empty"),
        pytest.param("f --k 3 --k 4", "given twice", id="named twice"),
        pytest.param("f 3 --k 4", "given twice", id="position and name"),
        pytest.param("f --strict maybe", "must be True or False", id="not a boolean"),
        pytest.param("f 3 True x", "unexpected argument 'x'", id="too many"),
        pytest.param("--file_path=", "must be the path of a file", id="empty path"),
    ],
)
def test_usage_errors(line: str, message: str) -> None:
    """A wrong command line is refused with what was expected."""
    with pytest.raises(UsageError, match=message):
        parse_arguments(PARAMETERS, line.split())


@pytest.mark.parametrize("text", ["nan", "inf", "-0.1", "1.1", "80%", ""])
def test_share_is_a_finite_number_from_0_to_1(text: str) -> None:
    """Thresholds outside [0, 1] are refused."""
    with pytest.raises(ValueError, match="from 0 to 1"):
        share(text)
    assert (share("0"), share("1"), share("0.8")) == (0.0, 1.0, 0.8)
