"""Whether two systems differ on the same questions by more than chance would make them."""

from __future__ import annotations

from collections.abc import Sequence

_BLOCK_SIGNS = 2_000_000


def permutation_p(
    left: Sequence[float], right: Sequence[float], *, resamples: int = 10_000, seed: int = 0
) -> float:
    """Two-sided p-value of a paired permutation test on the difference of two means.

    If neither system were better, each question could as well have gone the other way round: the
    sign of its difference is free. Where few questions differ, every pattern of signs is tried and
    the value is exact; else `resamples` random ones are, and the pattern observed counts as one.

    Args:
        left: a value per question.
        right: the values of the same questions in the same order.
        resamples: patterns tried at most.
        seed: the same seed gives the same value.

    Returns: above 0, at most 1; 1 where nothing differs.
    Raises: ValueError: the two are not of one length, or `resamples` is not positive.
    Source: Smucker, Allan & Carterette, CIKM 2007; Phipson & Smyth, SAGMB 9(1), 2010, for the
        pattern observed.
    """
    import numpy as np

    if len(left) != len(right) or resamples < 1:
        raise ValueError("a paired test needs as many values on either side, and a resample")
    difference = np.asarray(left, dtype=np.float64) - np.asarray(right, dtype=np.float64)
    changed = difference[difference != 0]
    count = changed.size
    if not count:
        return 1.0
    bound = abs(changed.sum()) - 1e-9
    if count < 63 and 2**count <= resamples:
        patterns = np.arange(2**count)[:, None] >> np.arange(count)
        return float((np.abs((2 * (patterns & 1) - 1) @ changed) >= bound).mean())
    rng = np.random.default_rng(seed)
    extreme, block = 0, max(1, _BLOCK_SIGNS // count)
    for start in range(0, resamples, block):
        shape = (min(block, resamples - start), count)
        signs = 2 * rng.integers(0, 2, shape, dtype=np.int8) - 1
        extreme += int((np.abs(signs @ changed) >= bound).sum())
    return (1 + extreme) / (1 + resamples)
