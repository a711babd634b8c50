"""How settings become an index, and the summaries of its chunks; called where one is built."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ragmachine import wiring
from ragmachine.generators import EXTRACTIVE, OLLAMA, Generator, parse_generators
from ragmachine.settings import Settings

if TYPE_CHECKING:
    from ragmachine.index.enrich import EnrichProgress, EnrichReport
    from ragmachine.index.request import Shape
    from ragmachine.index.store import IndexStore
    from ragmachine.llm.chat import ChatClient
    from ragmachine.models import IndexReport


def index_shape(settings: Settings) -> Shape:
    """What the settings make of an index."""
    from ragmachine.index.bm25 import Bm25
    from ragmachine.index.request import Shape

    return Shape(
        max_chars=settings.max_chunk_size,
        overlap_chars=settings.overlap,
        chunker=settings.chunker,
        has_context=settings.context,
        has_table_rows=settings.table_rows,
        bm25=Bm25(settings.bm25, settings.k1, settings.b),
    )


def build(
    store: IndexStore,
    settings: Settings,
    path: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    strict: bool = False,
    on_file: Callable[[int], None] | None = None,
) -> IndexReport:
    """See `RagPipeline.index`."""
    from ragmachine.index.build import build_index
    from ragmachine.index.request import BuildRequest, locate

    root, display_root = locate(path or settings.target_dir, settings.project_root)
    request = BuildRequest(
        root=root,
        display_root=display_root,
        shape=index_shape(settings),
        max_file_bytes=settings.max_file_bytes,
        workers=settings.workers or os.cpu_count() or 1,
        is_strict=strict,
        is_forced=force,
    )
    report = build_index(store, request, on_file=on_file)
    if not report.is_unchanged:
        from ragmachine.dense_wiring import refresh

        refresh(store, settings)
    return report


def enrich(
    store: IndexStore,
    settings: Settings,
    on_text: Callable[[EnrichProgress], None] | None = None,
) -> EnrichReport:
    """See `RagPipeline.enrich`."""
    from ragmachine.dense_wiring import support_last
    from ragmachine.index.enrich import enrich_index
    from ragmachine.index.reader import open_index

    index, chat = open_index(store), _author(settings)
    report = enrich_index(store.folder, index, chat, order=support_last(index), on_progress=on_text)
    if report.summarised:
        build(store, settings, index.manifest["absolute_root"])
    return report


def _author(settings: Settings) -> ChatClient:
    """The first generator that the settings name, Ollama where they name none.

    It alone: were another asked where it fails, summaries would be known under the wrong name.
    """
    named = [one for one in parse_generators(settings.llm) if one.kind != EXTRACTIVE]
    first = named[0] if named else Generator(OLLAMA)
    written = f"{first.kind}:{first.model}" if first.model else first.kind
    return wiring.make_chat(replace(settings, llm=written))
