"""Notebooks become Markdown, a place for each cell, without what their cells printed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragmachine.corpus.loaders.loaded import Loaded
from ragmachine.corpus.loaders.registry import Loaders


def load(document: Any) -> Loaded | None:
    """What the loaders make of a notebook."""
    with Loaders() as loaders:
        return loaders.load("a.ipynb", json.dumps(document).encode())


def notebook(*cells: dict[str, Any], language: str = "python") -> dict[str, Any]:
    """A notebook of format 4."""
    kernel = {"kernelspec": {"language": language}}
    return {"cells": list(cells), "metadata": kernel, "nbformat": 4}


MARKDOWN = {"cell_type": "markdown", "source": ["# Pumps\n", "\n", "All about them."]}
CODE = {
    "cell_type": "code",
    "source": "x = 1\nprint(x)",
    "outputs": [{"text": "printed secret", "data": {"image/png": "iVBORw0KGgo"}}],
}


def test_cells_become_text_with_places() -> None:
    """Prose stays Markdown, code is fenced, outputs are gone; empty cells count."""
    loaded = load(notebook(MARKDOWN, {"cell_type": "code", "source": []}, CODE))
    assert loaded is not None
    assert loaded.text == "# Pumps\n\nAll about them.\n\n```python\nx = 1\nprint(x)\n```\n\n"
    assert loaded.places == ((0, "cell 1"), (loaded.text.index("```"), "cell 3"))
    assert loaded.file_type == "notebook"


def test_a_fence_in_code_does_not_end_the_cell() -> None:
    """Code that holds a fence gets a longer one."""
    cell = {"cell_type": "code", "source": 'text = """\n```\n# no heading\n```\n"""'}
    loaded = load(notebook(cell, language="julia"))
    assert loaded is not None
    assert loaded.text.startswith("````julia\n")
    assert loaded.text.endswith("\n````\n\n")


def test_pasted_images_are_dropped() -> None:
    """A picture within a cell of prose is no text."""
    source = "Look: ![plot](data:image/png;base64,AAAA) here ![b](attachment:x.png)"
    loaded = load(notebook({"cell_type": "markdown", "source": source}))
    assert loaded is not None
    assert loaded.text == "Look:  here \n\n"


def test_the_older_format() -> None:
    """Format 3 keeps its cells in sheets, and headings in cells of their own."""
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Use"},
        {"cell_type": "code", "input": "f()"},
    ]
    loaded = load({"worksheets": [{"cells": cells}], "nbformat": 3})
    assert loaded is not None
    assert loaded.text == "## Use\n\n```python\nf()\n```\n\n"


@pytest.mark.parametrize(
    "document",
    [[], {}, {"cells": 5}, {"cells": None}, "text", None],
    ids=["list", "empty", "number", "null", "string", "nothing"],
)
def test_what_is_no_notebook_stays_as_it_is(document: Any) -> None:
    """A file that only looks like a notebook is indexed as the text that it is."""
    assert load(document) is None


def test_odd_cells_are_passed_over() -> None:
    """Cells of other types than the format knows are no reason to lose the others."""
    loaded = load(notebook({"cell_type": "code", "source": 7}, MARKDOWN) | {"metadata": []})
    assert loaded is not None
    assert loaded.places == ((0, "cell 2"),)
