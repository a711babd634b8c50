"""Pages built from sources of the same corpus."""

from __future__ import annotations

from pathlib import Path

from ragmachine.corpus.built import built_pages
from ragmachine.corpus.discover import discover

SOURCES = ["doc/build/core/engines.rst", "doc/build/index.rst"]
BUILT = ["doc/searchindex.js", "doc/core/engines.html", "doc/index.html", "doc/genindex.html",
         "doc/_modules/a.html"]  # fmt: skip


def test_pages_with_a_source_are_told() -> None:
    """The page, the builder's own pages and its index go; a page without a source stays."""
    paths = [*SOURCES, *BUILT, "doc/handmade.html", "web/engines.html", "src/a.py"]
    assert built_pages(paths) == set(BUILT)


def test_built_pages_alone_are_kept() -> None:
    """Where the sources are elsewhere, the pages are all there is."""
    assert built_pages(BUILT) == set()


def test_pages_that_no_builder_made_are_kept() -> None:
    """A page beside a text of the same name is no build without the builder's mark."""
    assert built_pages(["a/index.html", "a/index.md"]) == set()


def test_a_page_needs_its_own_source(tmp_path: Path) -> None:
    """`re/engines.rst` is not the source of `core/engines.html`."""
    assert built_pages(["searchindex.js", "core/engines.html", "re/engines.rst"]) == set()


def test_discovery_counts_them_as_generated(tmp_path: Path) -> None:
    """They are left out by rule, and counted."""
    for name in ("src/a.rst", "out/a.html", "out/searchindex.js", "out/own.html"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("text\n")
    found = discover(str(tmp_path), max_file_bytes=1000)
    assert [file.path for file in found.files] == ["out/own.html", "src/a.rst"]
    assert found.skipped["generated"] == 2
