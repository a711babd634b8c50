"""The setting `answer_cache` from end to end: what is given again, and what never is."""

from __future__ import annotations

from typing import Any

import pytest

from fake_chat import FakeChat
from ragmachine.encoders import EncoderUnavailableError
from ragmachine.errors import ModelError, UsageError
from ragmachine.index.enrich import enrich_index
from ragmachine.models import Answer
from ragmachine.settings import FIELDS
from ragmachine.wiring import answer_memory, chat_models, dense
from toy_encoder import ToyEncoder
from workspace import Workspace

SENSOR = "The warranty of the Delta Sensor runs for 18 months."
PUMP = "The warranty of the Cobalt Pump runs for 24 months."
TEXT = "The warranty runs for 18 months [1]."
ASKED = "How long is the warranty of the Delta Sensor?"
REWORDED = "What is the warranty period of the Delta Sensor?"
NEAR = "How long is the warranty of the Cobalt Pump?"
MAKE_ENCODER = dense.make_encoder


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> FakeChat:
    """The model of every pipeline in a test."""
    chat = FakeChat(TEXT)
    monkeypatch.setattr(chat_models, "make_client", lambda settings: chat)
    return chat


@pytest.fixture
def indexed(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Two notes, indexed; questions are encoded by words."""
    monkeypatch.setattr(dense, "make_encoder", lambda *_: ToyEncoder())
    project.write("sensor.md", f"{SENSOR}\n")
    project.write("pump.md", f"{PUMP}\n")
    project.index()
    return project


def asked(
    project: Workspace, question: str, k: int | None = None, *, filter: str = "", **settings: Any
) -> Answer:
    """The answer that a process of its own gives, which writes what it learned."""
    given = {"llm": "auto", "answer_cache": True, **settings}
    pipeline = project.pipeline(**given)
    answer = pipeline.answer(question, k, filter=filter)
    pipeline.flush()
    return answer


# --- what is given again


def test_the_same_question_is_answered_once(indexed: Workspace, chat: FakeChat) -> None:
    """Text, author and citations as they were, with a notice on where they are from."""
    first = asked(indexed, ASKED)
    again = asked(indexed, ASKED)
    assert len(chat.asked) == 1
    assert (again.text, again.mode, again.citations) == (first.text, "tiny:1b", first.citations)
    assert again.citations[0].file_path == "corpus/sensor.md"
    assert first.notice == ""
    assert again.notice.startswith("as answered on ")
    assert again.notice.endswith(f"to: {ASKED}")
    assert again.result.hits == first.result.hits


def test_one_process_remembers_too(indexed: Workspace, chat: FakeChat) -> None:
    """Before anything is written."""
    pipeline = indexed.pipeline(llm="auto", answer_cache=True)
    assert pipeline.answer(ASKED).text == pipeline.answer(ASKED).text
    assert len(chat.asked) == 1


def test_the_same_in_other_words_is_recognised(indexed: Workspace, chat: FakeChat) -> None:
    """By the vectors of the settings' encoder."""
    asked(indexed, ASKED)
    answer = asked(indexed, REWORDED)
    assert len(chat.asked) == 1
    assert answer.text == TEXT
    assert answer.result.query == REWORDED


def test_a_stream_gets_an_earlier_answer_in_one_piece(indexed: Workspace, chat: FakeChat) -> None:
    """The model's own comes word by word."""
    pieces: list[str] = []
    pipeline = indexed.pipeline(llm="auto", answer_cache=True)
    pipeline.answer(ASKED, on_token=pieces.append)
    assert pieces == TEXT.split(" ")
    pieces.clear()
    pipeline.answer(ASKED, on_token=pieces.append)
    assert pieces == [TEXT]


@pytest.mark.parametrize("name", ["llm_timeout_s", "encoder_threads", "llm_threads", "workers"])
def test_a_setting_that_decides_nothing_is_no_obstacle(
    indexed: Workspace, chat: FakeChat, name: str
) -> None:
    """How long one waits, and with how many threads."""
    asked(indexed, ASKED)
    asked(indexed, ASKED, **{name: 7})
    assert len(chat.asked) == 1


def test_what_decides_nothing_are_settings() -> None:
    """One that was renamed would decide again, unnoticed."""
    assert FIELDS.keys() >= answer_memory._WITHOUT_EFFECT


# --- what never is


@pytest.mark.parametrize(
    "question",
    [NEAR, "Is the warranty of the Delta Sensor 18 months?", "How long is the Delta Sensor?"],
    ids=["another thing", "whether", "another word"],
)
def test_a_near_question_is_another_question(
    indexed: Workspace, chat: FakeChat, question: str
) -> None:
    """However near its vector, whatever the threshold."""
    asked(indexed, ASKED, answer_cache_threshold=0.01)
    answer = asked(indexed, question, answer_cache_threshold=0.01)
    assert len(chat.asked) == 2
    assert answer.notice == ""


@pytest.mark.parametrize("name", ["sensor.md", "pump.md", "third.md"], ids=str)
def test_a_changed_folder_is_read_again(indexed: Workspace, chat: FakeChat, name: str) -> None:
    """Whether the change is in what was cited, beside it, or a new file that may say more."""
    asked(indexed, ASKED)
    indexed.write(name, f"{SENSOR} No: 36 months.\n", age_s=100)
    indexed.index()
    assert asked(indexed, ASKED).notice == ""
    assert len(chat.asked) == 2


def test_an_index_of_the_same_files_is_the_same_index(indexed: Workspace, chat: FakeChat) -> None:
    """Built anew, from nothing changed."""
    asked(indexed, ASKED)
    indexed.index(force=True)
    asked(indexed, ASKED)
    assert len(chat.asked) == 1


def test_new_summaries_may_lead_elsewhere(indexed: Workspace, chat: FakeChat) -> None:
    """The same files, found by more words."""
    asked(indexed, ASKED)
    enrich_index(str(indexed.folder), indexed.open(), FakeChat("guarantee"))
    indexed.index()
    asked(indexed, ASKED)
    assert len(chat.asked) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"filter": "path:sensor*"},
        {"k": 1},
        {"model": "large:9b"},
        {"max_new_tokens": 77},
        {"candidates": 5},
        {"synonyms_file": "synonyms.txt"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_decides_an_answer_makes_another(
    indexed: Workspace, chat: FakeChat, changed: dict[str, Any]
) -> None:
    """Each has answers of its own, and keeps them."""
    (indexed.root / "synonyms.txt").write_text("warranty: guarantee\n")
    asked(indexed, ASKED)
    asked(indexed, ASKED, **changed)
    assert len(chat.asked) == 2
    asked(indexed, ASKED, **changed)
    assert len(chat.asked) == 2


def test_a_model_that_the_environment_names_counts(indexed: Workspace, chat: FakeChat) -> None:
    """Settings may be equal where the model is not."""
    asked(indexed, ASKED)
    chat.name = "other:1b"
    asked(indexed, ASKED)
    assert len(chat.asked) == 2


def test_what_the_synonyms_file_says_counts(indexed: Workspace, chat: FakeChat) -> None:
    """Not only its name."""
    path = indexed.root / "synonyms.txt"
    path.write_text("warranty: guarantee\n")
    asked(indexed, ASKED, synonyms_file="synonyms.txt")
    path.write_text("warranty: pledge\n")
    asked(indexed, ASKED, synonyms_file="synonyms.txt")
    assert len(chat.asked) == 2


@pytest.mark.parametrize("first", [True, False], ids=["nothing is written", "nothing is read"])
def test_without_caches_nothing_is_remembered(
    indexed: Workspace, chat: FakeChat, first: bool
) -> None:
    """Neither written nor read."""
    asked(indexed, ASKED, use_cache=not first)
    asked(indexed, ASKED, use_cache=first)
    assert len(chat.asked) == 2


def test_it_is_off_by_default(indexed: Workspace, chat: FakeChat) -> None:
    """No file is made."""
    pipeline = indexed.pipeline(llm="auto")
    pipeline.answer(ASKED)
    pipeline.answer(ASKED)
    pipeline.flush()
    assert len(chat.asked) == 2
    assert not list(indexed.folder.glob("answer_cache*"))


# --- what is not kept


def test_what_stood_in_for_a_model_is_not_kept(indexed: Workspace, chat: FakeChat) -> None:
    """A quotation costs nothing, and the model may be back."""

    def fail(prompt: str) -> str:
        raise ModelError("broken")

    chat.answer = fail
    assert asked(indexed, ASKED).mode == "extractive"
    chat.answer = TEXT
    assert asked(indexed, ASKED).mode == "tiny:1b"


def test_an_answer_that_cites_nothing_is_not_kept(indexed: Workspace, chat: FakeChat) -> None:
    """Nothing vouches for it."""
    chat.answer = "I don't know."
    asked(indexed, ASKED)
    asked(indexed, ASKED)
    assert len(chat.asked) == 2


def test_an_answer_from_a_search_that_lacked_something_is_not_kept(
    indexed: Workspace, chat: FakeChat
) -> None:
    """Without vectors the search was lexical; once they are there, its answers are kept."""
    for _ in range(2):
        assert "no vectors" in asked(indexed, ASKED, strategy="hybrid").result.notice
    assert len(chat.asked) == 2
    indexed.pipeline().embed()
    for _ in range(2):
        assert asked(indexed, ASKED, strategy="hybrid").result.notice == ""
    assert len(chat.asked) == 3


# --- the encoder


def test_without_an_encoder_the_same_question_is_recognised(
    indexed: Workspace, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no other."""

    def refuse(*_: object) -> ToyEncoder:
        raise EncoderUnavailableError("it is not installed")

    monkeypatch.setattr(dense, "make_encoder", refuse)
    asked(indexed, ASKED)
    asked(indexed, f"  {ASKED.upper()} ")
    assert len(chat.asked) == 1
    asked(indexed, REWORDED)
    assert len(chat.asked) == 2


def test_the_same_question_is_not_encoded(
    indexed: Workspace, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading a model would take longer than everything else; nor does one that fails matter."""
    asked(indexed, ASKED)

    class Broken(ToyEncoder):
        def encode_query(self, text: str) -> Any:
            raise ModelError("broken")

    monkeypatch.setattr(dense, "make_encoder", lambda *_: Broken())
    asked(indexed, ASKED)
    assert len(chat.asked) == 1
    assert asked(indexed, REWORDED).text == TEXT
    assert len(chat.asked) == 2


def test_another_encoder_has_answers_of_its_own(
    indexed: Workspace, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of two spaces are never compared."""
    asked(indexed, ASKED)
    monkeypatch.setattr(dense, "make_encoder", lambda *_: ToyEncoder(name="other"))
    asked(indexed, REWORDED)
    assert len(chat.asked) == 2


def test_an_encoder_that_does_not_exist_is_refused(
    indexed: Workspace, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that cannot be meant is an error here as elsewhere."""
    monkeypatch.setattr(dense, "make_encoder", MAKE_ENCODER)
    with pytest.raises(UsageError, match="no encoder 'nothing'"):
        asked(indexed, ASKED, encoder="nothing")


def test_an_index_replaced_meanwhile_vouches_for_nothing(
    indexed: Workspace, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answered from the hits at hand, and not kept for either index."""
    pipeline = indexed.pipeline(llm="auto", answer_cache=True)
    search = pipeline.search

    def slow_search(*words: Any, **options: Any) -> Any:
        result = search(*words, **options)
        indexed.write("pump.md", "The warranty is void.\n", age_s=100)
        indexed.index()
        return result

    monkeypatch.setattr(pipeline, "search", slow_search)
    assert pipeline.answer(ASKED).text == TEXT
    pipeline.flush()
    asked(indexed, ASKED)
    assert len(chat.asked) == 2
