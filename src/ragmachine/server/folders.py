"""Which folders may be indexed on request, and what an index holds after it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ragmachine.errors import IndexMissingError
from ragmachine.server.jobs import Target
from ragmachine.server.problems import ProblemError
from ragmachine.server.schemas import IngestRequest
from ragmachine.server.service import Service

_Tagged = Sequence[tuple[str, str]]  # folders with their tags, "" for none


class Folders:
    """What is indexed now, and what may be.

    Args:
        service: its index, settings and options say.
    """

    def __init__(self, service: Service) -> None:
        self._options = service.options
        self._settings = service.pipeline.settings
        self._indexed: list[tuple[str, str]] = []
        try:
            manifest = service.pipeline.opened_index().manifest
        except IndexMissingError:
            return
        root = os.path.realpath(str(manifest["absolute_root"]))
        for path, tag in manifest["settings"].get("folders") or [("", "")]:
            self._indexed.append((os.path.join(root, path) if path else root, tag))

    def target(self, asked: IngestRequest) -> Target:
        """What an index is to hold that somebody asks for.

        Raises: ProblemError: 400, no path; 403, outside; 404, not there; 409, see `_tagged`.
        """
        is_again = not asked.path and not asked.source_tag
        if is_again and self._indexed:
            return Target()
        path = self._allowed(asked.path or self._corpus)
        if not (asked.add and self._indexed):
            return Target((path,), asked.source_tag.strip())
        others = [folder for folder in self._indexed if folder[0] != path]
        return _tagged([*others, (path, asked.source_tag.strip())])

    def without(self, tag: str) -> Target:
        """What an index is to hold without the folders of a tag.

        Raises: ProblemError: 404, no folder has it; 409, nothing would be left.
        """
        left = [folder for folder in self._indexed if folder[1] != tag]
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
        return _tagged(left)

    def uploads(self) -> tuple[str, Target]:
        """(where uploads go, what is indexed after one).

        Raises: ProblemError: 409, uploads would not be indexed.
        """
        corpus = self._corpus
        if not os.path.isdir(corpus):
            if self._indexed:
                raise _not_indexed("the index holds a single file")
            corpus = os.path.join(self._settings.project_root, "data", "uploads")
            return corpus, Target((corpus,))
        folder = os.path.realpath(self._options.upload_dir or os.path.join(corpus, "uploads"))
        indexed = [path for path, _ in self._indexed] or [corpus]
        if not any(_is_inside(folder, path) for path in indexed):
            raise _not_indexed("the folder of uploads is outside of the indexed ones")
        return folder, Target() if self._indexed else Target((corpus,))

    @property
    def _corpus(self) -> str:
        """The first folder that is indexed, or the one that the settings name."""
        return self._indexed[0][0] if self._indexed else os.path.realpath(self._settings.target_dir)

    def _allowed(self, given: str) -> str:
        """A folder or file that may be indexed, links resolved."""
        try:
            given.encode("utf-8")
            path = os.path.realpath(os.path.join(self._settings.project_root, given))
        except ValueError:  # a NUL, or a lone surrogate
            raise ProblemError(
                400, "no_path", "this is no path", remedy="send the path of a folder"
            ) from None
        indexed = [folder for folder, _ in self._indexed]
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


def _tagged(folders: _Tagged) -> Target:
    """Folders beside one another, cut and scored as those that were there.

    Raises: ProblemError: 409, only some of them have a tag.
    """
    tags = [tag for _, tag in folders]
    if any(tags) and not all(tags):
        raise ProblemError(
            409,
            "some_without_tag",
            "either every folder has a tag or none has",
            remedy="index the first folder again with a source_tag",
        )
    paths = tuple(path for path, _ in folders)
    return Target(paths, ",".join(tags) if all(tags) else "", is_as_built=True)


def _not_indexed(reason: str) -> ProblemError:
    return ProblemError(
        409,
        "uploads_not_indexed",
        f"uploads would not be found: {reason}",
        remedy="index a folder that holds them, see --upload_dir",
    )


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))
