"""The subcommands that ask: search, answer, chat, and whole files of questions."""

from __future__ import annotations

from typing import Any

from ragmachine.commands.base import CommandBase, steps


class AskCommands(CommandBase):
    """What `Commands` can do with a question."""

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
            path = pipeline.search_dataset(dataset_path, folder, k, on_question=steps(advance))
        self._console.line(f"results saved in {path}")

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
        from ragmachine.commands.answering import Asked, show_answer

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
        from ragmachine.terminal.chat_session import open_session

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
                on_question=steps(advance),
                on_notice=lambda text: self._notice(text, quiet),
                workers=workers,
            )
        self._console.line(f"answers saved in {path}")
