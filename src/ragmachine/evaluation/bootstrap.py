"""How sure a mean over questions is: confidence intervals and bands by resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BLOCK_DRAWS = 1_000_000


def bootstrap_interval(
    values: Sequence[float], *, resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval at 95 % of the mean of `values`.

    Args:
        values: one measure, a value per question.
        resamples: draws with replacement, each as long as `values`.
        seed: the same seed gives the same interval.

    Returns: (2.5th, 97.5th percentile) of the resampled means, within the range of `values`.
    Raises: ValueError: `values` is empty or `resamples` is not positive.
    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    (interval,) = bootstrap_band([[value] for value in values], resamples=resamples, seed=seed)
    return interval


def bootstrap_band(
    curves: Sequence[Sequence[float]], *, resamples: int = 1000, seed: int = 0
) -> list[tuple[float, float]]:
    """Percentile intervals at 95 % of a mean curve, point by point.

    A draw takes whole questions, so that each point's interval is `bootstrap_interval` of its
    values. The band holds a given point of the true curve with 95 %, not all of them at once.

    Args:
        curves: (questions, points) a measure at each point, e.g. recall at each cutoff.
        resamples: as in `bootstrap_interval`.
        seed: as in `bootstrap_interval`.

    Returns: (2.5th, 97.5th percentile) for each point.
    Raises: ValueError: there is no question, or `resamples` is not positive.
    """
    import numpy as np  # heavy, and little else in this room needs it

    if not curves or resamples < 1:
        raise ValueError("an interval needs at least one value and one resample")
    sample = np.asarray(curves, dtype=np.float64)
    means = _resampled_means(sample, resamples, seed)
    low, high = np.clip(np.percentile(means, [2.5, 97.5], axis=0), sample.min(0), sample.max(0))
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _resampled_means(
    sample: npt.NDArray[np.float64], resamples: int, seed: int
) -> npt.NDArray[np.float64]:
    """(resamples, points) means of questions drawn with replacement."""
    import numpy as np

    rng = np.random.default_rng(seed)
    questions, points = sample.shape
    means = np.empty((resamples, points))
    # in blocks: fast for few questions, and never more than some 16 MB for many
    block = max(1, _BLOCK_DRAWS // questions)
    for start in range(0, resamples, block):
        drawn = rng.integers(0, questions, (min(block, resamples - start), questions))
        for point in range(points):
            column = np.ascontiguousarray(sample[:, point])
            means[start : start + block, point] = column[drawn].mean(axis=1)
    return means
