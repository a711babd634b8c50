"""Confidence interval of a mean by resampling."""

import math
import random
from collections.abc import Sequence

RESAMPLES = 1000
SEED = 42


def bootstrap_interval(
    values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the mean.

    Args:
        values: one value per question, at least one.
        resamples: number of draws with replacement, each as long as `values`.
        seed: the same values and seed give the same interval.
    Returns: (low, high), the ceil(0.025 * resamples)-th and ceil(0.975 * resamples)-th smallest
        of the resampled means.
    Raises: ValueError: no value, or no resample.
    Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    if not values or resamples < 1:
        raise ValueError("a bootstrap interval needs at least one value and one resample")
    size = len(values)
    draw = random.Random(seed).choices
    means = sorted(math.fsum(draw(values, k=size)) / size for _ in range(resamples))
    return means[math.ceil(0.025 * resamples) - 1], means[math.ceil(0.975 * resamples) - 1]
