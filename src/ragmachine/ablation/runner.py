"""Runs the rows: each distinct index is built once per folder, in a place of its own."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragmachine.ablation.baseline import naive_search
from ragmachine.ablation.configurations import NAIVE, Row
from ragmachine.ablation.questions import Case
from ragmachine.corpus.discover import SourceFile, discover
from ragmachine.errors import DatasetError
from ragmachine.evaluation.measures import Span, first_true_rank
from ragmachine.index.dense import CACHE_FILES, FOLDER
from ragmachine.index.request import Shape, locate
from ragmachine.pipeline import RagPipeline
from ragmachine.settings import Settings, check_value

# of each true span of a question: the rank, from 1, that finds it, or None
Ranks = tuple[int | None, ...]
Progress = Callable[[int, int], None]
_Search = Callable[[str], list[Span]]


@dataclass(frozen=True, slots=True)
class LabelledFolder:
    """A folder, and the questions that are answered in it.

    Attributes:
        target_dir: as on the command line.
        cases: the questions.
        index_dir: an index folder whose vectors need not be made again; "" where there is none.
    """

    target_dir: str
    cases: tuple[Case, ...]
    index_dir: str = ""


def run_rows(
    folders: Sequence[LabelledFolder],
    rows: Sequence[Row],
    settings: Settings,
    k: int,
    on_row: Progress | None = None,
) -> dict[str, list[Ranks]]:
    """The ranks of every question, in the order of the folders and their cases, by row.

    Args:
        folders: each is indexed in a temporary folder, never in the user's own index.
        rows: configurations, on top of the shipped defaults.
        settings: where the project lies, the workers, and which files are too large; nothing else.
        k: hits looked at per question.
        on_row: called with (done, total), a row over a folder being one.
    Raises: DatasetError: the questions of a folder cite none of its files; and as
        `RagPipeline.index` and `search`.
    """
    shipped = Settings(
        project_root=settings.project_root,
        workers=settings.workers,
        max_file_bytes=settings.max_file_bytes,
        cache_entries=0,
    )
    result: dict[str, list[Ranks]] = {row.name: [] for row in rows}
    done = 0
    for folder in folders:
        runner = _FolderRunner(folder, shipped, k)
        for row, ranks in runner.run(rows):
            result[row.name] += ranks
            done += 1
            if on_row:
                on_row(done, len(rows) * len(folders))
    return result


class _FolderRunner:
    """The rows over one folder."""

    def __init__(self, folder: LabelledFolder, shipped: Settings, k: int) -> None:
        self.folder = folder
        self.shipped = shipped
        self.k = k

    def run(self, rows: Sequence[Row]) -> Iterator[tuple[Row, list[Ranks]]]:
        """Each row with its ranks as it is done, in an order that needs the fewest builds."""
        files, display_root = self._files()
        by_shape: defaultdict[Shape, list[tuple[Row, Settings]]] = defaultdict(list)
        for row in rows:
            if row.name == NAIVE:
                yield row, self._ranks(naive_search(files, display_root, self.k))
                continue
            checked = {name: check_value(name, value) for name, value in row.settings.items()}
            settings = replace(self.shipped, **checked)
            by_shape[RagPipeline(settings).shape].append((row, settings))
        with tempfile.TemporaryDirectory() as scratch:
            if any(row.settings.get("strategy") for row in rows):
                _take_vectors(self.folder.index_dir, scratch)
            # shapes that differ in scores alone, one after the other, read the files only once
            for shape in sorted(by_shape, key=lambda shape: shape.cut):
                placed = [(row, replace(own, index_dir=scratch)) for row, own in by_shape[shape]]
                RagPipeline(placed[0][1]).index(self.folder.target_dir)
                for row, own in placed:
                    if own.strategy != self.shipped.strategy:
                        RagPipeline(own).embed()
                    yield row, self._ranks(self._product(own))

    def _files(self) -> tuple[list[SourceFile], str]:
        """What of the folder is searched, and how its paths begin."""
        root, display_root = locate(self.folder.target_dir, self.shipped.project_root)
        found = discover(root, max_file_bytes=self.shipped.max_file_bytes)
        prefix = f"{display_root}/" if display_root else ""
        here = {prefix + file.path for file in found.files}
        cited = {span.path for case in self.folder.cases for span in case.truth}
        if here.isdisjoint(cited):
            example = min(cited)
            raise DatasetError(
                f"the questions cite no file of {self.folder.target_dir}, but {example} and others",
                remedy="name the folder they are about; paths begin at the project root",
            )
        return list(found.files), display_root

    def _product(self, settings: Settings) -> _Search:
        pipeline = RagPipeline(settings, use_cache=False)

        def search(question: str) -> list[Span]:
            chunks = [hit.chunk for hit in pipeline.search(question, self.k).hits]
            return [Span(chunk.file_path, chunk.start, chunk.end) for chunk in chunks]

        return search

    def _ranks(self, search: _Search) -> list[Ranks]:
        ranks = []
        for case in self.folder.cases:
            found = search(case.question)
            ranks.append(tuple(first_true_rank(found, [true], k=self.k) for true in case.truth))
        return ranks


def _take_vectors(source: str, target: str) -> None:
    """Copy every vector that an index folder has ever made: they are kept by content."""
    if not source:
        return
    folder = os.path.join(target, FOLDER)
    os.makedirs(folder)
    for path in glob.glob(os.path.join(glob.escape(os.path.join(source, FOLDER)), CACHE_FILES)):
        shutil.copy(path, folder)
