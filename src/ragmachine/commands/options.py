"""Options that several commands have; most override a setting, with its help and its bounds."""

from __future__ import annotations

from typing import Any

from ragmachine.commands.arguments import Option
from ragmachine.settings import FIELDS, MAX_K


def setting(name: str, kind: str = "text", **more: Any) -> Option:
    """An option that overrides a setting, with the setting's help and bounds."""
    known = FIELDS[name].metadata
    return Option(
        name, kind, known["text"], low=known["low"], high=known["high"],
        choices=known["choices"], **more,
    )  # fmt: skip


K = Option("k", "int", "hits to return", is_positional=True, low=1, high=MAX_K, is_clamped=True)
QUERY = Option(
    "query", "text", "what to look for, any text", aliases=("question",),
    is_positional=True, is_required=True,
)  # fmt: skip
DATASET = Option("dataset_path", "path", "a dataset in JSON", is_positional=True, is_required=True)
RESULTS = Option(
    "student_search_results_path", "path", "a results file that search_dataset wrote",
    aliases=("student_results_path", "student_answer_path"), is_positional=True, is_required=True,
)  # fmt: skip
BONUS = Option("bonus", "yes_no", "y: use dense vectors as well, where they were built")
JSON = Option("json", "flag", "print one JSON document")
INDEX_DIR = setting("index_dir", "path")
COLLECTION = setting("collection")
DEFAULT_FOLDERS = (
    "data/output/search_results", "data/output/search_results_and_answer", "data/output/ablation",
)  # fmt: skip
NO_CACHE = Option("no_cache", "flag", "neither read nor write the caches of earlier results")
FILTER = Option(
    "filter", "text",
    "e.g. 'path:docs/** lang:python symbol:Sampler*', or columns: 'state=open year>=2020'",
    default="",
)  # fmt: skip
EXPLAIN = Option("explain", "flag", "show what was made of the query and each stage's share")
ENCODER = (setting("encoder"), setting("encoder_threads", "int"))
DENSE = (
    setting("strategy"), *ENCODER, setting("dense_candidates", "int"),
    setting("dense_weight", "float"), setting("fusion"),
)  # fmt: skip
NEAR = (
    setting("vector_index"), setting("hnsw_links", "int"), setting("hnsw_construction", "int"),
    setting("hnsw_search", "int"), setting("ivf_lists", "int"), setting("ivf_probes", "int"),
    setting("ivf_pieces", "int"),
)  # fmt: skip
STAGES = (
    *DENSE,
    setting("expand", "mode"), setting("expand_weight", "float"),
    setting("narrow", "flag"), setting("compare", "flag"), setting("decompose", "flag"),
    setting("retry_coverage", "float"), setting("priors", "flag"),
    setting("distinct", "flag"), setting("near_duplicates", "float"),
    setting("variety", "float"), setting("correct", "flag"), setting("common_share", "float"),
    setting("part_weight", "float"), setting("synonyms_file", "path"),
    setting("rerank"), setting("rerank_model", "path"), setting("rerank_top", "int"),
    setting("rerank_budget_ms", "int"), setting("rerank_weight", "float"),
)  # fmt: skip
ASKED = (
    setting("llm"), setting("model"), setting("ollama_host"), setting("gguf", "path"),
    setting("llm_threads", "int"), setting("keep_alive"), setting("llm_timeout_s", "float"),
)  # fmt: skip
MODEL = (
    *ASKED, setting("max_new_tokens", "int"), setting("context_chars", "int"),
    setting("strict", "flag"), setting("refuse_below", "float"),
)  # fmt: skip
SERVED = (
    setting("no_token", "flag"), setting("allowed_hosts"), setting("cors_origins"),
    setting("ingest_roots"), setting("upload_dir", "path"), setting("max_body_bytes", "int"),
    setting("max_upload_bytes", "int"), setting("request_timeout_s", "float"),
    setting("answer_timeout_s", "float"), setting("rate_limit", "int"),
    setting("answers_at_once", "int"), setting("answers_waiting", "int"),
    setting("collections_open", "int"),
)  # fmt: skip
COMMON = (INDEX_DIR, COLLECTION, Option("quiet", "flag", "no progress and no notices"))

SELECTION = (
    setting("include"), setting("exclude"), setting("hidden", "flag"),
    setting("max_file_bytes", "int"),
)  # fmt: skip
YES = Option("yes", "flag", "do not ask")
ANSWERS = Option(
    "answers_path", "path", "a file that answer_dataset wrote",
    aliases=("student_answer_path", "student_search_results_path", "student_results_path"),
    is_positional=True, is_required=True,
)  # fmt: skip
