"""What a chunk defines: by its label and by its text."""

from __future__ import annotations

import pytest

from ragmachine.retrieval.definitions import has_assignment, own_symbols


@pytest.mark.parametrize(
    ("label", "symbols"),
    [
        ("Class: Cache - Method: get; Function: run", {"get", "run"}),
        ("Class: Outer.Inner", {"inner"}),
        ("Section: Cache > Size", set()),
        ("", {""}),
    ],
    ids=["two", "nested", "section", "none"],
)
def test_a_chunk_defines_the_innermost_names_of_its_label(label: str, symbols: set[str]) -> None:
    """Classes around a method, and sections, are not what the chunk itself defines."""
    assert own_symbols(label) == symbols


@pytest.mark.parametrize(
    "text",
    [
        "limit = 5",
        "x\n    limit: int = 5\n",
        "self.limit = 5",
        "\tself.limit: list[int] = []",
        '    "limit": 5,',
        "const limit = 5;",
        "#define limit 5",
        "uses(limit)\nlimit = 5",
    ],
    ids=["plain", "field", "attribute", "typed attribute", "key", "constant", "macro", "after use"],
)
def test_a_line_that_gives_a_name_its_value_defines_it(text: str) -> None:
    """Assignments, fields, keys and macros, at any depth."""
    assert has_assignment(text, "limit")


@pytest.mark.parametrize(
    "text",
    [
        "if limit == 5:",
        "run(limit=5)",
        "    limit=5,",
        "the_limit = 5",
        "limits = 5",
        "other.limit = 5",
        "x = limit",
        "# define limits well",
        "#define limits 5",
        "",
    ],
    ids=["comparison", "argument", "argument on its own line", "end of a name", "start of a name",
         "of another", "read", "comment", "another macro", "empty"],
)  # fmt: skip
def test_a_line_that_uses_a_name_does_not_define_it(text: str) -> None:
    """What only reads a name, or holds it in a longer one."""
    assert not has_assignment(text, "limit")
