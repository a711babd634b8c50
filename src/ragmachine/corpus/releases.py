"""Reference corpora: source distributions, pinned by version and digest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a project as a source archive.

    Attributes:
        project: its name in the package index.
        version: exactly as the index spells it.
        sha256: digest of the archive in lower-case hex.
        folder: the archive's single top folder, and the corpus folder's name.
        title: how people write the project's name; `project` when empty.
    """

    project: str
    version: str
    sha256: str
    folder: str
    title: str = ""

    @property
    def archive(self) -> str:
        """File name of the archive."""
        return f"{self.folder}.tar.gz"

    def __str__(self) -> str:
        return f"{self.title or self.project} {self.version}"


CORPORA = {
    "vllm": Release(
        project="vllm",
        version="0.10.1",
        sha256="99d00498f25b94767bb2696e88feb67730677dae605c9b8af99492dc3c34492d",
        folder="vllm-0.10.1",
        title="vLLM",
    ),
    "sqlalchemy": Release(
        project="sqlalchemy",
        version="2.0.44",
        sha256="0ae7454e1ab1d780aee69fd2aae7d6b8670a581d8847f2d1e0f7ddfbf47e5a22",
        folder="sqlalchemy-2.0.44",
        title="SQLAlchemy",
    ),
    "numpy": Release(
        project="numpy",
        version="2.3.4",
        sha256="a7d018bfedb375a8d979ac758b120ba846a7fe764911a64465fd87b8729f4a6a",
        folder="numpy-2.3.4",
        title="NumPy",
    ),
}
