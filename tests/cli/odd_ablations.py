"""Odd command lines of `ablate`, and of the options of `index` that it turns."""

from __future__ import annotations

from collections.abc import Iterator

from odd_rows import Row, fails, refused, works

PLACES = "@root/corpus --save_directory @tmp/out"


def ablations() -> Iterator[Row]:
    """Rows, halves, datasets and folders that are not what they should be."""
    docs = f"ablate @root/sets/docs.json {PLACES} --half all"
    yield refused("rows-slip", f"{docs} --rows defualt", "no row 'defualt'; did you mean default?")
    yield refused("rows-none", f"{docs} --rows ,", "no row ','; give names of rows, or one of all")
    yield refused("half-third", f"{docs} --half third", "half is given twice")
    yield refused("half-word", "ablate x --half third", "must be one of report, tune, all")
    yield refused("hits", "ablate x --k 0", "--k must be at least 1, not 0")
    yield refused("hits-many", "ablate x --k 101", "--k must be at most 100, not 101")
    yield refused("no-set", "ablate", "ablate needs dataset_path: answered datasets")
    yield fails("set-missing", f"ablate @tmp/lost.json {PLACES}", "@tmp/lost.json does not exist")
    yield fails("set-empty", f"ablate @root/sets/empty.json {PLACES}", "no question has a source")
    yield fails("no-sets", f"ablate @root/empty {PLACES}", "@root/empty holds no JSON file")
    yield fails(
        "folder-missing", "ablate @root/sets/docs.json @tmp/lost --half all", "no folder @tmp/lost"
    )
    yield fails(
        "folder-other",
        "ablate @root/sets/docs.json @root/sets --half all",
        "the questions cite no file of @root/sets, but corpus/docs/cache.md",
    )
    yield works("two-rows", f"{docs} --rows 'default, no context'", "| no context |")
    yield works("baseline", f"{docs} --rows 'naive bm25s' -k 3", "recall@1/3 |")
    yield works(
        "settings-do-not-count", f"{docs} --rows default", "= default |", RAG_CHUNKER="fixed"
    )


def shapes() -> Iterator[Row]:
    """Options that decide what an index is like."""
    yield refused("chunker", "index --chunker semantic", "must be one of structure, fixed")
    yield refused("bm25", "index --bm25 tfidf", "must be one of lucene, robertson, atire, bm25l")
    yield refused("k1-negative", "index --k1 -0.1", "--k1 must be at least 0, not -0.1")
    yield refused("b-above-one", "index --b 1.5", "--b must be at most 1, not 1.5")
    yield refused("k1-variable", "index", "between 0 and 100, not 101", RAG_K1="101")
    yield works(
        "shape",
        "index --target_dir @root/corpus --chunker fixed --nocontext --bm25 bm25l --k1 1.2 --b 0.5",
        "3 files",
    )
