"""The library's face: index a folder, search it, answer from it.

Everything a program needs is a method of `RagPipeline`; the command line and the web server are
thin layers over it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmachine.errors import ModelError, UsageError
from ragmachine.generators import is_model_required
from ragmachine.models import Answer, IndexReport, SearchResult
from ragmachine.settings import MAX_K, Settings, check_value, load_settings

if TYPE_CHECKING:
    from ragmachine.evaluation import EvaluationReport
    from ragmachine.evaluation.answer_report import AnswerReport
    from ragmachine.generation.answerer import Answerer
    from ragmachine.index.embed import DenseProgress, DenseReport
    from ragmachine.index.enrich import EnrichProgress, EnrichReport
    from ragmachine.index.reader import Index
    from ragmachine.index.request import Shape
    from ragmachine.index.store import IndexStore
    from ragmachine.llm.chat import ChatClient
    from ragmachine.retrieval.expand import SynonymExpander
    from ragmachine.retrieval.searcher import Searcher
    from ragmachine.wiring.answer_memory import AnswerMemory


class RagPipeline:
    """Index a folder, search it, answer from it.

    Nothing is opened or imported before it is needed. An instance notices when another process
    has built a new index and uses it from the next call on.

    Args:
        settings: complete settings; by default those of config file and environment.
        use_cache: whether query results may come from, and go to, the query cache.
        overrides: single settings by name, e.g. ``index_dir="…"``.
    Raises: UsageError: a setting that does not exist or a value that cannot be meant.
    """

    def __init__(
        self, settings: Settings | None = None, *, use_cache: bool = True, **overrides: Any
    ) -> None:
        if settings is not None and overrides:
            raise ValueError("give settings or overrides, not both")
        self.settings = settings or load_settings(overrides)
        self.use_cache = use_cache
        self._opened: Searcher | None = None
        self._answering = ("", "")
        self._store: IndexStore | None = None
        self._chat: ChatClient | None = None
        self._expander: SynonymExpander | None = None
        self._answerer: Answerer | None = None
        self._memory: AnswerMemory | None = None

    @property
    def store(self) -> IndexStore:
        """The index folder."""
        if self._store is None:
            from ragmachine.index.store import IndexStore

            self._store = IndexStore(self.settings.index_dir)
        return self._store

    @property
    def shape(self) -> Shape:
        """What the settings make of an index: pipelines of one shape can share it."""
        from ragmachine.wiring.indexing import index_shape

        return index_shape(self.settings)

    def index(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        *,
        source_tag: str = "",
        force: bool = False,
        strict: bool = False,
        on_file: Callable[[int], None] | None = None,
    ) -> IndexReport:
        """Build the index of a folder, or bring it up to date.

        Vectors and summaries that are known are taken over; `embed` and `enrich` make the others.

        Args:
            path: folder or file, or several folders; by default the setting `target_dir`.
            source_tag: what filters call the folders by ``source:``: one, or one each by commas.
            force: read every file again.
            strict: fail on any file that is odd or unreadable; the old index then stays.
            on_file: called with the number of files just finished.
        Raises: CorpusError, IndexationError, IndexBusyError, StorageError.
        """
        from ragmachine.wiring.indexing import build

        return build(
            self.store, self.settings, path,
            source_tag=source_tag, force=force, strict=strict, on_file=on_file,
        )  # fmt: skip

    def update(self) -> IndexReport:
        """Bring the index up to date as it was built, whatever the settings say now.

        Raises: IndexMissingError; and as `index`.
        """
        from ragmachine.wiring.indexing import rebuild

        return rebuild(self.store, self.settings)

    def enrich(self, *, on_text: Callable[[EnrichProgress], None] | None = None) -> EnrichReport:
        """Have the model write a line about each chunk without one, and index the lines' words.

        The index answers meanwhile. An interrupted run goes on where it stopped. A model that is
        not there is no error: the report says so.

        Args:
            on_text: called before the first text and after each.
        Raises: IndexMissingError, IndexBusyError, StorageError, and as `index`.
        """
        from ragmachine.wiring.indexing import enrich

        return enrich(self.store, self.settings, on_text)

    def embed(self, *, on_progress: Callable[[DenseProgress], None] | None = None) -> DenseReport:
        """Make the vectors that the index lacks, for the strategies ``dense`` and ``hybrid``.

        The index answers meanwhile, with the vectors that are done. An interrupted run goes on
        where it stopped.

        Args:
            on_progress: called after each batch of chunks.
        Raises: IndexMissingError, IndexBusyError, StorageError; EncoderUnavailableError: the
            encoder of the settings is not installed or not there; ModelError: it fails.
        """
        from ragmachine.wiring.dense import embed

        return embed(self.store, self.settings, on_progress)

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        filter: str = "",
        explain: bool = False,
    ) -> SearchResult:
        """The k best chunks for a query; fewer, or none, when nothing else bears on it.

        Args:
            query: plain words, identifiers or both.
            k: at least 1; by default the setting `k`.
            filter: e.g. ``path:docs/** lang:python symbol:Sampler*``, or ``state=open year>=2020``
                for the short columns of records; "" searches everything.
            explain: say in the result what was made of the query.
        Raises: IndexMissingError, IndexCorruptError, IndexVersionError, UsageError.
        """
        if not isinstance(query, str):
            raise UsageError(f"a query is text, not {type(query).__name__}")
        k = self._checked_k(k)
        searcher = self.opened_searcher()
        result = searcher.search(query, k, filter, is_explained=explain)
        if result.hits:
            from ragmachine.index.staleness import marked

            result = replace(result, hits=marked(searcher.index, result.hits))
        if self._expander and self._expander.failure and not result.notice:
            return replace(result, notice=f"no synonyms: {self._expander.failure}")
        return result

    def answer(
        self,
        query: str,
        k: int | None = None,
        *,
        filter: str = "",
        on_token: Callable[[str], None] | None = None,
    ) -> Answer:
        """Search, then answer from the passages found, with the model or without one.

        Args:
            query: the question.
            k: passages to retrieve.
            filter: as in `search`.
            on_token: receives the model's text as it is written.
        Raises: as `search`; ModelError where the setting `llm` insists on a model. Otherwise a
            model that fails is no error: the answer is then extractive.
        """
        if not (self.settings.answer_cache and self.use_cache):
            return self.answer_from(self.search(query, k, filter=filter), on_token=on_token)
        if self._memory is None:
            from ragmachine.wiring.answer_memory import AnswerMemory

            self._memory = AnswerMemory(self, self._answers)
        return self._memory.answer(query, self._checked_k(k), filter, on_token)

    def answer_from(
        self, result: SearchResult, *, on_token: Callable[[str], None] | None = None
    ) -> Answer:
        """Answer from hits that are at hand."""
        answer = self._answers().answer(result, on_token=on_token)
        is_quoted = answer.mode == "extractive" and answer.notice
        if is_quoted and is_model_required(self.settings.llm):
            raise ModelError(answer.notice)  # asked for by name: nothing else will do
        return answer

    def answer_alone(self, query: str, *, on_token: Callable[[str], None] | None = None) -> Answer:
        """What the model says without any passage: the baseline that retrieval has to beat.

        Args:
            query: the question.
            on_token: receives the model's text as it is written.
        Raises: ModelError: there is no model, or it fails; UsageError: the query is no text.
        """
        from ragmachine.generation.closed_book import answer_alone

        if not isinstance(query, str):
            raise UsageError(f"a query is text, not {type(query).__name__}")
        client = self._client()
        if client is None:
            raise ModelError(
                "without retrieval there is nothing to quote, and no model is to be asked",
                remedy="name a model, such as --llm ollama",
            )
        return answer_alone(
            client, query, max_tokens=self.settings.max_new_tokens, on_token=on_token
        )

    def search_dataset(
        self,
        dataset_path: str | os.PathLike[str],
        save_directory: str | os.PathLike[str],
        k: int | None = None,
        *,
        on_question: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Search every question of a dataset and write the results under the dataset's name.

        Args:
            dataset_path: questions in JSON, answered or not.
            save_directory: folder of the results file; made when missing.
            k: hits per question.
            on_question: called with (done, total).
        Raises: DatasetError, StorageError, and as `search`; nothing is written then.
        """
        from ragmachine.datasets import search_dataset

        return search_dataset(
            self, Path(dataset_path), Path(save_directory), self._checked_k(k), on_question
        )

    def answer_dataset(
        self,
        results_path: str | os.PathLike[str],
        save_directory: str | os.PathLike[str],
        *,
        on_question: Callable[[int, int], None] | None = None,
        on_notice: Callable[[str], None] | None = None,
        workers: int = 1,
    ) -> Path:
        """Add an answer to every entry of a search results file, resuming where it was left.

        Args:
            results_path: a file that `search_dataset` wrote.
            save_directory: folder of the answers file; made when missing.
            on_question: called with (done, total).
            on_notice: called once with each distinct notice, e.g. why no model was asked.
            workers: questions asked at a time, for a server that answers several at once.
        Raises: DatasetError, StorageError, and as `search`.
        """
        from ragmachine.datasets import answer_dataset

        return answer_dataset(
            self, Path(results_path), Path(save_directory), on_question, on_notice, workers
        )

    def evaluate(
        self,
        results_path: str | os.PathLike[str],
        dataset_path: str | os.PathLike[str],
        k: int | None = None,
        *,
        max_context_length: int = 2000,
    ) -> EvaluationReport:
        """Score a results file against an answered dataset.

        Raises: DatasetError: a file that cannot be used, or results of another dataset.
        """
        from ragmachine.evaluation import evaluate
        from ragmachine.exchange import read_dataset, read_search_results

        return evaluate(
            read_search_results(Path(results_path)),
            read_dataset(Path(dataset_path)),
            k=self._checked_k(k),
            max_context_length=max_context_length,
        )

    def evaluate_answers(
        self, answers_path: str | os.PathLike[str], dataset_path: str | os.PathLike[str]
    ) -> AnswerReport:
        """Score a file of answers against the reference answers and true sources of a dataset.

        Raises: DatasetError: a file that cannot be used, or answers to another dataset.
        """
        from ragmachine.evaluation.answer_report import evaluate_answers
        from ragmachine.exchange import read_dataset, read_search_results

        return evaluate_answers(
            read_search_results(Path(answers_path)), read_dataset(Path(dataset_path))
        )

    def flush(self) -> None:
        """Write what the query cache and the answer cache learned; call after a batch."""
        if self._opened:
            self._opened.cache.flush()
        if self._memory:
            self._memory.flush()

    def opened_index(self) -> Index:
        """The index that answers now, for readers such as previews.

        Raises: as `search`.
        """
        return self.opened_searcher().index

    def opened_searcher(self) -> Searcher:
        """What answers now, for measurements that look between the stages.

        Raises: as `search`.
        """
        answering = (self.store.require_current(), self._published_vectors())
        if self._opened is None or self._answering != answering:
            from ragmachine.wiring.searching import open_searcher

            self._opened = open_searcher(
                self.store,
                self.settings,
                use_cache=self.use_cache,
                ask_synonyms=lambda query: self._synonyms(query),
            )
            self._answering = answering
        return self._opened

    def _published_vectors(self) -> str:
        if self.settings.strategy == "lexical":  # nothing about vectors is imported
            return ""
        from ragmachine.wiring.dense import published

        return published(self.store, self.settings)

    def _synonyms(self, query: str) -> list[str]:
        """Words the model offers for a query; none when it is absent."""
        if self._expander is None:
            from ragmachine.wiring.searching import make_expander

            self._expander = make_expander(self.settings, self.store, self._ask)
        return self._expander.expand(query)

    def _ask(self, prompt: str) -> str:
        from ragmachine.llm.chat import Message

        client = self._client()
        if client is None:
            raise ModelError("no model is set", remedy="leave out --llm extractive")
        return client.chat([Message("user", prompt)], max_tokens=60).text

    def chat_client(self) -> ChatClient | None:
        """The model that answers, to be asked for other things too; None where none is set."""
        return self._client()

    def _client(self) -> ChatClient | None:
        if self._chat is None:
            from ragmachine.wiring.chat_models import make_client

            self._chat = make_client(self.settings)
        return self._chat

    def _answers(self) -> Answerer:
        if self._answerer is None:
            from ragmachine.wiring.answering import make_answerer

            self._answerer = make_answerer(self.settings, self._client(), self.opened_searcher)
        return self._answerer

    def _checked_k(self, k: int | None) -> int:
        return min(int(check_value("k", self.settings.k if k is None else k)), MAX_K)
