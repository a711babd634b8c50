"""How settings become encoders and vectors; called where vectors are used."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ragmachine.errors import IndexBusyError, UsageError
from ragmachine.settings import Settings

if TYPE_CHECKING:
    from ragmachine.encoders import Encoder
    from ragmachine.index.dense import DenseStore
    from ragmachine.index.embed import DenseProgress, DenseReport
    from ragmachine.index.reader import Index
    from ragmachine.index.store import IndexStore
    from ragmachine.index.vectors import VectorIndex
    from ragmachine.retrieval.dense import DenseRetriever
    from ragmachine.retrieval.lexical import LexicalRetriever
    from ragmachine.retrieval.ranking import Retriever

_OLLAMA = "ollama:"
_STATIC = "static"
_BUILD = "build them: `ragmachine index --bonus y`"


def make_encoder(settings: Settings, store: IndexStore) -> Encoder:
    """The encoder that the settings name; nothing is loaded before it encodes.

    Raises: EncoderUnavailableError: it is not installed, or was not made for this index;
        UsageError: no encoder is called so.
    """
    from ragmachine.encoders import OllamaEncoder, OnnxEncoder, open_minilm

    name, threads = settings.encoder, settings.encoder_threads
    if name == "minilm":
        return open_minilm(threads=threads)
    if name == _STATIC:
        from ragmachine.index.static import static_encoder

        return static_encoder(dense_store(store, settings))
    if name.startswith(_OLLAMA):
        return OllamaEncoder(name.removeprefix(_OLLAMA), settings.ollama_host or None)
    for base in (os.curdir, settings.project_root):
        folder = os.path.join(base, os.path.expanduser(name))
        if os.path.isdir(folder):
            return OnnxEncoder.from_folder(folder, threads=threads)
    raise UsageError(
        f"there is no encoder {name!r}",
        remedy="name minilm, static, ollama:MODEL, or a folder with model.onnx and tokenizer.json",
    )


def dense_store(store: IndexStore, settings: Settings) -> DenseStore:
    """The vectors of an index folder."""
    from ragmachine.index.dense import DenseStore

    return DenseStore(store.folder, _near_maker(settings))


def _near_maker(settings: Settings) -> Callable[[], VectorIndex] | None:
    if settings.vector_index == "flat":
        return None

    def make() -> VectorIndex:
        from ragmachine.index.ann import HnswIndex, IvfPqIndex

        if settings.vector_index == "hnsw":
            return HnswIndex(settings.hnsw_links, settings.hnsw_construction, settings.hnsw_search)
        return IvfPqIndex(settings.ivf_lists, settings.ivf_probes, settings.ivf_pieces)

    return make


def embed(
    store: IndexStore,
    settings: Settings,
    on_progress: Callable[[DenseProgress], None] | None,
) -> DenseReport:
    """Make the vectors of the index that answers now; what is found most often comes first.

    Raises: as `embed_index`, and as opening the index.
    """
    from ragmachine.index.embed import embed_index
    from ragmachine.index.reader import open_index

    started = time.monotonic()
    index = open_index(store)
    vectors = dense_store(store, settings)
    encoder = (
        _static(vectors, index, settings, on_progress) if settings.encoder == _STATIC else None
    )
    report = embed_index(
        vectors, index, encoder or make_encoder(settings, store),
        order=support_last(index), on_progress=on_progress,
    )  # fmt: skip
    return replace(report, seconds=time.monotonic() - started)  # a distillation included


def support_last(index: Index) -> list[int]:
    """The chunks of an index, those of tests, examples and the like after all others."""
    from ragmachine.retrieval.priors import Role, role_of

    is_support = [
        role_of(path, kind) == Role.SUPPORT
        for path, kind in zip(index.files, index.file_types, strict=True)
    ]
    return sorted(range(index.chunk_count), key=lambda n: is_support[index.file_of_chunk[n]])


def _static(
    vectors: DenseStore,
    index: Index,
    settings: Settings,
    on_progress: Callable[[DenseProgress], None] | None,
) -> Encoder:
    """The index's own static encoder; made by the first run and kept, since it decides vectors."""
    from ragmachine.encoders import EncoderUnavailableError, EncodingProgress, open_minilm
    from ragmachine.index.embed import DenseProgress
    from ragmachine.index.static import make_static_encoder, static_encoder

    def told(now: EncodingProgress) -> None:
        if on_progress:
            on_progress(DenseProgress(now.done, now.total, now.seconds_left))

    try:
        return static_encoder(vectors)
    except EncoderUnavailableError:
        teacher = open_minilm(threads=settings.encoder_threads)
        return make_static_encoder(vectors, index, teacher, on_progress=told)


def refresh(store: IndexStore, settings: Settings) -> None:
    """After a new generation: the vectors that are known already answer for it at once.

    Unless another process is making vectors: the index is there, and they follow with the next run.
    """
    from ragmachine.index.store import VECTORS

    if not os.path.isdir(store.path(VECTORS)):  # encoders are not imported to find none
        return
    vectors = dense_store(store, settings)
    if vectors.state() is None:
        return
    from ragmachine.index.embed import refresh_vectors
    from ragmachine.index.reader import open_index

    with contextlib.suppress(IndexBusyError):
        refresh_vectors(vectors, open_index(store))


def published(store: IndexStore, settings: Settings) -> str:
    """Names the vectors that were published last; "" where there are none."""
    state = dense_store(store, settings).state()
    return str(state["name"]) if state else ""


def open_dense(
    store: IndexStore, settings: Settings, index: Index
) -> tuple[DenseRetriever | None, str]:
    """A retriever over the vectors of an opened index, and what to tell the user about them.

    Returns: None and the reason where vectors cannot be used; the search is lexical then.
    """
    from ragmachine.encoders import EmbeddingCache
    from ragmachine.errors import ModelError
    from ragmachine.retrieval.dense import DenseRetriever

    try:
        encoder = make_encoder(settings, store)
        name = encoder.name
    except ModelError as error:
        return None, f"{error.message}: the search is lexical; {error.remedy}"
    vectors = dense_store(store, settings).open(index)
    if vectors is None:
        return None, f"no vectors were built for this index: the search is lexical; {_BUILD}"
    if vectors.encoder != name:
        made_by = f"the vectors were made by {vectors.encoder}, not by {name}"
        return None, f"{made_by}: the search is lexical; {_BUILD}"
    missing = vectors.total - vectors.known
    notice = f"{missing:,} of {vectors.total:,} excerpts have no vector yet; {_BUILD}"
    retriever = DenseRetriever(
        vectors.name, vectors.exact, vectors.near, EmbeddingCache(encoder).encode_query
    )
    return retriever, notice if missing else ""


def with_vectors(
    store: IndexStore, settings: Settings, index: Index, lexical: LexicalRetriever
) -> tuple[Retriever, str, str]:
    """The retriever of a strategy that uses vectors.

    Returns: it, the strategy that it stands for (lexical where vectors cannot be used), and what
        to tell the user.
    """
    from ragmachine.retrieval.fused import FusedRetriever
    from ragmachine.retrieval.hybrid import HybridRetriever

    dense, notice = open_dense(store, settings, index)
    if dense is None:
        return lexical, "lexical", notice
    if settings.strategy == "dense":
        return dense, "dense", notice
    candidates, weight = settings.dense_candidates, settings.dense_weight
    if settings.fusion == "adaptive":
        hybrid = HybridRetriever(
            index, lexical, dense, candidates=candidates, weight=weight or None
        )
        return hybrid, "hybrid", notice
    is_by_rank = settings.fusion == "rrf"
    fused = FusedRetriever([lexical, dense], [1.0, weight or 1.0], is_by_rank, candidates)
    return fused, "hybrid", notice
