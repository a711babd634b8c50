"""Which BM25: the variant's formula and its two constants, for matrices and for single columns.

numpy is imported where something is computed: an index that is up to date needs the name alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.floating[Any]]

VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25plus")
_BM25L_DELTA = 0.5
_BM25PLUS_DELTA = 1.0


@dataclass(frozen=True, slots=True)
class Bm25:
    """A variant of BM25: a term scores `idf` times `gain` in the items that hold it, else 0.

    ``bm25l`` and ``bm25plus`` add a constant to what an item gains by holding a term, so that a
    very long item is still told from one without it. Some implementations, bm25s among them, give
    a constant to items without the term as well, which takes that lead away again. Here only the
    holders have it, as in the papers.

    Attributes:
        variant: one of `VARIANTS`.
        k1: how slowly repeats saturate, from 0 (a term counts once).
        b: how much a long item is marked down, 0 (not at all) to 1.

    Source: Kamphuis et al., "Which BM25 do you mean?", ECIR 2020: Robertson with its inverse
        document frequency not below 0, Lucene (accurate), ATIRE; BM25L of Lv & Zhai, SIGIR 2011,
        δ = 0.5; BM25+ of Lv & Zhai, CIKM 2011, δ = 1.
    """

    variant: str = "lucene"
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"no variant of BM25 is called {self.variant!r}")

    def idf(self, holders: npt.ArrayLike, items: int) -> Floats:
        """Inverse document frequency, float64 in the shape of `holders`, not below 0.

        Args:
            holders: items that hold the term, for one term or many; 0 counts as 1.
            items: items in all.
        """
        import numpy as np

        held = np.maximum(np.asarray(holders, dtype=np.float64), 1.0)
        odds = (items - held + 0.5) / (held + 0.5)
        if self.variant == "lucene":
            return np.asarray(np.log1p(odds))
        if self.variant == "robertson":
            return np.asarray(np.log(np.maximum(odds, 1.0)))
        if self.variant == "atire":
            ratio = items / held
        else:
            ratio = (items + 1) / (held + (0.5 if self.variant == "bm25l" else 0.0))
        return np.asarray(np.log(np.maximum(ratio, 1.0)))

    def norm(self, length: npt.ArrayLike, mean_length: float) -> Floats:
        """What `gain` takes of an item's length, in the shape of `length`.

        Args:
            length: terms in each item.
            mean_length: over all items, above 0.
        """
        import numpy as np

        relative = 1 - self.b + self.b * np.asarray(length) / mean_length
        return np.asarray(relative if self.variant == "bm25l" else self.k1 * relative)

    def gain(self, count: Floats, norm: Floats) -> Floats:
        """What holding a term as often as `count` is worth before its `idf`; float of that shape.

        Args:
            count: (holders,) from 1.
            norm: (holders,) as `norm` gives it.
        """
        import numpy as np

        if self.variant == "bm25l":  # both sides times the relative length, which may be 0
            above = count + _BM25L_DELTA * norm
            return np.asarray((self.k1 + 1) * above / (above + self.k1 * norm))
        share = np.asarray(count / (count + norm))
        if self.variant in ("lucene", "robertson"):
            return share
        scaled = (self.k1 + 1) * share
        return scaled + _BM25PLUS_DELTA if self.variant == "bm25plus" else scaled
