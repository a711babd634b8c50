"""Every command with every option, its spellings, bounds and help: the command line's one table."""

from __future__ import annotations

import difflib

from ragmachine.commands.arguments import Command, Option, shown
from ragmachine.commands.options import (
    ANSWERS,
    ASKED,
    BONUS,
    COLLECTION,
    COMMON,
    DATASET,
    DEFAULT_FOLDERS,
    ENCODER,
    EXPLAIN,
    FILTER,
    INDEX_DIR,
    JSON,
    MODEL,
    NEAR,
    NO_CACHE,
    QUERY,
    RESULTS,
    SELECTION,
    SERVED,
    STAGES,
    YES,
    K,
    setting,
)  # fmt: skip
from ragmachine.errors import UsageError
from ragmachine.settings import DEFAULT_CORPUS

COMMANDS = (
    Command(
        "index", "build the index of a folder, or bring it up to date",
        (
            setting("max_chunk_size", "int", is_positional=True),
            Option("target_dir", "path", f"folder to index ({DEFAULT_CORPUS}); may be repeated",
                   aliases=("repo_path",), is_positional=True, is_repeatable=True),
            Option("bonus", "yes_no", "y: build dense vectors as well", is_positional=True),
            Option("source_tag", "text", "what filters call the folder by `source:`; one for all,"
                   " or one each by commas", default=""),
            *SELECTION,
            setting("overlap", "int"), setting("chunker"), setting("context", "flag"),
            setting("table_rows", "flag"), setting("text_columns"),
            setting("bm25"), setting("k1", "float"), setting("b", "float"),
            setting("workers", "int"), setting("ocr_model"), *ENCODER, *NEAR,
            Option("enrich", "flag", "have the first model of --llm describe each chunk"),
            *ASKED,
            Option("force", "flag", "read every file again"),
            Option("strict", "flag", "fail on any file that is odd or unreadable"),
            JSON, *COMMON,
        ),
        example="index --max_chunk_size 2000 --target_dir docs",
    ),
    Command(
        "search", "the best passages for one question",
        (QUERY, K, BONUS, FILTER, EXPLAIN, *STAGES, *ASKED, NO_CACHE, JSON, *COMMON),
        example='search "how is the KV cache sized?" --k 5',
    ),
    Command(
        "search_dataset", "search every question of a dataset and save the results",
        (
            DATASET, K,
            Option("save_directory", "path", "folder of the results file",
                   default=DEFAULT_FOLDERS[0], is_positional=True),
            BONUS, *STAGES, *ASKED, NO_CACHE, *COMMON,
        ),
        example="search_dataset data/datasets/UnansweredQuestions/sample.json --k 10",
    ),
    Command(
        "evaluate", "recall, MRR and nDCG of a results file against an answered dataset",
        (
            RESULTS, DATASET, K,
            Option("max_context_length", "int", "longer sources do not count", default=2000,
                   is_positional=True, low=1),
            Option("verbose", "flag", "a line for every question"), JSON,
            Option("quiet", "flag", "no notices"),
        ),
        aliases=("measure_recall_at_k_on_dataset",),
        example="evaluate data/output/search_results/sample.json"
        " data/datasets/AnsweredQuestions/sample.json",
    ),
    Command(
        "answer", "answer one question from the passages found, with their lines",
        (
            QUERY, K, BONUS, FILTER, *STAGES, setting("answer_cache", "flag"), NO_CACHE,
            Option("no_retrieval", "flag", "ask the model alone, without any passage"),
            Option("show_context", "flag", "show the passages as whoever answered saw them"),
            Option("timings", "flag", "show where the time went, and the tokens"),
            JSON, *MODEL, *COMMON,
        ),
        example='answer "what does the scheduler do when memory runs out?"',
    ),
    Command(
        "chat", "a conversation: follow-up questions, and /sources, /open and more (see /help)",
        (
            K, BONUS, FILTER, *STAGES, setting("rewrite"), setting("chat_history", "flag"),
            setting("answer_cache", "flag"), NO_CACHE, *MODEL, *COMMON,
        ),
        example="chat --llm extractive",
    ),
    Command(
        "answer_dataset", "add an answer to every entry of a results file",
        (
            RESULTS,
            Option("save_directory", "path", "folder of the answers file",
                   default=DEFAULT_FOLDERS[1], is_positional=True),
            Option("workers", "int", "questions asked of the model at a time", default=1,
                   low=1, high=64),
            *MODEL, *COMMON,
        ),
        example="answer_dataset data/output/search_results/sample.json",
    ),
    Command(
        "evaluate_answers", "answers against reference answers, true sources and refusals due",
        (
            ANSWERS, DATASET,
            Option("verbose", "flag", "a line for every question that went wrong"), JSON,
            Option("quiet", "flag", "no notices"),
        ),
        example="evaluate_answers data/output/search_results_and_answer/sample.json"
        " data/datasets/AnsweredQuestions/sample.json",
    ),
    Command(
        "bench", "the model with retrieval, the model alone and quotations, side by side",
        (
            DATASET, K,
            Option("limit", "int", "questions drawn, always the same; 0 for all", default=0,
                   is_positional=True, low=0),
            BONUS, *STAGES, JSON, *MODEL, *COMMON,
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
            setting("workers", "int"), JSON, Option("quiet", "flag", "no progress, no notices"),
        ),
        example='ablate data/datasets/AnsweredQuestions/sample.json data/sample'
        ' --rows "default, no passage score"',
    ),
    Command(
        "pull", "have Ollama download a model, with progress",
        (
            setting("model", is_positional=True), setting("ollama_host"),
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
            setting("workers", "int"), *COMMON,
        ),
        example="watch",
    ),
    Command(
        "status", "what is indexed, how fresh it is, what was left out, sizes on disk",
        (JSON, *COMMON), example="status",
    ),
    Command(
        "doctor", "check the installation, the model, the index and the disk; how to mend each",
        (
            *ASKED, JSON, *COMMON,
        ),
        example="doctor",
    ),
    Command("list", "the indexes side by side", (JSON, *COMMON), example="list"),
    Command(
        "stats", "files, chunks and sizes of an index by type and folder", (JSON, *COMMON),
        example="stats --collection docs",
    ),
    Command(
        "remove", "remove an index, its vectors and caches; documents stay",
        (
            setting("collection", is_positional=True), YES, INDEX_DIR,
            Option("quiet", "flag", "no notices"),
        ),
        example="remove docs --yes",
    ),
    Command(
        "serve", "HTTP API, web page and MCP, on this computer alone unless told otherwise",
        (
            setting("host", is_positional=True), setting("port", "int", is_positional=True),
            BONUS, *SERVED, *STAGES, setting("answer_cache", "flag"), *MODEL, *COMMON,
        ),
        example="serve --port 8000",
    ),
    Command(
        "mcp", "the same for an editor or agent that speaks MCP on stdin and stdout",
        (BONUS, *STAGES, setting("answer_cache", "flag"), *MODEL, INDEX_DIR, COLLECTION),
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
