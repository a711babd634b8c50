"""Where a question says to look, and which files that is."""

from __future__ import annotations

import time

import pytest

from ragmachine.retrieval.narrow import FACTOR, FilePlaces, Narrowing, Place, places

FILES = [
    "docs/guide/sizes.md",
    "src/config.py",
    "src/engine/config.py",
    "src/engine/Sampler.py",
    "v2.2/pump.md",
    "v2.3/pump.md",
    "cobalt/warranty.md",
]
ROOT = "data/raw/product-1.0"


def named(question: str) -> list[str]:
    """The files that a question is narrowed to."""
    return [FILES[number] for number in FilePlaces(FILES, ROOT).narrowing(places(question)).files]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How are ties broken in sampler.py?", ["src/engine/Sampler.py"]),
        ("How are ties broken in the engine's sampler.py?", ["src/engine/Sampler.py"]),
        ("What does config.py do?", ["src/config.py", "src/engine/config.py"]),
        ("what is in `engine/config.py`", ["src/engine/config.py"]),
        ("config.py", ["src/config.py", "src/engine/config.py"]),
        ("Sampler.py: how are ties broken?", ["src/engine/Sampler.py"]),
        ("where in docs/guide/ is the size", ["docs/guide/sizes.md"]),
        ("what is in src/engine", ["src/engine/config.py", "src/engine/Sampler.py"]),
        ("see the file sizes.md and sampler.py", ["docs/guide/sizes.md", "src/engine/Sampler.py"]),
        (f"explain {ROOT}/src/config.py.", ["src/config.py"]),
        ("how long is the timeout in v2.3?", ["v2.3/pump.md"]),
        ("timeout since 2.2", ["v2.2/pump.md"]),
        ("what does the Cobalt manual say", ["cobalt/warranty.md"]),
        ("in src/engine, what does config.py do", ["src/engine/config.py"]),
    ],
)
def test_a_place_that_a_question_names_is_found(question: str, expected: list[str]) -> None:
    """Files by the end of their path, all of that name; folders; versions; letter case ignored."""
    assert named(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Why should sizes be passed to config.py?",
        "which script calls sampler.py",
        "in absent.py",
        "in numpy.linalg",
        "the warranty of cobalt",
        "version 9.9",
        "2",
        "v2",
        "",
        "in /",
        "in ./",
    ],
)
def test_what_is_no_place_narrows_nothing(question: str) -> None:
    """A file that is spoken of, one that is not there, a plain word, a number."""
    assert named(question) == []


def test_what_names_every_file_narrows_nothing() -> None:
    """Where all files are meant, none is to be preferred."""
    found = FilePlaces(["src/a.py", "src/b.py"], "").narrowing([Place("path", "src/")])
    assert found == Narrowing()


def test_a_narrowing_says_what_it_rests_on() -> None:
    """The names as written, each with its number of files."""
    found = FilePlaces(FILES, ROOT).narrowing(places("in Config.py and sampler.py"))
    assert found.named == ("Config.py (2 files)", "sampler.py (1 file)")
    assert found.factor == FACTOR


def test_letters_that_grow_in_lower_case_move_no_file() -> None:
    """The small form of İ is two characters long."""
    files = ["İİİİ.md", "a.md", "b.md"]
    assert FilePlaces(files, "").narrowing([Place("path", "b.md")]).files == (2,)


def test_no_files_have_no_places() -> None:
    """An empty corpus is no error."""
    assert FilePlaces([], "").narrowing([Place("path", "b.md")]) == Narrowing()


def test_a_long_question_is_read_in_no_time() -> None:
    """Half a megabyte of one word, of dots, of paths: each is gone through once."""
    for text in ("a" * 500_000 + " docs", "a." * 250_000, "in a/b " * 70_000, "1." * 250_000):
        started = time.perf_counter()
        places(text)
        assert time.perf_counter() - started < 5
