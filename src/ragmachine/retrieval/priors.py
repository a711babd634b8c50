"""What a file's place in a project says about it, by convention and by the corpus's own shares.

Nothing here names a project: tests, examples, benchmarks and continuous integration are told by
the names that projects in general give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ragmachine.file_types import DOCUMENTATION_TYPES

_SUPPORT_FOLDERS = frozenset(
    """
    test tests testing testdata fixture fixtures spec specs __tests__ e2e bench benchmark
    benchmarks example examples sample samples demo demos script scripts tool tools ci third_party
    vendor external .github .buildkite .circleci .gitlab
    """.split()
)


class Role(IntEnum):
    """What a file is for."""

    CODE = 0
    DOCUMENTATION = 1
    SUPPORT = 2


def role_of(path: str, file_type: str) -> Role:
    """The role of a file by its path relative to the corpus root and its type."""
    folder, _, name = path.rpartition("/")
    name = name.lower()
    # asked of every file at each start: most names are done with after one look
    if _is_support(folder) or ("test" in name and _is_test(name.partition(".")[0])):
        return Role.SUPPORT
    return Role.DOCUMENTATION if file_type in DOCUMENTATION_TYPES else Role.CODE


def _is_test(stem: str) -> bool:
    return stem.startswith("test_") or stem.endswith("_test") or stem == "conftest"


@lru_cache(maxsize=100_000)
def _is_support(folder: str) -> bool:
    return not _SUPPORT_FOLDERS.isdisjoint(folder.lower().split("/"))


def role_factors(
    paths: Sequence[str],
    file_types: Sequence[str],
    file_chunks: npt.NDArray[np.int64],
    *,
    support: float,
    documentation: float,
) -> npt.NDArray[np.float32]:
    """A score factor for every file.

    Args:
        paths: (files,) relative to the corpus root.
        file_types: (files,) short types.
        file_chunks: (files,) chunks of each file.
        support: factor of tests, examples, tools and the like, 1 to switch off.
        documentation: factor of documentation when it is a vanishing share of the corpus; it
            falls to 1 as documentation becomes the whole of it. A rare kind of file is drowned
            by chance matches in the common one.
    """
    found = np.array([role_of(*pair) for pair in zip(paths, file_types, strict=True)], dtype=int)
    total = int(file_chunks.sum()) or 1
    share = float(file_chunks[found == Role.DOCUMENTATION].sum()) / total
    table = np.ones(len(Role), dtype=np.float32)
    table[Role.SUPPORT] = support
    table[Role.DOCUMENTATION] = 1 + (documentation - 1) * (1 - share)
    factors: npt.NDArray[np.float32] = table[found]
    return factors
