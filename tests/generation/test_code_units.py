"""Cutting code into quotable statements."""

from __future__ import annotations

import textwrap

import pytest

from ragmachine.generation.code_units import code_units
from ragmachine.generation.units import MAX_UNIT_CHARS, split_lines


def units_of(text):
    """All units of a piece of code."""
    return list(code_units(text, split_lines(text), ""))


def quotes(text):
    """The texts of all units, spans joined by a bar."""
    return ["|".join(text[a:b] for a, b in unit.spans) for unit in units_of(text)]


def code(text):
    """A dedented snippet."""
    return textwrap.dedent(text).lstrip("\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = [\n    1,\n    2]", id="brackets"),
        pytest.param("x = 1 + \\\n    2", id="backslash"),
        pytest.param('x = """\ny = (\n"""', id="triple quotes"),
        pytest.param('x = f("(",\n      2)', id="bracket in a string"),
        pytest.param("x = f(1,  # (\n      2)", id="bracket in a comment"),
        pytest.param("const x = {\n  a: 1,\n};", id="object"),
    ],
)
def test_continued_statement_is_one_unit(text):
    """Lines that belong together are quoted together, and the next statement is not."""
    found = quotes(f"{text}\nz = 0\n")
    assert text in found
    assert "z = 0" in found


def test_signature_line_by_line():
    """A long signature is also offered by parameter, below its first line."""
    text = code("""
        def f(
            a: int,
            b: int = 3,
        ) -> int:
            return a
        """)
    assert "def f(|b: int = 3," in quotes(text)


def test_definition_with_its_docstring():
    """A definition is offered with the first sentence of its docstring."""
    text = code('''
        def f(a):
            """Do it. And more.

            Args:
                a: the thing.
            """
            return a
        ''')
    found = quotes(text)
    assert "def f(a):|Do it." in found
    assert "a: the thing." in found


def test_condition_takes_its_body():
    """What an `if` decides is quoted with it."""
    text = "if a is None:\n    a = 1\nb = 2\n"
    found = quotes(text)
    assert "if a is None:\n    a = 1" in found
    assert "if a is None:" not in found


def test_else_is_read_with_its_condition():
    """An `else` is offered below the `if` that it answers."""
    text = "if a:\n    b()\nelse:\n    c()\n"
    assert "if a:|else:\n    c()" in quotes(text)


def test_statement_knows_what_encloses_it():
    """Definitions are the scope; the nearest condition is near."""
    text = code("""
        class Engine:
            def step(self):
                if self.ready:
                    return 7
        """)
    unit = next(u for u in units_of(text) if text[slice(*u.pieces[0])] == "return 7")
    assert "class Engine" in unit.scope
    assert "def step" in unit.scope
    assert "if self.ready" in unit.near


def test_comment_with_what_it_explains():
    """A comment is a unit alone and with the statement below it."""
    text = "# Seconds to wait\n# for the server.\ntimeout = 30\n"
    found = quotes(text)
    assert "# Seconds to wait\n# for the server." in found
    assert "# Seconds to wait\n# for the server.\ntimeout = 30" in found


def test_decorator_belongs_to_its_function():
    """A decorator is quoted with what it decorates."""
    assert quotes("@cache\ndef f():\n    g()\n")[0] == "@cache\ndef f():"


def test_preprocessor_is_code():
    """`#define` and its like are no comments."""
    assert [unit.kind for unit in units_of("#define SIZE 128\n")] == ["code"]


def test_block_of_c():
    """A brace at the end of a header opens a block, not a continuation."""
    found = quotes("int f(int a) {\n  int b = 1;\n  return a + b;\n}\n")
    assert "int b = 1;" in found
    assert "return a + b;" in found


def test_minified_line_is_cut():
    """A statement longer than a quote may be is offered in parts."""
    text = "a = [" + "1, " * 600 + "]"
    assert all(len(part) <= MAX_UNIT_CHARS for part in quotes(text))
    assert " ".join(quotes(text)) == text


def test_text_that_is_no_code():
    """Unbalanced brackets cost at most the statement that holds them."""
    assert quotes("a ((( b\n") == ["a ((( b"]
    assert quotes("") == []
