"""What the hits of a question give to answer it."""

from __future__ import annotations

import re

import pytest

from ragmachine.models import Chunk, Grounds, Hit
from ragmachine.retrieval.grounds import (
    CAPITALISED_FACTOR,
    IDENTIFIER_FACTOR,
    Evidence,
    evidence_of,
    grounds_of,
    missing_names,
    names,
)
from workspace import Workspace

KNOWN = set("engine pool create_engine berlin max len size e 77 limpet python llm".split())


def missing(query: str, *texts: str) -> list[str]:
    """Names that are missing where only `KNOWN` words were written."""
    found = missing_names(
        query, texts, lambda text: re.findall(r"--[\w-]+|\w+", text), lambda w: w.lower() in KNOWN
    )
    return [name.text for name in found]


def of_kind(query: str, *, is_identifier: bool) -> list[str]:
    """The names of one kind in a question."""
    return [name.text for name in names(query) if name.is_identifier == is_identifier]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("What does max_len do?", ["max_len"], id="snake"),
        pytest.param("What does --max-len do?", ["--max-len"], id="flag"),
        pytest.param("Is BlockPool faster than vLLM?", ["BlockPool", "vLLM"], id="camel"),
        pytest.param("What is fault E-77, or H100?", ["E-77", "H100"], id="with digits"),
        pytest.param("What is np.fft.zoom?", ["np.fft.zoom"], id="dots"),
        pytest.param("Does create_engine(pool_warmup=True) wait?", ["create_engine", "pool_warmup"],
                     id="in a call"),
        pytest.param("`Foo_bar` is what?", ["Foo_bar"], id="first, in backticks"),
        pytest.param("Is sine/cosine used at 5 GB or 3S?", [], id="none"),
        pytest.param("Why does my class Foo_bar fail?", [], id="the asker's own"),
        pytest.param("A table called foo_bar is empty. Why?", [], id="named by the asker"),
        pytest.param("Why is http://a.b/foo_bar or ~/my_dir not read?", [], id="addresses"),
    ],
)  # fmt: skip
def test_identifiers(query: str, found: list[str]) -> None:
    """By their form alone, wherever they stand."""
    assert of_kind(query, is_identifier=True) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("How do I reach it from Berlin?", ["Berlin"], id="inside"),
        pytest.param("Berlin is what?", [], id="first word"),
        pytest.param("It fails. Berlin is what?", [], id="first word of a sentence"),
        pytest.param("What May I Do With The Engine?", [], id="title"),
        pytest.param("Wie lange hält der Motor einer Pumpe?", [], id="German"),
        pytest.param("When may I do it?", [], id="I"),
    ],
)
def test_capitalised_words(query: str, found: list[str]) -> None:
    """Only where a capital says something."""
    assert of_kind(query, is_identifier=False) == found


@pytest.mark.parametrize(
    ("query", "texts", "expected"),
    [
        pytest.param("What is max_moons in Berlin?", [], ["max_moons"], id="unknown beside known"),
        pytest.param("What is E-77?", [], [], id="all parts known"),
        pytest.param("What is E-78?", [], ["E-78"], id="one part unknown"),
        pytest.param("What is max_len?", ["a max-len b"], [], id="joined otherwise"),
        pytest.param("What is max_len?", ["max of len"], ["max_len"], id="parts apart"),
        pytest.param("Is Paris as good as Paris?", [], ["Paris"], id="once"),
    ],
)
def test_missing_names(query: str, texts: list[str], expected: list[str]) -> None:
    """What nobody wrote, in any spelling that a hit has."""
    assert missing(query, *texts) == expected


@pytest.mark.parametrize(
    ("query", "texts", "expected"),
    [
        pytest.param("How deep may a Limpet 5 go?", ["the Limpet 2, a Limpet 3S"], ["Limpet 5"],
                     id="another number"),
        pytest.param("How deep may a Limpet 3 go?", ["the Limpet 2, a limpet-3"], [], id="there"),
        pytest.param("How deep may a Limpet 5 go?", ["the Limpet"], [], id="never numbered"),
        pytest.param("Does it run on Python 3.12?", ["Python 3.9"], ["Python 3.12"], id="version"),
        pytest.param("Is a Limpet 5% better?", ["a Limpet 3"], [], id="a share"),
    ],
)  # fmt: skip
def test_numbered_names(query: str, texts: list[str], expected: list[str]) -> None:
    """A number that the name never has is one that does not exist."""
    assert missing(query, *texts) == expected


@pytest.fixture
def indexed(project: Workspace) -> Workspace:
    """Two files."""
    project.write("pump.md", "The pump rests for a while.\n")
    project.write("moon.md", "The moon is far, says Ann_Other.\n")
    project.index()
    return project


def grounds(project: Workspace, query: str, **options: bool) -> Grounds:
    """Of a search with the default settings."""
    pipeline = project.pipeline()
    searcher = pipeline.opened_searcher()
    hits = pipeline.search(query).hits
    return grounds_of(query, hits, searcher.reader, searcher.index, **options)


def test_coverage_is_what_one_hit_holds(indexed: Workspace) -> None:
    """All, half or nothing of two equally rare words."""
    assert grounds(indexed, "pump rests") == Grounds(1.0, 1.0)
    assert grounds(indexed, "pump moon").coverage == pytest.approx(0.5)
    assert grounds(indexed, "zebra").coverage == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a b c d", Evidence(1.0, 0.0), id="all in a line"),
        pytest.param("a b\nc", Evidence(0.6, 0.4), id="a heavy word is missing"),
        pytest.param("a b\nd\n", Evidence(0.8, 0.2), id="a light word is missing"),
        pytest.param("c d" + "\n" * 8 + "a b", Evidence(1.0, 0.2), id="too far apart"),
        pytest.param("c d" + "\n" * 7 + "a b", Evidence(1.0, 0.0), id="near enough"),
        pytest.param("", Evidence(0.0, 0.4), id="nothing"),
    ],
)
def test_the_heaviest_word_that_the_best_lines_lack(text: str, expected: Evidence) -> None:
    """As a share of all; up to eight lines are read together."""
    mass = {"a": 2.0, "b": 2.0, "c": 2.0, "d": 4.0}
    hit = Hit(1, 1.0, Chunk(0, "", 0, len(text), 1, 1, text, "text", ""))
    found = evidence_of(mass, [hit], str.split)
    assert (found.coverage, found.heaviest) == pytest.approx((expected.coverage, expected.heaviest))


def test_path_and_label_hold_words_too() -> None:
    """For every line of the hit."""
    hit = Hit(1, 1.0, Chunk(0, "a", 0, 1, 1, 1, "c", "text", "b"))
    assert evidence_of({"a": 1.0, "b": 1.0, "c": 1.0}, [hit], str.split) == Evidence(1.0, 0.0)


def test_a_word_of_degree_only_asks(indexed: Workspace) -> None:
    """The question "how long" does not want "long" in its answer, while a long pump does."""
    assert grounds(indexed, "how long pump rests") == Grounds(1.0, 1.0)
    assert grounds(indexed, "long pump rests").coverage < 1


def test_the_kind_of_a_named_thing_is_no_evidence(indexed: Workspace) -> None:
    """Beside a name "constructor" need not be written; without one it is what is asked for."""
    named = grounds(indexed, "the moon says Ann_Other constructor value")
    assert (named.coverage, named.strength) == (1.0, 1.0)
    assert grounds(indexed, "the moon says constructor").coverage < 1


def test_one_heavy_word_weighs_more_than_many_light_ones() -> None:
    """A short question without its point is weaker than a long one in other words."""
    assert Evidence(0.5, 0.5).strength < 0.15 < 0.4 < Evidence(0.4, 0.12).strength
    assert Evidence(0.4, 0.2).strength < Evidence(0.6, 0.2).strength
    assert Evidence(1.0, 0.0).strength == 1.0


@pytest.mark.parametrize(
    ("query", "name", "factor"),
    [
        ("does the pump know max_moons", "max_moons", IDENTIFIER_FACTOR),
        ("does the pump know of Zanzibar", "Zanzibar", CAPITALISED_FACTOR),
    ],
    ids=["identifier", "capitalised"],
)
def test_a_missing_name_lowers_the_strength(
    indexed: Workspace, query: str, name: str, factor: float
) -> None:
    """By its factor; vectors and the coverage do not matter."""
    found, by_meaning = grounds(indexed, query), grounds(indexed, query, is_by_meaning=True)
    assert found.missing == by_meaning.missing == (name,)
    assert by_meaning.strength == factor
    assert 0 < found.strength < factor


def test_vectors_may_find_what_shares_no_word(indexed: Workspace) -> None:
    """Coverage then says nothing, while a missing name still does."""
    assert grounds(indexed, "does a zebra rest", is_by_meaning=True).strength == 1.0
    found = grounds(indexed, "does a zebra know max_moons", is_by_meaning=True)
    assert found.strength == IDENTIFIER_FACTOR


def test_a_mended_slip_is_not_missing(indexed: Workspace) -> None:
    """What was probably meant is there."""
    assert grounds(indexed, "what says Ann_Othr here").missing == ()


def test_an_empty_question_misses_nothing(indexed: Workspace) -> None:
    """There is nothing to hold."""
    assert grounds(indexed, "") == Grounds(1.0, 1.0)


def test_the_default_refuses_a_missing_identifier(indexed: Workspace) -> None:
    """Whatever else its best hit holds."""
    answer = indexed.pipeline().answer("does the pump rest for a while with max_moons?")
    assert answer.is_refusal
    assert answer.text.startswith("I don't know: no passage found mentions max_moons.")
    assert not indexed.pipeline(refuse_below=0.0).answer("does the pump know max_moons?").is_refusal


@pytest.fixture
def manuals(project: Workspace) -> Workspace:
    """Two manuals whose chunks name the product in their labels only."""
    for number, product in enumerate(("Tarn 2", "Ulva Mini"), 1):
        project.write(
            f"{number}.md",
            f"# {product}\n\n## Data\n\n| Property | Value |\n|---|---|\n"
            f"| Net mass | {number} kg |\n| Temperature, max. | 4{number} C |\n\n"
            f"## Spare parts\n\n| Part | Number |\n|---|---|\n| Coil | 71{number}.310.22 |\n",
        )
    project.index()
    return project


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("What is the highest temperature of the Tarn 2?", id="highest for max."),
        pytest.param("How heavy is the net mass of the Tarn 2?", id="degree"),
        pytest.param("Which manual lists number 711.310.22?", id="where it is listed"),
        pytest.param("I need part 711.310.22: where is it listed?", id="wish"),
        pytest.param("What is the difference in mass between the Tarn 2 and the Ulva Mini?",
                     id="sides in two documents"),
        pytest.param("Which has the larger mass, the Tarn 2 or the Ulva Mini?", id="comparative"),
    ],
)  # fmt: skip
def test_words_that_only_ask_are_not_missed(manuals: Workspace, query: str) -> None:
    """Every other word of the question is there."""
    assert grounds(manuals, query).strength == 1.0


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("What is the lowest temperature of the Tarn 2?", id="the other bound"),
        pytest.param("What colour is the Tarn 2?", id="fact"),
        pytest.param("Which manual lists number 999.310.22?", id="number"),
        pytest.param("Which has the larger mass, the Tarn 2 or the Tarn 7?", id="side"),
        pytest.param("Compare the colour of the Tarn 2 and the Ulva Mini", id="property"),
    ],
)
def test_what_is_missing_still_is(manuals: Workspace, query: str) -> None:
    """A bound, a fact, a number, one side of a comparison, or what is compared."""
    assert grounds(manuals, query).strength < 0.41
