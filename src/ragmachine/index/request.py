"""What to index and how, as plain values handed down by the pipeline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragmachine.chunking.document import STRUCTURE
from ragmachine.errors import CorpusError, UsageError
from ragmachine.index.bm25 import Bm25
from ragmachine.index.sources import Selection

if TYPE_CHECKING:
    from ragmachine.corpus.loaders.transcript import Transcriber

# Those settings of a shape that only turn counts into scores: a change reads no file again.
SCORING = frozenset({"context", "bm25", "k1", "b"})


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides chunks and their scores: a change of any of these means a new generation.

    Attributes:
        max_chars: hard limit of a chunk in characters.
        overlap_chars: characters repeated from the chunk before, in whole lines.
        chunker: one of `chunking.document.CHUNKERS`.
        has_context: whether a chunk is also found by the words of its label and path, and a
            passage by those that it carries.
        has_table_rows: whether each row of a large table is a passage, with the table's header
            and section for its context.
        bm25: how terms are scored.
        text_columns: columns of tables of records that hold text, instead of those that look so.
        ocr_model: the vision model that reads images of pages; "" for OCR.
    """

    max_chars: int
    overlap_chars: int
    chunker: str = STRUCTURE
    has_context: bool = True
    has_table_rows: bool = True
    bm25: Bm25 = field(default_factory=Bm25)
    text_columns: tuple[str, ...] = ()
    ocr_model: str = ""

    @property
    def cut(self) -> tuple[int, int, str, bool, tuple[str, ...], str]:
        """What decides chunks and passages; all else turns their counts into scores."""
        sizes = self.max_chars, self.overlap_chars
        return *sizes, self.chunker, self.has_table_rows, self.text_columns, self.ocr_model

    def to_json(self) -> dict[str, Any]:
        """The shape under the names of the settings it was made of, for the manifest."""
        return {
            "max_chunk_size": self.max_chars,
            "overlap": self.overlap_chars,
            "chunker": self.chunker,
            "context": self.has_context,
            "table_rows": self.has_table_rows,
            "bm25": self.bm25.variant,
            "k1": self.bm25.k1,
            "b": self.bm25.b,
            "text_columns": list(self.text_columns),
            "ocr_model": self.ocr_model,
        }


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to index and how.

    Attributes:
        root: folder or file on disk.
        display_root: how `file_path` begins, POSIX.
        shape: what decides the chunks.
        max_file_bytes: larger files are reported and left out.
        workers: processes; 1 keeps everything in this one.
        is_strict: any problem fails the run.
        is_forced: nothing is taken over from the current generation.
        include, exclude, has_hidden, folders: as in `Selection`.
        page_cache: file that keeps what was read out of pages; "" for none.
        transcriber: the shape's `ocr_model`, for worker processes to ask; None for OCR.
    """

    root: str
    display_root: str
    shape: Shape
    max_file_bytes: int
    workers: int
    is_strict: bool = False
    is_forced: bool = False
    page_cache: str = ""
    transcriber: Transcriber | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    has_hidden: bool = False
    folders: tuple[tuple[str, str], ...] = ()

    @property
    def selection(self) -> Selection:
        """Which files of the root are meant."""
        return Selection(
            self.max_file_bytes, self.include, self.exclude, self.has_hidden, self.folders
        )


def request_of(manifest: dict[str, Any], *, workers: int) -> BuildRequest:
    """The request that an index was built by, as its manifest tells."""
    made = manifest["settings"]
    chosen = Selection.from_json(made)
    shape = Shape(
        made["max_chunk_size"], made["overlap"], made["chunker"], made["context"],
        made["table_rows"], Bm25(made["bm25"], made["k1"], made["b"]),
        tuple(made.get("text_columns", ())), str(made.get("ocr_model", "")),
    )  # fmt: skip
    return BuildRequest(
        root=manifest["absolute_root"],
        display_root=manifest["corpus_root"],
        shape=shape,
        max_file_bytes=chosen.max_file_bytes,
        workers=workers,
        include=chosen.include,
        exclude=chosen.exclude,
        has_hidden=chosen.has_hidden,
        folders=chosen.folders,
    )


def locate(path: str | os.PathLike[str], project_root: str) -> tuple[str, str]:
    """(where a corpus is, how its paths begin).

    A relative path is looked for from the current folder, then from the project root. Inside the
    project root paths are written relative to it, links in the way it was given kept; elsewhere
    they are absolute. The paths of a single file begin with its folder.

    Raises: CorpusError: the path is not UTF-8, and could not be written into results.
    """
    given = os.path.expanduser(os.fspath(path))
    absolute = os.path.abspath(given)
    if not os.path.isabs(given) and not os.path.exists(absolute):
        absolute = os.path.abspath(os.path.join(project_root, given))
    display_root = _relative(
        os.path.dirname(absolute) if os.path.isfile(absolute) else absolute, project_root
    )
    try:
        absolute.encode("utf-8")
        display_root.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"the name of {absolute!r} is not UTF-8", remedy="rename the folder"
        ) from error
    return absolute, display_root


def locate_all(
    paths: Sequence[str | os.PathLike[str]], tags: Sequence[str], project_root: str
) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """(the folder that all paths lie in, how its paths begin, the folders below it with tags).

    Of folders inside one another the outer one is taken. One folder without a tag is the root.

    Args:
        paths: folders; a file only when it is the one path.
        tags: one for all, or one for each path; none for none.
        project_root: as in `locate`.
    Raises: CorpusError: as `locate`; UsageError: other tags, a file among folders, nothing in
        common.
    """
    places = [locate(path, project_root)[0] for path in paths]
    if len(tags) not in (0, 1, len(places)):
        raise UsageError(
            f"{len(tags)} source tags for {len(places)} folders",
            remedy="give one tag for all, or one for each folder, by commas",
        )
    named = [*tags] * (len(places) if len(tags) == 1 else 1) or [""] * len(places)
    if len(places) == 1:
        root, display_root = locate(paths[0], project_root)
        return root, display_root, ((("", named[0]),) if named[0] else ())
    for place in places:
        if not os.path.isdir(place):
            raise CorpusError(f"there is no folder {place}", remedy="name folders")
    try:
        base = os.path.commonpath(places)
    except ValueError:
        raise UsageError("folders of several drives cannot share an index") from None
    below = {os.path.relpath(place, base).replace(os.sep, "/"): tag for place, tag in
             zip(places, named, strict=True)}  # fmt: skip
    if "." in below:
        below = {"": below["."]}
    outer = sorted(
        path for path in below
        if not any(path != other and path.startswith(f"{other}/") for other in below)
    )  # fmt: skip
    folders = tuple((path, below[path]) for path in outer)
    root, display_root = locate(base, project_root)
    return root, display_root, (() if folders == (("", ""),) else folders)


def _relative(absolute: str, project_root: str) -> str:
    for root in (os.path.abspath(project_root), os.path.realpath(project_root)):
        for candidate in (absolute, os.path.realpath(absolute)):
            if os.path.commonpath([root, candidate]) == root:
                relative = os.path.relpath(candidate, root)
                return "" if relative == "." else relative.replace(os.sep, "/")
    return absolute.replace(os.sep, "/")
