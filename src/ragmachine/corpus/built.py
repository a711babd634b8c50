"""Pages that a documentation builder made from sources which lie in the same corpus.

Sphinx leaves a ``searchindex.js`` at the top of what it builds. An HTML page below it whose source
is in the corpus says nothing that the source does not, and would crowd it out of every result. A
corpus of built pages alone keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable

MARKER = "searchindex.js"
_SOURCES = (".rst", ".md", ".txt")
_WITHOUT_SOURCE = frozenset({"genindex", "py-modindex", "search", "modindex"})


def built_pages(paths: Iterable[str]) -> set[str]:
    """The paths, relative to the corpus root, of pages built from sources among the paths."""
    known = list(paths)
    tops = [path.removesuffix(MARKER) for path in known if path.rpartition("/")[2] == MARKER]
    if not tops:
        return set()
    stems: dict[str, list[str]] = {}
    for path in known:
        stem, dot, suffix = path.rpartition(".")
        if dot and "." + suffix in _SOURCES:
            stems.setdefault(stem.rpartition("/")[2], []).append(f"/{stem}")
    found: set[str] = set()
    for top in tops:
        pages = [path for path in known if path.startswith(top) and path.endswith(".html")]
        built = {page for page in pages if _has_source(page, top, stems)}
        if built:  # then the builder's own pages and index are of no use either
            own = {page for page in pages if _is_builders_own(page, top)}
            found |= built | own | {top + MARKER}
    return found


def _has_source(page: str, top: str, stems: dict[str, list[str]]) -> bool:
    stem = page.removeprefix(top).removesuffix(".html")
    return any(source.endswith(f"/{stem}") for source in stems.get(stem.rpartition("/")[2], ()))


def _is_builders_own(page: str, top: str) -> bool:
    stem = page.removeprefix(top).removesuffix(".html")
    return stem in _WITHOUT_SOURCE or stem.startswith("_modules/")
