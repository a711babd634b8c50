"""Overlap of two spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..moulinette.overlap import Span, is_found, overlap

SPANS = st.builds(Span, st.sampled_from(["a.md", "b.md"]), st.integers(-5, 60), st.integers(-5, 60))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param(Span("a", 0, 100), Span("a", 0, 100), 1.0, id="same"),
        pytest.param(Span("a", 0, 100), Span("b", 0, 100), 0.0, id="other file"),
        pytest.param(Span("a", 0, 100), Span("./a", 0, 100), 0.0, id="path written otherwise"),
        pytest.param(Span("a", 0, 100), Span("a", 50, 150), 50 / 150, id="half"),
        pytest.param(Span("a", 0, 100), Span("a", 25, 75), 0.5, id="inside"),
        pytest.param(Span("a", 0, 100), Span("a", 100, 200), 0.0, id="touching, end exclusive"),
        pytest.param(Span("a", 0, 100), Span("a", 99, 100), 0.01, id="last character"),
        pytest.param(Span("a", -5, 10), Span("a", 0, 10), 0.0, id="negative start"),
        pytest.param(Span("a", 10, 0), Span("a", 0, 10), 0.0, id="inverted"),
        pytest.param(Span("a", 5, 5), Span("a", 5, 5), 0.0, id="both empty"),
    ],
)
def test_overlap_is_intersection_over_union(a: Span, b: Span, expected: float) -> None:
    """Overlap is shared characters over characters of either, within one file."""
    assert overlap(a, b) == pytest.approx(expected)


@given(SPANS, SPANS)
def test_overlap_is_symmetric_and_bounded(a: Span, b: Span) -> None:
    """The order of the spans does not matter and the value lies in [0, 1]."""
    assert overlap(a, b) == overlap(b, a)
    assert 0.0 <= overlap(a, b) <= 1.0


@given(SPANS, SPANS)
def test_overlap_agrees_with_sets_of_characters(a: Span, b: Span) -> None:
    """For valid spans it equals the ratio counted character by character."""
    left = {(a.file_path, i) for i in range(a.start, a.end)} if a.is_valid else set()
    right = {(b.file_path, i) for i in range(b.start, b.end)} if b.is_valid else set()
    both = left | right if left and right else {0}
    assert overlap(a, b) == pytest.approx(len(left & right) / len(both))


@given(SPANS)
def test_overlap_with_itself_is_one(span: Span) -> None:
    """A span that holds a character overlaps itself wholly, any other not at all."""
    assert overlap(span, span) == float(span.is_valid)


@pytest.mark.parametrize("scale", [1, 3, 7, 100, 1999])
def test_found_needs_strictly_more_than_the_limit(scale: int) -> None:
    """An overlap of exactly 1/20 is not found, one character more is."""
    true_source = Span("a", 0, scale)
    assert not is_found(true_source, [Span("a", 0, 20 * scale)])
    assert is_found(true_source, [Span("a", 0, 20 * scale - 1)])


def test_nothing_is_found_among_nothing() -> None:
    """Without retrieved spans no source is found."""
    assert not is_found(Span("a", 0, 10), [])
