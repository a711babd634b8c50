"""`RagPipeline.enrich` from end to end: in which order, over which folder, beside which vectors."""

from __future__ import annotations

import pytest

from fake_chat import FakeChat
from ragmachine.errors import IndexMissingError
from ragmachine.llm.chat import ModelUnavailableError
from ragmachine.settings import Settings
from ragmachine.wiring import chat_models, dense
from toy_encoder import ToyEncoder
from workspace import Workspace


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> FakeChat:
    """A model that says the same of every passage."""
    chat = FakeChat("hamster")
    monkeypatch.setattr(chat_models, "make_chain", lambda settings: chat)
    return chat


def test_documentation_and_code_come_before_tests(project: Workspace, chat: FakeChat) -> None:
    """A run that is stopped early has done what is found most often."""
    project.write("a/tests/test_cage.py", "def test_cage():\n    assert cage\n")
    project.write("b/guide.md", "The guide.\n")
    project.write("c/wheel.py", "def wheel():\n    return 1\n")
    project.index()
    report = project.pipeline().enrich()
    assert report.asked == 3
    asked = [name for text in chat.asked for name in ("cage", "guide", "wheel") if name in text]
    assert list(dict.fromkeys(asked)) == ["guide", "wheel", "cage"]


def test_the_summaries_are_indexed_in_the_end(project: Workspace, chat: FakeChat) -> None:
    """Also for a pipeline that was open before; in between the index answers without them."""
    project.write("a.md", "alpha\n")
    project.index()
    living = project.pipeline()
    between: list[int] = []

    def look(prompt: str) -> str:
        between.append(len(living.search("hamster").hits) + len(living.search("alpha").hits))
        return "hamster"

    chat.answer = look
    project.pipeline().enrich()
    assert between == [1]
    assert len(living.search("hamster").hits) == 1


def test_the_folder_is_the_one_that_was_indexed(project: Workspace, chat: FakeChat) -> None:
    """Not the default one, nor all of the folder of a single file."""
    project.write("sub/a.md", "alpha\n")
    project.write("sub/b.md", "beta\n")
    pipeline = project.pipeline()
    pipeline.index("corpus/sub/a.md")
    pipeline.enrich()
    assert [hit.chunk.file_path for hit in pipeline.search("hamster").hits] == ["corpus/sub/a.md"]


def test_vectors_answer_for_the_enriched_index(
    project: Workspace, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are taken over as after any other run; none has to be made again."""
    encoder = ToyEncoder()
    monkeypatch.setattr(dense, "make_encoder", lambda *_: encoder)
    project.write("a.md", "alpha\n")
    project.index()
    project.pipeline().embed()
    project.pipeline().enrich()
    assert project.pipeline().embed().encoded == 0
    result = project.pipeline(strategy="hybrid").search("hamster")
    assert (result.strategy, result.notice, len(result.hits)) == ("hybrid", "", 1)


def test_without_a_model_nothing_is_built(project: Workspace, chat: FakeChat) -> None:
    """The report has the reason and its remedy, and the generation stays."""
    project.write("a.md", "alpha\n")
    project.index()
    before = project.generation

    def refuse(prompt: str) -> str:
        raise ModelUnavailableError("no server answers", remedy="start it")

    chat.answer = refuse
    assert project.pipeline().enrich().notice == "no server answers; start it"
    assert project.generation == before


@pytest.mark.parametrize(
    ("llm", "asked"),
    [
        ("auto", "ollama"),
        ("extractive", "ollama"),
        ("local,ollama,extractive", "local"),
        ("ollama:qwen3:4b,local", "ollama:qwen3:4b"),
    ],
    ids=["auto", "extractive", "several", "a model"],
)
def test_one_generator_writes_all(
    project: Workspace, monkeypatch: pytest.MonkeyPatch, llm: str, asked: str
) -> None:
    """The first that answers are asked of; Ollama where answers need no model."""
    seen: list[Settings] = []

    def make(settings: Settings) -> FakeChat:
        seen.append(settings)
        return FakeChat("hamster", name=settings.model)

    monkeypatch.setattr(chat_models, "make_chain", make)
    project.write("a.md", "alpha\n")
    project.index()
    report = project.pipeline(llm=llm, model="large:9b").enrich()
    assert (report.model, report.asked) == ("large:9b", 1)
    assert [one.llm for one in seen] == [asked]


def test_there_must_be_an_index(project: Workspace, chat: FakeChat) -> None:
    """Nothing is made by asking for it."""
    with pytest.raises(IndexMissingError):
        project.pipeline().enrich()
    assert not project.folder.exists()
