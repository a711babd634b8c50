"""Code of other languages is cut at its definitions, with what leads them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from language_sources import SOURCES, Source
from promises import cut

from ragmachine.chunking import grammars
from ragmachine.chunking.builder import Piece
from ragmachine.chunking.document import chunk_document
from ragmachine.chunking.nodes import split_name
from ragmachine.index.analyze import label_of
from ragmachine.retrieval.definitions import own_symbols

BY_PATH = {source.path: source for source in SOURCES}
NAMES = [source.path for source in SOURCES]


def pieces_of(source: Source, text: str | None = None) -> list[tuple[Piece, str]]:
    """The chunks of a source with their text."""
    text = source.text if text is None else text
    document = chunk_document(source.path, text, max_chars=source.max_chars)
    assert not document.problem or source.path.endswith(".py")
    return [(piece, text[piece.start : piece.end]) for piece in document.pieces]


@pytest.mark.parametrize("name", NAMES)
def test_definitions_are_found_with_what_leads_them(name: str) -> None:
    """Each is labelled, and its comment, attributes and signature share one chunk."""
    source = BY_PATH[name]
    found: dict[str, list[str]] = {}
    for piece, text in pieces_of(source):
        for context in piece.contexts:
            found.setdefault(context.label(), []).append(text)
    for label, words in source.labels.items():
        assert label in found
        assert any(all(word in text for word in words) for text in found[label]), label


@pytest.mark.parametrize(
    ("name", "label", "decorators", "summary"),
    [
        ("counter.rs", "Struct: Counter", ("derive(Debug, Default)",), "Counts words, whatever"),
        ("Cart.java", "Class: Cart", ("Service",), "What somebody is about to buy."),
        ("Basket.cs", "Class: Shop.Core.Basket", ("Serializable",), "What somebody is about"),
        ("User.php", "Class: App.Models.User", ("Entity(table: 'users')",), "Someone who may"),
        ("table.ts", "Class: Reader", ('Injectable({ scope: "request" })',), ""),
        ("machine.py", "Class: Machine - Method: banner", ("property",), "Prints its name"),
        ("schema.sql", "View: regulars", (), "Those who came back"),
    ],
)
def test_attributes_and_summary_are_read_off(
    name: str, label: str, decorators: tuple[str, ...], summary: str
) -> None:
    """Without the signs that mark them, wherever the grammar puts them."""
    contexts = {c.label(): c for piece, _ in pieces_of(BY_PATH[name]) for c in piece.contexts}
    assert contexts[label].decorators == decorators
    assert contexts[label].summary.startswith(summary)
    assert bool(contexts[label].summary) == bool(summary)


@pytest.mark.parametrize("name", NAMES)
def test_retrieval_finds_the_definition_of_a_name(name: str) -> None:
    """`own_symbols` reads the names out of the labels, however they are qualified."""
    source = BY_PATH[name]
    symbols = set()
    for piece, _ in pieces_of(source):
        symbols |= own_symbols(label_of(piece.contexts))
    names = {label.rpartition(": ")[2].rpartition(".")[2].lower() for label in source.labels}
    assert names - {"imports"} <= symbols


@pytest.mark.parametrize("name", NAMES)
def test_a_lone_cr_ends_a_line(name: str) -> None:
    """The chunks are those of the same text with LF, behind a byte order mark too."""
    source = BY_PATH[name]
    mac = pieces_of(source, "\ufeff" + source.text.replace("\n", "\r"))
    unix = pieces_of(source)
    assert [piece.contexts for piece, _ in mac] == [piece.contexts for piece, _ in unix]
    texts = [text.lstrip("\ufeff").replace("\r", "\n") for _, text in mac]
    assert texts == [text for _, text in unix]


@pytest.mark.parametrize("name", NAMES)
def test_cr_lf_hides_no_definition(name: str) -> None:
    """Each is found in the lines it takes; the limit counts the characters that are there."""
    source = BY_PATH[name]
    text = source.text.replace("\n", "\r\n")
    document = chunk_document(source.path, text, max_chars=4000)
    unix = chunk_document(source.path, source.text, max_chars=4000)
    assert [piece.contexts for piece in document.pieces] == [p.contexts for p in unix.pieces]
    cut(source.path, text, max_chars=source.max_chars)


@pytest.mark.parametrize("name", NAMES)
def test_offsets_count_characters_not_bytes(name: str) -> None:
    """Letters of several bytes before a definition do not shift it."""
    source = BY_PATH[name]
    marks = {".py": "#", ".rb": "#", ".sh": "#", ".sql": "--"}
    mark = marks.get(name[name.rindex(".") :], "//")
    comment = f"{mark} é中文🙂 naïve\n" * 3
    head, _, rest = source.text.partition("\n")
    text = f"{head}\n{comment}{rest}" if head.startswith(("#!", "<?php")) else comment + source.text
    if head.startswith("/*"):
        text = comment + source.text
    plain = {(p.contexts[-1], t.split("\n")[-1]) for p, t in pieces_of(source)}
    moved = {(p.contexts[-1], t.split("\n")[-1]) for p, t in pieces_of(source, text)}
    assert len(plain - moved) <= 1  # the first chunk may hold less
    cut(source.path, text, max_chars=source.max_chars)


LINES = st.sampled_from([line for source in SOURCES for line in source.text.split("\n")])
ODD = st.sampled_from(
    ["", "\x00", "é中文🙂", "\u2028", "\x0c", "#endif", "}", "};", "{", '"', "'''"]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", ""])
ROWS = st.lists(st.tuples(st.one_of(LINES, LINES, ODD, st.text(max_size=12)), ENDS), max_size=40)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(rows=ROWS, max_chars=st.one_of(st.integers(1, 60), st.integers(60, 1500)))
def test_any_lines_keep_the_promises(
    name: str, rows: list[tuple[str, str]], max_chars: int
) -> None:
    """Code of all languages mixed, cut off anywhere, is covered once and within the limit."""
    cut(name, "".join(line + end for line, end in rows), max_chars=max_chars)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(start=st.integers(0, 2000), length=st.integers(0, 2000), max_chars=st.integers(80, 800))
def test_a_part_of_a_file_keeps_the_promises(
    name: str, start: int, length: int, max_chars: int
) -> None:
    """A file that begins and ends in the middle of a definition is cut as well."""
    cut(name, BY_PATH[name].text[start : start + length], max_chars=max_chars)


def test_a_long_function_is_cut_between_its_statements() -> None:
    """The signature leads the first statements; no statement is parted where one fits."""
    step = "    if (step == {0}) {{\n        run_step({0},\n            {0});\n    }}\n"
    body = "".join(map(step.format, range(60)))
    chunks = cut("a.c", "/* Runs. */\nvoid run_all(int step)\n{\n" + body + "}\n", max_chars=600)
    assert chunks[0].startswith("/* Runs. */\nvoid run_all(int step)\n{\n    if (step == 0) {")
    assert len(chunks) > 5
    assert all(chunk.count("if (") == chunk.count("run_step(") for chunk in chunks)
    assert all(chunk.lstrip().startswith(("if (", "/*")) for chunk in chunks)


def test_statements_of_a_paragraph_stay_together() -> None:
    """A blank line between statements is a better place to cut than any other line end."""
    paragraph = "".join(f"echo line_{number} of_a_paragraph\n" for number in range(12))
    chunks = cut("a.sh", "\n".join([paragraph] * 8), max_chars=900)
    assert all(chunk.startswith("echo line_0 ") for chunk in chunks)


def test_a_broken_function_keeps_its_name() -> None:
    """Braces that a preprocessor would balance do not hide whose signature it is."""
    text = (
        "template <typename T>\nvoid broken_kernel(const T* from, T* to) {\n"
        "#if defined(FAST)\n  for (int i = 0; i < 4; ++i) {\n#else\n  {\n#endif\n"
        + "    to[0] = from[0];\n" * 40
        + "  }\n}\n\nvoid next_function() {\n  run();\n}\n"
    )
    document = chunk_document("a.cu", text, max_chars=500)
    symbols = [own_symbols(label_of(piece.contexts)) for piece in document.pieces]
    assert "broken_kernel" in symbols[0]
    assert document.problem == ""


def test_headers_are_read_as_what_they_hold() -> None:
    """A `.h` with classes is C++, one with kernels CUDA, all others C."""
    cpp = chunk_document("a.h", "class Ring {\n public:\n  int at();\n};\n", max_chars=2000)
    cuda = chunk_document("a.h", "__global__ void run(int* x) {\n  *x = 1;\n}\n", max_chars=2000)
    plain = chunk_document("a.h", "struct ring {\n  int class;\n};\n", max_chars=2000)
    assert [p.contexts[0].label() for p in cpp.pieces] == ["Class: Ring"]
    assert [p.contexts[0].label() for p in cuda.pieces] == ["Function: run"]
    assert [p.contexts[0].label() for p in plain.pieces] == ["Struct: ring"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Ring<T>::pop", ("Ring", "pop")),
        ("a::b::Map<std::pair<int, T>, U>::~Map", ("a", "b", "Map", "~Map")),
        ("Set::operator<", ("Set", "operator<")),
        ("operator()", ("operator()",)),
        ("Big::operator bool() const", ("Big", "operator bool")),
        ("my_operators", ("my_operators",)),
        ("App\\Models\\User", ("App", "Models", "User")),
        ("module.exports.run", ("run",)),
        ("<=>", ("<=>",)),
        ("[]", ("[]",)),
        ("[order details]", ("order details",)),
        ("{ a, b }", ()),
        ("make()(x)", ()),
        ("x" * 121, ()),
        ("", ()),
    ],
)
def test_names_are_split_at_what_qualifies_them(text: str, path: tuple[str, ...]) -> None:
    """Template arguments are dropped, operators kept, and what is no name gives none."""
    assert split_name(text) == path


def test_python_2_is_cut_at_its_definitions() -> None:
    """What the running interpreter refuses is read by the grammar, and said to be."""
    document = chunk_document("machine.py", BY_PATH["machine.py"].text, max_chars=2000)
    assert {c.label() for p in document.pieces for c in p.contexts} == {"Imports", "Class: Machine"}
    assert document.problem.startswith("not parsed as python (line ")
    assert document.problem.endswith("): cut by tree-sitter")


def test_broken_python_is_cut_where_it_can_be_read() -> None:
    """One bad line does not cost a file its definitions."""
    text = "def good():\n    return 1\n\n\nx = = 3\n\n\nclass Fine:\n    y = 2\n"
    document = chunk_document("a.py", text, max_chars=60)
    labels = [context.label() for piece in document.pieces for context in piece.contexts]
    assert "Function: good" in labels
    assert "Class: Fine" in labels
    assert document.problem.startswith("not parsed as python (line 5: ")


HOSTILE = {
    "brackets": ("a.cpp", "int x = " + "(" * 20_000 + "1" + ")" * 20_000 + ";\n"),
    "braces": ("a.c", "{\n" * 20_000),
    "scopes": ("a.cpp", "namespace a {\n" * 5_000),
    "templates": ("a.cpp", "a<" * 20_000),
    "conditions": ("a.c", "#if A\n" * 4_000 + "int x;\n" + "#endif\n" * 4_000),
    "else if": ("a.c", "void f() {\n" + "if (a) {\n}\nelse " * 5_000 + "{}\n}\n"),
    "here documents": ("a.sh", "cat <<END_OF_THIS_ONE\n" * 5_000),
    "quotes": ("a.js", "`${" * 20_000),
    "elements": ("a.jsx", "<a>\n" * 10_000),
    "indents": ("a.py", "".join(" " * depth + "if x:\n" for depth in range(400)) + "print 1\n"),
    "modules": ("a.rb", "module A\n" * 5_000),
    "one line": ("a.js", "function f(a){return a+1};" * 4_000),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_code_is_cut_all_the_same(case: str) -> None:
    """Neither nesting nor what never closes takes the stack, or time without an end."""
    name, text = HOSTILE[case]
    assert cut(name, text)


def test_a_parser_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is cut by lines and reported; the next one is parsed as if nothing had been."""
    text = BY_PATH["mixer.hpp"].text
    monkeypatch.setattr(grammars, "_MAX_SECONDS", 0.0)
    monkeypatch.setattr(grammars, "_STEPS_PER_LOOK", 1)
    stopped = chunk_document("mixer.hpp", text, max_chars=320)
    assert stopped.problem == (
        "not parsed as cpp (takes a parser more than 0 seconds): cut by lines"
    )
    monkeypatch.setattr(grammars, "_MAX_SECONDS", 5.0)
    monkeypatch.setattr(grammars, "_FREE_STEPS", 0)
    monkeypatch.setattr(grammars, "_STEPS_PER_BYTE", 0.001)
    assert "too many steps" in chunk_document("mixer.hpp", text, max_chars=320).problem
    monkeypatch.undo()
    assert chunk_document("mixer.hpp", text, max_chars=320).problem == ""


def test_a_huge_file_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree takes many times the memory of its text."""
    monkeypatch.setattr(grammars, "_MAX_BYTES", 100)
    document = chunk_document("a.go", "func f() {}\n" * 20, max_chars=400)
    assert document.problem == "not parsed as go (larger than 100 bytes): cut by lines"
    assert document.pieces


@pytest.mark.parametrize("name", NAMES)
def test_without_the_grammars_lines_are_all_there_is(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file becomes a problem because an extra is not installed, but for Python as ever."""
    monkeypatch.setattr(grammars, "_grammar", lambda module, entry: None)
    document = chunk_document(name, BY_PATH[name].text, max_chars=320)
    assert {context.kind for piece in document.pieces for context in piece.contexts} == {"text"}
    assert bool(document.problem) == name.endswith(".py")


def test_a_dialect_without_a_grammar_is_cut_by_lines() -> None:
    """The shell fish is one that the grammar of Bash does not read."""
    document = chunk_document("a.fish", "function hi\n  echo hi\nend\n", max_chars=400)
    assert [context.kind for piece in document.pieces for context in piece.contexts] == ["text"]
