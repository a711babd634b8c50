"""Settings: which source wins, what is refused and how the refusal reads."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

from ragmachine import RagPipeline
from ragmachine.chunking.document import CHUNKERS
from ragmachine.errors import UsageError
from ragmachine.index.bm25 import VARIANTS
from ragmachine.settings import FIELDS, MAX_K, Settings, check_value, checkout_root, load_settings

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="XDG folders are Linux's")


@dataclasses.dataclass
class Sources:
    """Everything that settings come from, all of it in a temporary folder."""

    root: Path
    home: Path
    variables: dict[str, str] = dataclasses.field(default_factory=dict)

    def user(self, text: str | bytes) -> Path:
        """Write the user's config file."""
        return self._write(self.home / ".config" / "ragmachine" / "ragmachine.toml", text)

    def project(self, text: str | bytes) -> Path:
        """Write the project's config file."""
        return self._write(self.root / "ragmachine.toml", text)

    def load(self, **flags: Any) -> Settings:
        """Settings from these sources and the flags."""
        base = {"HOME": str(self.home), "RAG_PROJECT_ROOT": str(self.root)}
        return load_settings(flags, {**base, **self.variables})

    def refusal(self, **flags: Any) -> str:
        """The message with which the sources are refused."""
        with pytest.raises(UsageError) as caught:
            self.load(**flags)
        return str(caught.value)

    @staticmethod
    def _write(path: Path, text: str | bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """No config file and no variable yet."""
    (tmp_path / "root").mkdir()
    return Sources(tmp_path / "root", tmp_path / "home")


@on_linux
def test_each_source_wins_over_the_one_before(sources: Sources) -> None:
    """Defaults < user's file < project's file < environment < flags."""
    assert sources.load().candidates == 200
    sources.user("candidates = 201")
    assert sources.load().candidates == 201
    sources.project("candidates = 202")
    assert sources.load().candidates == 202
    sources.variables["RAG_CANDIDATES"] = "203"
    assert sources.load().candidates == 203
    assert sources.load(candidates=204).candidates == 204


@on_linux
def test_sources_complete_each_other(sources: Sources) -> None:
    """A source decides only what it names."""
    sources.user("k = 3\noverlap = 7")
    sources.project("k = 4")
    settings = sources.load(model="tiny:1b")
    assert (settings.k, settings.overlap, settings.model) == (4, 7, "tiny:1b")


def test_a_flag_that_was_not_given_decides_nothing(sources: Sources) -> None:
    """None stands for a flag that is absent."""
    sources.variables["RAG_K"] = "7"
    assert sources.load(k=None).k == 7


@on_linux
def test_the_users_file_lies_in_xdg_config_home(sources: Sources, tmp_path: Path) -> None:
    """XDG_CONFIG_HOME takes the place of ~/.config."""
    sources.user("k = 3")
    sources.variables["XDG_CONFIG_HOME"] = str(tmp_path / "xdg")
    Sources._write(tmp_path / "xdg" / "ragmachine" / "ragmachine.toml", "k = 5")
    assert sources.load().k == 5


@on_linux
@pytest.mark.parametrize("value", ["", "relative/folder"], ids=["empty", "relative"])
def test_an_xdg_config_home_that_is_no_absolute_path_is_ignored(
    sources: Sources, value: str
) -> None:
    """Its specification says so; ~/.config is read then."""
    sources.user("k = 3")
    sources.variables["XDG_CONFIG_HOME"] = value
    assert sources.load().k == 3


def test_settings_cannot_be_changed(sources: Sources) -> None:
    """The object is frozen."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        sources.load().k = 5  # type: ignore[misc]


def test_paths_are_complete_and_below_the_root(sources: Sources) -> None:
    """Whatever was not set is filled in with an absolute path."""
    settings = sources.load()
    assert settings.project_root == str(sources.root)
    assert settings.index_dir == str(sources.root / ".ragmachine")
    assert settings.target_dir == str(sources.root / "data/raw/vllm-0.10.1")


def test_a_checkout_keeps_its_index_where_the_contract_says() -> None:
    """``data/processed`` of the repository that the package runs from."""
    root = checkout_root()
    assert root is not None
    assert load_settings(None, {"HOME": "/nonexistent"}).index_dir == str(root / "data/processed")


@pytest.mark.parametrize(
    ("given", "expected"),
    [("index", "@root/index"), ("/elsewhere", "/elsewhere"), ("~", "@home")],
    ids=["relative", "absolute", "home"],
)
def test_index_dir_counts_from_the_root(
    sources: Sources, given: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative paths do not depend on the folder a command is run from."""
    monkeypatch.setenv("HOME", str(sources.home))
    places = expected.replace("@root", str(sources.root)).replace("@home", str(sources.home))
    assert sources.load(index_dir=given).index_dir == places


def test_a_path_object_is_as_good_as_its_text(sources: Sources, tmp_path: Path) -> None:
    """Callers of the package hand in `pathlib.Path`."""
    pipeline = RagPipeline(project_root=sources.root, index_dir=tmp_path / "index")
    assert pipeline.settings.index_dir == str(tmp_path / "index")


VARIABLES = [
    ("RAG_K", "7", "k", 7),
    ("RAG_FILE_WEIGHT", "0.25", "file_weight", 0.25),
    ("RAG_FILE_WEIGHT", "1", "file_weight", 1.0),
    ("RAG_DECOMPOSE", "yes", "decompose", True),
    ("RAG_DECOMPOSE", "0", "decompose", False),
    ("RAG_MODEL", "3.12", "model", "3.12"),
    ("RAG_LLM", "extractive", "llm", "extractive"),
    ("RAG_K", "99999999", "k", MAX_K),
]


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"), VARIABLES, ids=[f"{v}={t}" for v, t, _, _ in VARIABLES]
)
def test_a_variable_is_read_as_its_settings_type(
    sources: Sources, variable: str, text: str, name: str, value: object
) -> None:
    """A variable is text; its setting says what the text means."""
    sources.variables[variable] = text
    found = getattr(sources.load(), name)
    assert (found, type(found)) == (value, type(value))


BAD_VARIABLES = [
    ("RAG_K", "ten", "RAG_K = 'ten' is refused"),
    ("RAG_K", "True", "RAG_K = 'True' is refused"),
    ("RAG_K", "", "RAG_K = '' is refused"),
    ("RAG_K", "0", "k must be at least 1, not 0; mend it in RAG_K"),
    ("RAG_OVERLAP", "2000", "overlap must be between 0 and 1999, not 2000; mend it in RAG_OVERLAP"),
    (
        "RAG_EXPAND",
        "maybe",
        "expand must be one of none, llm, prf, not 'maybe'; mend it in RAG_EXPAND",
    ),
    ("RAG_FILE_WEIGHT", "nan", "file_weight must be a number, not nan"),
    ("RAG_FILE_WEIGHT", "inf", "file_weight must be between 0 and 10, not inf"),
    ("RAG_LLM", "gpt", "llm must be auto, or one or more of ollama, openai, local, extractive"),
    ("RAG_KEEP_ALIVE", "soon", "keep_alive must be a duration, not 'soon'"),
    ("RAG_INDX_DIR", "x", "RAG_INDX_DIR is no setting; did you mean RAG_INDEX_DIR?"),
    ("RAG_OLAMA_HOST", "x", "did you mean RAG_OLLAMA_HOST?"),
    ("RAG_ZZZ", "x", "RAG_ZZZ is no setting"),
    ("RAG_", "x", "RAG_ is no setting"),
]


@pytest.mark.parametrize(
    ("variable", "text", "message"), BAD_VARIABLES, ids=[f"{v}={t}" for v, t, _ in BAD_VARIABLES]
)
def test_a_bad_variable_is_refused(
    sources: Sources, variable: str, text: str, message: str
) -> None:
    """The message names the variable, and the one that was probably meant."""
    sources.variables[variable] = text
    assert message in sources.refusal()


def test_a_variable_in_small_letters_is_none_of_ours(
    sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only ``RAG_`` in capitals speaks to this program, and only through what it was handed."""
    monkeypatch.setenv("rag_k", "ten")
    monkeypatch.setenv("RAG_OVERLAP", "ten")
    sources.variables["RAG_CANDIDATES"] = "5"
    settings = sources.load()
    assert (settings.k, settings.overlap, settings.candidates) == (10, 0, 5)


BAD_FILES = {
    "true-is-no-number": ("k = true", "k = True is refused"),
    "text-is-no-number": ('k = "3"', "k = '3' is refused"),
    "decimal-is-no-whole-number": ("k = 3.0", "k = 3.0 is refused"),
    "number-is-no-flag": ("decompose = 1", "decompose = 1 is refused"),
    "number-is-no-text": ("model = 3", "model = 3 is refused"),
    "table": ("[k]\na = 1", "k = {'a': 1} is refused"),
    "range": ("k = 0", "k must be at least 1, not 0; mend it in"),
    "choice": ('rerank = "gpt"', "rerank must be one of none, cross, llm, not 'gpt'"),
    "generator": ('llm = "gpt"', "llm must be auto, or one or more of ollama, openai"),
    "nan": ("file_weight = nan", "file_weight must be a number, not nan"),
    "huge": (f"candidates = {10**25}", "candidates must be between 1 and 100000"),
    "misspelt": ("overlpa = 5", "sets 'overlpa', which is no setting; did you mean overlap?"),
    "capitals": ("K = 5", "sets 'K', which is no setting; did you mean k?"),
    "root": ('project_root = "/"', "sets project_root, which no config file can"),
    "not-toml": ("k =", "cannot be read"),
    "not-utf-8": (b"# \xff", "cannot be read"),
}


@pytest.mark.parametrize(("text", "message"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_config_file_is_refused(sources: Sources, text: str | bytes, message: str) -> None:
    """The message names the file; TOML's types are taken at their word."""
    path = sources.project(text)
    refusal = sources.refusal()
    assert message in refusal
    assert str(path) in refusal


def test_a_whole_number_is_a_number_in_a_config_file(sources: Sources) -> None:
    """``file_weight = 1`` means 1.0."""
    sources.project("\ufefffile_weight = 1")
    assert sources.load().file_weight == 1.0


BAD_FLAGS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"kk": 3}, "there is no setting 'kk'"),
    "range": ({"max_chunk_size": 2001}, "max_chunk_size must be between 1 and 2000, not 2001"),
    "text": ({"k": "5"}, "k must be a whole number, not '5'"),
    "true": ({"k": True}, "k must be a whole number, not True"),
    "nan": ({"file_weight": float("nan")}, "file_weight must be a number, not nan"),
    "number": ({"model": 5}, "model must be text, not 5"),
    "flag": ({"decompose": 1}, "decompose must be True or False, not 1"),
    "overlap": (
        {"overlap": 50, "max_chunk_size": 50},
        "overlap must be smaller than max_chunk_size (50), not 50",
    ),
}


@pytest.mark.parametrize(("flags", "message"), BAD_FLAGS.values(), ids=BAD_FLAGS.keys())
def test_a_bad_value_from_a_caller_is_refused(
    sources: Sources, flags: dict[str, Any], message: str
) -> None:
    """The package checks its callers as the command line checks its users."""
    assert message in sources.refusal(**flags)


def test_every_default_is_a_value_that_could_be_set() -> None:
    """Of the right type, within its range, one of its choices."""
    for name, field in FIELDS.items():
        assert check_value(name, field.default) == field.default
        assert field.metadata["text"]


@pytest.mark.parametrize(("name", "known"), [("chunker", CHUNKERS), ("bm25", VARIANTS)])
def test_the_choices_are_those_of_the_room(name: str, known: tuple[str, ...]) -> None:
    """Written out in the settings, which are read before numpy is imported."""
    assert FIELDS[name].metadata["choices"] == known
