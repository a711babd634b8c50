"""Python is cut at its definitions, then at its statements."""

from __future__ import annotations

import ast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from promises import cut

from ragmachine.chunking import python_ast
from ragmachine.chunking.builder import NodeContext, Piece
from ragmachine.chunking.document import chunk_document


def body(chars: int, indent: int = 4) -> str:
    """Short statements, one a line, of about so many characters."""
    line = " " * indent + "step()\n"
    return line * (chars // len(line))


def function(name: str, chars: int) -> str:
    """A function of about so many characters."""
    return f"def {name}():\n" + body(chars)


def first_lines(chunks: list[str]) -> list[str]:
    """How each chunk begins."""
    return [chunk.split("\n")[0] for chunk in chunks]


def test_a_function_is_whole_at_exactly_the_limit() -> None:
    """11 + 17 * 11 + 2 = 200 characters fit a limit of 200, in spite of the lines around."""
    whole = "def wide():" + "\n    step()" * 17 + " #"
    assert len(whole) == 200
    text = f"before = 1\n\n\n{whole}\n\n\n\nafter = 2\n"
    assert cut("a.py", text, max_chars=200) == ["before = 1", whole, "after = 2"]


def test_a_class_is_whole_where_it_fits() -> None:
    """A class of two methods under the limit is one chunk, not three."""
    text = "class Pair:\n    def a(self):\n        pass\n\n    def b(self):\n        pass\n"
    filler = function("filler", 300)
    assert text.strip() in cut("a.py", filler + "\n\n" + text, max_chars=320)


def test_a_large_class_is_cut_at_its_methods() -> None:
    """Every chunk of a class over the limit starts with the class line or a method's first line."""
    methods = "".join(f"    def m{i}(self):\n{body(140, 8)}\n" for i in range(4))
    chunks = cut("a.py", f"class Big:\n{methods}", max_chars=200)
    assert first_lines(chunks) == ["class Big:", *(f"    def m{i}(self):" for i in (1, 2, 3))]


def test_a_large_method_is_cut_between_statements() -> None:
    """No statement of three lines is torn when its method is cut."""
    statement = "        call(\n            first,\n        )\n"
    text = "class A:\n    def m(self):\n" + statement * 20
    for chunk in cut("a.py", text, max_chars=200)[1:]:
        assert chunk.startswith("        call(")
        assert chunk.endswith(")")


def test_a_small_limit_still_cuts_between_statements() -> None:
    """At 60 characters, too, a call of 41 is not torn."""
    statement = "    call(\n        first,\n        last)\n"
    chunks = cut("a.py", "def f():\n" + statement * 3, max_chars=60)
    assert chunks == [("def f():\n" + statement).rstrip(), statement.rstrip(), statement.rstrip()]


def test_a_statement_over_the_limit_is_cut_at_line_ends() -> None:
    """A string of 30 lines is cut, and each line stays whole."""
    text = 'text = """' + "a line of the text\n" * 30 + '"""\n'
    assert all(
        chunk.endswith("a line of the text") for chunk in cut("a.py", text, max_chars=200)[:-1]
    )


def test_a_table_of_values_is_cut_between_its_items() -> None:
    """In a dictionary over the limit, comment, key and value stay together."""
    item = "    # what it does\n    'key': (\n        'value',\n    ),\n"
    chunks = cut("a.py", "TABLE = {\n" + item * 12 + "}\n", max_chars=200)
    assert len(chunks) > 3
    assert all(chunk.startswith(("TABLE = {\n    # what", "    # what")) for chunk in chunks)
    assert all(chunk.endswith(("    ),", "    ),\n}")) for chunk in chunks)


def test_arguments_of_a_call_are_cut_between_them() -> None:
    """A call over the limit is cut where an argument starts, keywords included."""
    argument = "    name=[\n        'value',\n    ],\n"
    arguments = "".join(argument.replace("name", f"name{i}") for i in range(10))
    chunks = cut("a.py", f"setup(\n    'first',\n{arguments})\n", max_chars=150)
    assert all(chunk.startswith("    name") for chunk in chunks[1:])


@pytest.mark.parametrize(
    "above",
    [
        pytest.param("@decorate\n", id="decorator"),
        pytest.param("@decorate(\n    1,\n)\n", id="decorator of three lines"),
        pytest.param("@(\n    decorate\n)\n", id="decorator in brackets"),
        pytest.param("# a comment\n# of two lines\n", id="comment"),
        pytest.param("# a comment\n@decorate\n# between\n@again\n", id="comments and decorators"),
    ],
)
@pytest.mark.parametrize("keyword", ["def f():", "async def f():", "class F:"])
@pytest.mark.parametrize("chars", [180, 400], ids=["fits", "cut"])
def test_what_stands_above_a_definition_belongs_to_it(above: str, keyword: str, chars: int) -> None:
    """Decorators and the comment directly above are in the chunk of the definition's first line."""
    text = f"{function('before', 180)}\n\n{above}{keyword}\n{body(chars)}"
    (own,) = [chunk for chunk in cut("a.py", text, max_chars=300) if keyword in chunk]
    assert own.startswith(above)


def test_a_comment_above_the_first_method_belongs_to_it() -> None:
    """It is not left behind with the class line."""
    comment = "    # why there is a method\n    # at all\n"
    members = body(450) + "    def n(self):\n" + body(150, 8)
    text = f"class A:\n{comment}    def m(self):\n{body(470, 8)}{members}"
    (own,) = [chunk for chunk in cut("a.py", text, max_chars=500) if "def m" in chunk]
    assert f"class A:\n{comment}    def m(self):\n        step()" in own


def test_a_comment_inside_a_suite_stays_in_it() -> None:
    """A closing comment, indented as the body, does not move on to the next function."""
    text = f"def f():\n{body(100)}    # the end of f\n\n\ndef g():\n{body(100)}"
    first, second = cut("a.py", text, max_chars=150)
    assert first.endswith("# the end of f")
    assert second.startswith("def g")


def test_a_string_below_a_variable_belongs_to_it() -> None:
    """Attribute docstrings are not parted from their attributes."""
    field = '    size: int = 0\n    """How large\n    it is.\n    """\n\n'
    chunks = cut("a.py", "class A:\n" + field * 8, max_chars=150)
    assert len(chunks) > 3
    assert all(chunk.endswith('"""') for chunk in chunks)
    assert all(chunk.startswith("    size") for chunk in chunks[1:])


def test_dead_code_above_a_function_does_not_tear_it() -> None:
    """A comment set apart by a blank line counts as code of its own."""
    dead = "# old()\n" * 20
    whole = function("f", 180).rstrip()
    assert whole in cut("a.py", f"x = 1\n\n{dead}\n\n{whole}\n", max_chars=200)


def test_code_after_the_last_function_does_not_tear_it() -> None:
    """Comments at the end of the file are a chunk of their own when they do not fit."""
    whole = function("f", 180).rstrip()
    chunks = cut("a.py", f"{whole}\n\n\n" + "# the end\n" * 10, max_chars=200)
    assert chunks == [whole, "\n".join(["# the end"] * 10)]


@pytest.mark.parametrize(
    "opening",
    [
        pytest.param("class A(\n    B,\n):\n", id="class"),
        pytest.param("def f(\n    first,\n    last,\n):\n", id="function"),
        pytest.param("@decorate\nasync def f():\n", id="decorated"),
    ],
)
def test_an_opening_never_stands_alone(opening: str) -> None:
    """The first statement shares the chunk of a signature, even where it must be cut for that."""
    statement = "    call(\n" + "        value,\n" * 18 + "    )\n"
    chunks = cut("a.py", opening + statement * 2, max_chars=300)
    assert chunks[0].startswith(f"{opening}    call(")


def test_an_opening_does_not_end_the_chunk_before() -> None:
    """A class over the limit starts a chunk; its first line is no tail of what precedes it."""
    text = f"{function('f', 100)}\n\nclass B:\n    def m(self):\n{body(450, 8)}"
    assert first_lines(cut("a.py", text, max_chars=200))[:2] == ["def f():", "class B:"]


def test_imports_are_one_block() -> None:
    """Imports with blank lines and comments among them stay together, apart from other code."""
    imports = "import a\n\n# ours\nfrom b import c\n\nimport d"
    chunks = cut("a.py", f"{imports}\n\n\n{function('f', 150)}", max_chars=180)
    assert chunks[0] == imports


def test_no_import_is_torn() -> None:
    """Imports over the limit are cut between statements."""
    statement = "from package import (\n    first,\n    second,\n)\n"
    chunks = cut("a.py", statement * 8, max_chars=215)
    assert all(chunk.startswith("from") and chunk.endswith(")") for chunk in chunks)


def test_small_neighbours_are_packed() -> None:
    """Ten constants and a short function are one chunk at the usual limit."""
    text = "".join(f"A{i} = {i}\n" for i in range(10)) + "\n\ndef f():\n    return A1\n"
    assert cut("a.py", text) == [text.rstrip()]


def test_a_closing_bracket_is_not_a_chunk() -> None:
    """A literal just over the limit is halved rather than cut before its last bracket."""
    text = "x = (" + "\n    'abc'" * 20 + "\n)\n"
    assert len(text) == 208
    assert all(len(chunk) > 80 for chunk in cut("a.py", text, max_chars=200))


def test_an_if_over_the_limit_is_cut_in_its_suites() -> None:
    """if, elif and else are cut at the statements they hold; `else:` goes with what follows."""
    call = "    call(\n        'value',\n    )\n"
    text = "if a:\n" + call * 6 + "elif b:\n" + call * 6 + "else:\n" + call * 6
    chunks = cut("a.py", text, max_chars=150)
    assert all(chunk.endswith("    )") for chunk in chunks)
    assert not any(chunk.endswith("else:") for chunk in chunks)


def test_a_long_chain_of_elif_is_no_problem() -> None:
    """A chain is not as deep as it is long."""
    text = "if a == 0:\n    pass\n" + "".join(f"elif a == {i}:\n    pass\n" for i in range(1, 150))
    document = chunk_document("a.py", text, max_chars=200)
    assert document.problem == ""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(:\n    pass\n", id="syntax error"),
        pytest.param("x = 1\0\n", id="NUL"),
        pytest.param("if a:\n\tx = 1\n        y = 2\n", id="tabs and spaces"),
        pytest.param("(" * 500 + ")" * 500, id="brackets 500 deep"),
        pytest.param("".join(" " * i + "if a:\n" for i in range(150)), id="suites 150 deep"),
        pytest.param("x ?? y\n", id="syntax of another version"),
        pytest.param("x = '\ud800'\n", id="lone surrogate"),
        pytest.param("\ufeff\ufeffx = 1\n", id="two byte order marks"),
    ],
)
def test_what_does_not_parse_is_cut_and_reported(text: str) -> None:
    """The file is indexed all the same; the report is one line that says why."""
    assert cut("a.py", text)[0].startswith(text[:5])
    document = chunk_document("a.py", text, max_chars=2000)
    assert document.problem.startswith("not parsed as python (")
    assert document.problem.endswith(("): cut by lines", "): cut by tree-sitter"))
    assert "\n" not in document.problem
    assert "None" not in document.problem


@pytest.mark.parametrize("error", [RecursionError("deep"), MemoryError()], ids=repr)
def test_a_parser_out_of_stack_is_reported_in_words(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such errors carry no message worth passing on."""

    def fail(text: str, max_chars: int) -> None:
        raise error

    monkeypatch.setattr(python_ast, "python_blocks", fail)
    document = chunk_document("a.py", "x = 1\n", max_chars=2000)
    assert document.problem.startswith("not parsed as python (nested too deeply): cut by ")


def test_a_file_that_warns_prints_nothing() -> None:
    """The compiler's remarks on a corpus are not ours to print; here a warning would fail."""
    assert chunk_document("a.py", "x = '\\d'\ny = 1 is 1\n", max_chars=2000).problem == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CR LF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_line_ends_and_marks_do_not_move_boundaries(mark: str, end: str) -> None:
    """The same cuts, in characters of the text as it is."""
    text = f"{function('f', 150)}\n\n# on g\n{function('g', 150)}\n\n{function('h', 150)}"
    expected = cut("a.py", text, max_chars=190)
    assert len(expected) == 3
    chunks = cut("a.py", mark + text.replace("\n", end), max_chars=190)
    assert [chunk.lstrip("\ufeff").replace(end, "\n") for chunk in chunks] == expected


def contexts(text: str, *, max_chars: int = 60) -> dict[str, NodeContext]:
    """The contexts that the chunks of a text meet, by name."""
    pieces: list[Piece] = chunk_document("a.py", text, max_chars=max_chars).pieces
    return {context.name: context for piece in pieces for context in piece.contexts}


DECORATED = '''\
class Outer(Base):
    """What it is for.

    More.
    """

    @property
    @cache(
        size=1
    )
    def value(self):
        """Return  it."""

        def inner():
            return "a string of some length to fill a chunk"

        return inner()


async def run():
    pass
'''


def test_context_of_a_method() -> None:
    """Kind, name, parents, decorators without @ on one line, first line of the docstring."""
    assert contexts(DECORATED)["value"] == NodeContext(
        kind="method",
        name="value",
        parents=("Outer",),
        decorators=("property", "cache(size=1)"),
        summary="Return  it.",
    )


def test_context_of_a_class() -> None:
    """The summary is the first line of the docstring."""
    assert contexts(DECORATED)["Outer"] == NodeContext("class", "Outer", summary="What it is for.")


def test_context_of_a_nested_function() -> None:
    """A function in a method is a function, with both as parents."""
    inner = contexts(DECORATED)["inner"]
    assert (inner.kind, inner.parents) == ("function", ("Outer", "value"))


def test_context_of_a_coroutine() -> None:
    """`async def` is a function."""
    assert contexts(DECORATED)["run"].label() == "Function: run"


@pytest.mark.parametrize(
    ("context", "label"),
    [
        (NodeContext("method", "step", ("Engine",)), "Class: Engine - Method: step"),
        (NodeContext("method", "step", ("A", "B")), "Class: A.B - Method: step"),
        (NodeContext("function", "run"), "Function: run"),
        (NodeContext("function", "inner", ("A", "run")), "Function: A.run.inner"),
        (NodeContext("class", "B", ("A",)), "Class: A.B"),
        (NodeContext("imports"), "Imports"),
        (NodeContext("module"), "Module"),
        (NodeContext("section", "Use", ("Guide",)), "Section: Guide > Use"),
        (NodeContext("section"), "Section: Introduction"),
        (NodeContext("text"), ""),
    ],
    ids=lambda value: value.kind if isinstance(value, NodeContext) else "",
)
def test_label(context: NodeContext, label: str) -> None:
    """The place as people read it."""
    assert context.label() == label


def test_a_summary_can_be_written_to_a_file() -> None:
    """A docstring may spell a lone surrogate; UTF-8 may not."""
    text = 'def f():\n    """One \\ud800 surrogate."""\n'
    (block,) = python_ast.python_blocks(text)
    assert block.context.summary == "One ? surrogate."


SIMPLE = [
    "x = 1",
    "y = 2; z = 3",
    "total = 1 + \\\n2",
    'text = """\ncolumn zero\n\n# no comment\n@no_decorator\n"""',
    "call(\n1,\n\n# inner\n2,\n)",
    "from a import (\nb,\n)",
    "import os; import sys",
    "# a comment",
    "",
    "assert x, 'é中'",
    "items = [" + "".join(f"\n    'item {i}'," for i in range(12)) + "\n]",
    "async_ = lambda: (\n    1)",
]
OPENINGS = {
    "def": [
        "def f(x):",
        "async def f(x, *, y=1):",
        "def f(\n        x,\n        # inner\n        y):",
    ],
    "class": ["class A:", "class A(B, c=1):"],
    "plain": ["if x:", "for i in y:", "while x:", "with a as b:", "with (\n    a as b,\n):"],
    "match": ["match x:"],
    "try": ["try:"],
}


@st.composite
def suites(draw: st.DrawFn, depth: int = 0) -> str:
    """Statements of one suite, indented by its depth."""
    indent = "    " * depth
    parts: list[str] = []
    kinds = ["simple", "simple", "simple"] + (list(OPENINGS) if depth < 3 else [])
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(kinds))
        if kind == "simple":
            statement = draw(st.sampled_from(SIMPLE))
            parts.append(indent + statement if statement else "")
            continue
        if kind in ("def", "class"):
            above = st.sampled_from(["# about it", "@dec", "@dec(\n    1,\n)"])
            parts += [indent + line for line in draw(st.lists(above, max_size=2))]
        opening = indent + draw(st.sampled_from(OPENINGS[kind]))
        suite = draw(suites(depth + (2 if kind == "match" else 1)))
        if kind == "match":
            opening += f"\n{indent}    case _:"
        if kind == "try":
            suite += f"\n{indent}finally:\n{indent}    pass"
        parts.append(f"{opening}\n{suite}")
    parts.append(indent + "pass")
    parts.append(draw(st.sampled_from(["", indent + "# the end", "\n"])))
    return "\n".join(parts)


PROGRAMS = st.builds(
    lambda suite, tail: suite + tail, suites(), st.sampled_from(["", "\n", "\n\n# end\n"])
)


@settings(max_examples=80, deadline=None)
@given(text=PROGRAMS, max_chars=st.integers(40, 600))
def test_valid_programs_parse_and_keep_the_promises(text: str, max_chars: int) -> None:
    """Semicolons, continuations, column-0 strings and trailing comments change nothing."""
    assert chunk_document("a.py", text, max_chars=max_chars).problem == ""
    cut("a.py", text, max_chars=max_chars)


@settings(max_examples=80, deadline=None)
@given(text=PROGRAMS, max_chars=st.integers(100, 600))
def test_top_level_definitions_are_whole_where_they_fit(text: str, max_chars: int) -> None:
    """From the comment directly above to the last line, in one chunk."""
    chunks = cut("a.py", text, max_chars=max_chars)
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = _first_line(node)
            while first > 1 and lines[first - 2].startswith("#"):
                first -= 1
            whole = "\n".join(lines[first - 1 : node.end_lineno])
            if len(whole) <= max_chars:
                assert any(whole in chunk for chunk in chunks)


@settings(max_examples=80, deadline=None)
@given(text=PROGRAMS, max_chars=st.integers(1000, 1600))
def test_signatures_are_never_parted(text: str, max_chars: int) -> None:
    """Decorators, signature and the beginning of the first statement share a chunk."""
    chunks = cut("a.py", text, max_chars=max_chars)
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            opening = lines[_first_line(node) - 1 : _first_line(node.body[0])]
            assume(len("\n".join(opening)) <= max_chars // 4)
            assert any("\n".join(opening) in chunk for chunk in chunks)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])
