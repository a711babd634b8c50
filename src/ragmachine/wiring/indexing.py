"""How settings become an index, and the summaries of its chunks; called where one is built."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragmachine.generators import EXTRACTIVE, OLLAMA, Generator, parse_generators
from ragmachine.settings import Settings
from ragmachine.wiring import chat_models

if TYPE_CHECKING:
    from ragmachine.index.enrich import EnrichProgress, EnrichReport
    from ragmachine.index.request import BuildRequest, Shape
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
        text_columns=words(settings.text_columns),
        ocr_model=settings.ocr_model.strip(),
    )


def words(written: str) -> tuple[str, ...]:
    """What is written with commas between, blanks around it left out."""
    return tuple(filter(None, map(str.strip, written.split(","))))


def folders_of(store: IndexStore) -> list[str]:
    """The folders that an index was built of.

    Raises: IndexMissingError, IndexCorruptError, IndexVersionError.
    """
    from ragmachine.index.sources import Selection

    manifest = store.read(store.manifest)
    return Selection.from_json(manifest["settings"]).places(manifest["absolute_root"])


def rebuild(
    store: IndexStore,
    settings: Settings,
    *,
    workers: int = 0,
    on_file: Callable[[int], None] | None = None,
) -> IndexReport:
    """Bring an index up to date as it was built: the same folders, files and chunks.

    Args:
        store: the index folder.
        settings: how many processes read, and which vectors are taken over.
        workers: processes, where the settings' number is not meant.
        on_file: called with the number of files just finished.
    Raises: IndexMissingError; and as `build`.
    """
    from ragmachine.index.request import request_of

    manifest = store.read(store.manifest)
    request = request_of(manifest, workers=workers or settings.workers or os.cpu_count() or 1)
    return _built(store, settings, request, on_file)


def build(
    store: IndexStore,
    settings: Settings,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    *,
    source_tag: str = "",
    force: bool = False,
    strict: bool = False,
    on_file: Callable[[int], None] | None = None,
) -> IndexReport:
    """See `RagPipeline.index`."""
    from ragmachine.index.request import BuildRequest, locate_all

    paths = [path] if isinstance(path, str | os.PathLike) else list(path or [settings.target_dir])
    tags = tuple(map(str.strip, source_tag.split(",")))
    if len(tags) != len(paths):  # otherwise one each, some of them perhaps none
        tags = words(source_tag)
    root, display_root, folders = locate_all(paths, tags, settings.project_root)
    request = BuildRequest(
        root=root,
        display_root=display_root,
        shape=index_shape(settings),
        max_file_bytes=settings.max_file_bytes,
        workers=settings.workers or os.cpu_count() or 1,
        is_strict=strict,
        is_forced=force,
        include=words(settings.include),
        exclude=words(settings.exclude),
        has_hidden=settings.hidden,
        folders=folders,
    )
    return _built(store, settings, request, on_file)


def _built(
    store: IndexStore,
    settings: Settings,
    request: BuildRequest,
    on_file: Callable[[int], None] | None = None,
) -> IndexReport:
    """Build what is requested, and give it the vectors that are there already."""
    from ragmachine.index.build import build_index

    request = replace(
        request,
        page_cache=store.path("page_cache.sqlite"),
        transcriber=chat_models.make_transcriber(settings, request.shape.ocr_model),
    )
    report = build_index(store, request, on_file=on_file)
    if not report.is_unchanged:
        from ragmachine.wiring.dense import refresh

        refresh(store, settings)
    return report


def enrich(
    store: IndexStore,
    settings: Settings,
    on_text: Callable[[EnrichProgress], None] | None = None,
) -> EnrichReport:
    """See `RagPipeline.enrich`."""
    from ragmachine.index.enrich import enrich_index
    from ragmachine.index.reader import open_index
    from ragmachine.wiring.dense import support_last

    index, chat = open_index(store), _author(settings)
    report = enrich_index(store.folder, index, chat, order=support_last(index), on_progress=on_text)
    if report.summarised:
        rebuild(store, settings)
    return report


def _author(settings: Settings) -> ChatClient:
    """The first generator that the settings name, Ollama where they name none.

    It alone: were another asked where it fails, summaries would be known under the wrong name.
    """
    named = [one for one in parse_generators(settings.llm) if one.kind != EXTRACTIVE]
    first = named[0] if named else Generator(OLLAMA)
    written = f"{first.kind}:{first.model}" if first.model else first.kind
    return chat_models.make_chain(replace(settings, llm=written))
