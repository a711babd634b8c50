"""Odd command lines: mistakes, missing and broken files, variables, notices and help."""

from __future__ import annotations

from collections.abc import Iterator

from odd_rows import Row, fails, refused, works

from ragmachine.commands.table import COMMANDS


def mistakes() -> Iterator[Row]:
    """Command lines that no reading can save."""
    docs = "@root/sets/docs.json"
    yield refused("unknown-command", "serch cache", "no command 'serch'; did you mean search?")
    yield refused("upper-command", "SEARCH cache", "did you mean search?")
    yield refused("no-such-command", "frobnicate", "`--help` lists the commands")
    yield refused("empty-command", [""], "there is no command ''")
    yield refused("long-command", ["x" * 100_000], "there is no command 'xxx")
    yield refused("flag-first", "--k 3 search cache", "there is no command '--k'")
    yield refused("no-query", "search", "search needs query")
    yield refused("no-query-answer", "answer --k 3", "answer needs query")
    yield refused("no-dataset", "search_dataset --k 3", "search_dataset needs dataset_path")
    yield refused("no-results", "evaluate", "evaluate needs student_search_results_path")
    yield refused("no-second", f"evaluate {docs}", "evaluate needs dataset_path")
    yield refused("no-results-answers", "answer_dataset", "answer_dataset needs student_search")
    yield refused("k-twice", "search cache --k 3 --k 4", "k is given twice")
    yield refused("query-twice", "search --query a --question b", "query is given twice")
    yield fails("folder-twice", "index --target_dir a --repo_path b", "there is no folder")
    yield refused("json-twice", "search cache --json --json", "json is given twice")
    yield refused("words", "search how is it sized", "question of several words in quotes")
    yield refused("words-and-name", "search cache --query cache", "k must be a whole number")
    yield refused("k-missing", "search cache --k", "--k needs a value: hits to return")
    yield refused("k-then-flag", "search cache --k --json", "--k needs a value")
    yield refused("folder-missing", "index --target_dir", "--target_dir needs a value")
    yield refused(
        "folder-blank", ["index", "--target_dir", ""], "--target_dir needs a path, not ''"
    )
    yield refused("dataset-empty", ["search_dataset", ""], "dataset_path needs a path, not ''")
    yield refused("nul", ["search_dataset", "a\0b"], "needs a path, not 'a\\x00b'")
    yield refused("bonus-missing", "index --bonus", "--bonus needs a value")
    yield refused("json-maybe", "search cache --json=maybe", "--json takes y or n, not 'maybe'")
    yield refused("misspelt", "index --max_chunk_szie 500", "did you mean --max_chunk_size?")
    yield refused("misspelt-hyphen", "index --max-chunk-szie=500", "did you mean --max_chunk_size?")
    yield refused("flag-query", "search --tensor", "write --query=--tensor")
    yield refused("flag-quoted", ["search", "--a=b c"], "write --query='--a=b c'")
    yield refused(
        "flag-long", ["search", f"--{'x' * 100_000}"], "to look for that text, use --query"
    )
    yield refused("short-flag", "search cache -x", "search has no option -x")
    yield refused(
        "foreign-flag", "search cache --max_chunk_size 5", "has no option --max_chunk_size"
    )
    yield refused("dash-typed-by-an-editor", "search cache –k 5", "k must be a whole number")
    yield refused("serve", "serve --host 0.0.0.0", "RAG_API_TOKEN")
    yield refused("corpus-name", "corpus nonesuch", "nonesuch")


def files() -> Iterator[Row]:
    """Files and folders that are missing or are not what they should be."""
    sets, results = "@root/sets", "@root/results"
    search = f"search_dataset --save_directory @tmp/out --dataset_path {sets}"
    score = f"evaluate {results}/docs.json"
    yield fails("dataset-absent", "search_dataset --dataset_path /nonexistent/dataset.json --k 10",
                "/nonexistent/dataset.json does not exist")  # fmt: skip
    yield fails("dataset-folder", search, "cannot be read: is a directory")
    yield fails("dataset-blank", f"{search}/blank.json", "the file is empty")
    yield fails("dataset-broken", f"{search}/broken.json", "is not valid JSON, line 1")
    yield fails("dataset-latin", f"{search}/latin.json", "is not UTF-8 text")
    yield fails("dataset-list", f"{search}/list.json", "is not a dataset")
    yield fails("dataset-null", f"{search}/null.json", "is not a dataset")
    yield fails("dataset-other", f"{search}/other.json", "rag_questions is missing")
    yield fails("dataset-number", f"{search}/number.json", "must be a string, not 5")
    yield fails("dataset-backwards", f"{search}/backwards.json", "ends before it starts")
    yield fails("dataset-is-results", f"search_dataset {results}/docs.json", "holds search_results")
    yield fails("dataset-overwritten", f"search_dataset {sets}/docs.json --save_directory {sets}",
                "would overwrite its own input")  # fmt: skip
    yield fails("dataset-long", ["search_dataset", "x" * 100_000], "file name too long")
    yield fails("dataset-lines", ["search_dataset", "a\nb\x1b[31m"], "a b\ufffd[31m does not exist")
    yield works("dataset-bom", f"{search}/bom.json", "results saved in @tmp/out/bom.json")
    yield works("dataset-unnamed", f"{search}/unnamed.json", "results saved in")
    yield works("dataset-empty-list", f"{search}/empty.json", "results saved in")
    yield fails("out-is-file", f"search_dataset {sets}/docs.json --save_directory {sets}/bom.json",
                "cannot be written")  # fmt: skip
    yield fails("score-other", f"{score} {sets}/code.json", "results belong to another dataset")
    yield fails(
        "score-swapped", f"evaluate {sets}/docs.json {results}/docs.json", "holds rag_quest"
    )
    yield fails("score-empty", f"{score} {sets}/empty.json", "the dataset holds no question")
    yield fails("score-folder", f"{score} @root", "cannot be read: is a directory")
    yield works("score-bom", f"{score} {sets}/bom.json", "Recall@10 = ")
    yield fails("answers-over-results", f"answer_dataset {results}/docs.json --save_directory"
                f" {results}", "would overwrite its own input")  # fmt: skip
    yield fails("answers-of-dataset", f"answer_dataset {sets}/docs.json", "holds rag_questions")
    yield fails("folder-absent", "index --target_dir @tmp/none", "there is no folder @tmp/none")
    yield fails("folder-default", "index", "there is no folder @root/data/raw/vllm-0.10.1")
    yield works("folder-file", "index --target_dir @root/corpus/docs/cache.md", "1 files")
    yield works("folder-empty", "index --target_dir @root/empty", "0 files, 0 chunks")
    yield works("folder-slash", "index --target_dir @root/corpus/", "3 files")
    for name, line in {
        "search": "search cache", "answer": "answer cache",
        "search_dataset": f"{search}/docs.json", "empty": f"{search}/empty.json",
        "answer_dataset": f"answer_dataset {results}/docs.json --save_directory @tmp/out",
    }.items():  # fmt: skip
        yield fails(f"no-index-{name}", line, "there is no index in @tmp/none; build it first",
                    RAG_INDEX_DIR="@tmp/none")  # fmt: skip
    yield fails("index-is-file", "search cache", "error: ", RAG_INDEX_DIR="@root/sets/docs.json")


def surroundings() -> Iterator[Row]:
    """Variables, notices and help."""
    yield refused(
        "variable-misspelt", "search cache", "did you mean RAG_INDEX_DIR?", RAG_INDX_DIR="x"
    )
    yield refused("variable-k", "search cache", "RAG_K = 'ten' is refused", RAG_K="ten")
    yield refused("variable-k-zero", "search cache", "k must be at least 1, not 0", RAG_K="0")
    yield refused("variable-k-empty", "search cache", "RAG_K = '' is refused", RAG_K="")
    yield refused("variable-llm", "answer q", "llm must be auto, or one or more of", RAG_LLM="gpt")
    yield refused("variable-long", "search cache", "RAG_KKK", RAG_KKK="x" * 100_000)
    for name, seen in {
        "true": "k = True is refused", "misspelt": "did you mean overlap?",
        "broken": "cannot be read", "range": "k must be at least 1, not 0",
        "root": "sets project_root, which no config file can", "bytes": "cannot be read",
    }.items():  # fmt: skip
        folder = f"@root/configured/{name}"
        yield refused(f"config-{name}", "search cache", seen, RAG_PROJECT_ROOT=folder)
        file = f"{folder}/ragmachine.toml"
        yield refused(f"config-file-{name}", "index", file, RAG_PROJECT_ROOT=folder)
    for command in ("search cache", "answer cache --llm extractive"):
        name = command.split()[0]
        yield works(f"bonus-{name}", f"{command} --bonus y", "corpus/", "the search is lexical")
        yield works(f"bonus-quiet-{name}", f"{command} --bonus y --quiet", "corpus/")
        yield works(f"bonus-n-{name}", f"{command} --bonus n", "corpus/")
    yield works("bonus-index", "index --target_dir @root/corpus --bonus y", "vectors of")
    yield works("no-server", "answer 'What evicts blocks?'", "Cited:", "no Ollama server answers")
    yield works("no-words", "search '' --k 10", "no hits", "the query is empty")
    yield works(
        "no-sense", "search 'asdfghjkl zxcvbnm qwertyuiop' --k 10", "no hits", "no evidence"
    )
    yield works("stopwords", "search 'the of'", "no hits", "the query holds no word")
    yield works("nothing", [], "ragmachine COMMAND")
    for word in ("help", "--help", "-h"):
        yield works(f"help-{word}", [word], "search every question of a dataset")
        yield works(f"{word}-search", [word, "search"], "ragmachine search QUERY [K]")
    yield works("version", "--version", "ragmachine ")
    for command in COMMANDS:
        line = f"{command.name} --help"
        yield works(f"help-of-{command.name}", line, f"example: ragmachine {command.example}")
    yield works("help-after-mistake", "index --max_chunk_szie 5 --help", "ragmachine index")
    yield refused("help-of-nothing", "help serch", "did you mean search?")
