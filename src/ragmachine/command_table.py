"""Every command with every option, its spellings, bounds and help: the command line's one table."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from ragmachine.arguments import Command, Option, shown
from ragmachine.errors import UsageError
from ragmachine.settings import DEFAULT_CORPUS, FIELDS, MAX_K


def _setting(name: str, kind: str = "text", **more: Any) -> Option:
    """An option that overrides a setting, with the setting's help and bounds."""
    known = FIELDS[name].metadata
    return Option(
        name, kind, known["text"], low=known["low"], high=known["high"],
        choices=known["choices"], **more,
    )  # fmt: skip


_K = Option("k", "int", "hits to return", is_positional=True, low=1, high=MAX_K, is_clamped=True)
_QUERY = Option(
    "query", "text", "what to look for, any text", aliases=("question",),
    is_positional=True, is_required=True,
)  # fmt: skip
_DATASET = Option("dataset_path", "path", "a dataset in JSON", is_positional=True, is_required=True)
_RESULTS = Option(
    "student_search_results_path", "path", "a results file that search_dataset wrote",
    aliases=("student_results_path", "student_answer_path"), is_positional=True, is_required=True,
)  # fmt: skip
_BONUS = Option("bonus", "yes_no", "y: use dense vectors as well, where they were built")
_JSON = Option("json", "flag", "print one JSON document")
_INDEX_DIR = _setting("index_dir", "path")
_COLLECTION = _setting("collection")
DEFAULT_FOLDERS = (
    "data/output/search_results", "data/output/search_results_and_answer", "data/output/ablation",
)  # fmt: skip
_NO_CACHE = Option("no_cache", "flag", "neither read nor write the caches of earlier results")
_FILTER = Option("filter", "text", "e.g. 'path:docs/** lang:python symbol:Sampler*'", default="")
_EXPLAIN = Option("explain", "flag", "show what was made of the query and each stage's share")
_ENCODER = (_setting("encoder"), _setting("encoder_threads", "int"))
_DENSE = (
    _setting("strategy"), *_ENCODER, _setting("dense_candidates", "int"),
    _setting("dense_weight", "float"), _setting("fusion"),
)  # fmt: skip
_NEAR = (
    _setting("vector_index"), _setting("hnsw_links", "int"), _setting("hnsw_construction", "int"),
    _setting("hnsw_search", "int"), _setting("ivf_lists", "int"), _setting("ivf_probes", "int"),
    _setting("ivf_pieces", "int"),
)  # fmt: skip
_STAGES = (
    *_DENSE,
    _setting("expand", "mode"), _setting("expand_weight", "float"),
    _setting("narrow", "flag"), _setting("compare", "flag"), _setting("decompose", "flag"),
    _setting("retry_coverage", "float"), _setting("priors", "flag"),
    _setting("distinct", "flag"), _setting("near_duplicates", "float"),
    _setting("variety", "float"), _setting("correct", "flag"), _setting("common_share", "float"),
    _setting("part_weight", "float"), _setting("synonyms_file", "path"),
    _setting("rerank"), _setting("rerank_model", "path"), _setting("rerank_top", "int"),
    _setting("rerank_budget_ms", "int"), _setting("rerank_weight", "float"),
)  # fmt: skip
_ASKED = (
    _setting("llm"), _setting("model"), _setting("ollama_host"), _setting("gguf", "path"),
    _setting("llm_threads", "int"), _setting("keep_alive"), _setting("llm_timeout_s", "float"),
)  # fmt: skip
_MODEL = (
    *_ASKED, _setting("max_new_tokens", "int"), _setting("context_chars", "int"),
    _setting("strict", "flag"), _setting("refuse_below", "float"),
)  # fmt: skip
_SERVED = (
    _setting("no_token", "flag"), _setting("allowed_hosts"), _setting("cors_origins"),
    _setting("ingest_roots"), _setting("upload_dir", "path"), _setting("max_body_bytes", "int"),
    _setting("max_upload_bytes", "int"), _setting("request_timeout_s", "float"),
    _setting("answer_timeout_s", "float"), _setting("rate_limit", "int"),
    _setting("answers_at_once", "int"), _setting("answers_waiting", "int"),
)  # fmt: skip
_COMMON = (_INDEX_DIR, _COLLECTION, Option("quiet", "flag", "no progress and no notices"))

_SELECTION = (
    _setting("include"), _setting("exclude"), _setting("hidden", "flag"),
    _setting("max_file_bytes", "int"),
)  # fmt: skip
_YES = Option("yes", "flag", "do not ask")
_ANSWERS = Option(
    "answers_path", "path", "a file that answer_dataset wrote",
    aliases=("student_answer_path", "student_search_results_path", "student_results_path"),
    is_positional=True, is_required=True,
)  # fmt: skip

COMMANDS = (
    Command(
        "index", "build the index of a folder, or bring it up to date",
        (
            _setting("max_chunk_size", "int", is_positional=True),
            Option("target_dir", "path", f"folder to index ({DEFAULT_CORPUS}); may be repeated",
                   aliases=("repo_path",), is_positional=True, is_repeatable=True),
            Option("bonus", "yes_no", "y: build dense vectors as well", is_positional=True),
            Option("source_tag", "text", "what filters call the folder by `source:`; one for all,"
                   " or one each by commas", default=""),
            *_SELECTION,
            _setting("overlap", "int"), _setting("chunker"), _setting("context", "flag"),
            _setting("table_rows", "flag"),
            _setting("bm25"), _setting("k1", "float"), _setting("b", "float"),
            _setting("workers", "int"), *_ENCODER, *_NEAR,
            Option("enrich", "flag", "have the first model of --llm describe each chunk"),
            *_ASKED,
            Option("force", "flag", "read every file again"),
            Option("strict", "flag", "fail on any file that is odd or unreadable"),
            _JSON, *_COMMON,
        ),
        example="index --max_chunk_size 2000 --target_dir docs",
    ),
    Command(
        "search", "the best passages for one question",
        (_QUERY, _K, _BONUS, _FILTER, _EXPLAIN, *_STAGES, *_ASKED, _NO_CACHE, _JSON, *_COMMON),
        example='search "how is the KV cache sized?" --k 5',
    ),
    Command(
        "search_dataset", "search every question of a dataset and save the results",
        (
            _DATASET, _K,
            Option("save_directory", "path", "folder of the results file",
                   default=DEFAULT_FOLDERS[0], is_positional=True),
            _BONUS, *_STAGES, *_ASKED, _NO_CACHE, *_COMMON,
        ),
        example="search_dataset data/datasets/UnansweredQuestions/sample.json --k 10",
    ),
    Command(
        "evaluate", "recall, MRR and nDCG of a results file against an answered dataset",
        (
            _RESULTS, _DATASET, _K,
            Option("max_context_length", "int", "longer sources do not count", default=2000,
                   is_positional=True, low=1),
            Option("verbose", "flag", "a line for every question"), _JSON,
            Option("quiet", "flag", "no notices"),
        ),
        aliases=("measure_recall_at_k_on_dataset",),
        example="evaluate data/output/search_results/sample.json"
        " data/datasets/AnsweredQuestions/sample.json",
    ),
    Command(
        "answer", "answer one question from the passages found, with their lines",
        (
            _QUERY, _K, _BONUS, _FILTER, *_STAGES, _setting("answer_cache", "flag"), _NO_CACHE,
            Option("no_retrieval", "flag", "ask the model alone, without any passage"),
            Option("show_context", "flag", "show the passages as whoever answered saw them"),
            Option("timings", "flag", "show where the time went, and the tokens"),
            _JSON, *_MODEL, *_COMMON,
        ),
        example='answer "what does the scheduler do when memory runs out?"',
    ),
    Command(
        "chat", "a conversation: follow-up questions, and /sources, /open and more (see /help)",
        (
            _K, _BONUS, _FILTER, *_STAGES, _setting("rewrite"), _setting("chat_history", "flag"),
            _setting("answer_cache", "flag"), _NO_CACHE, *_MODEL, *_COMMON,
        ),
        example="chat --llm extractive",
    ),
    Command(
        "answer_dataset", "add an answer to every entry of a results file",
        (
            _RESULTS,
            Option("save_directory", "path", "folder of the answers file",
                   default=DEFAULT_FOLDERS[1], is_positional=True),
            Option("workers", "int", "questions asked of the model at a time", default=1,
                   low=1, high=64),
            *_MODEL, *_COMMON,
        ),
        example="answer_dataset data/output/search_results/sample.json",
    ),
    Command(
        "evaluate_answers", "answers against reference answers, true sources and refusals due",
        (
            _ANSWERS, _DATASET,
            Option("verbose", "flag", "a line for every question that went wrong"), _JSON,
            Option("quiet", "flag", "no notices"),
        ),
        example="evaluate_answers data/output/search_results_and_answer/sample.json"
        " data/datasets/AnsweredQuestions/sample.json",
    ),
    Command(
        "bench", "the model with retrieval, the model alone and quotations, side by side",
        (
            _DATASET, _K,
            Option("limit", "int", "questions drawn, always the same; 0 for all", default=0,
                   is_positional=True, low=0),
            _BONUS, *_STAGES, _JSON, *_MODEL, *_COMMON,
        ),
        example="bench data/datasets/AnsweredQuestions/sample.json --limit 20",
    ),
    Command(
        "ablate", "what each step of the search is worth, measured over your own questions",
        (
            Option("dataset_path", "path", "answered datasets: a file, a folder, several by commas",
                   is_positional=True, is_required=True),
            Option("target_dir", "path", f"the folder they are about ({DEFAULT_CORPUS})",
                   aliases=("repo_path",), is_positional=True),
            Option("k", "int", "hits looked at per question", default=10, low=1, high=100),
            Option("rows", "text", "configurations by name or group, with commas", default="all"),
            Option("half", "text", "tune on one half of the questions, report on the other",
                   default="report", choices=("report", "tune", "all")),
            Option("save_directory", "path", "folder of the table, the numbers and the plot",
                   default=DEFAULT_FOLDERS[2]),
            _setting("workers", "int"), _JSON, Option("quiet", "flag", "no progress, no notices"),
        ),
        example='ablate data/datasets/AnsweredQuestions/sample.json data/sample'
        ' --rows "default, no passage score"',
    ),
    Command(
        "pull", "have Ollama download a model, with progress",
        (
            _setting("model", is_positional=True), _setting("ollama_host"),
            Option("quiet", "flag", "no progress"),
        ),
        example="pull qwen3:0.6b",
    ),
    Command(
        "corpus", "download a reference corpus: vllm 0.10.1, numpy or sqlalchemy",
        (
            Option("name", "text", "which corpus", default="vllm", is_positional=True),
            Option("directory", "path", "where to unpack it", default="data/raw",
                   is_positional=True),
            Option("quiet", "flag", "no progress"),
        ),
        example="corpus",
    ),
    Command(
        "watch", "keep the index up to date while files change, until Ctrl-C",
        (
            Option("debounce_ms", "int", "wait until nothing changed for so long", default=300,
                   low=10, high=60_000),
            Option("poll", "flag", "look at the files now and then, as on network shares"),
            _setting("workers", "int"), *_COMMON,
        ),
        example="watch",
    ),
    Command(
        "status", "what is indexed, how fresh it is, what was left out, sizes on disk",
        (_JSON, *_COMMON), example="status",
    ),
    Command(
        "doctor", "check the installation, the model, the index and the disk; how to mend each",
        (
            *_ASKED, _JSON, *_COMMON,
        ),
        example="doctor",
    ),
    Command("list", "the indexes side by side", (_JSON, *_COMMON), example="list"),
    Command(
        "stats", "files, chunks and sizes of an index by type and folder", (_JSON, *_COMMON),
        example="stats --collection docs",
    ),
    Command(
        "remove", "remove an index, its vectors and caches; documents stay",
        (
            _setting("collection", is_positional=True), _YES, _INDEX_DIR,
            Option("quiet", "flag", "no notices"),
        ),
        example="remove docs --yes",
    ),
    Command(
        "serve", "HTTP API, web page and MCP, on this computer alone unless told otherwise",
        (
            _setting("host", is_positional=True), _setting("port", "int", is_positional=True),
            _BONUS, *_SERVED, *_STAGES, _setting("answer_cache", "flag"), *_MODEL, *_COMMON,
        ),
        example="serve --port 8000",
    ),
    Command(
        "mcp", "the same for an editor or agent that speaks MCP on stdin and stdout",
        (_BONUS, *_STAGES, _setting("answer_cache", "flag"), *_MODEL, _INDEX_DIR, _COLLECTION),
        example="mcp --index_dir data/processed",
    ),
)  # fmt: skip
_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def find_command(name: str) -> Command:
    """The command of that name, hyphens and underscores alike.

    Raises: UsageError: there is none; the message suggests the nearest.
    """
    command = _BY_NAME.get(name.replace("-", "_"))
    if command is None:
        close = difflib.get_close_matches(name.lower().replace("-", "_"), _BY_NAME, n=1)
        hint = f"did you mean {close[0]}?" if close else "`--help` lists the commands"
        raise UsageError(f"there is no command {shown(name)}", remedy=hint)
    return command


def usage(command: Command | None = None) -> str:
    """Help text of one command, or of the program."""
    if command is None:
        rows = [(item.name, item.help) for item in COMMANDS]
        head = "ragmachine COMMAND …\n\nAsk a folder of code and documents a question.\n\n"
        tail = "\n`ragmachine COMMAND --help` explains a command; RAG_… variables set defaults."
        return head + _columns(rows) + tail
    words = [f"{option.name.upper()}" if option.is_required else f"[{option.name.upper()}]"
             for option in command.options if option.is_positional]  # fmt: skip
    rows = [(_spelling(option), _explained(option)) for option in command.options]
    also = f"\nalso called {', '.join(command.aliases)}\n" if command.aliases else ""
    return (
        f"ragmachine {command.name} {' '.join(words)} …\n\n{command.help}\n{also}\n"
        f"{_columns(rows)}\nexample: ragmachine {command.example}"
    )


def _spelling(option: Option) -> str:
    return ", ".join(f"--{name}" for name in (option.name, *option.aliases))


def _explained(option: Option) -> str:
    default = option.default
    if default is None and option.name in FIELDS:
        default = FIELDS[option.name].default
    parts: list[str] = list(option.choices)
    if option.kind == "yes_no":
        parts = ["y", "n"]
    shown = f" [{'|'.join(parts)}]" if parts else ""
    has_default = default not in (None, "", False) and not option.is_required
    return f"{option.help}{shown}" + (f" (default {default})" if has_default else "")


def _columns(rows: Sequence[tuple[str, str]]) -> str:
    width = min(max(len(left) for left, _ in rows), 40)
    return "".join(f"  {left.ljust(width)}  {right}\n" for left, right in rows)
