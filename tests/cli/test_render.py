"""How results read: the lines of a hit, what is marked in them, and answers as they are written."""

from __future__ import annotations

import io
import re

import pytest
from house import Program

from ragmachine.index.tokens import Tokenizer
from ragmachine.models import Answer, Chunk, Citation, Hit, SearchResult, Support
from ragmachine.terminal.clean import clean
from ragmachine.terminal.console import Console
from ragmachine.terminal.preview import preview


class Screen(io.StringIO):
    """A terminal in memory."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """It is one."""
        return True


def hit_on(text: str, query: str) -> Hit:
    """A hit of a query on a chunk of that text."""
    chunk = Chunk(0, "docs/a.md", 0, len(text), 1, text.count("\n") + 1, text, "markdown", "")
    return Hit(1, 1.0, chunk, terms=tuple(Tokenizer().query_terms(query)))


def lines_of(text: str, query: str) -> list[str]:
    """The preview, marked words in angle brackets."""
    return preview(hit_on(text, query), Tokenizer(), lambda word: f"<{word}>")


def answer_of(text: str, *, mode: str = "tiny:1b", cited: bool = True) -> Answer:
    """An answer to a question with one hit."""
    hit = hit_on("The cache is small.", "cache")
    result = SearchResult("How big is it?", "lexical", (hit,), 1, 0.5)
    citation = Citation(1, "docs/a.md", 0, 19, 3, 4)
    return Answer(text, mode, result, (citation,) if cited else ())


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal that takes neither colours nor links, for easy reading."""
    monkeypatch.setenv("TERM", "dumb")
    return Screen()


def test_a_hit_shows_rank_score_place_label_and_two_lines(program: Program) -> None:
    """One line of facts, then the two lines that hold most of the query's words."""
    lines = program.run("search", "release the block", "--k", "1").out.splitlines()
    assert re.fullmatch(r"  1 +\d+\.\d\d  corpus/lib/scheduler\.py:1-\d+  \S.*evict.*", lines[0])
    indent = " " * 14
    assert lines[1:] == [
        f"{indent}def evict([block]):",
        f"{indent}return [block].[release]()",
    ]


def test_hits_are_numbered_from_the_best(program: Program) -> None:
    """Ranks count from 1 and scores do not rise."""
    rows = re.findall(r"^ +(\d+) +(\d+\.\d+)  corpus", program.run("search", "pump").out, re.M)
    assert [int(rank) for rank, _ in rows] == list(range(1, len(rows) + 1))
    scores = [float(score) for _, score in rows]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


PREVIEWS = {
    "two-best-in-file-order": (
        "cache\nnone\nbig cache\nbig",
        "big cache",
        ["<cache>", "<big> <cache>"],
    ),
    "blank-lines-left-out": ("a cache\n\n  \nend", "cache", ["a <cache>", "end"]),
    "inflected": ("Caches cached", "cache", ["<Caches> <cached>"]),
    "only-the-word": ("block.release(cache)", "release", ["block.<release>(cache)"]),
    "identifier-by-part": ("max_tokens=5", "tokens", ["<max_tokens>=5"]),
    "flag": ("pass --k here", "--k", ["pass <--k> here"]),
    "cpp": ("C++, not C", "C++", ["<C++>, not C"]),
    "cjk": ("see 中文合同 there", "合同", ["see <中文合同> there"]),
    "repeats": ("tick tock tick", "tick", ["<tick> tock <tick>"]),
    "tabs": ("\tif\tcache", "cache", ["if    <cache>"]),
    "carriage-returns": ("one\rcache\r\nlast", "cache", ["one", "<cache>"]),
    "nothing-matched": ("alpha\nbeta\ngamma", "delta", ["alpha", "beta"]),
    "empty": ("", "cache", []),
}


@pytest.mark.parametrize(("text", "query", "expected"), PREVIEWS.values(), ids=PREVIEWS.keys())
def test_a_preview_marks_what_matched(text: str, query: str, expected: list[str]) -> None:
    """At most two lines, in file order; the words that matched stand out and no others."""
    assert lines_of(text, query) == expected


def test_a_long_line_is_shown_around_its_first_match() -> None:
    """About 110 characters, with dots where it was cut."""
    (line,) = lines_of(f"{'left ' * 100}cache{' right' * 100}", "cache")
    assert "<cache>" in line
    assert line.startswith("…")
    assert line.endswith("…")
    assert len(line) == 110 + len("<>……")


CLEANED = {
    "escape": ("\x1b[31mred", "\ufffd[31mred"),
    "bell": ("a\x07b", "a\ufffdb"),
    "c1": ("\x9b31m", "\ufffd31m"),
    "backspace": ("a\x08b", "a\ufffdb"),
    "reversal": ("\u202egnp", "\ufffdgnp"),
    "isolate": ("\u2066x\u2069", "\ufffdx\ufffd"),
    "line-separator": ("a\u2028b", "a\ufffdb"),
    "newlines": ("a\nb\r\nc", "a b c"),
    "tab": ("a\tb", "a    b"),
    "ordinary": ("naïve 中文 हिन्दी 😀 \u200d", "naïve 中文 हिन्दी 😀 \u200d"),
}


@pytest.mark.parametrize(("text", "expected"), CLEANED.values(), ids=CLEANED.keys())
def test_text_is_shown_and_never_obeyed(text: str, expected: str) -> None:
    """Controls and reversals become replacement characters, and nothing else does."""
    assert clean(text) == expected


def test_an_answer_that_was_streamed_is_not_repeated(screen: Screen) -> None:
    """Only the line's end and the cited places follow."""
    console = Console(screen)
    show = console.stream()
    assert show is not None
    for piece in ("It is ", "small [1]."):
        show(piece)
    console.answer(answer_of("It is small [1]."))
    assert screen.getvalue() == "It is small [1].\n\nCited:\n  [1] docs/a.md:3-4\n"


def test_an_answer_other_than_what_was_streamed_is_shown(screen: Screen) -> None:
    """A model that broke off is followed by the answer that counts."""
    console = Console(screen)
    show = console.stream()
    assert show is not None
    show("It is sm")
    console.answer(answer_of("The cache is small. [1]", mode="extractive"))
    assert screen.getvalue().startswith(
        "It is sm\n\nAfter checking:\nThe cache is small. [1]\n\nCited:\n"
    )


def test_streamed_pieces_cannot_command_the_terminal(screen: Screen) -> None:
    """A model is no more trusted than a file."""
    show = Console(screen).stream()
    assert show is not None
    show("\x1b]0;owned\x07\n")
    assert screen.getvalue() == "\ufffd]0;owned\ufffd\n"


def test_nothing_is_streamed_to_a_file() -> None:
    """A file gets the checked answer once."""
    assert Console(io.StringIO()).stream() is None


def test_an_answer_without_citations_names_what_was_read(screen: Screen) -> None:
    """The reader can still look for themselves."""
    Console(screen).answer(answer_of("I don't know.", cited=False))
    assert screen.getvalue() == "I don't know.\n\nRead:\n  docs/a.md:1-1\n"


def test_a_cited_file_name_cannot_command_the_terminal(screen: Screen) -> None:
    """File names come from whoever made the folder."""
    answer = answer_of("So [1].")
    evil = Citation(1, "docs/\x1b[31m.md", 0, 5, 1, 1)
    Console(screen).answer(Answer(answer.text, answer.mode, answer.result, (evil,)))
    assert "\x1b" not in screen.getvalue()


def checked(*sentences: tuple[str, str], span: Citation | None = None) -> Answer:
    """An answer of these sentences, each with the reason why it is not supported, or ""."""
    supports: list[Support] = []
    for text, reason in sentences:
        start = supports[-1].end + 1 if supports else 0
        supports.append(
            Support(start, start + len(text), text, not reason, 0.5, reason, (1,), span)
        )
    answer = answer_of(" ".join(text for text, _ in sentences))
    return Answer(
        answer.text, answer.mode, answer.result, answer.citations, sentences=tuple(supports)
    )


DOUBTED = (("It is small [1].", ""), ("It is 7 m high [1].", "not found in [1]: 7"))


def test_an_unsupported_sentence_is_marked_in_text() -> None:
    """A mark before it and the reason below; the rest is as it was, before the sources."""
    out = io.StringIO()
    Console(out).answer(checked(*DOUBTED))
    assert out.getvalue() == (
        "It is small [1]. (?) It is 7 m high [1].\n"
        "\nNot supported by the passages:\n"
        "  ? It is 7 m high [1].: not found in [1]: 7\n"
        "\nCited:\n  [1] docs/a.md:3-4\n"
    )


def test_an_unsupported_sentence_is_yellow_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where colours are welcome."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = Screen()
    Console(screen).answer(checked(*DOUBTED))
    assert screen.getvalue().startswith("It is small [1]. \x1b[33m? It is 7 m high [1].\x1b[0m\n")


def test_an_answer_of_supported_sentences_is_plain() -> None:
    """Nothing is said of what is in order."""
    out = io.StringIO()
    Console(out).answer(checked(("It is small [1].", ""), ("So it is [1].", "")))
    assert out.getvalue() == "It is small [1]. So it is [1].\n\nCited:\n  [1] docs/a.md:3-4\n"


def test_doubts_follow_what_was_streamed(screen: Screen) -> None:
    """The text is not repeated for the sake of a mark."""
    console = Console(screen)
    show = console.stream()
    assert show is not None
    answer = checked(*DOUBTED)
    show(answer.text)
    console.answer(answer)
    assert screen.getvalue().count("It is small") == 1
    assert "  ? It is 7 m high [1].: not found in [1]: 7\n" in screen.getvalue()


def test_the_same_doubt_is_told_once() -> None:
    """Small models repeat themselves."""
    out = io.StringIO()
    Console(out).answer(checked(*[("Moons.", "not found in [1]: moons")] * 3))
    assert out.getvalue().count("not found") == 1
    assert out.getvalue().count("(?) Moons.") == 3


def test_a_source_names_the_lines_that_support() -> None:
    """Where they are fewer than those cited."""
    for span, shown in (
        (Citation(1, "docs/a.md", 0, 9, 3, 3), "  [1] docs/a.md:3-4  line 3\n"),
        (Citation(1, "docs/a.md", 0, 19, 3, 4), "  [1] docs/a.md:3-4\n"),
        (Citation(2, "docs/b.md", 0, 9, 3, 3), "  [1] docs/a.md:3-4\n"),
    ):
        out = io.StringIO()
        Console(out).answer(checked(("It is small [1].", ""), span=span))
        assert out.getvalue().endswith(shown)


def test_a_refusal_names_the_nearest_passages(screen: Screen) -> None:
    """Five at most."""
    hit = answer_of("").result.hits[0]
    result = SearchResult("How big is it?", "lexical", (hit,) * 7, 7, 0.5)
    Console(screen).answer(Answer("I don't know: so.", "none", result))
    assert screen.getvalue() == (
        "I don't know: so.\n\nNearest passages:\n" + "  docs/a.md:1-1\n" * 5
    )


def test_a_marked_sentence_cannot_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model wrote is cleaned, marked or not, also where the reason repeats it."""
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen()
    Console(screen).answer(checked(("So \x1b[2J.", ""), ("Or \x1b[2J.", "not found: \x1b[2J")))
    assert "\x1b[2J" not in screen.getvalue()
    assert screen.getvalue().count("\ufffd[2J") == 4
