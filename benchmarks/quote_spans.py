"""Turn quoted passages into question sets with character offsets.

Reads data/datasets/quotes/*.json, whose sources are literal quotes, and writes
AnsweredQuestions/<name>.json and UnansweredQuestions/<name>.json next to it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "ragmachine:questions")
COPIED = ("question", "answer", "key_values", "style")
SPAN = ("file_path", "first_character_index", "last_character_index")


class QuoteError(ValueError):
    """A source does not name one passage of one file."""


def read_exact(path: Path) -> str:
    """Read UTF-8 text without newline translation, so that offsets fit the bytes on disk.

    Raises:
        QuoteError: The file is missing or not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise QuoteError("file missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise QuoteError(f"unreadable: {error}") from None


def locate(text: str, source: dict[str, str]) -> tuple[int, int]:
    """Find a passage; str indices, end exclusive.

    Raises:
        QuoteError: The quote is absent or ambiguous, or `to` does not follow it.
    """
    key = "quote" if "quote" in source else "from"
    needle = source.get(key, "")
    start = text.find(needle) if needle else -1
    if start < 0:
        raise QuoteError(f"`{key}` not found: {needle!r}")
    if text.find(needle, start + 1) >= 0:
        raise QuoteError(f"`{key}` found twice: {needle!r}")
    end = start + len(needle)
    if key == "from":
        last = source.get("to", "")
        found = text.find(last, end) if last else -1
        if found < 0:
            raise QuoteError(f"`to` missing after `from`: {last!r}")
        end = found + len(last)
    return start, end


def build(root: Path, quotes: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Resolve every question of a set; returns the questions and one line per error."""
    name, corpus = quotes["name"], quotes["corpus_root"]
    questions: list[dict[str, Any]] = []
    errors: list[str] = []
    for entry in quotes["questions"]:
        spans = []
        for source in entry["sources"]:
            file_path = f"{corpus}/{source['file']}"
            try:
                start, end = locate(read_exact(root / file_path), source)
            except QuoteError as error:
                errors.append(f"{name}: {entry['question']}: {source['file']}: {error}")
                continue
            spans.append(dict(zip(SPAN, (file_path, start, end), strict=True)))
        identity = {"question_id": str(uuid.uuid5(NAMESPACE, f"{name}\n{entry['question']}"))}
        questions.append(identity | {key: entry[key] for key in COPIED} | {"sources": spans})
    return questions, errors


def write_atomic(path: Path, content: str) -> None:
    """Replace a file in one step, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(content, encoding="utf-8", newline="")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Write or check the sets; 1 on any error, and then nothing is written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="one set instead of all")
    parser.add_argument("--check", action="store_true", help="write nothing, 1 if out of date")
    options = parser.parse_args(argv)
    datasets = root / "data" / "datasets"
    paths = sorted((datasets / "quotes").glob(f"{options.only or '*'}.json"))
    errors = [] if paths else [f"no quotes found for {options.only or 'any set'}"]
    outputs: dict[Path, str] = {}
    for path in paths:
        quotes = json.loads(path.read_text(encoding="utf-8"))
        name, corpus = quotes["name"], root / quotes["corpus_root"]
        if not corpus.is_dir():
            sys.stderr.write(f"{name}: {corpus} is not on disk, set left as it is\n")
            continue
        answered, found = build(root, quotes)
        errors += found
        bare = [{key: entry[key] for key in ("question_id", "question")} for entry in answered]
        for folder, rows in (("AnsweredQuestions", answered), ("UnansweredQuestions", bare)):
            text = json.dumps({"rag_questions": rows}, indent=1, ensure_ascii=False) + "\n"
            outputs[datasets / folder / f"{name}.json"] = text
    if options.check and not errors:
        for target, text in outputs.items():
            if not target.is_file() or target.read_bytes() != text.encode("utf-8"):
                errors.append(f"{target} is out of date")
    for line in errors:
        sys.stderr.write(line.replace("\n", " ") + "\n")
    if not errors and not options.check:
        for target, text in outputs.items():
            write_atomic(target, text)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
