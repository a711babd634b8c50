"""What each subcommand does: arguments that are already checked, a pipeline, text on stdout.

Python Fire calls the methods of `Commands`; their names and parameters are those of
`command_table`, which tests compare.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ragmachine.command_table import DEFAULT_FOLDERS
from ragmachine.maintenance_commands import MaintenanceCommands
from ragmachine.render import Console
from ragmachine.settings import load_settings

if TYPE_CHECKING:
    from ragmachine.index.embed import DenseReport
    from ragmachine.index.enrich import EnrichReport
    from ragmachine.pipeline import RagPipeline


class Commands(MaintenanceCommands):
    """The subcommands; each returns None and prints its result on stdout."""

    def __init__(self, console: Console) -> None:
        self._console = console

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

    def _enrich(self, pipeline: RagPipeline, quiet: bool) -> EnrichReport | None:
        """Have summaries written; where there is no model, say so: the index is there without."""
        with self._console.progress("enriching", unit="texts", quiet=quiet) as advance:
            step = _steps(advance)
            report = pipeline.enrich(on_text=lambda now: step(now.done, now.total))
        if not report.notice:
            return report
        self._notice(f"no {'more ' if report.summarised else ''}summaries: {report.notice}", quiet)
        return report if report.summarised else None

    def _embed(self, pipeline: RagPipeline, quiet: bool) -> DenseReport | None:
        """Make the vectors; where there is no encoder, say so: the lexical index is there."""
        from ragmachine.encoders import EncoderUnavailableError

        with self._console.progress("embedding", unit="excerpts", quiet=quiet) as advance:
            step = _steps(advance)
            try:
                return pipeline.embed(on_progress=lambda done: step(done.done, done.total))
            except EncoderUnavailableError as error:
                self._notice(f"no vectors were built: {error}", quiet)
                return None

    def search(
        self,
        *,
        query: str,
        k: int | None = None,
        bonus: bool | None = None,
        filter: str = "",
        explain: bool = False,
        no_cache: bool = False,
        json: bool = False,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Print the best passages for one question."""
        pipeline = self._pipeline(settings, use_cache=not no_cache, bonus=bonus)
        result = pipeline.search(query, k, filter=filter, explain=explain)
        pipeline.flush()
        self._notice(result.notice, quiet)
        if json:
            self._console.json(result.to_json(is_explained=explain))
        else:
            self._console.hits(result, pipeline.opened_index().tokenizer, is_explained=explain)

    def search_dataset(
        self,
        *,
        dataset_path: str,
        save_directory: str,
        k: int | None = None,
        bonus: bool | None = None,
        no_cache: bool = False,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Search every question of a dataset and save the results."""
        pipeline = self._pipeline(settings, use_cache=not no_cache, bonus=bonus)
        folder = self._output(save_directory, pipeline)
        with self._console.progress("searching", unit="questions", quiet=quiet) as advance:
            path = pipeline.search_dataset(dataset_path, folder, k, on_question=_steps(advance))
        self._console.line(f"results saved in {path}")

    def evaluate(
        self,
        *,
        student_search_results_path: str,
        dataset_path: str,
        max_context_length: int,
        k: int | None = None,
        verbose: bool = False,
        json: bool = False,
        quiet: bool = False,
    ) -> None:
        """Score a results file against an answered dataset."""
        report = self._pipeline({}).evaluate(
            student_search_results_path, dataset_path, k, max_context_length=max_context_length
        )
        del quiet  # the report has no notices to leave out; accepted for symmetry
        if json:
            self._console.json(report.to_json())
        else:
            self._console.line(report.to_text(verbose=verbose))

    def answer(
        self,
        *,
        query: str,
        k: int | None = None,
        bonus: bool | None = None,
        filter: str = "",
        no_cache: bool = False,
        no_retrieval: bool = False,
        show_context: bool = False,
        timings: bool = False,
        json: bool = False,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Answer one question, with the lines that the answer rests on."""
        from ragmachine.answer_commands import Asked, show_answer

        pipeline = self._pipeline(settings, use_cache=not no_cache, bonus=bonus)
        asked = Asked(query, k, filter, no_retrieval, show_context, timings, json)
        self._notice(show_answer(self._console, pipeline, asked), quiet)

    def chat(
        self,
        *,
        k: int | None = None,
        bonus: bool | None = None,
        filter: str = "",
        no_cache: bool = False,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Answer questions one after another, each with the ones before in mind."""
        from ragmachine.chat_session import open_session

        pipeline = self._pipeline(settings, use_cache=not no_cache, bonus=bonus)
        open_session(pipeline, self._console, k, filter, is_quiet=quiet).run()

    def answer_dataset(
        self,
        *,
        student_search_results_path: str,
        save_directory: str,
        workers: int = 1,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Add an answer to every entry of a results file."""
        pipeline = self._pipeline(settings)
        folder = self._output(save_directory, pipeline)
        with self._console.progress("answering", unit="questions", quiet=quiet) as advance:
            path = pipeline.answer_dataset(
                student_search_results_path,
                folder,
                on_question=_steps(advance),
                on_notice=lambda text: self._notice(text, quiet),
                workers=workers,
            )
        self._console.line(f"answers saved in {path}")

    def evaluate_answers(
        self,
        *,
        answers_path: str,
        dataset_path: str,
        verbose: bool = False,
        json: bool = False,
        quiet: bool = False,
    ) -> None:
        """Score a file of answers against an answered dataset."""
        report = self._pipeline({}).evaluate_answers(answers_path, dataset_path)
        del quiet  # as in `evaluate`
        if json:
            self._console.json(report.to_json())
        else:
            self._console.line(report.to_text(verbose=verbose))

    def bench(
        self,
        *,
        dataset_path: str,
        k: int | None = None,
        limit: int = 0,
        bonus: bool | None = None,
        json: bool = False,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Compare answers with and without a model, with and without retrieval."""
        from ragmachine.answer_commands import bench_report

        pipeline = self._pipeline(settings, use_cache=False, bonus=bonus)
        with self._console.progress("answering", unit="answers", quiet=quiet) as advance:
            report = bench_report(pipeline, dataset_path, k, limit, _steps(advance))
        if json:
            self._console.json(report.to_json())
        else:
            self._console.line(report.to_text())

    def ablate(
        self,
        *,
        dataset_path: str,
        k: int,
        rows: str,
        half: str,
        save_directory: str,
        target_dir: str | None = None,
        json: bool = False,
        quiet: bool = False,
        **settings: Any,
    ) -> None:
        """Measure what each step of the search is worth."""
        from pathlib import Path

        from ragmachine import ablation

        pipeline = self._pipeline(settings)
        chosen = ablation.select_rows(rows)
        folder = ablation.LabelledFolder(
            target_dir or pipeline.settings.target_dir,
            ablation.read_cases(ablation.find_datasets(dataset_path), half),
            pipeline.store.folder,
        )
        with self._console.progress("measuring", unit="rows", quiet=quiet) as advance:
            document = ablation.ablate(
                [folder], pipeline.settings, chosen, k=k, half=half, on_row=_steps(advance)
            )
        target = Path(self._output(save_directory, pipeline))
        paths, notice = ablation.save(document, target)
        self._notice(notice, quiet)
        if json:
            self._console.json(document)
        else:
            self._console.line(ablation.markdown(document))
            self._console.line("\n".join(f"saved in {path}" for path in paths))

    def pull(self, *, quiet: bool = False, **settings: Any) -> None:
        """Have Ollama download a model."""
        from ragmachine.chat_wiring import pull_model
        from ragmachine.render import PullReport

        chosen = load_settings(settings)
        with self._console.progress("pulling", unit="B", quiet=quiet) as advance:
            report = PullReport(_steps(advance), lambda text: self._notice(text, quiet))
            pull_model(chosen, on_progress=report.show)
        self._console.line(f"Ollama has {chosen.model}")

    def corpus(self, *, name: str, directory: str, quiet: bool = False) -> None:
        """Download a reference corpus."""
        from pathlib import Path

        from ragmachine.corpus.fetch import fetch_corpus

        root = os.path.join(load_settings().project_root, directory)
        with self._console.progress("downloading", unit="B", quiet=quiet) as advance:
            path = fetch_corpus(name, Path(root), progress=_steps(advance))
        self._console.line(f"corpus in {path}")

    def serve(self, *, bonus: bool | None = None, quiet: bool = False, **settings: Any) -> None:
        """Serve the HTTP API, the web page and MCP."""
        from ragmachine.server_wiring import serve

        pipeline = self._pipeline(settings, bonus=bonus)
        pipeline.store.start_verification()  # while the server is imported
        serve(pipeline.settings, lambda url: self._notice(f"serving on {url}", quiet))

    def mcp(self, *, bonus: bool | None = None, **settings: Any) -> None:
        """Serve MCP on stdin and stdout."""
        from ragmachine.server_wiring import serve_mcp

        pipeline = self._pipeline(settings, bonus=bonus)
        pipeline.store.start_verification()
        serve_mcp(pipeline.settings)

    def _pipeline(
        self, settings: dict[str, Any], *, use_cache: bool = True, bonus: bool | None = None
    ) -> RagPipeline:
        from ragmachine.pipeline import RagPipeline

        if bonus is not None and settings.get("strategy") is None:
            settings = {**settings, "strategy": "hybrid" if bonus else "lexical"}
        return RagPipeline(load_settings(settings), use_cache=use_cache)

    @staticmethod
    def _output(directory: str, pipeline: RagPipeline) -> str:
        """An output folder: the default lies below the project root, what was typed does not."""
        if directory in DEFAULT_FOLDERS:
            return os.path.join(pipeline.settings.project_root, directory)
        return os.path.abspath(os.path.expanduser(directory))

    def _notice(self, text: str, quiet: bool) -> None:
        if text and not quiet:
            self._console.notice(text)


def _steps(advance: Callable[..., None]) -> Callable[[int, int | None], None]:
    """Turn (done, total) reports into increments of a progress bar."""
    seen = 0

    def step(done: int, total: int | None) -> None:
        nonlocal seen
        advance(done - seen, total)
        seen = done

    return step
