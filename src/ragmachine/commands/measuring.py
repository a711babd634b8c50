"""The subcommands that measure: evaluate, evaluate_answers, bench, ablate."""

from __future__ import annotations

from typing import Any

from ragmachine.commands.base import CommandBase, steps


class MeasureCommands(CommandBase):
    """What `Commands` can do with answered questions."""

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
        from ragmachine.commands.answering import bench_report

        pipeline = self._pipeline(settings, use_cache=False, bonus=bonus)
        with self._console.progress("answering", unit="answers", quiet=quiet) as advance:
            report = bench_report(pipeline, dataset_path, k, limit, steps(advance))
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
                [folder], pipeline.settings, chosen, k=k, half=half, on_row=steps(advance)
            )
        target = Path(self._output(save_directory, pipeline))
        paths, notice = ablation.save(document, target)
        self._notice(notice, quiet)
        if json:
            self._console.json(document)
        else:
            self._console.line(ablation.markdown(document))
            self._console.line("\n".join(f"saved in {path}" for path in paths))
