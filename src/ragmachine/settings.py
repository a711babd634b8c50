"""Every knob in one frozen object: defaults < config file < RAG_* environment < flags.

A plain dataclass, since importing pydantic-settings costs half of what a one-shot search may
take; pydantic-settings reads and checks the config file and the environment, and is imported
only when there is a config file or a ``RAG_`` variable to read.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmachine.collection_names import check_collection, collection_dir
from ragmachine.errors import UsageError
from ragmachine.generators import check_keep_alive, parse_generators

ENV_PREFIX = "RAG_"
TOKEN_VARIABLE = "RAG_API_TOKEN"  # noqa: S105  (its name; a secret is no setting, nor in a file)
CONFIG_FILE = "ragmachine.toml"
MAX_K = 100_000
DEFAULT_CORPUS = "data/raw/vllm-0.10.1"


def _knob(default: Any, text: str, *, low: float | None = None, high: float | None = None,
          choices: tuple[str, ...] = (),
          check: Callable[[str], object] | None = None) -> Any:  # fmt: skip
    known = {"text": text, "low": low, "high": high, "choices": choices, "check": check}
    return dataclasses.field(default=default, metadata=known)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one run; sizes in characters, times in seconds, unless a name says otherwise."""

    project_root: str = _knob("", "folder that file paths in results are relative to")
    index_dir: str = _knob("", "folder of the index")
    collection: str = _knob(
        "", "name of an index beside others; empty is the one in index_dir", check=check_collection
    )
    target_dir: str = _knob("", "folder to index")
    max_chunk_size: int = _knob(2000, "longest chunk", low=1, high=2000)
    overlap: int = _knob(0, "characters repeated from the chunk before", low=0, high=1999)
    chunker: str = _knob(
        "structure", "cut where the format has its joints, or at every so many characters",
        choices=("structure", "fixed"),
    )  # fmt: skip
    context: bool = _knob(True, "chunks are also found by the words of their label and path")
    table_rows: bool = _knob(True, "rows of large tables are also found by the table's header")
    bm25: str = _knob(
        "lucene", "variant of BM25", choices=("lucene", "robertson", "atire", "bm25l", "bm25plus")
    )
    k1: float = _knob(1.5, "how slowly repeats of a word saturate in BM25", low=0, high=100)
    b: float = _knob(0.75, "how much BM25 marks down long texts", low=0, high=1)
    max_file_bytes: int = _knob(10_000_000, "larger files are reported and left out", low=1)
    include: str = _knob("", "globs of the only files to index, by commas, e.g. '*.md,src/**'")
    exclude: str = _knob("", "globs of files and folders to leave out, by commas")
    hidden: bool = _knob(False, "index hidden files and folders too")
    text_columns: str = _knob(
        "", "columns of tables and records that hold text, by commas; empty: those that look so"
    )
    ocr_model: str = _knob(
        "", "vision model of Ollama that reads pages without text; empty: the OCR of extra pdf"
    )
    workers: int = _knob(0, "processes that read files; 0 is one per core", low=0, high=64)
    k: int = _knob(10, "hits to return", low=1)
    file_weight: float = _knob(0.4, "share of the whole file's score", low=0, high=10)
    passage_weight: float = _knob(0.4, "share of the best passage's score", low=0, high=10)
    name_weight: float = _knob(0.06, "share of the file name's coverage", low=0, high=10)
    priors: bool = _knob(True, "tests and examples count less, the rarer of text and code more")
    support_factor: float = _knob(0.9, "factor of tests and examples", low=0, high=10)
    documentation_factor: float = _knob(
        1.2, "factor of documentation, or code, where it is rare", low=0, high=10
    )
    symbol_factor: float = _knob(1.1, "factor of what defines a name asked for", low=0, high=10)
    candidates: int = _knob(200, "chunks that are rescored", low=1, high=100_000)
    part_weight: float = _knob(0.5, "weight of a name's parts beside the name", low=0, high=1)
    common_share: float = _knob(
        0.9, "words of a larger share of all chunks are ignored", low=0, high=1
    )
    correct: bool = _knob(True, "mend slips in words that nobody wrote")
    narrow: bool = _knob(True, "prefer files, folders and versions that the question names")
    expand: str = _knob(
        "none",
        "words to add: a model's synonyms (llm) or those of the best hits (prf)",
        choices=("none", "llm", "prf"),
    )
    expand_weight: float = _knob(
        0.25, "weight of an added word; the query's words have 1", low=0, high=1
    )
    compare: bool = _knob(True, "search for either side of a comparison and merge the searches")
    decompose: bool = _knob(False, "cut a question of several parts and merge the searches")
    retry_coverage: float = _knob(
        0.2, "search wider where the best hits hold less of the question; 0 never", low=0, high=1
    )
    distinct: bool = _knob(True, "show the same text once")
    near_duplicates: float = _knob(
        1.0, "likeness of words from which a hit repeats a better one; 1 keeps all", low=0, high=1
    )
    variety: float = _knob(1.0, "1 ranks by relevance alone, less avoids likeness", low=0, high=1)
    synonyms_file: str = _knob("", "your own synonyms, a line each: word: other, words")
    strategy: str = _knob(
        "lexical",
        "what finds passages: words (lexical), vectors (dense), or both (hybrid)",
        choices=("lexical", "dense", "hybrid"),
    )
    encoder: str = _knob(
        "minilm", "makes vectors: minilm, static, ollama:MODEL, or a folder with an ONNX model"
    )
    encoder_threads: int = _knob(0, "threads of the encoder; 0 is one per core", low=0, high=256)
    dense_candidates: int = _knob(200, "chunks that vectors bring", low=1, high=10_000)
    fusion: str = _knob(
        "adaptive",
        "how words and vectors are joined: by evidence, by ranks, or by scaled scores",
        choices=("adaptive", "rrf", "weighted"),
    )
    dense_weight: float = _knob(
        0.0, "weight of vectors beside words; 0: by evidence, else 1", low=0, high=1000
    )
    vector_index: str = _knob(
        "flat",
        "how near vectors are found: exactly (flat), or by faiss",
        choices=("flat", "hnsw", "ivfpq"),
    )
    hnsw_links: int = _knob(32, "links of a vector in the graph, M", low=2, high=256)
    hnsw_construction: int = _knob(200, "breadth while building, efConstruction", low=1, high=5000)
    hnsw_search: int = _knob(128, "breadth while searching, efSearch", low=1, high=5000)
    ivf_lists: int = _knob(0, "lists of the inverted file; 0 grows with the index", low=0)
    ivf_probes: int = _knob(32, "lists that a query searches, nprobe", low=1)
    ivf_pieces: int = _knob(48, "pieces that a vector is cut into, m", low=1, high=1024)
    rerank: str = _knob(
        "none", "who reads the best hits again: a cross-encoder, or the model asked for answers",
        choices=("none", "cross", "llm"),
    )  # fmt: skip
    rerank_model: str = _knob("", "cross-encoder: a folder with model.onnx and tokenizer.json")
    rerank_top: int = _knob(20, "hits that are read again", low=1, high=100)
    rerank_budget_ms: int = _knob(
        0, "most time for that; 0 is 500 for a cross-encoder, 5000 for a model", low=0, high=600_000
    )
    rerank_weight: float = _knob(
        0.5, "weight of the second reading; the first has what is left", low=0, high=1
    )
    cache_entries: int = _knob(1000, "queries kept in the query cache; 0 keeps none", low=0)
    llm: str = _knob(
        "auto", "who is asked to write: auto, or ollama, openai, local, extractive in order",
        check=parse_generators,
    )  # fmt: skip
    model: str = _knob("qwen3:0.6b", "model asked through Ollama, or through an endpoint")
    gguf: str = _knob("", "file of the local model; empty is SmolLM2-135M, if it is installed")
    llm_threads: int = _knob(0, "threads of the local model; 0 is one a core", low=0, high=256)
    keep_alive: str = _knob(
        "10m", "how long Ollama keeps the model in memory", check=check_keep_alive
    )
    ollama_host: str = _knob("", "Ollama's address; empty is OLLAMA_HOST or the local default")
    llm_timeout_s: float = _knob(120.0, "longest silence of the model", low=0.1, high=3600)
    max_new_tokens: int = _knob(400, "longest answer of the model, in tokens", low=1, high=32_768)
    context_chars: int = _knob(8000, "passages shown to the model", low=200, high=1_000_000)
    strict: bool = _knob(False, "leave out sentences that the passages do not support")
    refuse_below: float = _knob(
        0.41, "refuse to answer where less of a question is found; 0 never does", low=0, high=1
    )
    rewrite: str = _knob(
        "rules", "who completes a chat's follow-up questions", choices=("rules", "model", "off")
    )
    chat_history: bool = _knob(True, "keep the lines typed in a chat, in a file of yours alone")
    answer_cache: bool = _knob(False, "give a model's answer again when the same is asked")
    answer_cache_threshold: float = _knob(
        0.7, "least cosine of two questions that may share an answer", low=0.01, high=1
    )
    host: str = _knob("127.0.0.1", "address to listen on")
    port: int = _knob(8000, "port to listen on; 0 takes a free one", low=0, high=65_535)
    no_token: bool = _knob(False, "let other computers ask without RAG_API_TOKEN")
    allowed_hosts: str = _knob("", "names of the server beside its IP addresses, by commas")
    cors_origins: str = _knob("", "origins whose pages may call the server, by commas")
    ingest_roots: str = _knob("", "folders that may be indexed on request, by commas")
    upload_dir: str = _knob("", "folder of uploads; empty is `uploads` in the indexed folder")
    max_body_bytes: int = _knob(1_000_000, "longest request", low=1000, high=1_000_000_000)
    max_upload_bytes: int = _knob(100_000_000, "longest upload", low=1000, high=100_000_000_000)
    request_timeout_s: float = _knob(
        60.0, "longest search, and longest silence of a client that sends", low=0.1, high=3600
    )
    answer_timeout_s: float = _knob(
        600.0, "longest time of a served answer, waiting included", low=1, high=86_400
    )
    rate_limit: int = _knob(60_000, "requests of one address a minute; 0 for any number", low=0)
    answers_at_once: int = _knob(1, "questions a server asks a model at once", low=1, high=64)
    answers_waiting: int = _knob(8, "questions that may wait for the model", low=0, high=10_000)
    collections_open: int = _knob(
        4, "collections a server keeps open beside its own; each takes memory", low=1, high=1000
    )


FIELDS = {field.name: field for field in dataclasses.fields(Settings)}


_TYPES = {"str": (str, os.PathLike), "int": (int,), "float": (int, float), "bool": (bool,)}
_KINDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "True or False"}


def check_value(name: str, value: Any) -> Any:
    """A setting's value, of its type and within its range.

    Raises: UsageError: another type, out of range, not one of the choices.
    """
    kind = str(FIELDS[name].type)
    is_wrong = not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "bool")
    if is_wrong or value != value:  # only nan differs from itself
        raise UsageError(f"{name} must be {_KINDS[kind]}, not {value!r}")
    known = FIELDS[name].metadata
    low, high, choices = known["low"], known["high"], known["choices"]
    if known["check"]:
        known["check"](value)
    if choices and value not in choices:
        raise UsageError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise UsageError(f"{name} must be {bounds}, not {value}")
    return os.fspath(value) if kind == "str" else value


def load_settings(
    overrides: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Settings of this run.

    Args:
        overrides: what flags or a caller gave; None values count as not given.
        environment: stands in for `os.environ`.
    Raises: UsageError: an unknown name, a bad value, a misspelt ``RAG_`` variable.
    """
    env = os.environ if environment is None else environment
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    for name, value in given.items():
        if name not in FIELDS:
            raise UsageError(f"there is no setting {name!r}")
        given[name] = check_value(name, value)
    variables = {
        name: value
        for name, value in env.items()
        if name.startswith(ENV_PREFIX) and name != TOKEN_VARIABLE
    }
    root = _project_root(given.get("project_root") or variables.get("RAG_PROJECT_ROOT"))
    files = _existing_configs(root, env)
    lower: dict[str, Any] = {}
    if variables or files:
        from ragmachine.settings_sources import read_sources

        lower = read_sources(Settings, files, variables, check_value)
    settings = Settings(**{**lower, **given})
    if settings.overlap >= settings.max_chunk_size:
        raise UsageError(
            f"overlap must be smaller than max_chunk_size ({settings.max_chunk_size}),"
            f" not {settings.overlap}"
        )
    index_dir = _resolve(settings.index_dir, root) or str(_default_index_dir(root))
    return dataclasses.replace(
        settings,
        project_root=str(root),
        index_dir=collection_dir(index_dir, settings.collection),
        target_dir=settings.target_dir or str(root / DEFAULT_CORPUS),
        k=min(settings.k, MAX_K),
    )


def config_files(project_root: str | None, environment: Mapping[str, str]) -> list[Path]:
    """The config files that are read, least important first."""
    root = _project_root(project_root or environment.get("RAG_PROJECT_ROOT"))
    return _existing_configs(root, environment)


def _existing_configs(root: Path, env: Mapping[str, str]) -> list[Path]:
    return [path for path in (_user_config(env), root / CONFIG_FILE) if os.path.isfile(path)]


def checkout_root() -> Path | None:
    """The repository this package is run from; None when it is installed elsewhere."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "src" / "__main__.py").is_file() else None


def _project_root(given: str | None) -> Path:
    if given:
        return Path(os.path.abspath(given))
    return checkout_root() or Path.cwd()


def _default_index_dir(root: Path) -> Path:
    """Inside a checkout the contract's folder; elsewhere one hidden folder, out of the way."""
    return root / "data" / "processed" if root == checkout_root() else root / ".ragmachine"


def _resolve(path: str, root: Path) -> str:
    return os.path.join(root, os.path.expanduser(path)) if path else ""


def _user_config(env: Mapping[str, str]) -> Path:
    """The user's config file: ``$XDG_CONFIG_HOME/ragmachine/ragmachine.toml`` and its likes."""
    if sys.platform == "linux":  # the common case without importing platformdirs (30 ms)
        base = env.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(base):  # its specification: a relative one is to be ignored
            base = os.path.join(env.get("HOME") or os.path.expanduser("~"), ".config")
        return Path(base) / "ragmachine" / CONFIG_FILE
    from platformdirs import user_config_path

    return user_config_path("ragmachine") / CONFIG_FILE
