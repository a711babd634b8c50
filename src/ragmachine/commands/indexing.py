"""The subcommands that bring text in: index, and corpus, which fetches some."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ragmachine.commands.base import CommandBase, steps
from ragmachine.settings import load_settings

if TYPE_CHECKING:
    from ragmachine.index.embed import DenseReport
    from ragmachine.index.enrich import EnrichReport
    from ragmachine.pipeline import RagPipeline


class IndexCommands(CommandBase):
    """What `Commands` can do about documents."""

    def index(
        self,
        *,
        target_dir: str | list[str] | None = None,
        source_tag: str = "",
        bonus: bool | None = None,
        enrich: bool = False,
        force: bool = False,
        strict: bool = False,
        json: bool = False,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Build the index of a folder, or bring it up to date."""
        pipeline = self._pipeline(settings)
        folders = target_dir or self._own_folder(pipeline)
        with self._console.progress("indexing", unit="files", quiet=quiet) as advance:
            report = pipeline.index(
                folders, source_tag=source_tag, force=force, strict=strict, on_file=advance
            )
        if not json:
            self._console.report(report, pipeline.settings.index_dir, is_quiet=quiet)
        summaries = self._enrich(pipeline, quiet) if enrich else None
        if summaries and not json:
            self._console.summaries(summaries)
        vectors = self._embed(pipeline, quiet) if bonus else None
        if json:
            made = {"summaries": summaries, "vectors": vectors}
            known = {name: one.to_json() for name, one in made.items() if one}
            self._console.json(report.to_json() | known)
        elif vectors:
            self._console.vectors(vectors)

    @staticmethod
    def _own_folder(pipeline: RagPipeline) -> list[str] | None:
        """The folders that a named collection is of, so that nobody has to name them again."""
        if not pipeline.settings.collection or pipeline.store.current() is None:
            return None
        from ragmachine.wiring.indexing import folders_of

        return folders_of(pipeline.store)

    def _enrich(self, pipeline: RagPipeline, quiet: bool) -> EnrichReport | None:
        """Have summaries written; where there is no model, say so: the index is there without."""
        with self._console.progress("enriching", unit="texts", quiet=quiet) as advance:
            step = steps(advance)
            report = pipeline.enrich(on_text=lambda now: step(now.done, now.total))
        if not report.notice:
            return report
        self._notice(f"no {'more ' if report.summarised else ''}summaries: {report.notice}", quiet)
        return report if report.summarised else None

    def _embed(self, pipeline: RagPipeline, quiet: bool) -> DenseReport | None:
        """Make the vectors; where there is no encoder, say so: the lexical index is there."""
        from ragmachine.encoders import EncoderUnavailableError

        with self._console.progress("embedding", unit="excerpts", quiet=quiet) as advance:
            step = steps(advance)
            try:
                return pipeline.embed(on_progress=lambda done: step(done.done, done.total))
            except EncoderUnavailableError as error:
                self._notice(f"no vectors were built: {error}", quiet)
                return None

    def corpus(self, *, name: str, directory: str, quiet: bool = False) -> None:
        """Download a reference corpus."""
        from pathlib import Path

        from ragmachine.corpus.fetch import fetch_corpus

        root = os.path.join(load_settings().project_root, directory)
        with self._console.progress("downloading", unit="B", quiet=quiet) as advance:
            path = fetch_corpus(name, Path(root), progress=steps(advance))
        self._console.line(f"corpus in {path}")
