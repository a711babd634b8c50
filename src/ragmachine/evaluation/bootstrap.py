"""How sure a mean over questions is: a confidence interval by resampling."""

from __future__ import annotations

from collections.abc import Sequence

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
    import numpy as np  # heavy, and nothing else in this room needs it

    if not values or resamples < 1:
        raise ValueError("an interval needs at least one value and one resample")
    sample = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    # In blocks: fast for few values, and never more than some 16 MB for many.
    block = max(1, _BLOCK_DRAWS // sample.size)
    means: list[float] = []
    while len(means) < resamples:
        shape = (min(block, resamples - len(means)), sample.size)
        means.extend(sample[rng.integers(0, sample.size, shape)].mean(axis=1))
    low, high = np.clip(np.percentile(means, [2.5, 97.5]), sample.min(), sample.max())
    return float(low), float(high)
