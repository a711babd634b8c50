"""Which folders may be indexed on request, and what an index holds after it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from typing import Any

from ragmachine.errors import IndexMissingError, RagError
from ragmachine.server.jobs import Target
from ragmachine.server.options import ServerOptions
from ragmachine.server.problems import ProblemError
from ragmachine.server.schemas import IngestRequest
from ragmachine.server.served import ServedPipeline

_UPLOADS = "uploads"


@dataclass(frozen=True, slots=True)
class _Folder:
    """An indexed folder, or the single file that is indexed.

    Attributes:
        given: its path as the index has it, which decides how hits are named.
        path: the same with links resolved, to be compared.
        tag: what filters call it; "" for nothing.
    """

    given: str
    path: str
    tag: str


class Folders:
    """What an index holds now, and what it may hold.

    Args:
        pipeline: its index and settings say.
        options: likewise.
        others: pipelines of indexes whose folders may go into this one as well.
    """

    def __init__(
        self, pipeline: ServedPipeline, options: ServerOptions, *others: ServedPipeline
    ) -> None:
        self._options = options
        self._settings = pipeline.settings
        self._indexed = _indexed(pipeline)
        self._elsewhere = [folder.path for other in others for folder in _indexed(other)]

    def target(self, asked: IngestRequest) -> Target:
        """What an index is to hold that somebody asks for.

        A folder that is there is brought up to date with all others; so is one inside of it. A new
        one comes beside those that are there, but for such as lie inside of it.

        Raises: ProblemError: 400, no path; 403, outside; 404, not there; 409, see `_beside`.
        """
        tag = asked.source_tag.strip()
        if not (asked.path or tag) and self._indexed:
            return self._target()
        path = self._allowed(asked.path or self._corpus)
        new = _Folder(path, path, tag)
        if not (asked.add and self._indexed):
            return self._target(new)
        return self._beside(new)

    def without(self, tag: str) -> Target:
        """What an index is to hold without the folders of a tag.

        Raises: ProblemError: 404, no folder has it; 409, nothing would be left.
        """
        left = [folder for folder in self._indexed if folder.tag != tag]
        if not tag or len(left) == len(self._indexed):
            raise ProblemError(
                404,
                "unknown_tag",
                "no indexed folder has this tag",
                remedy="POST /ingest gives one with source_tag",
            )
        if not left:
            raise ProblemError(
                409,
                "nothing_left",
                "the index would hold nothing",
                remedy="POST /ingest another folder, or type `ragmachine remove`",
            )
        return self._target(*left, is_as_built=True)

    def uploads(self) -> tuple[str, Target]:
        """(where uploads go, what is indexed after one).

        Raises: ProblemError: 409, uploads would not be indexed.
        """
        corpus = self._corpus
        if not os.path.isdir(corpus):
            if self._indexed:
                raise _not_indexed("the index holds a single file")
            corpus = os.path.join(self._settings.project_root, "data", _UPLOADS)
            return corpus, self._target(_Folder(corpus, corpus, ""))
        folder = os.path.realpath(self._options.upload_dir or os.path.join(corpus, _UPLOADS))
        indexed = [known.path for known in self._indexed] or [corpus]
        if not any(_is_inside(folder, path) for path in indexed):
            raise _not_indexed("the folder of uploads is outside of the indexed ones")
        is_new = not self._indexed
        return folder, self._target(*([_Folder(corpus, corpus, "")] if is_new else []))

    def _target(self, *folders: _Folder, is_as_built: bool = False) -> Target:
        """These folders, or as they are; cut and scored as those that were there."""
        tags = ",".join(folder.tag for folder in folders)
        return Target(
            tuple(folder.given for folder in folders),
            tags if any(folder.tag for folder in folders) else "",
            is_as_built=is_as_built,
            collection=self._settings.collection,
        )

    def _beside(self, new: _Folder) -> Target:
        """Raises: ProblemError: 409, another tag has it, or a file would lie beside folders."""
        around = next((one for one in self._indexed if _is_inside(new.path, one.path)), None)
        if around and new.tag in ("", around.tag):
            return self._target()
        if around and around.path == new.path:
            new = replace(new, given=around.given)
        elif around:
            raise ProblemError(
                409,
                "indexed_already",
                f"this is part of {around.path}, which is indexed"
                + (f" with the tag {around.tag}" if around.tag else " without a tag"),
                remedy="leave the source_tag out, or index it into a collection of its own",
            )
        others = [one for one in self._indexed if not _is_inside(one.path, new.path)]
        if others and any(os.path.isfile(one.path) for one in (*others, new)):
            raise ProblemError(
                409,
                "no_folder",
                "a single file cannot lie beside others in an index",
                remedy="index the folder that it is in",
            )
        return self._target(*others, new, is_as_built=True)

    @property
    def _corpus(self) -> str:
        """The folder that is indexed, or the one that the settings name.

        Of several the one that holds uploads, since another one may have come before it.
        """
        paths = [folder.path for folder in self._indexed]
        holding = [path for path in paths if os.path.isdir(os.path.join(path, _UPLOADS))]
        return next(iter(holding + paths), os.path.realpath(self._settings.target_dir))

    def _allowed(self, given: str) -> str:
        """A folder or file that may be indexed, links resolved."""
        try:
            given.encode("utf-8")
            path = os.path.realpath(os.path.join(self._settings.project_root, given))
        except ValueError:  # a NUL, or a lone surrogate
            raise ProblemError(
                400, "no_path", "this is no path", remedy="send the path of a folder"
            ) from None
        indexed = [folder.path for folder in self._indexed] + self._elsewhere
        roots = [*indexed, self._settings.target_dir, *self._options.ingest_roots]
        if not any(_is_inside(path, os.path.realpath(root)) for root in roots):
            raise ProblemError(
                403,
                "outside",
                "this folder is outside of those that may be indexed on request",
                remedy="start the server with --ingest_roots FOLDER, or use `ragmachine index`",
            )
        if not os.path.exists(path):
            raise ProblemError(404, "no_folder", "there is no such folder", remedy="check the path")
        return path


def _indexed(pipeline: ServedPipeline) -> list[_Folder]:
    """The folders of an index as it is now, whoever built it; none where there is none."""
    try:
        with contextlib.suppress(RagError):  # what answers is what counts then
            pipeline.refresh()
        manifest: dict[str, Any] = pipeline.opened_index().manifest
    except IndexMissingError:
        return []
    root = str(manifest["absolute_root"])
    rows = manifest["settings"].get("folders") or [("", "")]
    given = [(os.path.join(root, path) if path else root, tag) for path, tag in rows]
    return [_Folder(path, os.path.realpath(path), tag) for path, tag in given]


def _not_indexed(reason: str) -> ProblemError:
    return ProblemError(
        409,
        "uploads_not_indexed",
        f"uploads would not be found: {reason}",
        remedy="index a folder that holds them, see --upload_dir",
    )


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))
