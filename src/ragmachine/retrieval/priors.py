"""What a file's place in a project says about it, by convention and by the corpus's own shares.

Two things are learned or known of a file before any question is asked, and multiply what its
chunks score. By convention, tests, examples, tools, vendored and generated files support a project
and are rarely what a question is about; nothing here names one project's own folders. From the
corpus, the rarer of documentation and code is lifted, since chance matches in the common kind
drown it: by nothing where both are as common, and by all of the factor where one vanishes. The
setting ``priors`` switches both off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ragmachine.file_types import DOCUMENTATION_TYPES

_SUPPORT_FOLDERS = frozenset(
    """
    test tests testing testdata fixture fixtures spec specs __tests__ e2e bench benchmark
    benchmarks example examples sample samples demo demos script scripts tool tools ci
    external extern node_modules bower_components site-packages subprojects 3rdparty
    generated _generated __generated__ autogen .github .buildkite .circleci .gitlab
    """.split()
)
_VENDORED = ("vendor", "_vendor", "third_party", "third-party", "thirdparty")
_GENERATED = (
    "_pb2.py", "_pb2.pyi", "_pb2_grpc.py", ".pb.go", ".pb.cc", ".pb.h", ".min.js", ".min.mjs",
    ".min.css", ".js.map", ".css.map", ".lock", "-lock.json", "-lock.yaml",
)  # fmt: skip
_PLAIN_TEXT = ("txt", "text")
# Files without a suffix that people read; others of no known type are data or code.
_READ_NAMES = frozenset(
    """
    readme changelog changes news history license licence copying copyright authors contributors
    contributing maintainers notice todo install thanks faq
    """.split()
)


class Role(IntEnum):
    """What a file is for."""

    CODE = 0
    DOCUMENTATION = 1
    SUPPORT = 2


@dataclass(frozen=True, slots=True)
class Priors:
    """What is known of files before any question.

    Attributes:
        factors: (files,) float32 score factors.
        by_role: the factor of each role, by its name in lower case.
    """

    factors: npt.NDArray[np.float32]
    by_role: dict[str, float]


def role_of(path: str, file_type: str) -> Role:
    """The role of a file by its path relative to the corpus root and its type."""
    folder, _, name = path.rpartition("/")
    name = name.lower()
    # asked of every file at each start: most names are done with after one look
    if _is_support(folder) or name.endswith(_GENERATED) or "generated." in name:
        return Role.SUPPORT
    if "test" in name and _is_test(name.partition(".")[0]):
        return Role.SUPPORT
    if file_type not in DOCUMENTATION_TYPES or (file_type == "text" and not _is_read(name)):
        return Role.CODE
    return Role.DOCUMENTATION


def _is_test(stem: str) -> bool:
    return stem.startswith("test_") or stem.endswith("_test") or stem == "conftest"


def _is_read(name: str) -> bool:
    """Whether a file whose type is plain text, or unknown, is a text for people."""
    stem, dot, suffix = name.rpartition(".")
    return suffix in _PLAIN_TEXT if dot and stem else name in _READ_NAMES


@lru_cache(maxsize=100_000)
def _is_support(folder: str) -> bool:
    parts = folder.lower().split("/")
    return not _SUPPORT_FOLDERS.isdisjoint(parts) or any(p.startswith(_VENDORED) for p in parts)


def learn_priors(
    paths: Sequence[str],
    file_types: Sequence[str],
    file_chunks: npt.NDArray[np.int64],
    *,
    support: float,
    documentation: float,
) -> Priors:
    """A score factor for every file.

    Args:
        paths: (files,) relative to the corpus root.
        file_types: (files,) short types.
        file_chunks: (files,) chunks of each file.
        support: factor of tests, examples, tools, vendored and generated files; 1 switches it off.
        documentation: factor of documentation, or of code, where it is a vanishing share of both.
            It falls in proportion to 1 at half of them; the commoner kind has 1.
    """
    found = np.array([role_of(*pair) for pair in zip(paths, file_types, strict=True)], dtype=int)
    chunks = np.bincount(found, weights=file_chunks, minlength=len(Role))
    both = chunks[Role.CODE] + chunks[Role.DOCUMENTATION]
    share = float(chunks[Role.DOCUMENTATION] / both) if both else 0.5
    table = np.ones(len(Role), dtype=np.float32)
    table[Role.SUPPORT] = support
    rare = Role.DOCUMENTATION if share < 0.5 else Role.CODE
    table[rare] = 1 + (documentation - 1) * abs(1 - 2 * share)
    by_role = {role.name.lower(): round(float(table[role]), 3) for role in Role}
    return Priors(table[found], by_role)
