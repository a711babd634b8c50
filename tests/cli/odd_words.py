"""Odd command lines: query texts, numbers, and every spelling of every option."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from odd_rows import Row, refused, works


def queries() -> Iterator[Row]:
    """Texts that a guess from looks would take for something else: each is the query as it is."""
    texts = {
        "none": "None", "decimal": "3.12", "tuple": "foo,bar", "list": "[x]", "set": "{a}",
        "dict": '{"a":1}', "one-tuple": "(1,)", "true": "True", "minus-one": "-1",
        "minus-exponent": "-1e5", "exponent": "1e5", "hexadecimal": "0x10", "k-flag": "--k",
        "k-phrase": "--k what", "cpp": "C++", "empty": "", "blank": "  \t ", "quotes": "a'b\"c",
        "backslashes": "\\x41 \\", "newline": "a\nb", "emoji": "😀", "cjk": "中文合同",
        "substitution": "$(x)", "dash": "-", "two-dashes": "--", "three-dashes": "---",
        "arrow": "->", "minus-tuple": "-1,2", "two-dashes-number": "--5", "dashes-equals": "--=",
        "lambda": "lambda: 0", "comment": "# no", "f-string": 'f"{1}"', "bytes": "b'x'",
        "equals": "k=5", "percent": "%s %d", "triple": '"""', "escape": "\x1b[31m",
        "hindi": "हिन्दी", "nfd": "nai\u0308ve", "wide-digits": "１２", "100k": "word " * 20_000,
        "100k-unbroken": "x" * 100_000, "path": "../../etc", "glob": "*", "at": "@file",
        "semicolon": ";",
    }  # fmt: skip
    for name, text in texts.items():
        shown = json.dumps(text, ensure_ascii=False)
        yield works(f"query-{name}", ["search", "--json", text], f'"query": {shown}', None)
    yield works("query-surrogate", ["search", "\udcff cache"], "[cache]")
    yield works("query-surrogate-json", ["search", "--json", "\udcff cache"], '"query": "? cache"')
    for name, text in {"none": "None", "decimal": "3.12", "cpp": "C++", "cjk": "中文合同"}.items():
        yield works(f"found-{name}", ["search", text], f"[{text}]")
    yield works("found-k-flag", ["search", "--k"], "[--k]")
    yield works("found-k-flag-with-k", ["search", "--k", "--k", "1"], "[--k]")
    yield works("found-tuple", ["search", "foo,bar"], "[foo],[bar]")
    yield works("after-dashes", ["search", "--", "--k"], "[--k]")
    yield works("flag-named", ["search", "--query=--foreign"], "no hits", "no evidence")
    yield works("query-is-a-flag", ["search", "--query", "--json"], "no hits", "no evidence")
    yield works("answer-none", ["answer", "None"], "None", "", RAG_LLM="extractive")
    yield works("answer-empty", ["answer", ""], "I don't know", "empty", RAG_LLM="extractive")


def numbers() -> Iterator[Row]:
    """Every shape of k, and the bounds of the other numbers."""
    for name, text in {
        "word": "abc", "decimal": "2.5", "true": "True", "empty": "", "exponent": "1e3",
        "arabic": "٣", "plus": "+5", "underscore": "1_0", "hexadecimal": "0x10", "none": "None",
        "list": "[5]", "infinite": "inf", "two": "5 6", "comma": "1,000",
    }.items():  # fmt: skip
        message = f"--k must be a whole number, not {text!r}"
        yield refused(f"k-{name}", ["search", "cache", "--k", text], message)
    yield refused("k-negative", "search cache --k -3", "--k must be at least 1, not -3")
    yield refused("k-zero", "search cache --k 0", "--k must be at least 1, not 0")
    yield refused("k-minus-zero", "search cache --k -0", "--k must be at least 1, not -0")
    yield refused("k-zero-answer", "answer 'What is vLLM?' --k 0", "--k must be at least 1, not 0")
    yield refused("k-zero-dataset", "search_dataset @root/sets/docs.json --k=0", "at least 1")
    yield refused("k-long-negative", ["search", "q", "--k", f"-{'9' * 5000}"], "at least 1, not -9")
    yield works("k-huge", "search cache --k 99999999", "[cache]")
    yield works("k-longest", ["search", "cache", "--k", "9" * 5000], "[cache]")
    yield works("k-padded", ["search", "cache", "--k", " 007 "], "[cache]")
    yield works("k-huge-variable", "search calibration", "[Calibration]", RAG_K="99999999")
    yield refused("chunk-zero", "index --max_chunk_size 0", "--max_chunk_size must be at least 1")
    yield refused("chunk-2001", "index --max_chunk_size 2001", "must be at most 2000, not 2001")
    yield refused("chunk-word", "index --max_chunk_size abc", "must be a whole number, not 'abc'")
    yield refused("chunk-first", "index abc", "max_chunk_size must be a whole number, not 'abc'")
    yield refused(
        "overlap-equal", "index --overlap 500 --max_chunk_size 500", "overlap must be smaller than"
    )
    yield refused(
        "overlap-larger",
        "index --overlap 600 --max_chunk_size 500",
        "max_chunk_size (500), not 600",
    )
    yield refused("overlap-default", "index --max_chunk_size 9", "not 9", RAG_OVERLAP="9")
    yield refused("workers", "index --workers 65", "--workers must be at most 64, not 65")
    yield refused("bytes", "index --max_file_bytes 0", "--max_file_bytes must be at least 1")
    yield refused("context", "answer q --context_chars 9999999", "at most 1000000, not 9999999")
    yield refused("timeout", "answer q --llm_timeout_s soon", "must be a number, not 'soon'")
    yield refused("port", "serve --port 65536", "--port must be at most 65535, not 65536")
    yield refused("length", "evaluate a b --max_context_length 0", "must be at least 1, not 0")
    yield refused("llm", "answer q --llm gpt", "ollama, openai, local, extractive, not 'gpt'")
    yield refused("llm-order", "answer q --llm extractive,local", "names local after extractive")
    yield refused("keep-alive", "answer q --keep_alive soon", "must be a duration, not 'soon'")


def spellings() -> Iterator[Row]:
    """The contract's options, with underscores or hyphens, after a space or an equals sign."""
    lost, docs, results = "@tmp/lost", "@root/sets/docs.json", "@root/results/docs.json"
    missing = f"{lost} does not exist"
    corpus, too_long = "there is no folder @tmp/lost", "must be at most 2000"
    save_error = "would overwrite"
    entries = "student_search_results_path student_results_path student_answer_path".split()
    for command, name, value, rest, code, seen in [
        ("index", "max_chunk_size", "2001", "", 2, too_long),
        *(("index", name, lost, "", 1, corpus) for name in ("target_dir", "repo_path")),
        ("index", "bonus", "maybe", "", 2, "bonus takes y or n, not 'maybe'"),
        *(("search", name, "", "", 0, "the query is empty") for name in ("query", "question")),
        ("search", "k", "0", "cache", 2, "k must be at least 1"),
        ("search", "bonus", "y", "cache", 0, "no vectors were built"),
        ("search_dataset", "dataset_path", lost, "", 1, missing),
        ("search_dataset", "k", "0", docs, 2, "k must be at least 1"),
        ("search_dataset", "save_directory", "@root/sets", docs, 1, save_error),
        *(("evaluate", name, lost, f"--dataset_path {docs}", 1, missing) for name in entries),
        ("evaluate", "dataset_path", lost, results, 1, missing),
        ("evaluate", "k", "0", f"{results} {docs}", 2, "k must be at least 1"),
        ("evaluate", "max_context_length", "0", f"{results} {docs}", 2, "must be at least 1"),
        ("measure_recall_at_k_on_dataset", "dataset_path", lost, results, 1, missing),
        *(("answer", name, "", "", 0, "the query is empty") for name in ("query", "question")),
        ("answer", "k", "0", "cache", 2, "k must be at least 1"),
        *(("answer_dataset", name, lost, "", 1, missing) for name in entries),
        ("answer_dataset", "save_directory", "@root/results", results, 1, save_error),
        ("serve", "port", "70000", "", 2, "port must be at most 65535"),
    ]:  # fmt: skip
        hyphens = name.replace("_", "-")
        for kind, words in {
            "space": [f"--{name}", value],
            "equals": [f"--{name}={value}"],
            "hyphens": [f"--{hyphens}", value],
            "hyphens-equals": [f"--{hyphens}={value}"],
        }.items():
            if hyphens != name or "hyphens" not in kind:
                argv = [command, *words, *shlex.split(rest)]
                yield Row(f"{command}-{name}-{kind}", argv, code, "", seen)


def positions() -> Iterator[Row]:
    """The same options by position, and command names spelled otherwise."""
    docs, results = "@root/sets/docs.json", "@root/results/docs.json"
    recall = "Recall@1 = "
    yield works("at-index", "index 500 @root/corpus n", "3 files")
    yield works("at-index-bonus", "index 500 @root/corpus y", "vectors of 9 chunks")
    yield refused("at-index-fourth", "index 500 @root/corpus n more", "what to do with 'more'")
    yield works("at-index-folders", "index @root/corpus @root/empty", "3 files, ")
    yield works("at-search", "search calibration 1", "  1  ")
    yield works("at-search_dataset", f"search_dataset {docs} 3 @tmp/out", "@tmp/out/docs.json")
    yield works("at-evaluate", f"evaluate {results} {docs} 5 2000", recall)
    yield works("at-measure", f"measure_recall_at_k_on_dataset {results} {docs}", recall)
    yield works("at-answer", "answer 'What evicts blocks?' 2", "Cited:", "", RAG_LLM="extractive")
    yield works(
        "at-answer_dataset", f"answer_dataset {results} @tmp/out", "@tmp/out/docs.json", "",
        RAG_LLM="extractive",
    )  # fmt: skip
    yield works("hyphen-command", f"search-dataset {docs} --save-directory @tmp/out", "saved in")
    yield works("one-dash", "search cache -k 1", "[cache]")
    yield works("no-json", "search cache --no-json", "[cache]")
    yield works("nojson", "search cache --nojson", "[cache]")
