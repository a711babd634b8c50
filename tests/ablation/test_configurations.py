"""The rows: what they change, how they are chosen, what they are compared with."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragmachine.ablation.configurations import (
    DEFAULT,
    LADDER,
    NAIVE,
    ROWS,
    Row,
    comparisons,
    select_rows,
)
from ragmachine.errors import UsageError
from ragmachine.settings import FIELDS, load_settings

LADDER_ROWS = [row for row in ROWS if row.group == LADDER]
# Settings that no row needs: where things lie, who answers, what a user writes down, how far a
# stage reaches that has a row of its own, what asks a model, and how vectors are searched, which
# benchmarks/vectors.py measures; and the server's and the chat's own.
ELSEWHERE = {
    "project_root", "index_dir", "collection", "target_dir", "include", "exclude", "hidden",
    "text_columns", "ocr_model", "max_file_bytes", "workers", "k", "candidates",
    "expand_weight", "synonyms_file", "cache_entries", "llm", "model", "ollama_host",
    "gguf", "llm_threads", "keep_alive", "strict", "refuse_below",
    "llm_timeout_s", "max_new_tokens", "context_chars", "rerank", "rerank_model", "rerank_top",
    "rerank_budget_ms", "rerank_weight", "answer_cache", "answer_cache_threshold",
    "encoder_threads", "dense_candidates", "dense_weight", "vector_index",
    "host", "port", "no_token", "allowed_hosts", "cors_origins", "ingest_roots", "upload_dir",
    "max_body_bytes", "max_upload_bytes", "request_timeout_s", "answer_timeout_s", "rate_limit",
    "answers_at_once", "answers_waiting", "collections_open",
    "rewrite", "chat_history",
    "hnsw_links", "hnsw_construction", "hnsw_search", "ivf_lists", "ivf_probes", "ivf_pieces",
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_names_settings_that_exist(row: Row) -> None:
    """A setting that was renamed, or a value out of range, would fail only after minutes."""
    load_settings(row.settings, {})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_changes_something(row: Row) -> None:
    """No setting of a row is the shipped one, which would measure the default again."""
    for name, value in row.settings.items():
        assert value != FIELDS[name].default


def test_every_setting_that_decides_results_is_measured() -> None:
    """A new stage gets a row, or is listed here with those that need none."""
    assert {name for row in ROWS for name in row.settings} == FIELDS.keys() - ELSEWHERE


def test_names_can_be_told_apart_on_the_command_line() -> None:
    """They are unique, hold no comma, and none is the name of a group."""
    names = [row.name.lower() for row in ROWS]
    assert len(names) == len(set(names))
    assert not any("," in name for name in names)
    assert not set(names) & {row.group for row in ROWS}


def test_the_ladder_leads_from_the_baseline_to_the_shipped_default() -> None:
    """Its last row changes nothing."""
    assert LADDER_ROWS[0].name == NAIVE
    assert LADDER_ROWS[-1].name == DEFAULT
    assert LADDER_ROWS[-1].settings == {}


def test_a_step_of_the_ladder_adds_one_thing() -> None:
    """From structure on, each row gives exactly one setting back to the default."""
    names = [row.name for row in LADDER_ROWS]
    rows = LADDER_ROWS[names.index("+ structure and no overlap") :]
    for before, after in pairwise(rows):
        assert before.settings.items() > after.settings.items()
        assert len(before.settings) - len(after.settings) == 1


def test_rows_are_chosen_by_name_whatever_their_case_and_order() -> None:
    """They come in the order of the table."""
    rows = select_rows("No passage score, DEFAULT")
    assert [row.name for row in rows] == ["default", "no passage score"]


def test_rows_are_chosen_by_group() -> None:
    """A group brings all of its rows; ``all`` brings everything that takes no vectors."""
    assert select_rows("ladder") == LADDER_ROWS
    assert select_rows(" all ") == [row for row in ROWS if row.group != "vectors"]
    assert select_rows("all, vectors") == list(ROWS)


def test_a_row_aside_brings_the_default() -> None:
    """There would be nothing to compare it with."""
    assert [row.name for row in select_rows("k1 0.9")] == ["default", "k1 0.9"]


def test_an_unknown_row_is_refused_with_the_nearest() -> None:
    """A slip is answered with the name that was meant, nonsense with the groups."""
    with pytest.raises(UsageError, match="no row 'no pasage score'; did you mean no passage score"):
        select_rows("no pasage score")
    with pytest.raises(UsageError, match="give names of rows, or one of all, ladder, chunks"):
        select_rows("zzzz")
    with pytest.raises(UsageError, match="no row ' , '"):
        select_rows(" , ")


def test_a_step_is_compared_with_the_row_above() -> None:
    """Of those that were chosen; the first has none above it."""
    rows = select_rows("naive bm25s, + context, default, variety (MMR 0.8)")
    assert comparisons(rows) == {
        "+ context": "naive bm25s",
        "default": "+ context",
        "variety (MMR 0.8)": "default",
    }


def test_without_a_default_nothing_aside_is_compared() -> None:
    """Rows put together by hand may lack it."""
    assert comparisons([Row("one", "mine"), Row("two", "mine")]) == {}
