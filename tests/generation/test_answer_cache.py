"""The answer cache: what it serves, what it never serves, and what may happen to its file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragmachine.generation.answer_cache import AnswerCache
from ragmachine.index.hashes import write_hash
from ragmachine.models import Answer, Citation, SearchResult
from workspace import read_only

PUMP = "The warranty runs for 18 months."
TEXTS = {"docs/a.md": PUMP, "docs/b.md": "It is counted from delivery."}
ASKED = "How long is the warranty of the Delta Sensor?"
REWORDED = "What is the warranty period of the Delta Sensor?"
OTHER = "How long is the warranty of the Cobalt Pump?"


def read(citation: Citation) -> str | None:
    """The cited text as it is now."""
    text = TEXTS.get(citation.file_path)
    return None if text is None else text[citation.start : citation.end]


def answer(text: str = "18 months [1].", paths: Sequence[str] = ("docs/a.md",)) -> Answer:
    """An answer of a model that cites whole texts."""
    citations = tuple(
        Citation(number, path, 0, len(TEXTS.get(path, "x")), 1, 1)
        for number, path in enumerate(paths, 1)
    )
    return Answer(text, "tiny:1b", SearchResult(ASKED, "lexical", (), 7, 0.5), citations)


def vector(*numbers: float) -> Any:
    """A vector as an encoder gives it."""
    return np.asarray(numbers, dtype=np.float32)


NORTH, NEAR, FAR = vector(1, 0), vector(0.8, 0.6), vector(0, 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a cache file is to be."""
    return tmp_path / "answer_cache.json"


def cache(path: Path, *, entries: int = 10, threshold: float = 0.7) -> AnswerCache:
    """A cache as a process opens it."""
    return AnswerCache(str(path), entries=entries, threshold=threshold)


def saved(path: Path, *questions: str, scope: str = "s", **options: Any) -> None:
    """Store an answer to each question, in the file."""
    writer = cache(path, **options)
    for question in questions:
        writer.put(question, NORTH, scope, answer(), read)
        writer.flush()


def found(path: Path, question: str, scope: str = "s", near: Any = NORTH) -> str | None:
    """The text that another process is served."""
    known = cache(path).get(question, near, scope)
    return known.text if known else None


# --- what is served


def test_an_answer_comes_back_with_its_sources(path: Path) -> None:
    """Text, author and citations as they were; the digest is that of the cited text."""
    saved(path, ASKED)
    known = cache(path).get(ASKED, None, "s")
    assert known is not None
    assert (known.text, known.mode, known.similarity) == ("18 months [1].", "tiny:1b", 1.0)
    assert [source.citation for source in known.sources] == list(answer().citations)
    # printf 'The warranty runs for 18 months.' | sha256sum
    assert known.sources[0].digest == (
        "9b0649777e52fbeca579e03e5ea37ab6c15ec3948844e3bc9f821e2df89c5c22"
    )


def test_the_same_question_needs_no_vector(path: Path) -> None:
    """Case, blanks and the question mark do not matter."""
    saved(path, ASKED)
    assert found(path, "  how long is the WARRANTY of the delta sensor ", near=None)
    assert found(path, REWORDED, near=None) is None


@pytest.mark.parametrize(
    ("near", "is_served"),
    [(NORTH, True), (NEAR, True), (FAR, False), (-NORTH, False)],
    ids=["cosine 1", "cosine .8", "cosine 0", "cosine -1"],
)
def test_other_words_are_served_from_the_threshold_on(
    path: Path, near: Any, is_served: bool
) -> None:
    """The length of a vector does not matter."""
    saved(path, ASKED)
    assert (found(path, REWORDED, near=near * 5) is not None) == is_served


def test_the_threshold_itself_is_enough(path: Path) -> None:
    """A cosine of .8 at a threshold of .8, which float32 can miss by less than 1e-6."""
    writer = cache(path, threshold=0.799999)
    writer.put(ASKED, NORTH, "s", answer(), read)
    known = writer.get(REWORDED, NEAR, "s")
    assert known is not None
    assert known.similarity == pytest.approx(0.8)
    assert cache(path, threshold=0.81).get(REWORDED, NEAR, "s") is None


def test_the_nearest_is_served(path: Path) -> None:
    """Of two questions that ask the same, the one with the larger cosine."""
    writer = cache(path)
    writer.put("What is the warranty of the Delta Sensor?", NORTH, "s", answer("north"), read)
    writer.put("What is the Delta Sensor's warranty?", NEAR, "s", answer("near"), read)
    asked = "Which warranty has the Delta Sensor?"
    assert writer.get(asked, NORTH, "s") is None  # "has" has no counterpart
    for direction, text in ((vector(1, 0.1), "north"), (vector(0.7, 0.7), "near")):
        known = writer.get(
            "Could you tell me which is the Delta Sensor's warranty?", direction, "s"
        )
        assert known is not None
        assert known.text == text


def test_a_nearer_question_of_another_product_does_not_hide_it(path: Path) -> None:
    """What is near and asks something else is passed over."""
    writer = cache(path)
    writer.put(OTHER, NORTH, "s", answer("other"), read)
    writer.put(ASKED, NEAR, "s", answer("right"), read)
    known = writer.get(REWORDED, NORTH, "s")
    assert known is not None
    assert known.text == "right"


@pytest.mark.parametrize("near", [NORTH, None], ids=["cosine 1", "no vector"])
def test_another_product_is_never_served(path: Path, near: Any) -> None:
    """Not even where the vectors are equal."""
    saved(path, ASKED)
    assert found(path, OTHER, near=near) is None
    assert found(path, OTHER.lower(), near=near) is None


def test_another_scope_is_another_cache(path: Path) -> None:
    """Another index, model, filter or k is never served from this one's answers."""
    saved(path, ASKED, scope="index-1 k=10")
    assert found(path, ASKED, scope="index-2 k=10") is None
    assert found(path, REWORDED, scope="index-1 k=5") is None
    assert found(path, REWORDED, scope="index-1 k=10")


@pytest.mark.parametrize(
    "odd",
    [vector(0, 0), vector(1, 0, 0), vector(np.nan, 1), vector(np.inf, 0), np.ones((2, 2))],
    ids=["zeros", "other dimensions", "nan", "inf", "matrix"],
)
def test_an_odd_vector_finds_only_the_same_question(path: Path, odd: Any) -> None:
    """As if there had been none, when storing and when asking."""
    writer = cache(path)
    writer.put(ASKED, odd, "s", answer(), read)
    assert writer.get(ASKED, odd, "s")
    assert writer.get(REWORDED, NORTH, "s") is None
    writer.put(ASKED, NORTH, "s", answer(), read)
    assert writer.get(REWORDED, odd, "s") is None


def test_a_question_without_a_word_is_not_kept(path: Path) -> None:
    """Nothing was asked."""
    saved(path, "?", " ")
    assert found(path, "?") is None
    assert not path.exists()


NUMBERS = st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,2}){0,2}", fullmatch=True)
IDENTIFIERS = st.from_regex(r"[A-Za-z]{1,6}_[a-z0-9]{1,6}|--[a-z]{2,8}", fullmatch=True)
NAMES = st.from_regex(r"[A-Z][a-z]{3,8}", fullmatch=True)
KINDS = {"number": NUMBERS, "identifier": IDENTIFIERS, "name": NAMES}


@pytest.mark.parametrize("kind", KINDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_pair_that_differs_in_one_thing_never_hits(
    path: Path, kind: str, data: st.DataObject
) -> None:
    """Not with a cosine of 1 at the lowest threshold there is."""
    one, two = data.draw(
        st.tuples(KINDS[kind], KINDS[kind]).filter(lambda pair: pair[0] != pair[1])
    )
    frame = data.draw(
        st.sampled_from(["What does {} cost?", "Is it so for {} in the pool?", "is {} ok"])
    )
    writer = cache(path, threshold=0.01)
    writer.put(frame.format(one), NORTH, "s", answer(), read)
    assert writer.get(frame.format(two), NORTH, "s") is None
    assert writer.get(frame.format(one), None, "s")


# --- what is kept


@pytest.mark.parametrize(
    "unsound",
    [answer(paths=()), answer(paths=("gone.md",)), answer(paths=("docs/a.md", "gone.md"))],
    ids=["no citation", "source gone", "one source gone"],
)
def test_an_answer_without_its_sources_is_not_kept(path: Path, unsound: Answer) -> None:
    """Nothing would vouch for it."""
    writer = cache(path)
    writer.put(ASKED, NORTH, "s", unsound, read)
    assert writer.get(ASKED, NORTH, "s") is None


def test_a_changed_source_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single letter is enough, and so is a file that is gone."""
    writer = cache(path)
    writer.put(ASKED, NORTH, "s", answer(paths=("docs/a.md", "docs/b.md")), read)
    known = writer.get(ASKED, NORTH, "s")
    assert known is not None
    assert known.is_current(read)
    monkeypatch.setitem(TEXTS, "docs/b.md", TEXTS["docs/b.md"].replace("It", "it"))
    assert not known.is_current(read)
    monkeypatch.delitem(TEXTS, "docs/b.md")
    assert not known.is_current(read)


def test_a_served_answer_says_where_it_is_from(path: Path) -> None:
    """It belongs to the new search, and names the question it was an answer to."""
    saved(path, ASKED)
    known = cache(path).get(REWORDED, NORTH, "s")
    assert known is not None
    result = SearchResult(REWORDED, "lexical", (), 7, 0.1)
    served = replace(known, saved_s=86_400.0 * 1.5).answer(result)
    assert (served.text, served.mode, served.result) == ("18 months [1].", "tiny:1b", result)
    assert served.citations == answer().citations
    assert served.notice == f"as answered on 1970-01-02 to: {ASKED}"


def test_a_new_answer_replaces_the_old_one(path: Path) -> None:
    """Of the same question, even asked in another case."""
    saved(path, ASKED)
    writer = cache(path)
    writer.put(ASKED.upper(), NORTH, "s", answer("24 months [1]."), read)
    writer.flush()
    assert found(path, ASKED) == "24 months [1]."
    assert len(orjson.loads(path.read_bytes())["answers"]) == 1


LETTERS = [f"What is {letter * 3}?" for letter in "abcde"]


def test_the_least_recently_used_goes_first(path: Path) -> None:
    """Of five in a cache of three, the one asked again stays."""
    writer = cache(path, entries=3)
    for question in LETTERS[:3]:
        writer.put(question, NORTH, "s", answer(), read)
    assert writer.get(LETTERS[0], None, "s")
    for question in LETTERS[3:]:
        writer.put(question, NORTH, "s", answer(), read)
    kept = [question for question in LETTERS if writer.get(question, None, "s")]
    assert kept == [LETTERS[0], *LETTERS[3:]]


def test_use_is_remembered_between_processes(path: Path) -> None:
    """A question asked again is as young on disk as in memory."""
    saved(path, *LETTERS[:3], entries=3)
    reader = cache(path, entries=3)
    assert reader.get(LETTERS[0], None, "s")
    reader.flush()
    saved(path, LETTERS[3], entries=3)
    assert [q for q in LETTERS if found(path, q)] == [LETTERS[0], *LETTERS[2:4]]


def test_no_entries_is_no_cache(path: Path) -> None:
    """Nothing is kept, read or written."""
    saved(path, ASKED)
    before = path.stat().st_mtime_ns
    off = cache(path, entries=0)
    off.put(OTHER, NORTH, "s", answer(), read)
    off.flush()
    assert off.get(ASKED, NORTH, "s") is None
    assert off.get(OTHER, NORTH, "s") is None
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "numbers", [{"entries": -1}, {"threshold": 0.0}, {"threshold": 1.5}], ids=str
)
def test_numbers_that_cannot_be_meant_are_refused(path: Path, numbers: dict[str, Any]) -> None:
    """A threshold of 0 would serve anything near nothing."""
    with pytest.raises(ValueError, match="threshold"):
        cache(path, **numbers)


# --- the file


def test_nothing_is_written_without_a_flush(path: Path) -> None:
    """Nor when nothing was added or used."""
    writer = cache(path)
    writer.flush()
    writer.put(ASKED, NORTH, "s", answer(), read)
    assert os.listdir(path.parent) == []


def test_the_file_is_json_with_sources_beside_the_answer(path: Path) -> None:
    """Anyone can read what it rests on."""
    saved(path, ASKED)
    (row,) = orjson.loads(path.read_bytes())["answers"]
    assert row["question"] == ASKED
    (source,) = row["sources"]
    assert (source["file_path"], source["first_line"], source["last_line"]) == ("docs/a.md", 1, 1)
    assert len(source["sha256"]) == 64


def damaged(**changes: Any) -> Any:
    """A change of the one row."""
    return lambda document: {
        **document,
        "answers": [{**document["answers"][0], **changes}],
    }


DAMAGE: dict[str, Any] = {
    "not JSON": b"{oops",
    "empty": b"",
    "not UTF-8": b"\xff\xfe",
    "a list": b"[]",
    "null": b"null",
    "nested too deep": b"[" * 100_000,
    "no answers": lambda document: {"format": document["format"]},
    "answers that are none": lambda document: {**document, "answers": [1, "x", None]},
    "another format": lambda document: {**document, "format": "something else"},
    "a query cache": b'{"format": 2, "index_id": "gen-1", "entries": {}}',
    "no sources": damaged(sources=[]),
    "sources that are none": damaged(sources=[[1, 2]]),
    "a question that is no text": damaged(question=5),
    "a time that is no number": damaged(saved_s="now"),
    "a time beyond calendars": damaged(saved_s=1e300),
    "a vector that is no text": damaged(vector=[1, 2]),
    "a vector that is not base64": damaged(vector="%%%"),
    "a vector cut short": damaged(vector="AAAAAAA="),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_or_foreign_file_is_an_empty_cache(path: Path, kind: str) -> None:
    """Hash or no hash: no error, no answer, and the next flush mends it."""
    saved(path, ASKED)
    content = DAMAGE[kind]
    if callable(content):
        content = orjson.dumps(content(orjson.loads(path.read_bytes())))
    path.write_bytes(content)
    for _ in range(2):
        assert found(path, ASKED) is None
        write_hash(str(path))  # in the second turn the hash matches
    saved(path, OTHER)
    assert (found(path, ASKED), found(path, OTHER)) == (None, "18 months [1].")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_an_empty_cache(path: Path, content: bytes) -> None:
    """With a hash that matches."""
    path.write_bytes(content)
    write_hash(str(path))
    assert found(path, ASKED) is None


def test_a_changed_letter_in_an_answer_is_noticed(path: Path) -> None:
    """It is still JSON, but no longer what was written."""
    saved(path, ASKED)
    path.write_bytes(path.read_bytes().replace(b"18 months [1]", b"81 months [1]"))
    assert found(path, ASKED) is None


def test_entries_of_other_processes_are_kept(path: Path) -> None:
    """Two that opened the same file both add to it; of one question the newer answer stays."""
    first, second = cache(path), cache(path)
    first.put(ASKED, NORTH, "s", answer("older"), read)
    second.put(OTHER, NORTH, "s", answer(), read)
    second.put(ASKED, NORTH, "s", answer("newer"), read)
    second.flush()
    first.flush()
    assert (found(path, ASKED), found(path, OTHER)) == ("newer", "18 months [1].")


WRITE = """
import sys
from ragmachine.generation.answer_cache import AnswerCache
from ragmachine.models import Answer, Citation, SearchResult
path, name = sys.argv[1:]
result = SearchResult("", "lexical", (), 1, 0.0)
for number in range(20):
    cache = AnswerCache(path, entries=100, threshold=0.7)
    found = Answer("text", "m", result, (Citation(1, "a", 0, 1, 1, 1),))
    cache.put(f"what is {name}_{number}", None, "s", found, lambda citation: "x")
    cache.flush()
"""


def test_two_processes_that_write_lose_nothing(path: Path) -> None:
    """Forty answers of two processes, written one at a time, are all in the file."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(path), name]) for name in ("a", "b")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    expected = [f"what is {name}_{number}" for name in "ab" for number in range(20)]
    assert all(cache(path, entries=100).get(question, None, "s") for question in expected)


def test_a_folder_that_cannot_be_written_is_no_error(path: Path) -> None:
    """The answer is there, only not remembered."""
    with read_only(path.parent):
        saved(path, ASKED)
    assert os.listdir(path.parent) == []


def test_what_utf_8_cannot_hold_is_not_kept(path: Path) -> None:
    """A name of a file that is no text would make the whole file unwritable."""
    saved(path, "what is \udcff?", ASKED)
    assert found(path, ASKED)
    assert found(path, "what is \udcff?") is None
