"""What anyone would write first: bm25s with its defaults over fixed slices of the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ragmachine.corpus.decode import decode, is_binary
from ragmachine.corpus.discover import SourceFile
from ragmachine.evaluation.measures import Span
from ragmachine.index.sparse import import_bm25s

SLICE_CHARS = 2000


def naive_search(
    files: Iterable[SourceFile], display_root: str, k: int
) -> Callable[[str], list[Span]]:
    """A function from a question to its `k` best slices, best first; built once, in memory.

    Args:
        files: what is searched; unreadable and binary ones are left out, odd ones read as the
            product reads them.
        display_root: how paths begin.
        k: slices to return, from 1; all of them where there are fewer.
    """
    spans: list[Span] = []
    texts: list[str] = []
    for file in files:
        try:
            data = Path(file.absolute).read_bytes()
        except OSError:  # the product goes on without such a file, too
            continue
        text = "" if is_binary(data) else decode(data).text
        for start in range(0, len(text), SLICE_CHARS):
            texts.append(text[start : start + SLICE_CHARS])
            path = f"{display_root}/{file.path}" if display_root else file.path
            spans.append(Span(path, start, start + len(texts[-1])))
    if not texts:
        return lambda question: []
    bm25s = import_bm25s()
    model = bm25s.BM25()
    model.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    count = min(k, len(texts))

    def search(question: str) -> list[Span]:
        tokens = bm25s.tokenize([question], stopwords="en", show_progress=False)
        numbers, _ = model.retrieve(tokens, k=count, show_progress=False)
        return [spans[number] for number in numbers[0].tolist()]

    return search
