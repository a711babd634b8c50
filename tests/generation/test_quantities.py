"""Amounts with units, and when two are the same."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ragmachine.generation.quantities import amounts, other_unit


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("waits 30 seconds", [("30", "seconds")], id="word"),
        pytest.param("a 30-second wait, 5s", [("30", "second"), ("5", "s")], id="joined"),
        pytest.param("90 % of 1,024 is 1k", [("90", "%"), ("1,024", ""), ("1", "k")], id="share"),
        pytest.param("release 1.10.0 of H100", [], id="no amounts"),
        pytest.param("4 MB and 4 Ms", [("4", "MB"), ("4", "")], id="unit ends the word"),
        pytest.param("at -5 °C", [("-5", "°C")], id="sign"),
    ],
)
def test_amounts(text, found):
    """Number and unit as written."""
    assert [(one.number, one.unit) for one in amounts(text)] == found


@pytest.mark.parametrize(
    ("first", "second", "are_equal"),
    [
        pytest.param("1,024", "1024", True, id="comma"),
        pytest.param("1k", "1024", True, id="binary thousand"),
        pytest.param("1k", "1000", True, id="thousand"),
        pytest.param("8k", "8", False, id="thousand left out"),
        pytest.param("0.9", "90 %", True, id="share"),
        pytest.param("0.9", "9 %", False, id="another share"),
        pytest.param("90 seconds", "1.5 min", True, id="minutes"),
        pytest.param("30 seconds", "30 minutes", False, id="another unit"),
        pytest.param("4 GB", "4096 MiB", True, id="bytes"),
        pytest.param("4 GB", "4 MB", False, id="other bytes"),
        pytest.param("3 m", "3 min", False, id="another kind"),
        pytest.param("24 months", "2 years", True, id="years"),
        pytest.param("300 metres", "300 m", True, id="short"),
        pytest.param("\u22125 °C", "-5 °C", True, id="minus sign"),
    ],
)
def test_equal_amounts(first, second, are_equal):
    """By value, within a kind."""
    (one,), (other,) = amounts(first), amounts(second)
    assert one.equals(other) == other.equals(one) == are_equal


def test_a_decimal_is_exact():
    """No rounding of binary fractions."""
    assert amounts("0.1 %")[0].values == {Fraction(1, 1000)}


@pytest.mark.parametrize(
    ("text", "source", "other"),
    [
        pytest.param("30 minutes", "30 seconds", "30 seconds", id="another"),
        pytest.param("30 seconds", "30 s or 30 minutes", "", id="one of two"),
        pytest.param("30 seconds", "timeout = 30", "", id="none there"),
        pytest.param("30 seconds", "0.5 min, 30 days", "", id="same amount elsewhere"),
        pytest.param("30 seconds", "40 minutes", "", id="another number"),
        pytest.param("30", "30 minutes", "", id="none claimed"),
    ],
)
def test_another_unit_is_told(text, source, other):
    """Only where the number stands there, always with a unit, and never as this amount."""
    assert other_unit(amounts(text)[0], amounts(source)) == other
