"""A file's bytes to text and chunks, by a loader or else as the text that they are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import orjson

from ragmachine.chunking.builder import Block, ChunkBuilder, NodeContext, Piece
from ragmachine.chunking.cuts import CRUMBS_PER_CHUNK
from ragmachine.chunking.document import STRUCTURE, ChunkedDocument, chunk_document
from ragmachine.chunking.lines import line_blocks
from ragmachine.corpus.decode import decode, is_binary
from ragmachine.corpus.loaders.loaded import MARKDOWN, ROWS, Loaded, Pages, Places
from ragmachine.corpus.loaders.registry import Loaders
from ragmachine.file_types import file_type_of
from ragmachine.index.request import Shape

_PAGE_TARGET_CHARS = 1000  # as neighbours are packed in Markdown
_MARKDOWN_NAME = "document.md"  # names the chunker to `chunk_document`, and nothing else


@dataclass(frozen=True, slots=True)
class Document:
    """A file as it is indexed.

    Attributes:
        text: what offsets count in.
        stored: the text as UTF-8.
        file_type: what hits and filters show.
        pieces: chunks in order.
        is_markdown: whether pipe tables in it are tables.
        problem: what was odd, else "".
        title: of the whole document, where its loader knows one.
        places: (start, place) of its parts, where it has pages, rows or cells.
        rows: the metadata of each place as JSON, where they are rows with short columns.
        pages: what is known of its pages, where it has some.
    """

    text: str
    stored: bytes
    file_type: str
    pieces: Sequence[Piece]
    is_markdown: bool
    problem: str = ""
    title: str = ""
    places: Places = ()
    rows: tuple[bytes, ...] = ()
    pages: Pages | None = None


def read_document(path: str, data: bytes, loaders: Loaders, shape: Shape) -> Document | None:
    """Read and cut a file.

    Args:
        path: relative to the corpus root; decides loader and chunker.
        data: the whole file.
        loaders: for what is not the text itself.
        shape: how to cut.
    Returns: None for a file that is no text.
    Raises: LoadError: a loader refuses it.
    """
    loaded = loaders.load(path, data)
    if loaded is not None:
        return _loaded_document(path, loaded, shape)
    if is_binary(data):
        return None
    decoded = decode(data)
    cut = _cut(path, decoded.text, shape)
    return Document(
        text=decoded.text,
        stored=data if not decoded.problem else decoded.text.encode("utf-8"),
        file_type=cut.file_type,
        pieces=cut.pieces,
        is_markdown=cut.file_type == MARKDOWN,
        problem="; ".join(filter(None, (decoded.problem, cut.problem))),
    )


def _loaded_document(path: str, loaded: Loaded, shape: Shape) -> Document:
    problem = loaded.problem or ("" if loaded.text.strip() else "holds no text")
    if loaded.format == ROWS and shape.chunker == STRUCTURE:
        pieces = row_pieces(loaded, shape.max_chars, shape.overlap_chars)
    elif is_paged(loaded.places) and shape.chunker == STRUCTURE:
        pieces = page_pieces(loaded, shape.max_chars, shape.overlap_chars)
    else:
        cut = _cut(_MARKDOWN_NAME, loaded.text, shape)
        pieces = cut.pieces
        problem = "; ".join(filter(None, (problem, cut.problem)))
    return Document(
        text=loaded.text,
        stored=loaded.text.encode("utf-8"),
        file_type=loaded.file_type or file_type_of(path),
        pieces=pieces,
        is_markdown=loaded.format == MARKDOWN,
        problem=problem,
        title=loaded.title,
        places=loaded.places,
        rows=tuple(map(orjson.dumps, loaded.metadata)) if any(loaded.metadata) else (),
        pages=loaded.pages,
    )


def _cut(path: str, text: str, shape: Shape) -> ChunkedDocument:
    return chunk_document(
        path,
        text,
        max_chars=shape.max_chars,
        overlap_chars=shape.overlap_chars,
        chunker=shape.chunker,
    )


def is_paged(places: Places) -> bool:
    """Whether a document has pages."""
    return bool(places) and places[0][1].startswith("p.")


def page_pieces(loaded: Loaded, max_chars: int, overlap_chars: int) -> list[Piece]:
    """Chunks of a document with pages: none goes over the end of a page, or of a section.

    A chunk is cited by its page, and sections go on over pages all the same. What a chunk is about
    is often told by its section's name alone, which counts for little beside another's. Only
    crumbs, such as a heading without text, join the section that follows.
    """
    from ragmachine.chunking.markdown import markdown_blocks

    text = loaded.text
    try:
        blocks = markdown_blocks(text, max_chars)
    except (RecursionError, MemoryError, ValueError):
        blocks = line_blocks(text)
    builder = ChunkBuilder(max_chars, min(_PAGE_TARGET_CHARS, max_chars), overlap_chars)
    bounds = [*(start for start, _ in loaded.places), len(text)]
    pieces: list[Piece] = []
    for start, end in pairwise(bounds):
        for section in _sections(_clipped(blocks, start, end), max_chars // CRUMBS_PER_CHUNK):
            pieces += builder.build(text, section)
    return pieces


def _sections(blocks: Sequence[Block], crumb: int) -> Iterator[list[Block]]:
    """Runs of blocks of the same section; what is no longer than a crumb ends none."""
    run: list[Block] = []
    for block in blocks:
        is_other = bool(run) and block.context != run[-1].context
        if is_other and min(block.end - block.start, run[-1].end - run[0].start) > crumb:
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _clipped(blocks: Sequence[Block], start: int, end: int) -> tuple[Block, ...]:
    """The parts of blocks, which tile a text, within a range of it."""
    clipped: list[Block] = []
    first = bisect_right(blocks, start, key=_end)
    for block in blocks[first:]:
        if block.start >= end:
            break
        if start <= block.start and block.end <= end:
            clipped.append(block)
        else:
            inner = _clipped(block.children, start, end)
            low, high = max(block.start, start), min(block.end, end)
            clipped.append(Block(low, high, block.context, inner))
    return tuple(clipped)


def _end(block: Block) -> int:
    return block.end


def row_pieces(loaded: Loaded, max_chars: int, overlap_chars: int) -> list[Piece]:
    """Chunks of a table of records: one for each, or more where it is too long."""
    builder = ChunkBuilder(max_chars, max_chars, overlap_chars)
    bounds = [*(start for start, _ in loaded.places), len(loaded.text)]
    pieces: list[Piece] = []
    for name, (start, end) in zip(loaded.names, pairwise(bounds), strict=True):
        text = loaded.text[start:end]
        context = NodeContext("section", name) if name else NodeContext()
        for piece in builder.build(text, [Block(0, len(text), context)]):
            pieces.append(Piece(start + piece.start, start + piece.end, piece.contexts))
    return pieces
